package mail_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"aliquot/internal/mail"
	"aliquot/internal/mail/mailtest"
)

const from = "Aliquot <aliquot@example.org>"

func message(to string) mail.Message {
	return mail.Message{
		ID: "event-7.1@example.org", References: []string{"request-7@example.org", "event-7.0@example.org"}, To: to,
		ToName:  "Ada Łovelace, Ph.D.",
		Subject: "Grüße: „Anti-GFP“ is on its way — your turn", Text: "Hello Ada,\n\n.the parcel is on its way.\n",
		HTML:        "<p>Hello <b>Ada</b> …</p>\n",
		Unsubscribe: "https://aliquot.example.org/u/abc?x=1&y=<2>", At: time.Date(2026, 11, 21, 20, 0, 0, 0, time.UTC),
	}
}

func open(t *testing.T, address string) *mail.Post {
	t.Helper()
	p, err := mail.Open(address, from, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestSend_MessageArrivesUnchanged(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]mailtest.Option{
		"in clear":           nil,
		"STARTTLS":           {mailtest.StartTLS()},
		"password":           {mailtest.Password("aliquot", "p@ss/wörd%")},
		"STARTTLS, password": {mailtest.StartTLS(), mailtest.Password("aliquot@example.org", "secret")},
		"LOGIN":              {mailtest.Login("aliquot", "secret")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := mailtest.Start(t, options...)
			m := message("ada@example.org")
			if err := open(t, server.URL).Send(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			got := server.WaitFor(t, 1)[0]
			if got.From != "aliquot@example.org" || got.To != m.To || got.Subject != m.Subject ||
				got.Text != "Hello Ada,\r\n\r\n.the parcel is on its way.\r\n" ||
				got.HTML != "<p>Hello <b>Ada</b> …</p>\r\n" {
				t.Errorf("got %+v", got)
			}
			to, err := got.Header.AddressList("To")
			if err != nil || len(to) != 1 || to[0].Name != m.ToName || to[0].Address != m.To {
				t.Errorf("to %v, %v", to, err)
			}
		})
	}
}

func TestSend_GreylistingIsTemporary(t *testing.T) {
	t.Parallel()
	server := mailtest.Start(t)
	server.Answer(func(string) error { return mailtest.Reply(451, 4, 7, 1, "greylisted, come back later") })
	post := open(t, server.URL)
	err := post.Send(t.Context(), message("ada@example.org"))
	want := "mail: temporary at recipient: 451 4.7.1 greylisted, come back later"
	if failure, ok := errors.AsType[*mail.Failure](err); !ok || failure.Kind != mail.Temporary || failure.Code != 451 ||
		failure.Status != "4.7.1" || err.Error() != want {
		t.Errorf("got %v", err)
	}
	server.Answer(nil)
	if err := post.Send(t.Context(), message("ada@example.org")); err != nil {
		t.Error(err)
	}
	server.AnswerMessage(func(mailtest.Letter) error { return mailtest.ErrDrop })
	err = post.Send(t.Context(), message("ada@example.org"))
	if failure, ok := errors.AsType[*mail.Failure](err); !ok || failure.Kind != mail.Doubt {
		t.Errorf("dropped behind the message: got %v", err)
	}
}

func TestSend_ManyAtOnce(t *testing.T) {
	t.Parallel()
	server := mailtest.Start(t, mailtest.StartTLS(), mailtest.Password("aliquot", "secret"))
	post := open(t, server.URL)
	var senders sync.WaitGroup
	for i := range 20 {
		senders.Go(func() {
			if err := post.Send(t.Context(), message(fmt.Sprintf("reader%d@example.org", i))); err != nil {
				t.Error(err)
			}
		})
	}
	senders.Wait()
	readers := map[string]bool{}
	for _, letter := range server.Messages() {
		readers[letter.To] = true
	}
	if len(readers) != 20 {
		t.Errorf("%v got their messages", readers)
	}
}

func TestFolder_TakesMessages(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "out", "box")
	post := open(t, "file:"+folder)
	var want []string
	for i := range 12 {
		m := message("ada@example.org")
		m.ID, m.Subject = fmt.Sprintf("/etc/x/%d@example.org", i), fmt.Sprintf("Message %d", i)
		want = append(want, m.Subject)
		if err := post.Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	list, err := os.ReadDir(folder) // sorted by name
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{9}Z__etc_x_\d+@example\.org\.eml$`)
	var got []string
	for _, entry := range list {
		raw, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		letter, err := mailtest.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, letter.Subject)
		if !name.MatchString(entry.Name()) {
			t.Errorf("name %s", entry.Name())
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	err = post.Send(t.Context(), message("ada@example.org"))
	if failure, ok := errors.AsType[*mail.Failure](err); !ok || failure.Kind != mail.Temporary ||
		!errors.Is(err, os.ErrNotExist) {
		t.Errorf("without the folder: got %v", err)
	}
}

func TestOpen_AFolderTakesMessagesAndTheLogHasRecipientAndKindAlone(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	folder := filepath.Join(t.TempDir(), "data", "mails")
	post, err := mail.Open("file:"+folder, from, slog.New(slog.NewJSONHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	m := message("ada@example.org")
	m.Kind = "invitation"
	if err := post.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	var record map[string]string
	if err := json.Unmarshal(log.Bytes(), &record); err != nil || len(record) != 5 || record["msg"] != "mail" ||
		record["to"] != m.To || record["kind"] != "invitation" {
		t.Errorf("got %s, %v", log.String(), err)
	}
	letters, err := filepath.Glob(filepath.Join(folder, "*.eml"))
	if err != nil || len(letters) != 1 {
		t.Fatalf("got %v, %v", letters, err)
	}
	for path, mode := range map[string]os.FileMode{letters[0]: 0o600, folder: 0o700, filepath.Dir(folder): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s is %v, %v", path, info.Mode(), err)
		}
	}
	m.To = "nobody"
	if err := post.Send(t.Context(), m); err == nil {
		t.Error("an address that is none is taken")
	}
}

func TestNew_WrongSettingIsNamedWithoutThePassword(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ address, from, want string }{
		{"mail.example.org", from, "mail:"},
		{"mail.example.org:25", from, "mail:"},
		{"http://mail.example.org", from, "mail:"},
		{"smtp://", from, "mail:"},
		{"smtp://:25", from, "mail:"},
		{"smtp://u:hunter22@mail.example.org:port", from, "mail:"},
		{"smtp://u:hunter22#x@mail.example.org", from, "mail:"},
		{"smtp://u:hunter22/x@mail.example.org", from, "mail:"},
		{"smtp://u:hunter22?x@mail.example.org", from, "mail:"},
		{"smtp://u:hunter22%zz@mail.example.org", from, "mail:"},
		{"smtp://u:hunter22@mail.example.org/path", from, "mail:"},
		{"smtp://u:hunter22@mail.example.org\n", from, "mail:"},
		{"smtp://:hunter22@mail.example.org", from, "mail:"},
		{"smtp://u@mail.example.org", from, "mail:"},
		{"file:", from, "mail:"},
		{"file:" + filepath.Join(file, "box"), from, "mail:"},
		{"", "", "mail-from:"},
		{"", "Aliquot", "mail-from:"},
		{"", "a@example.org, b@example.org", "mail-from:"},
		{"", "Älikvot <älikvot@example.org>", "mail-from:"},
		{"", "a@example.org\r\nBcc: eve@example.org", "mail-from:"},
	} {
		if _, err := mail.Open(c.address, c.from, slog.Default()); err == nil ||
			!strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "hunter") ||
			strings.ContainsAny(err.Error(), "\r\n") {
			t.Errorf("%s, %s: got %v", c.address, c.from, err)
		}
	}
	for _, address := range []string{"smtp://localhost", "smtp://mail.example.org:25/",
		"smtps://aliquot%40example.org:p%2Fw@[2001:db8::1]:4650", "SMTP://a@example.org:b@mail.example.org", "file:" +
			t.TempDir(), "file://" + t.TempDir()} {
		if _, err := mail.Open(address, "aliquot@example.org", slog.Default()); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}

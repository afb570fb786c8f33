package mail

import (
	"bytes"
	"errors"
	"maps"
	netmail "net/mail"
	"slices"
	"strings"
	"testing"
	"time"

	"aliquot/internal/mail/mailtest"

	"pgregory.net/rapid"
)

var sender = netmail.Address{Name: "Aliquot", Address: "aliquot@example.org"}

// checked composes a message and reads it back with other eyes: it has exactly the header fields that it
// should have, each once, and they say what the message says.
func checked(t rapid.TB, m Message) {
	raw, err := compose(sender, m)
	if err != nil {
		if failure, ok := errors.AsType[*Failure](err); !ok || failure.Kind == Doubt ||
			strings.ContainsAny(failure.Text, "\r\n") {
			t.Fatalf("got %v", err)
		}
		return
	}
	head, _, _ := bytes.Cut(raw, []byte("\r\n\r\n"))
	for line := range strings.SplitSeq(string(head), "\r\n") {
		if len(line) > 998 || strings.ContainsAny(line, "\r\n\x00") || ascii(m.To) && !ascii(line) {
			t.Fatalf("header line %q", line)
		}
	}
	got, err := mailtest.Parse(raw)
	if err != nil {
		t.Fatalf("%v in\n%s", err, raw)
	}
	want := []string{"Auto-Submitted", "Content-Type", "Date", "From", "Message-Id", "Mime-Version", "Reply-To",
		"Subject", "To", "X-Auto-Response-Suppress"}
	if m.HTML == "" {
		want = append(want, "Content-Transfer-Encoding")
	}
	if len(m.References) > 0 {
		want = append(want, "In-Reply-To", "References")
	}
	if m.List != "" {
		want = append(want, "List-Id")
	}
	if m.Unsubscribe != "" {
		want = append(want, "List-Unsubscribe", "List-Unsubscribe-Post")
	}
	if reply, err := got.Header.AddressList("Reply-To"); err != nil || len(reply) != 1 ||
		reply[0].Address != sender.Address {
		t.Fatalf("reply to %+v, %v", reply, err)
	}
	if list := got.Header.Get("List-Id"); m.List != "" && list != "Aliquot <"+m.List+">" {
		t.Fatalf("list %q", list)
	}
	slices.Sort(want)
	if names := slices.Sorted(maps.Keys(got.Header)); !slices.Equal(names, want) {
		t.Fatalf("fields %v, want %v", names, want)
	}
	for name, values := range got.Header {
		if len(values) != 1 {
			t.Fatalf("%s: %q", name, values)
		}
	}
	if got.Subject != plain(m.Subject) {
		t.Fatalf("subject %q, want %q", got.Subject, plain(m.Subject))
	}
	to, err := got.Header.AddressList("To")
	if err != nil || len(to) != 1 || to[0].Address != m.To || to[0].Name != plain(m.ToName) {
		t.Fatalf("to %+v, %v", to, err)
	}
	if from, err := got.Header.AddressList("From"); err != nil || len(from) != 1 || *from[0] != sender {
		t.Fatalf("from %+v, %v", from, err)
	}
	if id := got.Header.Get("Message-ID"); id != "<"+m.ID+">" {
		t.Fatalf("id %q", id)
	}
	if n := len(m.References); n > 0 &&
		(got.Header.Get("In-Reply-To") != "<"+m.References[n-1]+">" || got.Header.Get("References") != "<"+
			strings.Join(m.References, "> <")+">") {
		t.Fatalf("thread %q", got.Header.Get("References"))
	}
	if got.Text != lines(m.Text) || got.HTML != lines(m.HTML) {
		t.Fatalf("text %q, HTML %q", got.Text, got.HTML)
	}
}

// lines is text as a letter has it.
func lines(text string) string {
	text = newlines.Replace(strings.ToValidUTF8(text, "\uFFFD"))
	return strings.ReplaceAll(text, "\n", "\r\n")
}

func TestCompose_TextNeverReachesTheHeader(t *testing.T) {
	t.Parallel()
	pieces := rapid.SampledFrom([]string{"\r\n", "\n", "\r", "\x00", "\u2028", "\u0085", "Bcc: eve@example.org", ":",
		",", ";", "<", ">", "@", "\"", "\\", "(", ")", "=?utf-8?q?=0D=0ABcc:_x?=", "=?", "?=",
		"Ada", "Łovelace", " ", "  ", "\t", "名前", "👩‍🔬", "\xff", "a@example.org", "--", ".", strings.Repeat("x", 80),
		strings.Repeat("ü", 300), strings.Repeat("long words ", 40), strings.Repeat("y", 1200)})
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(pieces, 0, 8).Draw(t, "pieces"),
			"")
	})
	hostile := rapid.OneOf(text, rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		m := Message{ID: "event-1@example.org", To: "ada@example.org", ToName: hostile.Draw(t, "name"),
			Subject: hostile.Draw(t, "subject"),
			Text:    hostile.Draw(t, "text"), HTML: hostile.Draw(t, "html"),
			At: time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "at"), 0)}
		switch rapid.IntRange(0, 5).Draw(t, "also") {
		case 4:
			m.List = rapid.OneOf(rapid.Just("request.example.org"), hostile).Draw(t, "list")
		case 0:
			m.To = hostile.Draw(t, "to")
		case 1:
			m.ID = hostile.Draw(t, "id")
		case 2:
			m.References = rapid.SliceOfN(rapid.OneOf(rapid.Just("event-0@example.org"), hostile), 0, 4).Draw(t,
				"references")
		case 3:
			m.Unsubscribe = "https://aliquot.example.org/u?" + hostile.Draw(t, "unsubscribe")
		}
		checked(t, m)
	})
}

func FuzzCompose(f *testing.F) {
	f.Add("ada@example.org", "Ada", "It is your turn", "text", "<p>html</p>", "event-1@example.org",
		"event-0@example.org", "https://aliquot.example.org/u/x")
	f.Add("a@b>\r\nBcc: eve@example.org", "a\r\nBcc: eve@example.org", "a\r\n\r\nbody", ".\r\n", "\r\n.\r\n",
		"x@y>\r\nBcc: z", "x>\n <y", "https://x/>\r\nBcc: z")
	f.Add("ü@example.org", `"`, "=?utf-8?q?x?=", "", "", "a@b", "", "")
	f.Fuzz(func(t *testing.T, to, name, subject, text, html, id, reference, unsubscribe string) {
		m := Message{ID: id, To: to, ToName: name, Subject: subject, Text: text, HTML: html, Unsubscribe: unsubscribe,
			At: time.Unix(1e9, 0)}
		if reference != "" {
			m.References = []string{reference}
		}
		checked(t, m)
	})
}

func TestCompose_Golden(t *testing.T) {
	t.Parallel()
	raw, err := compose(sender, Message{
		ID:         "event-7.1@example.org",
		References: []string{"request-7@example.org", "event-7.0-with-a-rather-long-name@example.org"},
		To:         "ada@example.org",
		ToName:     "Ada B. Lovelace",
		Subject: "Kim Park (Kornberg Lab) approved your request for Anti-GFP nanobody: " +
			"now it is your turn, Grüße",
		Text: "Hello\n", Unsubscribe: "https://aliquot.example.org/u/a?b=<c>&d=e f",
		List: "request.aliquot.example.org", At: time.Date(2026, 11, 21, 20, 0, 0, 0, time.UTC),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `From: Aliquot <aliquot@example.org>
Reply-To: Replies are not read <aliquot@example.org>
To: "Ada B. Lovelace" <ada@example.org>
Subject: =?utf-8?b?S2ltIFBhcmsgKEtvcm5iZXJnIExhYikgYXBwcm92ZWQgeW91ciBy?=
 =?utf-8?b?ZXF1ZXN0IGZvciBBbnRpLUdGUCBuYW5vYm9keTogbm93IGl0IGlz?=
 =?utf-8?b?IHlvdXIgdHVybiwgR3LDvMOfZQ==?=
Date: Sat, 21 Nov 2026 20:00:00 +0000
Message-ID: <event-7.1@example.org>
In-Reply-To: <event-7.0-with-a-rather-long-name@example.org>
References: <request-7@example.org>
 <event-7.0-with-a-rather-long-name@example.org>
Auto-Submitted: auto-generated
X-Auto-Response-Suppress: OOF, AutoReply
List-Id: Aliquot <request.aliquot.example.org>
List-Unsubscribe: <https://aliquot.example.org/u/a?b=%3Cc%3E&d=e%20f>
List-Unsubscribe-Post: List-Unsubscribe=One-Click
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: quoted-printable

Hello
`
	if got := string(raw); got != strings.ReplaceAll(want, "\n", "\r\n") {
		t.Errorf("got\n%s", got)
	}
}

func TestCompose_RefusesInvalidMessages(t *testing.T) {
	t.Parallel()
	good := Message{ID: "a@example.org", To: "ada@example.org", At: time.Unix(1e9, 0)}
	for name, c := range map[string]struct {
		change func(*Message)
		want   Kind
		says   string
	}{
		"no address":    {func(m *Message) { m.To = "" }, Refused, "mail address"},
		"a name":        {func(m *Message) { m.To = "Ada <ada@example.org>" }, Refused, "Ada <ada@example.org>"},
		"two addresses": {func(m *Message) { m.To = "ada@example.org,eve@example.org" }, Refused, "mail address"},
		"a line": {func(m *Message) { m.To = "ada@example.org\r\nBcc: eve@example.org" }, Refused,
			"mail address"},
		"a comment": {func(m *Message) { m.To = "ada@example.org (Ada)" }, Refused, "mail address"},
		"a long address": {func(m *Message) { m.To = strings.Repeat("a", 250) + "@example.org" }, Refused,
			"mail address"},
		"no id":         {func(m *Message) { m.ID = "" }, Rejected, "Message-ID"},
		"an id with <>": {func(m *Message) { m.ID = "<a@example.org>" }, Rejected, "Message-ID"},
		"a wrong reference": {func(m *Message) { m.References = []string{"a b@example.org"} }, Rejected,
			"a b@example.org"},
		"no web address": {func(m *Message) { m.Unsubscribe = "mailto:leave@example.org" }, Rejected,
			"unsubscribing"},
		"a line in it": {func(m *Message) { m.Unsubscribe = "https://example.org/\r\nBcc: eve" }, Rejected,
			"unsubscribing"},
	} {
		m := good
		c.change(&m)
		_, err := compose(sender, m)
		if failure, ok := errors.AsType[*Failure](err); !ok || failure.Kind != c.want ||
			!strings.Contains(failure.Text, c.says) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

package mail_test

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"aliquot/internal/mail"
	"aliquot/internal/mail/mailtest"
)

const from = "Aliquot <aliquot@example.org>"

func message(to string) mail.Message {
	return mail.Message{
		ID: "event-7.1@example.org", References: []string{"request-7@example.org", "event-7.0@example.org"}, To: to, ToName: "Ada Łovelace, Ph.D.",
		Subject: "Grüße: „Anti-GFP“ is on its way — your turn", Text: "Hello Ada,\n\n.the parcel is on its way.\n", HTML: "<p>Hello <b>Ada</b> …</p>\n",
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

func TestAMessageArrivesAsItWasMeant(t *testing.T) {
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
			if got.From != "aliquot@example.org" || got.To != m.To || got.Subject != m.Subject || got.Text != "Hello Ada,\r\n\r\n.the parcel is on its way.\r\n" || got.HTML != "<p>Hello <b>Ada</b> …</p>\r\n" {
				t.Errorf("got %+v", got)
			}
			to, err := got.Header.AddressList("To")
			if err != nil || len(to) != 1 || to[0].Name != m.ToName || to[0].Address != m.To {
				t.Errorf("to %v, %v", to, err)
			}
		})
	}
}

func TestAnAnswerSaysWhatBecomesOfMessageAndAddress(t *testing.T) {
	t.Parallel()
	server := mailtest.Start(t)
	for text, want := range map[mail.Kind]error{
		mail.Temporary: mailtest.Reply(451, 4, 7, 1, "greylisted"),
		mail.Refused:   mailtest.Reply(550, 5, 1, 1, "no such user"),
		mail.Rejected:  mailtest.Reply(554, 5, 7, 1, "relay access denied"),
	} {
		server.Answer(func(string) error { return want })
		err := open(t, server.URL).Send(t.Context(), message("ada@example.org"))
		if failure, ok := errors.AsType[*mail.Failure](err); !ok || failure.Kind != text || failure.Phase != "recipient" {
			t.Errorf("%s: got %v", text, err)
		}
	}
	server.Answer(nil)
	server.AnswerMessage(func(mailtest.Letter) error { return mailtest.ErrDrop })
	err := open(t, server.URL).Send(t.Context(), message("ada@example.org"))
	if failure, ok := errors.AsType[*mail.Failure](err); !ok || failure.Kind != mail.Doubt {
		t.Errorf("dropped: got %v", err)
	}
}

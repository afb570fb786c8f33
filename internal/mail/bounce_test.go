package mail_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"aliquot/internal/mail"
)

// ours is the message that every report of testdata is about.
const ours = "event-7.1.k3v9@aliquot.example.org"

func read(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name+".eml"))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestBounce_NamesMessageRecipientAndPermanence(t *testing.T) {
	t.Parallel()
	const kim = "kim@lab.example.net"
	for name, want := range map[string]mail.Bounce{
		"postfix-unknown": {kim, "5.1.1", true, "550 5.1.1 <kim@lab.example.net>: Recipient address rejected: User " +
			"unknown in virtual mailbox table", ours},
		// forwarded: the address is that which we wrote to
		"postfix-headers": {kim, "5.2.2", false, "552 5.2.2 Mailbox full", ours},
		"postfix-expired": {kim, "4.4.1", false, "connect to mx.lab.example.net[198.51.100.7]:25: Connection timed out",
			ours},
		"postfix-policy": {kim, "5.7.26", false, "550-5.7.26 Unauthenticated email from example.org is not accepted " +
			"due to 550-5.7.26 domain's DMARC policy.", ours},
		"exim": {kim, "5.0.0", true, "550 No Such User Here", ours},
		"exim-text": {kim, "5.1.1", true, "550 5.1.1 <kim@lab.example.net>: Recipient address rejected: User " +
			"unknown", ours},
		"exchange": {kim, "5.1.10", true, "550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient " +
			"kim@lab.example.net not found by SMTP address lookup", ours},
		"gmail": {kim, "5.1.1", true, "550-5.1.1 The email account that you tried to reach does not exist. Please " +
			"try 550-5.1.1 double-checking " +
			"the recipient's email address for typos or 550 5.1.1 unnecessary spaces.", ours},
		"utf8": {"kím@lab.example.net", "5.2.1", true, "", ours},
	} {
		for form, raw := range map[string][]byte{"LF": read(t, name),
			"CRLF": bytes.ReplaceAll(read(t, name), []byte("\n"), []byte("\r\n"))} {
			if got, err := mail.ParseBounce(bytes.NewReader(raw)); err != nil || got != want {
				t.Errorf("%s with %s: got\n%+v, %v, want\n%+v", name, form, got, err, want)
			}
		}
	}
}

func TestBounce_FindsTheMessageInEveryPartOfAReport(t *testing.T) {
	t.Parallel()
	const message = "<" + ours + ">"
	for name, taken := range map[string][]string{
		"exchange": {"In-Reply-To: " + message, "References: " + message}, // the text tells it
		"gmail":    {"X-Original-Message-ID: " + message, "In-Reply-To: " + message},
		"exim":     {"References: " + message},
	} {
		raw := string(read(t, name))
		for _, field := range taken {
			raw = strings.Replace(raw, field+"\n", "", 1)
		}
		if got, err := mail.ParseBounce(strings.NewReader(raw)); err != nil || got.MessageID != ours {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
	raw := strings.ReplaceAll(string(read(t, "exim")), message, "<no id>")
	if got, err := mail.ParseBounce(strings.NewReader(raw)); err != nil || got.MessageID != "" || got.Recipient == "" {
		t.Errorf("without an id: got %+v, %v", got, err)
	}
}

func TestBounce_NeedsAFailure(t *testing.T) {
	t.Parallel()
	const head = "From: a@example.org\nMIME-Version: 1.0\nContent-Type: multipart/report; boundary=b\n\n"
	for name, raw := range map[string]string{
		"a delay": string(read(t, "postfix-delayed")),
		"an answer": "From: Kim <kim@lab.example.net>\nSubject: Re: it is your turn\n\nThanks, 550 5.1.1 is my " +
			"room.\n",
		"a delivery":    strings.Replace(string(read(t, "postfix-unknown")), "Action: failed", "Action: delivered", 1),
		"nobody":        strings.Replace(string(read(t, "exim")), "rfc822;kim@lab.example.net", "rfc822; nobody", 1),
		"no boundary":   "Content-Type: multipart/report\n\n--\n\n----\n",
		"no parts":      head,
		"an empty part": head + "--b\nContent-Type: message/delivery-status\n\n--b--\n",
		"garbled base64": head + "--b\nContent-Type: message/delivery-status\nContent-Transfer-Encoding: " +
			"base64\n\n!!\n--b--\n",
		"nested deeply": nested(40),
		"many parts": head + strings.Repeat("--b\n\n\n", 1000) +
			"--b\nContent-Type: message/delivery-status\n\nFinal-Recipient: rfc822; a@example.org\nAction: " +
			"failed\nStatus: 5.1.1\n--b--\n",
	} {
		if got, err := mail.ParseBounce(strings.NewReader(raw)); !errors.Is(err, mail.ErrNoBounce) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
	for name, raw := range map[string]string{
		"nothing":   "",
		"no header": "\x00\x01 no header",
		"too large": head + strings.Repeat("x", 5<<20),
	} {
		if got, err := mail.ParseBounce(strings.NewReader(raw)); err == nil || errors.Is(err, mail.ErrNoBounce) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}

// nested is a report inside of n multiparts.
func nested(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n", i, i)
	}
	b.WriteString("Content-Type: message/delivery-status\n\nFinal-Recipient: rfc822; a@example.org\nAction: " +
		"failed\nStatus: 5.1.1\n")
	return b.String()
}

func FuzzParseBounce(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.eml"))
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, file := range files {
		f.Add(read(f, strings.TrimSuffix(filepath.Base(file), ".eml")))
	}
	f.Add([]byte(nested(3)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, err := mail.ParseBounce(bytes.NewReader(raw))
		if err != nil {
			if b != (mail.Bounce{}) {
				t.Errorf("with %v: %+v", err, b)
			}
			return
		}
		if b.Recipient == "" || b.Permanent && b.Status[0] != '5' || utf8.RuneCountInString(b.Reason) > 500 ||
			!utf8.ValidString(b.Reason) || strings.ContainsAny(b.Recipient+b.Status+b.Reason+b.MessageID, "\r\n\x00") {
			t.Errorf("got %+v", b)
		}
	})
}

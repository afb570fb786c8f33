package mail

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"mime/multipart"
	"mime/quotedprintable"
	netmail "net/mail"
	"net/textproto"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// dotAtom is the form of our Message-IDs between < and >, as defined by RFC 5322.
var dotAtom = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*" +
	"@[A-Za-z0-9-]+(\\.[A-Za-z0-9-]+)*$")

func isMessageID(text string) bool { return len(text) <= 400 && dotAtom.MatchString(text) }

// compose writes a message in the form of RFC 5322, with CRLF line ends. It fails if an address or an id is invalid,
// because these are written unescaped.
func compose(from netmail.Address, m Message) ([]byte, error) {
	if !sendable(m.To) {
		return nil, &Failure{Kind: Refused, Phase: "recipient",
			Text: fmt.Sprintf("%s is no mail address", oneLine(m.To))}
	}
	var l letter
	l.field("From", mailbox(from.Name, from.Address)...)
	l.field("Reply-To", mailbox("Replies are not read", from.Address)...)
	l.field("To", mailbox(m.ToName, m.To)...)
	l.field("Subject", phrase(m.Subject, false)...)
	l.field("Date", strings.Fields(m.At.Format(time.RFC1123Z))...)
	for i, id := range append([]string{m.ID}, m.References...) {
		if !isMessageID(id) {
			return nil, &Failure{Kind: Rejected, Phase: "message",
				Text: fmt.Sprintf("%s is no Message-ID", oneLine(id))}
		}
		if i == 0 {
			l.field("Message-ID", "<"+id+">")
		}
	}
	if n := len(m.References); n > 0 {
		l.field("In-Reply-To", "<"+m.References[n-1]+">")
		l.field("References", strings.Fields("<"+strings.Join(m.References, "> <")+">")...)
	}
	// No human wrote this: RFC 3834, and for Exchange, which otherwise sends out-of-office replies.
	l.field("Auto-Submitted", "auto-generated")
	l.field("X-Auto-Response-Suppress", "OOF,", "AutoReply")
	if m.List != "" {
		if !isMessageID(listName + "@" + m.List) {
			return nil, &Failure{Kind: Rejected, Phase: "message",
				Text: fmt.Sprintf("%s is no List-Id", oneLine(m.List))}
		}
		l.field("List-Id", listName, "<"+m.List+">")
	}
	if m.Unsubscribe != "" {
		u, err := url.Parse(m.Unsubscribe)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || len(m.Unsubscribe) > 800 ||
			!ascii(u.String()) {
			return nil, &Failure{Kind: Rejected, Phase: "message",
				Text: "the address for unsubscribing is no address of the web"}
		}
		l.field("List-Unsubscribe", "<"+webAddress.Replace(u.String())+">")
		l.field("List-Unsubscribe-Post", "List-Unsubscribe=One-Click")
	}
	l.field("MIME-Version", "1.0")
	if err := l.body(m.Text, m.HTML); err != nil {
		return nil, &Failure{Kind: Rejected, Phase: "message", Text: err.Error(), cause: err}
	}
	return l.Bytes(), nil
}

// listName is the display name in List-Id.
const listName = "Aliquot"

// webAddress escapes what url.URL leaves unescaped in a query and what would end the address in a header.
var webAddress = strings.NewReplacer("<", "%3C", ">", "%3E", " ", "%20")

type letter struct{ bytes.Buffer }

// longestLine is the maximum length of a header line, according to RFC 2047.
const longestLine = 76

// field writes a header field, folded between its words.
func (l *letter) field(name string, words ...string) {
	n, _ := l.WriteString(name + ":")
	for i, word := range words {
		if i > 0 && n+1+len(word) > longestLine {
			l.WriteString("\r\n")
			n = 0
		}
		added, _ := l.WriteString(" " + word)
		n += added
	}
	l.WriteString("\r\n")
}

// body writes the text and, if there is one, the HTML as its alternative.
func (l *letter) body(text, html string) error {
	const plainType, htmlType, encoding = "text/plain; charset=utf-8", "text/html; charset=utf-8", "quoted-printable"
	if html == "" {
		l.field("Content-Type", plainType)
		l.field("Content-Transfer-Encoding", encoding)
		l.WriteString("\r\n")
		return l.quoted(&l.Buffer, text)
	}
	parts := multipart.NewWriter(&l.Buffer)
	l.field("Content-Type", "multipart/alternative;", "boundary="+parts.Boundary())
	l.WriteString("\r\n")
	for _, part := range []struct{ kind, text string }{{plainType, text}, {htmlType, html}} {
		w, err := parts.CreatePart(textproto.MIMEHeader{"Content-Type": {part.kind},
			"Content-Transfer-Encoding": {encoding}})
		if err == nil {
			err = l.quoted(w, part.text)
		}
		if err != nil {
			return err
		}
	}
	return parts.Close()
}

// newlines normalizes line ends to "\n": quotedprintable loses one after "\r" and a control character.
var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

func (l *letter) quoted(w interface{ Write([]byte) (int, error) }, text string) error {
	q := quotedprintable.NewWriter(w)
	if _, err := q.Write([]byte(newlines.Replace(strings.ToValidUTF8(text, "\uFFFD")))); err != nil {
		return err
	}
	return q.Close()
}

// mailbox returns a name with an address, or only the address.
func mailbox(name, address string) []string {
	if name = plain(name); name == "" {
		return []string{address}
	}
	return append(phrase(name, true), "<"+address+">")
}

// maxPlain is the longest word that is written unencoded; the line of a header may have 998 characters.
const maxPlain = 60

// phrase returns the words of a header that contain text: unchanged if they are ASCII of ordinary length that cannot be
// taken for encoded words, otherwise encoded according to RFC 2047. The words of a name are quoted if they contain
// anything but letters and digits.
func phrase(text string, quote bool) []string {
	text = plain(text)
	words := strings.Fields(text)
	simple := ascii(text) && !strings.Contains(text, "=?")
	for _, word := range words {
		simple = simple && len(word) <= maxPlain
	}
	if !simple {
		return encoded(text)
	}
	if quote && strings.ContainsFunc(text,
		func(r rune) bool { return r != ' ' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		return strings.Fields(`"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`)
	}
	return words
}

// encoded splits text into encoded words of RFC 2047, none of which splits a character.
func encoded(text string) []string {
	const most = 39 // bytes, which are 64 characters encoded
	var words []string
	for text != "" {
		n := 0
		for n < len(text) {
			_, size := utf8.DecodeRuneInString(text[n:])
			if n+size > most {
				break
			}
			n += size
		}
		words = append(words, "=?utf-8?b?"+base64.StdEncoding.EncodeToString([]byte(text[:n]))+"?=")
		text = text[n:]
	}
	return words
}

// plain returns text as one line of valid UTF-8: control characters and runs of white space become one blank.
func plain(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return strings.Join(strings.Fields(text), " ")
}

// sendable reports whether an address can be written unchanged: no name, no comment, nothing quoted.
func sendable(address string) bool {
	a, err := netmail.ParseAddress(address)
	return err == nil && a.Name == "" && a.Address == address && len(address) <= 254
}

func ascii(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
}

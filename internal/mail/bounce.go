package mail

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	netmail "net/mail"
	"regexp"
	"strconv"
	"strings"
)

// Bounce is a mail server's report of a message that it could not deliver. Anybody can forge one, so it counts only if
// MessageID is that of a message sent to Recipient.
type Bounce struct {
	Recipient string // address in the message, otherwise the last one known to the server
	Status    string // enhanced status (RFC 3463), such as 5.1.1; "": the report has none
	Permanent bool   // the address accepts no mail, as with Refused; otherwise only this message failed
	Reason    string // one line of the server, at most 500 characters
	MessageID string // of the message that failed, without <>; "": the report does not say
}

// ErrNoBounce is the error for a message that reports no failure, such as a report of a delay.
var ErrNoBounce = errors.New("no report of a failed delivery")

// Limits of a report. Ours contain a copy of a message of a few kilobytes.
const (
	maxBounce = 4 << 20 // bytes
	maxParts  = 50
	maxDepth  = 6
)

// ParseBounce parses the report of a failed delivery in the form of RFC 3464 and RFC 6522, or in the free form of Exim,
// whose header X-Failed-Recipients names the address. Of several addresses it returns the first that failed; a message
// of ours has only one. It returns ErrNoBounce if a message is no such report, and another error if it is too large or
// cannot be read.
func ParseBounce(r io.Reader) (Bounce, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxBounce+1))
	if err != nil {
		return Bounce{}, fmt.Errorf("bounce: %w", err)
	}
	if len(raw) > maxBounce {
		return Bounce{}, fmt.Errorf("bounce: it is larger than %d MiB", maxBounce>>20)
	}
	m, err := netmail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return Bounce{}, fmt.Errorf("bounce: %w", err)
	}
	var rep report
	rep.read(m.Header.Get, m.Body, 0)
	b, ok := rep.status()
	if rep.groups == nil {
		b, ok = rep.parseFreeForm(m.Header.Get("X-Failed-Recipients"))
	}
	if !ok {
		return Bounce{}, ErrNoBounce
	}
	b.MessageID = cmp.Or(rep.original, id(m.Header.Get("In-Reply-To")), rep.originalMessageID())
	return b, nil
}

// report is the content of the parts of a message.
type report struct {
	parts    int
	groups   []map[string]string // of the delivery status: that of the message, then one per address
	original string              // Message-ID in the copy of what failed
	text     string              // first part for people
}

// read reads one part and the parts in it. A part that cannot be read is skipped: the rest may be enough.
func (rep *report) read(header func(string) string, body io.Reader, depth int) {
	if rep.parts++; rep.parts > maxParts || depth > maxDepth {
		return
	}
	kind, parameters, err := mime.ParseMediaType(header("Content-Type"))
	if err != nil {
		kind = "text/plain"
	}
	if strings.HasPrefix(kind, "multipart/") {
		for parts := multipart.NewReader(body, parameters["boundary"]); ; {
			part, err := parts.NextRawPart()
			if err != nil {
				return
			}
			rep.read(part.Header.Get, part, depth+1)
		}
	}
	switch strings.ToLower(header("Content-Transfer-Encoding")) {
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	}
	content, err := io.ReadAll(body)
	if err != nil && len(content) == 0 {
		return
	}
	switch kind {
	case "message/delivery-status", "message/global-delivery-status":
		if rep.groups == nil {
			rep.groups = groups(content)
		}
	case "message/rfc822", "message/global", "text/rfc822-headers", "message/global-headers", "message/rfc822-headers":
		if g := groups(content); rep.original == "" && len(g) > 0 {
			rep.original = id(g[0]["message-id"])
		}
	case "text/plain":
		if rep.text == "" {
			rep.text = string(content)
		}
	}
}

// status reads the delivery status.
func (rep *report) status() (Bounce, bool) {
	for _, g := range rep.groups {
		to := cmp.Or(recipient(g["original-recipient"]), recipient(g["final-recipient"]))
		if to == "" || !strings.EqualFold(first(g["action"]), "failed") {
			continue
		}
		reason := g["diagnostic-code"]
		if _, text, typed := strings.Cut(reason, ";"); typed {
			reason = text
		}
		code, said := findAnswer(reason)
		status := statusOf(first(g["status"]))
		// the server's own answer is more reliable
		if said != "" && (status == "" || strings.HasSuffix(status, ".0.0")) {
			status = said
		}
		return failed(to, cmp.Or(code, 550), status, reason), true
	}
	return Bounce{}, false
}

// parseFreeForm reads a report that is a text for people, to the addresses of the header X-Failed-Recipients: Exim's
// before its version 4.87, and those of programs that adopted the header.
func (rep *report) parseFreeForm(addresses string) (Bounce, bool) {
	address, _, _ := strings.Cut(addresses, ",")
	to := recipient(address)
	if to == "" {
		return Bounce{}, false
	}
	reason, _, _ := strings.Cut(rep.text, "\n------ This is a copy of ")
	code, status := findAnswer(reason)
	if at := replied.FindStringIndex(reason); at != nil {
		reason, _, _ = strings.Cut(reason[at[0]:], "\n\n")
	}
	return failed(to, code, cmp.Or(status, "5.0.0"), reason), true
}

func failed(to string, code int, status, reason string) Bounce {
	return Bounce{Recipient: to, Status: status, Reason: oneLine(reason),
		Permanent: strings.HasPrefix(status, "5") && kindOfAnswer(code, status, reason, true) == Refused}
}

// originalMessageID returns the Message-ID in a copy of the message's header within the text.
func (rep *report) originalMessageID() string {
	m := copiedID.FindStringSubmatch(rep.text)
	if m == nil {
		return ""
	}
	return id(m[1])
}

var (
	replied  = regexp.MustCompile(`\b([45]\d\d)[ -](?:([45]\.\d{1,3}\.\d{1,3})\b)?`)
	copiedID = regexp.MustCompile(`(?im)^message-id:\s*(<[^>\s]*>)`)
)

// findAnswer returns the first answer of a server in a text: its code, and its enhanced status if it has one.
func findAnswer(text string) (code int, status string) {
	m := replied.FindStringSubmatch(text)
	if m == nil {
		return 0, ""
	}
	code, _ = strconv.Atoi(m[1])
	return code, m[2]
}

// groups reads header fields in groups separated by empty lines; names are lower-cased, and the first of equal names in
// a group counts.
func groups(content []byte) []map[string]string {
	var list []map[string]string
	var group map[string]string
	name := ""
	lines := bufio.NewScanner(bytes.NewReader(content))
	lines.Buffer(nil, maxBounce)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case strings.TrimSpace(line) == "":
			group, name = nil, ""
		case line[0] == ' ' || line[0] == '\t':
			if name != "" && len(group[name]) < 8<<10 {
				group[name] += " " + strings.TrimSpace(line)
			}
		default:
			before, after, ok := strings.Cut(line, ":")
			if name = ""; !ok {
				continue
			}
			if group == nil {
				if len(list) == maxParts {
					return list
				}
				group = map[string]string{}
				list = append(list, group)
			}
			if key := strings.ToLower(strings.TrimSpace(before)); group[key] == "" {
				name, group[key] = key, strings.TrimSpace(after)
			}
		}
	}
	return list
}

// recipient returns the address of a field such as "rfc822; ada@example.org".
func recipient(field string) string {
	_, address, ok := strings.Cut(field, ";")
	if !ok {
		address = field
	}
	address = strings.Trim(strings.TrimSpace(address), "<>")
	if !sendable(address) {
		return ""
	}
	return address
}

// id returns a Message-ID without <>; "" if it is not one that we could have written.
func id(field string) string {
	text := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(field), "<"), ">")
	if !isMessageID(text) {
		return ""
	}
	return text
}

// first returns the first word of a field, without a comment after it.
func first(field string) string {
	words := strings.Fields(field)
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

package notice_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"aliquot/internal/exchange/request"
	"aliquot/internal/notice"

	"golang.org/x/net/html"
)

// everyMessage is each message of these tests by name.
func everyMessage(t *testing.T) map[string]notice.Text {
	t.Helper()
	w, all := writer(t), map[string]notice.Text{}
	keep := func(name string, m notice.Text, err error) {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all[name] = m
	}
	for _, kind := range request.EventKinds {
		for _, told := range tellings(t, kind) {
			m, err := w.Event(told.event)
			keep(string(kind)+" "+told.name, m, err)
			m, err = w.Event(bare(told.event))
			keep(string(kind)+" with nothing that may be absent, "+told.name, m, err)
		}
	}
	for name, d := range digests(t) {
		m, err := w.Digest(d)
		keep("digest "+name, m, err)
	}
	m, err := w.Digest(notice.Digest{})
	keep("digest of nothing", m, err)
	m, err = w.Invitation(invitation("member"))
	keep("invitation", m, err)
	m, err = w.Invitation(notice.Invitation{})
	keep("invitation with nothing", m, err)
	m, err = w.Match(match(12))
	keep("match", m, err)
	m, err = w.Match(notice.Match{})
	keep("match of nothing", m, err)
	for _, kind := range notice.MembershipKinds {
		m, err := w.Membership(membership(kind, "Ask Ruth.\n\nOr me."))
		keep("membership "+string(kind), m, err)
		m, err = w.Membership(notice.Membership{Kind: kind})
		keep("membership with nothing "+string(kind), m, err)
	}
	return all
}

// bare is e without everything that may be absent.
func bare(e notice.Event) notice.Event {
	d := e.Event.Detail
	e.Event.Detail = request.EventDetail{From: d.From, To: d.To, Slot: d.Slot, Party: d.Party}
	r := e.Request
	e.Request.Request = request.Request{ID: r.ID, Requester: r.Requester, AssignedTo: r.AssignedTo, Status: r.Status,
		Active: r.Active}
	return notice.Event{Event: e.Event, Category: e.Category, Request: e.Request, Reader: e.Reader}
}

func TestMessages_SayTheSameInTextAndHTML(t *testing.T) {
	t.Parallel()
	for name, m := range everyMessage(t) {
		sameFacts(t, name, m)
	}
}

type failer interface {
	Helper()
	Errorf(format string, args ...any)
}

// sameFacts compares the words, in their order, of the text with those that the HTML shows, with the
// address of each link. The signs of the text that set things apart are no words.
func sameFacts(t failer, name string, m notice.Text) {
	t.Helper()
	text, shown := words(m.Text), words(visible(t, m.HTML))
	for i := range min(len(text), len(shown)) {
		if text[i] != shown[i] {
			t.Errorf("%s: the text continues %q where the HTML continues %q", name, text[i:min(i+8, len(text))],
				shown[i:min(i+8, len(shown))])
			return
		}
	}
	if len(text) != len(shown) {
		t.Errorf("%s: got %d words in the text, %d in the HTML", name, len(text), len(shown))
	}
}

func words(s string) []string {
	return strings.FieldsFunc(s,
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '\uFFFD' })
}

// mayHave are the elements that a message may have, and their attributes.
var mayHave = map[string][]string{
	"html": {"lang", "dir"}, "head": nil, "meta": {"charset", "name", "content"}, "title": nil, "body": {"style"},
	"main": {"style"},
	"h1":   {"style"}, "h2": {"style"}, "h3": {"style"}, "p": {"style"}, "a": {"href", "style"}, "ul": {"style"},
	"li":         {"style"},
	"blockquote": {"dir", "style"}, "br": nil, "section": {"style"}, "footer": {"style"},
}

// visible is what an HTML message shows, with the address behind the words of each link. It fails on
// any element or attribute that the templates do not have.
func visible(t failer, message string) string {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(message))
	if err != nil {
		t.Errorf("HTML: %v", err)
		return ""
	}
	var b strings.Builder
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		switch n.Type {
		case html.TextNode:
			b.WriteString(n.Data)
		case html.CommentNode:
			t.Errorf("got the comment %q", n.Data)
		case html.ElementNode:
			attributes, ok := mayHave[n.Data]
			if !ok {
				t.Errorf("got an element %s", n.Data)
			}
			for _, a := range n.Attr {
				if !slices.Contains(attributes, a.Key) || strings.Contains(a.Val, "ZgotmplZ") || a.Key == "style" &&
					strings.Contains(a.Val, "url(") {
					t.Errorf("got an attribute %s=%q of %s", a.Key, a.Val, n.Data)
				}
			}
			if n.Data == "title" {
				return
			}
			b.WriteByte(' ')
		}
		href := ""
		for _, a := range n.Attr {
			if a.Key == "href" {
				href = a.Val
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
		b.WriteString(" " + href + " ")
	}
	walk(doc)
	return b.String()
}

package notice_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"aliquot/internal/exchange/request"
	"aliquot/internal/notice"

	"pgregory.net/rapid"
)

// anything is what a person may have got into a name, a title or a text.
func anything() *rapid.Generator[string] {
	evil := rapid.SampledFrom([]string{
		"\r\nBcc: everyone@example.org\r\n\r\n", "\n.\n", "<script>alert(1)</script>",
		`"><img src=//evil.example/x.png>`, "<!--", "]]>", "</title>", "</main></body>",
		"{{.Link}}", "%s%!d(MISSING)", "&lt;b&gt;", "javascript:alert(1)", "https://evil.example/login",
		"HTTP://evil.example", "----", "\n----\n",
		"\nYou get this e-mail because you won.\n", "You get this e-mail because you won.",
		"\nStop e-mail:\nhttps://evil.example/\n", "\u202egpj.exe", "\u2066x\u2069", "\u200b", "\ufeff",
		"\x00", "\x01", "\x1b[31m", "\xff\xfe", "\u0085", "\u2028", "\u2029", "\u00a0", "\t", " ", "\U000E0041",
		"e\u0301\u0301\u0301", "👩\u200d🔬", "שלום", "東京都立大学", "> ", "- ", "== x ==",
		strings.Repeat("long", 40), strings.Repeat("word ", 120),
	})
	return rapid.Map(rapid.SliceOfN(rapid.OneOf(evil, rapid.String(), rapid.StringMatching(`[A-Za-z ]{1,40}`)), 0, 6),
		func(parts []string) string { return strings.Join(parts, "") })
}

// address is any web address, of ours or not.
var address = regexp.MustCompile(`(?i)https?://`)

// clean holds what is true of every message, whatever people wrote: links is how many links of ours
// stand above the line of the footer, below is how many behind it.
func clean(t *rapid.T, m notice.Text, links, below int) {
	t.Helper()
	if n := utf8.RuneCountInString(m.Subject); n == 0 || n > 150 {
		t.Fatalf("got a subject of %d characters: %q", n, m.Subject)
	}
	for _, s := range []string{m.Subject, strings.ReplaceAll(m.Text, "\n", ""), strings.ReplaceAll(m.HTML, "\n", "")} {
		if i := strings.IndexFunc(s,
			func(r rune) bool {
				return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp,
					unicode.Bidi_Control)
			}); i >= 0 {
			t.Fatalf("got a character that nobody sees at %d of %q", i, s)
		}
		if !utf8.ValidString(s) {
			t.Fatalf("got no UTF-8: %q", s)
		}
	}
	var ours []string // the lines that no person wrote
	for l := range strings.Lines(m.Text) {
		if !strings.HasPrefix(strings.TrimLeft(l, " "), "> ") {
			ours = append(ours, l)
		}
	}
	above, footer, _ := strings.Cut(strings.Join(ours, ""), "\n----\n")
	if n := len(address.FindAllString(above, -1)); n != links {
		t.Fatalf("got %d links, want %d:\n%s", n, links, m.Text)
	}
	if n := len(address.FindAllString(footer, -1)); n != below {
		t.Fatalf("got %d links in the footer, want %d:\n%s", n, below, m.Text)
	}
	for i, l := range ours[1:] { // the first line begins with who did it
		if strings.HasPrefix(l, "You get this") && !strings.Contains(footer, l) || l == "----\n" &&
			!strings.HasPrefix(strings.Join(ours[i+2:], ""), "You get this") {
			t.Fatalf("got a line that passes for the footer: %q in\n%s", l, m.Text)
		}
	}
	sameFacts(t, "hostile", m)
}

func TestMessages_EscapeWhatPeopleWrite(t *testing.T) {
	t.Parallel()
	w := writer(t)
	var all []told
	for _, kind := range request.EventKinds {
		all = append(all, tellings(t, kind)...)
	}
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) string { return anything().Draw(t, label) }
		e := rapid.SampledFrom(all).Draw(t, "told").event
		e.Actor, e.Requester, e.Organization = draw("actor"), draw("requester"), draw("organization")
		e.Request.Material, e.Request.Quantity, e.Request.Note, e.Request.Abstract = draw("title"), draw("quantity"),
			draw("note"), draw("abstract")
		e.Request.Rejection, e.Request.Override = draw("rejection"), draw("override")
		e.Request.Shipment = &request.Shipment{Carrier: draw("carrier"), Tracking: draw("tracking"),
			Conditions: draw("conditions")}
		e.Event.Detail.Text, e.Event.Detail.Reason, e.Event.Detail.Override = draw("text"), draw("reason"),
			draw("override of the event")
		m, err := w.Event(e)
		if err != nil {
			t.Fatal(err)
		}
		clean(t, m, 1, 1)
		if rest, named := strings.CutPrefix(m.Subject, fmt.Sprintf("Request %d: ", e.Request.ID)); !named ||
			rest == "" {
			t.Fatalf("got the subject %q, want which request it is", m.Subject)
		}

		e.Unsubscribe = ""
		other := e
		other.Request.ID = 40
		m, err = w.Digest(notice.Digest{Reader: e.Reader, Events: []notice.Event{e, other, e},
			Waiting: []notice.Waiting{{Request: e.Request, Organization: e.Organization, Requester: e.Requester}}})
		if err != nil {
			t.Fatal(err)
		}
		clean(t, m, 4, 0)
	})
}

func TestMessages_EscapeInvitations(t *testing.T) {
	t.Parallel()
	w := writer(t)
	rapid.Check(t, func(t *rapid.T) {
		name, lab, note := anything().Draw(t, "name"), anything().Draw(t, "lab"), anything().Draw(t, "note")
		m, err := w.Invitation(notice.Invitation{Inviter: name, Organization: lab, Role: "member", Expires: start,
			Link: "https://aliquot.example.org/invitations/k3y"})
		if err != nil {
			t.Fatal(err)
		}
		clean(t, m, 1, 0)
		kind := rapid.SampledFrom(notice.MembershipKinds).Draw(t, "kind")
		if m, err = w.Membership(notice.Membership{Kind: kind, Person: name, Organization: lab, Note: note,
			Link: "https://aliquot.example.org/labs/5"}); err != nil {
			t.Fatal(err)
		}
		clean(t, m, 1, 0)
	})
}

func TestMessages_EscapeSavedSearches(t *testing.T) {
	t.Parallel()
	w := writer(t)
	rapid.Check(t, func(t *rapid.T) {
		m := match(12)
		m.Search.Name, m.Search.Search = anything().Draw(t, "name"), anything().Draw(t, "search")
		m.Materials[0].Title = anything().Draw(t, "title")
		words, err := w.Match(m)
		if err != nil {
			t.Fatal(err)
		}
		clean(t, words, 11, 1)
		if words, err = w.Digest(notice.Digest{Matches: []notice.Match{m, m}}); err != nil {
			t.Fatal(err)
		}
		clean(t, words, 3, 0)
	})
}

func TestSubject_OnlyTheTitleIsShortened(t *testing.T) {
	t.Parallel()
	w := writer(t)
	for _, kind := range request.EventKinds {
		for _, told := range tellings(t, kind) {
			e := told.event
			short, err := w.Event(e)
			if err != nil {
				t.Fatal(err)
			}
			e.Request.Material = strings.Repeat("Human colon organoid line ", 19)
			long, err := w.Event(e)
			if err != nil {
				t.Fatal(err)
			}
			before, after, found := strings.Cut(short.Subject, "HeLa")
			cut, _ := strings.CutPrefix(long.Subject, before)
			cut, ok := strings.CutSuffix(cut, after)
			if !found || !ok || !strings.HasPrefix(e.Request.Material, strings.TrimSuffix(cut, "…")) ||
				!strings.HasSuffix(cut, "…") {
				t.Errorf("%s %s: got %q and %q, want only the title to differ", kind, told.name, short.Subject,
					long.Subject)
			}
			if n := utf8.RuneCountInString(long.Subject); n > 150 || n < 140 && utf8.RuneCountInString(cut) < 119 {
				t.Errorf("%s %s: got %d characters, want about 150: %q", kind, told.name, n, long.Subject)
			}
		}
	}
}

func TestText_WrapsNeverInsideAWordOrAName(t *testing.T) {
	t.Parallel()
	w := writer(t)
	e := tellings(t, request.Messaged)[0].event
	url := "https://irb.example.org/" + strings.Repeat("0123456789/", 12)
	e.Event.Detail.Text = strings.Repeat("receptor ", 40) + url + strings.Repeat(" kept  apart", 20) +
		"\n    indented\n\n\n" + strings.Repeat("x", 300)
	e.Request.Material = "Human colon organoids that were derived from the tissue of one patient in Utrecht"
	m, err := w.Event(e)
	if err != nil {
		t.Fatal(err)
	}
	for _, whole := range []string{"> " + url + "\n", "> " + strings.Repeat("x", 300) + "\n", ">     indented\n>\n>\n",
		"\nabout " + e.Request.Material + ".\n"} {
		if !strings.Contains(m.Text, whole) {
			t.Errorf("got no %q in\n%s", whole, m.Text)
		}
	}
	for l := range strings.Lines(m.Text) {
		if utf8.RuneCountInString(l) > 77 && strings.Contains(l[10:], " ") && !strings.Contains(l, e.Request.Material) {
			t.Errorf("got a line of %d characters: %q", utf8.RuneCountInString(l), l)
		}
	}
}

func TestTimes_AreInTheReadersZone(t *testing.T) {
	t.Parallel()
	w := writer(t)
	e := tellings(t, request.Messaged)[0].event
	e.Event.At = time.Date(2026, 7, 31, 23, 30, 0, 0, time.UTC)
	for _, c := range []struct {
		in   *time.Location
		want string
	}{
		{nil, "31 July 2026, 23:30 UTC."},
		{berlin, "1 August 2026, 01:30 CEST."},
		{mustLoad("America/New_York"), "31 July 2026, 19:30 EDT."},
		{mustLoad("America/Sao_Paulo"), "31 July 2026, 20:30 (America/Sao_Paulo)."},
	} {
		e.Location = c.in
		m, err := w.Event(e)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.ReplaceAll(m.Text, "\n", " "), c.want) {
			t.Errorf("in %v: got no %q in\n%s", c.in, c.want, m.Text)
		}
	}
}

func TestDigest_LongIsBoundedAndCountsTheRest(t *testing.T) {
	t.Parallel()
	w := writer(t)
	d := digests(t)["of_both"]
	one := d.Events[0]
	d.Events, d.Waiting = nil, nil
	for i := range 62 {
		e := one
		e.Request.ID = int64(100 + i)
		d.Events = append(d.Events, e)
		d.Waiting = append(d.Waiting, notice.Waiting{Request: e.Request})
	}
	for range 24 {
		d.Events = append(d.Events, d.Events[61])
	}
	m, err := w.Digest(d)
	if err != nil {
		t.Fatal(err)
	}
	if want := "86 events in 62 requests; 62 are waiting for you"; m.Subject != want {
		t.Errorf("got the subject %q, want %q", m.Subject, want)
	}
	for text, times := range map[string]int{
		"\nRequest 1": 100, "And 12 more.": 1, "And in 12 more.": 1, "- 5 earlier events.": 1,
		"accepted your request": 49 + 20,
		"\nRequest 100 ":        1, "\nRequest 149 ": 2, "\nRequest 161 ": 1,
	} {
		if n := strings.Count(m.Text, text); n != times {
			t.Errorf("got %q %d times, want %d", text, n, times)
		}
	}
}

func TestBaseURL_IsAWebAddress(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "aliquot.example.org", "javascript:alert(1)", "ftp://aliquot.example.org",
		"https://", "http://[::1"} {
		if _, err := notice.New(address); err == nil {
			t.Errorf("%q: got no error", address)
		}
	}
	if _, err := writer(t).Membership(notice.Membership{Kind: "left"}); err == nil {
		t.Error("a kind of membership without words: got no error")
	}
}

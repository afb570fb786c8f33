package notice

import (
	"fmt"
	"time"

	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/notify"
)

// Match holds the new results of a saved search, for its owner.
type Match struct {
	notify.Match
	At          time.Time
	Location    *time.Location // the reader's time zone; nil: UTC
	Unsubscribe string         // address at which the reader unsubscribes from mail about saved searches; "": none
}

// Match writes about the new results of a saved search.
func (w *Writer) Match(m Match) (Text, error) {
	p := page{
		Subject: m.new() + " in your saved search " + m.name(maxSubject/2),
		Lead:    m.new() + " in your saved search " + m.name(maxName) + ".",
		Facts:   []string{fmt.Sprintf("Found on %s.", moment(m.At, zone(m.Location)))},
		Parts:   []part{{Title: "What is new", Groups: w.matched(m), More: m.more()}},
		Link:    link{"Open the search", w.search(m)},
		Why:     "You get this e-mail from Aliquot because you asked for alerts from this saved search.",
	}
	if m.Unsubscribe != "" {
		p.Change = link{"Stop e-mail about " + mailing.SearchNotif.Words(), m.Unsubscribe}
	}
	return w.write(p)
}

func (m Match) new() string { return count(m.Count, "material is new", "materials are new") }

func (m Match) name(most int) string { return glued(m.Search.Name, most, "without a name") }

// more returns how many materials are not listed.
func (m Match) more() string {
	if more := m.Count - len(m.Materials); more > 0 {
		return fmt.Sprintf("And %d more.", more)
	}
	return ""
}

// matched returns the materials, each with its page.
func (w *Writer) matched(m Match) []group {
	list := make([]group, len(m.Materials))
	for i, t := range m.Materials {
		list[i] = group{Title: fmt.Sprintf("Material %d: ", t.ID) + glued(t.Title, maxTitle, "a material"),
			URL: fmt.Sprintf("%s/materials/%d", w.base, t.ID)}
	}
	return list
}

// search returns the page with the results of a saved search.
func (w *Writer) search(m Match) string { return w.base + m.Search.Address("/search") }

// found returns the part of a digest about saved searches.
func (w *Writer) found(matches []Match, in *time.Location) part {
	p := part{Title: "New in your saved searches"}
	if more := len(matches) - maxPartRequests; more > 0 {
		matches, p.More = matches[more:], fmt.Sprintf("And in %d more.", more)
	}
	for _, m := range matches {
		g := group{Title: "Saved search: " + m.name(maxName), URL: w.search(m)}
		g.Lines = append(g.Lines, digestEvent{Text: moment(m.At, in) + ": " + m.new() + "."})
		for _, t := range m.Materials {
			g.Lines = append(g.Lines, digestEvent{Text: glued(t.Title, maxTitle, "a material")})
		}
		if more := m.more(); more != "" {
			g.Lines = append(g.Lines, digestEvent{Text: more})
		}
		p.Groups = append(p.Groups, g)
	}
	return p
}

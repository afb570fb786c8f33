package term

import "slices"

// Link is a step in the lineage of a material: how it came from what was received, from whom, and under which terms. A
// material that came from several others has a link to each; one that its lab made has one from nothing.
type Link struct {
	Material  int64
	From      int64 // the material that it came from; 0: none
	Relation  Relation
	Provider  int64 // institution that it was received from; 0: it was not received
	Agreement string
	Terms     []Term
	Paper     bool // its agreement was signed on paper, so that nobody knows its terms here
}

// Elsewhere is the provider of what was received from a holder who is no institution here.
const Elsewhere = -1

// Recipient is to whom a material would go.
type Recipient struct {
	Institution int64
	Nonprofit   bool
	UnknownKind bool // nobody stated whether it is
	Commercial  bool // purpose
}

// Verdict is yes, no, or ask the provider named in the reasons.
type Verdict string

// The verdicts.
const (
	Yes Verdict = "YES"
	No  Verdict = "NO"
	Ask Verdict = "ASK"
)

// Verdicts are all of them, the strictest last.
var Verdicts = []Verdict{Yes, Ask, No}

// Reason is what a link of the lineage says, and the term that counts there.
type Reason struct {
	Material  int64
	Provider  int64 // 0: it was not received
	Agreement string
	Term      Term // empty: none counts
	Verdict   Verdict
	Why       string
}

// MayShare returns whether the material may go to the recipient, with what each link says. Every link back
// to the origins counts, and the strictest answer holds; a substance that does not contain what it was made with ends
// the chain, as does what goes back to its provider. A lineage that refers to a material without a link, or to itself,
// is for people: Ask.
func MayShare(lineage []Link, material int64, to Recipient) (Verdict, []Reason) {
	w := walk{lineage: lineage, to: to, open: map[step]bool{}}
	w.follow(step{material, false})
	verdict := Yes
	for _, r := range w.reasons {
		verdict = strictest(verdict, r.Verdict)
	}
	return verdict, w.reasons
}

func strictest(a, b Verdict) Verdict {
	return Verdicts[max(slices.Index(Verdicts, a), slices.Index(Verdicts, b))]
}

// step is a material on the way back to the origins; modified reports whether what would be passed on is a modification
// of it.
type step struct {
	material int64
	modified bool
}

type walk struct {
	lineage []Link
	to      Recipient
	open    map[step]bool // false: all behind the step was judged
	reasons []Reason
}

func (w *walk) ask(material int64, why string) {
	w.reasons = append(w.reasons, Reason{Material: material, Verdict: Ask, Why: why})
}

func (w *walk) follow(s step) {
	if open, seen := w.open[s]; seen {
		if open {
			w.ask(s.material, "The lineage refers to itself.")
		}
		return
	}
	w.open[s] = true
	known := false
	for _, link := range w.lineage {
		if link.Material != s.material {
			continue
		}
		known = true
		modified := s.modified || link.Relation == Modification
		w.reasons = append(w.reasons, link.judge(w.to, modified)...)
		if link.From != 0 && link.Relation != Substance && (link.Provider == 0 || link.Provider != w.to.Institution) {
			w.follow(step{link.From, modified})
		}
	}
	if !known {
		w.ask(s.material, "Nothing is known of where this material came from.")
	}
	w.open[s] = false
}

// judge returns what the terms of the link say about the recipient; modified reports whether what would be passed on
// is a modification of what the link is about. Giving a material back is always allowed.
func (l Link) judge(to Recipient, modified bool) (reasons []Reason) {
	say := func(t Term, v Verdict, why string) {
		reasons = append(reasons, Reason{l.Material, l.Provider, l.Agreement, t, v, why})
	}
	switch {
	case l.Relation == Substance:
		say("", Yes, "It does not contain what it was made with.")
		return reasons
	case l.Provider == 0 && l.From == 0:
		say("", Yes, "Its lab made it.")
		return reasons
	case l.Provider == 0:
		return nil
	case l.Provider == to.Institution:
		say("", Yes, "It goes back to its provider.")
		return reasons
	case l.Paper:
		say("", Ask, "Its agreement is on paper, so that its terms are not known here.")
		return reasons
	}
	for _, t := range l.Terms {
		switch t {
		case NoRedistribution:
			if modified {
				say(t, Ask, "A modification contains the material, so its provider must be protected or asked.")
			} else {
				say(t, No, "It may not be passed on.")
			}
		case AskFirst:
			say(t, Ask, "The provider is asked before it is passed on.")
		case NonCommercial:
			switch {
			case to.Commercial || !to.Nonprofit && !to.UnknownKind:
				say(t, No, "It is for non-commercial use only.")
			case to.UnknownKind:
				say(t, Ask, "It is for non-commercial use only, and nobody stated what kind of institution gets it.")
			}
		case SameTerms:
			say(t, Yes, "The recipient agrees to the same terms.")
		}
	}
	if len(reasons) == 0 {
		say("", Yes, "Its terms leave this free.")
	}
	return reasons
}

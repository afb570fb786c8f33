package instrument

import "time"

// Precedent is what a provider and a recipient have executed before by an instrument, for materials of a category.
type Precedent struct {
	Instrument string // its id
	Category   string
	Times      int       // how many of the newest MaxPrecedents agreements of the two are by it
	Agreement  int64     // the newest of them
	Version    string    // of the instrument, in the newest
	Text       string    // SHA-256 of that version
	On         time.Time // when the newest was executed
}

// MaxPrecedents is how many executed agreements of two institutions are looked at, the newest.
const MaxPrecedents = 200

// Settled reports whether one of the precedents is by this version of the instrument, word for word, and was executed
// after some moments.
func (i Instrument) Settled(list []Precedent, after ...*time.Time) bool {
	for _, p := range list {
		settled := p.Instrument == i.ID && p.Text == i.SHA256
		for _, moment := range after {
			settled = settled && (moment == nil || p.On.After(*moment))
		}
		if settled {
			return true
		}
	}
	return false
}

// Of returns the first of the precedents that is by the instrument and for one of the categories; nil: there is none.
func (i Instrument) Of(list []Precedent, categories ...string) *Precedent {
	for n, p := range list {
		for _, category := range categories {
			if p.Instrument == i.ID && p.Category == category {
				return &list[n]
			}
		}
	}
	return nil
}

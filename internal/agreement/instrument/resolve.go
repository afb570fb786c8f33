package instrument

import (
	"slices"

	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/exchange"
)

// Transfer is what an instrument is chosen for.
type Transfer struct {
	Provider  party.Institution
	Recipient party.Institution
	Masters   []party.Master // of both

	Precedents []Precedent // of both, the newest first
	Category   string
	Chemical   bool // a substance, which no category says
	Facts      requirement.Facts
	Purpose    string // RESEARCH, COMMERCIAL or CLINICAL
	Altered    bool   // the text of the agreement was changed
	Choice     string // of a member or officer: a family; empty: none
}

// Reason is a rule that fired. Citation is where it comes from, Remedy what would change it, if anything does.
type Reason struct {
	Rule     string
	Why      string
	Citation string
	Remedy   Remedy
}

// Remedy is what people can do so that an instrument becomes valid, or is chosen.
type Remedy string

// The remedies.
const (
	InstallText Remedy = "INSTALL_TEXT" // the operator
	SignMaster  Remedy = "SIGN_MASTER"  // the institution that lacks it
	StateFacts  Remedy = "STATE_FACTS"  // the lab
	StateKind   Remedy = "STATE_KIND"   // the institution whose kind is unknown
	KeepText    Remedy = "KEEP_TEXT"
	Choose      Remedy = "CHOOSE" // a member or officer, with a reason that is kept
)

// Alternative is an instrument that was not chosen, and why.
type Alternative struct {
	Instrument string // its id
	WhyNot     []Reason
	Title      string
}

// Resolution is the answer of the resolver. Instrument is nil if none is valid.
type Resolution struct {
	Instrument   *Instrument
	Because      []Reason
	Alternatives []Alternative
	Questions    []string // facts that would decide
}

// Together returns the resolution of one letter for several transfers: the instrument that all of them take, if it is
// the same; what is against another for one of them is against it for the letter.
func Together(each []Resolution) (all Resolution) {
	all = each[0]
	for _, r := range each[1:] {
		if all.Instrument == nil || r.Instrument == nil || r.Instrument.ID != all.Instrument.ID {
			all.Instrument, all.Because = nil, nil
		}
		for _, a := range r.Alternatives {
			all.Alternatives = withReasons(all.Alternatives, a)
		}
		for _, q := range r.Questions {
			if !slices.Contains(all.Questions, q) {
				all.Questions = append(slices.Clip(all.Questions), q)
			}
		}
	}
	return all
}

// withReasons returns a list of alternatives with one more, or with its reasons at the one of the same instrument.
func withReasons(list []Alternative, a Alternative) []Alternative {
	list = slices.Clone(list)
	n := slices.IndexFunc(list, func(other Alternative) bool { return other.Instrument == a.Instrument })
	if n < 0 {
		return append(list, a)
	}
	for _, why := range a.WhyNot {
		if !slices.Contains(list[n].WhyNot, why) {
			list[n].WhyNot = append(slices.Clip(list[n].WhyNot), why)
		}
	}
	return list
}

// The reasons why an instrument is not valid. Their citation is that of the instrument.
var (
	notInstalled    = Reason{"V1", "Its official text is not installed here.", "", InstallText}
	notInForce      = Reason{"V2", "It is not in force on this day.", "", ""}
	wrongParties    = Reason{"V3", "It is not for parties of these kinds.", "", ""}
	unknownKind     = Reason{"V3", "Nobody has stated what kind of party one of them is.", "", StateKind}
	wrongSubject    = Reason{"V4", "It is not for material of this sort.", "", ""}
	wrongPurpose    = Reason{"V5", "It is not for this purpose.", "", ""}
	noMaster        = Reason{"V6", "Neither has a master agreement for it in force on this day.", "", SignMaster}
	noMasterThere   = Reason{"V6", "The recipient has no master agreement for it in force on this day.", "", SignMaster}
	noMasterHere    = Reason{"V6", "The provider has no master agreement for it in force on this day.", "", SignMaster}
	exportExcluded  = Reason{"V7", "The material is controlled for export.", "", ""}
	exportUnknown   = Reason{"V7", "Nobody has stated whether the material is controlled for export.", "", StateFacts}
	encumbered      = Reason{"V8", "A third party has rights to the material.", "", ""}
	rightsUnknown   = Reason{"V8", "Nobody has stated whether a third party has rights to it.", "", StateFacts}
	proprietary     = Reason{"V9", "The material is proprietary.", "", ""}
	propertyUnknown = Reason{"V9", "Nobody has stated whether the material is proprietary.", "", StateFacts}
	alteredText     = Reason{"V10", "Its text may not be changed.", "", KeepText}
)

// The reasons of preference, for an instrument or against another that is valid too.
var (
	choice         = Reason{"P1", "It was chosen among the valid ones.", "choice of a member or officer", ""}
	providerPolicy = Reason{"P2", "The provider's playbook prefers it.", "playbook of the provider", ""}
	accepted       = Reason{"P3", "It is the first valid one that the recipient's playbook accepts.",
		"playbook of the recipient", ""}
	notPreferred = Reason{"P4", "Another valid instrument comes first.", "default of Aliquot", Choose}
	onlyValid    = Reason{"P5", "The usual one is not valid here; this is the first valid one that gives up no rights.",
		"default of Aliquot", ""}
	notAccepted = Reason{"P6", "The recipient's playbook does not accept it.", "playbook of the recipient", Choose}
	neverItself = Reason{"P7", "It gives up rights, so that people choose it, or the provider's playbook does.",
		"default of Aliquot", Choose}
	precedent = Reason{"P8", "Both institutions executed an agreement by it before, for materials of this category.",
		"precedent of both institutions", ""}
)

// Resolve returns the instrument for a transfer on a day: first what is valid, then what is preferred: a choice, the
// provider's playbook, a precedent, the usual one, each within what the recipient accepts. The same input gives the
// same answer. A fact that is unknown counts as what excludes, and is among the questions.
func (l *Library) Resolve(t Transfer, day exchange.Date) (Resolution, error) {
	fired, err := l.defaults.Match(t.point(day)...)
	if err != nil {
		return Resolution{}, err
	}
	out := Resolution{Questions: t.questions(), Alternatives: make([]Alternative, 0, len(l.instruments))}
	valid := make([]*Instrument, 0, len(l.instruments))
	for n := range l.instruments {
		i := &l.instruments[n]
		if why := i.whyNot(t, day); len(why) > 0 {
			out.Alternatives = append(out.Alternatives, Alternative{i.ID, why, i.Title})
		} else {
			valid = append(valid, i)
		}
	}
	out.Instrument, out.Because = l.prefer(
		t,
		valid,
		Reason{Rule: fired[0].ID, Why: fired[0].Why, Citation: fired[0].Citation},
		fired[0].Then,
	)
	for _, i := range valid {
		why := notPreferred
		switch {
		case i == out.Instrument:
			continue
		case !t.Recipient.Playbook.Accepts(i.Family):
			why = notAccepted
		case out.Instrument == nil && i.OnlyChosen:
			why = neverItself
		}
		out.Alternatives = append(out.Alternatives, Alternative{i.ID, []Reason{why}, i.Title})
	}
	return out, nil
}

func (l *Library) prefer(t Transfer, valid []*Instrument, usual Reason, family string) (*Instrument, []Reason) {
	find := func(family string, list []*Instrument) *Instrument {
		for _, i := range list {
			if i.Family == family {
				return i
			}
		}
		return nil
	}
	if i := find(t.Choice, valid); i != nil {
		return i, []Reason{choice}
	}
	acceptable := valid
	var because []Reason
	if accept := t.Recipient.Playbook.Accept; len(accept) > 0 {
		acceptable = nil
		for _, family := range accept {
			if i := find(family, valid); i != nil {
				acceptable = append(acceptable, i)
			}
		}
		because = []Reason{accepted}
	}
	for _, p := range t.Provider.Playbook.Provide {
		if !p.Fits(t.Category, t.Recipient.ID) {
			continue
		}
		for _, family := range p.Families {
			if i := find(family, acceptable); i != nil {
				return i, []Reason{providerPolicy}
			}
		}
	}
	for _, p := range t.Precedents {
		n := slices.IndexFunc(acceptable, func(i *Instrument) bool { return i.ID == p.Instrument && !i.OnlyChosen })
		if n >= 0 && p.Category == t.Category {
			return acceptable[n], []Reason{precedent}
		}
	}
	if i := find(family, acceptable); i != nil {
		return i, []Reason{usual}
	}
	for _, i := range acceptable {
		if !i.OnlyChosen {
			return i, append(because, onlyValid)
		}
	}
	return nil, nil
}

func (i *Instrument) whyNot(t Transfer, day exchange.Date) (why []Reason) {
	not := func(wrong bool, r Reason) {
		if wrong {
			r.Citation = i.Citation
			why = append(why, r)
		}
	}
	not(i.Template == "", notInstalled)
	not(!i.InForce(day), notInForce)
	if !slices.Contains(i.Parties, t.Provider.Kind) || !slices.Contains(i.Parties, t.Recipient.Kind) {
		unknown := t.Provider.Kind == party.Unknown || t.Recipient.Kind == party.Unknown
		not(unknown, unknownKind)
		not(!unknown, wrongParties)
	}
	not(!slices.Contains(i.Subjects, t.subject()), wrongSubject)
	not(!slices.Contains(i.Purposes, t.Purpose), wrongPurpose)
	if i.Master != "" {
		provider, recipient := t.have(i.Master, day)
		not(!provider && !recipient, noMaster)
		not(provider && !recipient, noMasterThere)
		not(!provider && recipient, noMasterHere)
	}
	not(i.FixedText && t.Altered, alteredText)
	if t.subject() == "PROTOCOL" { // a text, of which these facts are not known
		return why
	}
	for _, fact := range []struct {
		name         string
		answer       requirement.Answer
		yes, unknown Reason
	}{
		{"EXPORT_CONTROLLED", t.Facts.ExportControlled, exportExcluded, exportUnknown},
		{"ENCUMBERED", t.Facts.Encumbered, encumbered, rightsUnknown},
		{"PROPRIETARY", t.Facts.Proprietary, proprietary, propertyUnknown},
	} {
		if slices.Contains(i.Excludes, fact.name) {
			not(fact.answer == requirement.Yes, fact.yes)
			not(fact.answer == requirement.Unknown, fact.unknown)
		}
	}
	return why
}

// have reports which of the two have a master agreement of a family in force towards each other.
func (t Transfer) have(family string, day exchange.Date) (provider, recipient bool) {
	_, provider = party.MasterInForce(t.Masters, family, t.Provider.ID, t.Recipient.ID, day)
	_, recipient = party.MasterInForce(t.Masters, family, t.Recipient.ID, t.Provider.ID, day)
	return provider, recipient
}

func (t Transfer) bothHave(family string, day exchange.Date) bool {
	provider, recipient := t.have(family, day)
	return provider && recipient
}

// subject returns what sort of thing is sent. What may be of human origin is treated as if it were.
func (t Transfer) subject() string {
	switch {
	case t.Category == "DATASET":
		return "DATA"
	case t.Category == "PROTOCOL":
		return "PROTOCOL"
	case t.Facts.Human != requirement.NotHuman:
		return "HUMAN"
	case t.Chemical:
		return "CHEMICAL"
	case t.Facts.PlantTreaty == requirement.Yes:
		return "PLANT"
	case t.Category == "MODEL_ORGANISM":
		return "ORGANISM"
	}
	return "BIOLOGICAL"
}

func (t Transfer) questions() (list []string) {
	if t.Category == "PROTOCOL" {
		return nil
	}
	f := t.Facts
	if f.Human == requirement.HumanUnknown && t.Category != "DATASET" {
		list = append(list, "human_derived")
	}
	for _, q := range []struct {
		fact   string
		answer requirement.Answer
	}{{"export_class", f.ExportControlled}, {"encumbrances", f.Encumbered}, {"proprietary", f.Proprietary}} {
		if q.answer == requirement.Unknown {
			list = append(list, q.fact)
		}
	}
	return list
}

// point returns the values of the columns of defaults.json, in their order.
func (t Transfer) point(day exchange.Date) []string {
	pick := func(first bool, one, other string) string {
		if first {
			return one
		}
		return other
	}
	nonprofit := func(k party.Kind) bool { return k == party.Nonprofit || k == party.Government }
	free := t.Facts.ExportControlled == requirement.No && t.Facts.Encumbered == requirement.No
	return []string{
		pick(t.bothHave("BILATERAL", day), "YES", "NO"), t.subject(),
		pick(nonprofit(t.Provider.Kind) && nonprofit(t.Recipient.Kind), "NONPROFIT", "OTHER"), t.Purpose,
		pick(free, "NO", "YES"), pick(t.bothHave("UBMTA", day), "BOTH", "NOT_BOTH"),
		pick(t.Facts.Proprietary == requirement.No, "NO", "YES"),
	}
}

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
	Category  string
	Chemical  bool // a substance, which no category says
	Facts     requirement.Facts
	Purpose   string // RESEARCH, COMMERCIAL or CLINICAL
	Altered   bool   // the text of the agreement was changed
	Choice    string // of a member or officer: a family; empty: none
}

// Reason is a rule that fired.
type Reason struct {
	Rule     string
	Why      string
	Citation string
}

// Alternative is an instrument that was not chosen, and why.
type Alternative struct {
	Instrument string
	WhyNot     []Reason
}

// Resolution is the answer of the resolver. Instrument is nil if none is valid.
type Resolution struct {
	Instrument   *Instrument
	Because      []Reason
	Alternatives []Alternative
	Questions    []string // facts that would decide
}

// The reasons why an instrument is not valid.
var (
	notInstalled   = Reason{"V1", "Its official text is not installed here.", ""}
	notInForce     = Reason{"V2", "It is not in force on this day.", ""}
	wrongParties   = Reason{"V3", "It is not for parties of these kinds.", ""}
	wrongSubject   = Reason{"V4", "It is not for material of this sort.", ""}
	wrongPurpose   = Reason{"V5", "It is not for this purpose.", ""}
	noMaster       = Reason{"V6", "Not both have its master agreement in force on this day.", ""}
	exportExcluded = Reason{"V7", "The material is controlled for export, or nobody knows.", ""}
	encumbered     = Reason{"V8", "A third party has rights to the material, or nobody knows.", ""}
	proprietary    = Reason{"V9", "The material is proprietary, or nobody knows.", ""}
	alteredText    = Reason{"V10", "Its text may not be changed.", ""}
	notPreferred   = Reason{"P4", "Another valid instrument comes first.", ""}
	choice         = Reason{"P1", "It was chosen among the valid ones.", ""}
	providerPolicy = Reason{"P2", "The provider's playbook prefers it.", ""}
	accepted       = Reason{"P3", "It is the first valid one that the recipient's playbook accepts.", ""}
	onlyValid      = Reason{
		"P5",
		"The usual one is not valid here; this is the first valid one that gives up no rights.",
		"",
	}
)

// Resolve returns the instrument for a transfer on a day: first what is valid, then what is preferred: a choice, the
// provider's playbook, the usual one, each within what the recipient accepts. The same input gives the same answer.
// A fact that is unknown counts as what excludes, and is among the questions.
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
			out.Alternatives = append(out.Alternatives, Alternative{i.ID, why})
		} else {
			valid = append(valid, i)
		}
	}
	out.Instrument, out.Because = l.prefer(
		t,
		valid,
		Reason{fired[0].ID, fired[0].Why, fired[0].Citation},
		fired[0].Then,
	)
	for _, i := range valid {
		if i != out.Instrument {
			out.Alternatives = append(out.Alternatives, Alternative{i.ID, []Reason{notPreferred}})
		}
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
		if len(p.Categories) > 0 && !slices.Contains(p.Categories, t.Category) ||
			len(p.Counterparties) > 0 && !slices.Contains(p.Counterparties, t.Recipient.ID) {
			continue
		}
		for _, family := range p.Families {
			if i := find(family, acceptable); i != nil {
				return i, []Reason{providerPolicy}
			}
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
			why = append(why, r)
		}
	}
	not(i.Template == "", notInstalled)
	not(!party.Period{From: i.From, Until: i.Until}.Holds(day), notInForce)
	not(!slices.Contains(i.Parties, t.Provider.Kind) || !slices.Contains(i.Parties, t.Recipient.Kind), wrongParties)
	not(!slices.Contains(i.Subjects, t.subject()), wrongSubject)
	not(!slices.Contains(i.Purposes, t.Purpose), wrongPurpose)
	not(i.Master != "" && !t.bothHave(i.Master, day), noMaster)
	not(i.FixedText && t.Altered, alteredText)
	if t.subject() == "PROTOCOL" { // a text, of which these facts are not known
		return why
	}
	not(slices.Contains(i.Excludes, "EXPORT_CONTROLLED") && t.Facts.ExportControlled != requirement.No, exportExcluded)
	not(slices.Contains(i.Excludes, "ENCUMBERED") && t.Facts.Encumbered != requirement.No, encumbered)
	not(slices.Contains(i.Excludes, "PROPRIETARY") && t.Facts.Proprietary != requirement.No, proprietary)
	return why
}

func (t Transfer) bothHave(family string, day exchange.Date) bool {
	_, provider := party.MasterInForce(t.Masters, family, t.Provider.ID, t.Recipient.ID, day)
	_, recipient := party.MasterInForce(t.Masters, family, t.Recipient.ID, t.Provider.ID, day)
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

package shape

import (
	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/playbook"
	"aliquot/internal/agreement/term"
	"aliquot/internal/app/institutions"
)

// Playbook is what an institution prefers, accepts and does not accept in agreements.
type Playbook struct {
	Institution int64                 `json:"institution"`
	Provide     []playbook.Preference `json:"provide"`
	Accept      []string              `json:"accept"`
	Clauses     []playbook.Clause     `json:"clauses"`
	ChangedAt   *Time                 `json:"changed_at"`
}

// ShowPlaybook returns the JSON form of the playbook of its argument.
func ShowPlaybook(i party.Institution) Playbook {
	b := i.Playbook
	return Playbook{i.ID, append([]playbook.Preference{}, b.Provide...), append([]string{}, b.Accept...),
		append([]playbook.Clause{}, b.Clauses...), timeOf(b.ChangedAt)}
}

// PlaybookComparison is where the playbooks of two institutions conflict.
type PlaybookComparison struct {
	Institution int64              `json:"institution"`
	With        int64              `json:"with"`
	Conflicts   []PlaybookConflict `json:"conflicts"`
}

// PlaybookConflict is a conflict in an instrument under which one institution provides to the other.
type PlaybookConflict struct {
	Instrument string            `json:"instrument"`
	Title      string            `json:"title"`
	Provider   int64             `json:"provider"`
	Term       *term.Term        `json:"term"`
	Of         int64             `json:"of"`
	Position   playbook.Position `json:"position"`
	Text       string            `json:"text"`
	How        string            `json:"how"`
}

// ShowComparison returns the JSON form of its argument.
func ShowComparison(k institutions.Comparison) PlaybookComparison {
	return PlaybookComparison{k.Own.ID, k.Other.ID, List(k.Conflicts,
		func(c institutions.ComparedConflict) PlaybookConflict {
			return PlaybookConflict{c.Instrument.ID, c.Instrument.Title, c.Provider.ID, termOrNull(c.Conflict),
				c.Of.ID, c.Position, c.Text(c.Of.LegalName), c.Mend(c.Of.LegalName)}
		})}
}

// termOrNull returns the term that a conflict is about; null: the form itself.
func termOrNull(c playbook.Conflict) *term.Term {
	if c.Term == "" {
		return nil
	}
	return &c.Term
}

package shape

import (
	"aliquot/internal/agreement/duty"
	"aliquot/internal/app/letters"
	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

// AgreementDuties is what is owed by an agreement.
type AgreementDuties struct {
	ClosedAt *Time           `json:"closed_at"`
	Duties   []AgreementDuty `json:"duties"`
}

// AgreementDuty is what the recipient owes by a term.
type AgreementDuty struct {
	ID        int64          `json:"id"`
	Term      string         `json:"term"`
	What      string         `json:"what"`
	DueOn     *exchange.Date `json:"due_on"`
	State     duty.State     `json:"state"`
	Text      string         `json:"text"`
	SettledBy *uuid.UUID     `json:"settled_by"`
	SettledAt *Time          `json:"settled_at"`
}

// ShowDuties returns the JSON form of its argument.
func ShowDuties(d letters.AgreementDuties) AgreementDuties {
	return AgreementDuties{timeOf(d.ClosedAt), List(d.Duties, ShowDuty)}
}

// ShowDuty returns the JSON form of its argument.
func ShowDuty(d duty.Duty) AgreementDuty {
	out := AgreementDuty{ID: d.ID, Term: string(d.Term), What: d.Words(), State: d.State, Text: d.Text,
		SettledAt: timeOf(d.SettledAt)}
	if d.DueOn != "" {
		out.DueOn = &d.DueOn
	}
	if d.SettledBy != uuid.Nil {
		out.SettledBy = &d.SettledBy
	}
	return out
}

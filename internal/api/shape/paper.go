package shape

import (
	"aliquot/internal/agreement/lint"
	"aliquot/internal/exchange/document"
)

// Papers are the checks of the papers of a request.
type Papers struct {
	Papers []PaperCheck `json:"papers"`
}

// PaperCheck is what was found in an agreement that was uploaded for a request.
type PaperCheck struct {
	Document   document.Slot      `json:"document"`
	Attachment int64              `json:"attachment"`
	State      lint.PaperState    `json:"state"`
	Problem    string             `json:"problem"`
	CheckedAt  *Time              `json:"checked_at"`
	Findings   []AgreementFinding `json:"findings"`
}

// ShowPapers returns the JSON form of its argument.
func ShowPapers(list []lint.PaperCheck) Papers {
	return Papers{List(list, func(p lint.PaperCheck) PaperCheck {
		return PaperCheck{p.Slot, p.Attachment, p.State, p.Problem, (*Time)(p.CheckedAt), List(p.Findings, showFinding)}
	})}
}

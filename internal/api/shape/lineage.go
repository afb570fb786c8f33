package shape

import (
	"aliquot/internal/agreement/term"
	"aliquot/internal/app/letters"
)

// Lineage is what a lab stated about where a material came from.
type Lineage struct {
	Origins *[]term.Origin `json:"origins"`
}

// ShowLineage returns the JSON form of its argument.
func ShowLineage(l term.Lineage) Lineage { return Lineage{orNull(l.Origins)} }

// Sharing is whether a material may be passed on to an institution.
type Sharing struct {
	To      int64           `json:"to"`
	Purpose string          `json:"purpose"`
	Verdict term.Verdict    `json:"verdict"`
	Reasons []SharingReason `json:"reasons"`
}

// SharingReason is what a link of the chain says.
type SharingReason struct {
	Material  *int64       `json:"material"`
	Agreement *int64       `json:"agreement"`
	Provider  *int64       `json:"provider"`
	Holder    string       `json:"holder"`
	Term      string       `json:"term"`
	Verdict   term.Verdict `json:"verdict"`
	Why       string       `json:"why"`
}

// ShowSharing returns the JSON form of its argument.
func ShowSharing(s letters.Sharing) Sharing {
	return Sharing{s.To.ID, s.Purpose, s.Verdict, List(s.Reasons, func(r letters.SharingReason) SharingReason {
		return SharingReason{idOrNull(r.Material), idOrNull(r.Letter), idOrNull(r.Provider), r.Holder,
			string(r.Term), r.Verdict, r.Why}
	})}
}

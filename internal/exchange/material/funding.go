package material

import "aliquot/internal/exchange"

// FundingBody is the body of POST /grants/:id/materials: the material that the grant paid for.
type FundingBody struct {
	Material exchange.Opt[exchange.Ref] `json:"material_id" alias:"material"`
}

// Funded is a material of a grant, with its requests and publication.
type Funded struct {
	Material  Shown
	Requests  int64
	Completed int64
}

// Check returns the id of the material.
func (p FundingBody) Check() (int64, error) {
	var f exchange.FieldErrors
	f.Must("material_id", p.Material.Set, "is required: the id of a material")
	return int64(p.Material.Value), f.Err()
}

// Validate implements Body.
func (p FundingBody) Validate(bool) exchange.FieldErrors {
	_, err := p.Check()
	return exchange.FieldsOf(err)
}

// Publication returns what the material was published in, "" if that is not known.
func (p Funded) Publication() string {
	m := p.Material
	switch {
	case m.PubMedID != "":
		return "PMID " + m.PubMedID
	case m.PrePrintDOI != nil && *m.PrePrintDOI != "":
		return "doi:" + *m.PrePrintDOI
	case m.PublicationTitle != nil:
		return *m.PublicationTitle
	}
	return ""
}

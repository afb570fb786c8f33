package shape

import (
	"aliquot/internal/agreement/approval"
	"aliquot/internal/agreement/party"
	"aliquot/internal/app/institutions"
)

// Institution is an institution. Its JSON has the fields of party.InstitutionFields.
type Institution struct{ shown party.Institution }

// ShowInstitution returns the JSON form of its argument.
func ShowInstitution(o party.Institution) Institution { return Institution{o} }

// MarshalJSON writes the object of o.
func (o Institution) MarshalJSON() ([]byte, error) {
	return appendObject(party.InstitutionFields, &o.shown, asItIs, "", nil)
}

// InstitutionLab is a lab of an institution. Its JSON has the fields of party.LabFields.
type InstitutionLab struct{ shown party.Lab }

// ShowInstitutionLab returns the JSON form of its argument.
func ShowInstitutionLab(o party.Lab) InstitutionLab { return InstitutionLab{o} }

// MarshalJSON writes the object of o.
func (o InstitutionLab) MarshalJSON() ([]byte, error) {
	return appendObject(party.LabFields, &o.shown, asItIs, "", nil)
}

// Affiliation is an affiliation. Its JSON has the fields of party.AffiliationFields.
type Affiliation struct{ shown party.Affiliation }

// ShowAffiliation returns the JSON form of its argument.
func ShowAffiliation(o party.Affiliation) Affiliation { return Affiliation{o} }

// MarshalJSON writes the object of o.
func (o Affiliation) MarshalJSON() ([]byte, error) {
	return appendObject(party.AffiliationFields, &o.shown, asItIs, "", nil)
}

// Position is a position. Its JSON has the fields of party.PositionFields.
type Position struct{ shown party.Position }

// ShowPosition returns the JSON form of its argument.
func ShowPosition(o party.Position) Position { return Position{o} }

// MarshalJSON writes the object of o.
func (o Position) MarshalJSON() ([]byte, error) {
	return appendObject(party.PositionFields, &o.shown, asItIs, "", nil)
}

// Authority is an authority. Its JSON has the fields of party.AuthorityFields.
type Authority struct{ shown party.Authority }

// ShowAuthority returns the JSON form of its argument.
func ShowAuthority(o party.Authority) Authority { return Authority{o} }

// MarshalJSON writes the object of o.
func (o Authority) MarshalJSON() ([]byte, error) {
	return appendObject(party.AuthorityFields, &o.shown, asItIs, "", nil)
}

// StandIn is a stand-in. Its JSON has the fields of party.StandInFields.
type StandIn struct{ shown party.StandIn }

// ShowStandIn returns the JSON form of its argument.
func ShowStandIn(o party.StandIn) StandIn { return StandIn{o} }

// MarshalJSON writes the object of o.
func (o StandIn) MarshalJSON() ([]byte, error) {
	return appendObject(party.StandInFields, &o.shown, asItIs, "", nil)
}

// Master is a master agreement. Its JSON has the fields of party.MasterFields.
type Master struct{ shown party.Master }

// ShowMaster returns the JSON form of its argument.
func ShowMaster(o party.Master) Master { return Master{o} }

// MarshalJSON writes the object of o.
func (o Master) MarshalJSON() ([]byte, error) {
	return appendObject(party.MasterFields, &o.shown, asItIs, "", nil)
}

// Approval is a standing approval. Its JSON has the fields of approval.Fields.
type Approval struct{ shown approval.Approval }

// ShowApproval returns the JSON form of its argument.
func ShowApproval(o approval.Approval) Approval { return Approval{o} }

// MarshalJSON writes the object of o.
func (o Approval) MarshalJSON() ([]byte, error) {
	return appendObject(approval.Fields, &o.shown, asItIs, "", nil)
}

// SignatoryImport is what an import of signatories did, or would do.
type SignatoryImport struct {
	DryRun       bool             `json:"dry_run"`
	Rows         int              `json:"rows"`
	Added        int              `json:"added"`
	Changed      int              `json:"changed"`
	Unchanged    int              `json:"unchanged"`
	Institutions int              `json:"institutions"`
	Faults       []SignatoryFault `json:"faults"`
}

// SignatoryFault is what is wrong in a cell of a list of signatories.
type SignatoryFault struct {
	Row    int    `json:"row"`
	Column string `json:"column"`
	Text   string `json:"text"`
}

// ShowSignatoryImport returns the JSON form of its argument.
func ShowSignatoryImport(d institutions.SignatoryImport) SignatoryImport {
	return SignatoryImport{d.DryRun, d.Rows, d.Added, d.Changed, d.Unchanged, d.Institutions,
		List(d.Faults, func(f institutions.SignatoryFault) SignatoryFault { return SignatoryFault(f) })}
}

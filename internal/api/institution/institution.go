// Package institution has the handlers of institutions, and of what is registered of them.
package institution

import (
	"io"

	"aliquot/internal/agreement/approval"
	"aliquot/internal/agreement/party"
	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
	"aliquot/internal/app/institutions"
	"aliquot/internal/exchange"
)

// Create serves POST /institutions.
func Create(c *rest.Call, in party.Patch[party.Institution]) (shape.Institution, error) {
	i, err := c.App.Institutions.Create(c.Context(), c.Actor, in)
	c.Location(err, "/institutions/%d", i.ID)
	return shape.ShowInstitution(i), err
}

// Named restricts a list of institutions to those with a name.
type Named struct {
	Name *string `query:"name" help:"Part of the legal name, without regard to case and accents."`
}

// List serves GET /institutions.
func List(c *rest.Call, in Named) ([]shape.Institution, error) {
	name := ""
	if in.Name != nil {
		name = *in.Name
	}
	page, err := c.App.Institutions.List(c.Context(), name, c.List.Page)
	return rest.AnswerList(c, page, err, shape.ShowInstitution)
}

// Get serves GET /institutions/{id}.
func Get(c *rest.Call, _ rest.None) (shape.Institution, error) {
	i, err := c.App.Institutions.Get(c.Context(), c.ID("id"))
	return shape.ShowInstitution(i), err
}

// Update serves PUT and PATCH /institutions/{id}.
func Update(c *rest.Call, in party.Patch[party.Institution]) (shape.Institution, error) {
	i, err := c.App.Institutions.Update(c.Context(), c.Actor, c.ID("id"), in, rest.IfMatch(c, shape.ShowInstitution))
	return shape.ShowInstitution(i), err
}

// list answers a list of entries of an institution.
func list[T party.Described[T], Out any](c *rest.Call, of institutions.Entries[T], show func(T) Out) ([]Out, error) {
	page, err := of.List(c.Context(), c.Actor, c.ID("id"), c.List.Page)
	return rest.AnswerList(c, page, err, show)
}

// create adds an entry to an institution.
func create[T party.Described[T], Out any](c *rest.Call, of institutions.Entries[T], in party.Patch[T],
	show func(T) Out) (Out, error) {
	entry, err := of.Create(c.Context(), c.Actor, c.ID("id"), in)
	return show(entry), err
}

// update changes the entry of an institution whose id the path has under a name.
func update[T party.Described[T], Out any](c *rest.Call, of institutions.Entries[T], name string, in party.Patch[T],
	show func(T) Out) (Out, error) {
	entry, err := of.Update(c.Context(), c.Actor, c.ID("id"), c.ID(name), in, rest.IfNoTag(c))
	return show(entry), err
}

// ListLabs serves GET /institutions/{id}/labs.
func ListLabs(c *rest.Call, _ rest.None) ([]shape.InstitutionLab, error) {
	return list(c, c.App.Institutions.Labs, shape.ShowInstitutionLab)
}

// CreateLab serves POST /institutions/{id}/labs.
func CreateLab(c *rest.Call, in party.Patch[party.Lab]) (shape.InstitutionLab, error) {
	return create(c, c.App.Institutions.Labs, in, shape.ShowInstitutionLab)
}

// UpdateLab serves PUT and PATCH /institutions/{id}/labs/{lab}.
func UpdateLab(c *rest.Call, in party.Patch[party.Lab]) (shape.InstitutionLab, error) {
	return update(c, c.App.Institutions.Labs, "lab", in, shape.ShowInstitutionLab)
}

// ListAffiliations serves GET /institutions/{id}/affiliations.
func ListAffiliations(c *rest.Call, _ rest.None) ([]shape.Affiliation, error) {
	return list(c, c.App.Institutions.Affiliations, shape.ShowAffiliation)
}

// CreateAffiliation serves POST /institutions/{id}/affiliations.
func CreateAffiliation(c *rest.Call, in party.Patch[party.Affiliation]) (shape.Affiliation, error) {
	return create(c, c.App.Institutions.Affiliations, in, shape.ShowAffiliation)
}

// UpdateAffiliation serves PUT and PATCH /institutions/{id}/affiliations/{affiliation}.
func UpdateAffiliation(c *rest.Call, in party.Patch[party.Affiliation]) (shape.Affiliation, error) {
	return update(c, c.App.Institutions.Affiliations, "affiliation", in, shape.ShowAffiliation)
}

// ListPositions serves GET /institutions/{id}/positions.
func ListPositions(c *rest.Call, _ rest.None) ([]shape.Position, error) {
	return list(c, c.App.Institutions.Positions, shape.ShowPosition)
}

// CreatePosition serves POST /institutions/{id}/positions.
func CreatePosition(c *rest.Call, in party.Patch[party.Position]) (shape.Position, error) {
	return create(c, c.App.Institutions.Positions, in, shape.ShowPosition)
}

// UpdatePosition serves PUT and PATCH /institutions/{id}/positions/{position}.
func UpdatePosition(c *rest.Call, in party.Patch[party.Position]) (shape.Position, error) {
	return update(c, c.App.Institutions.Positions, "position", in, shape.ShowPosition)
}

// ListAuthorities serves GET /institutions/{id}/authorities.
func ListAuthorities(c *rest.Call, _ rest.None) ([]shape.Authority, error) {
	return list(c, c.App.Institutions.Authorities, shape.ShowAuthority)
}

// CreateAuthority serves POST /institutions/{id}/authorities.
func CreateAuthority(c *rest.Call, in party.Patch[party.Authority]) (shape.Authority, error) {
	return create(c, c.App.Institutions.Authorities, in, shape.ShowAuthority)
}

// UpdateAuthority serves PUT and PATCH /institutions/{id}/authorities/{authority}.
func UpdateAuthority(c *rest.Call, in party.Patch[party.Authority]) (shape.Authority, error) {
	return update(c, c.App.Institutions.Authorities, "authority", in, shape.ShowAuthority)
}

// ListStandIns serves GET /institutions/{id}/stand-ins.
func ListStandIns(c *rest.Call, _ rest.None) ([]shape.StandIn, error) {
	return list(c, c.App.Institutions.StandIns, shape.ShowStandIn)
}

// CreateStandIn serves POST /institutions/{id}/stand-ins.
func CreateStandIn(c *rest.Call, in party.Patch[party.StandIn]) (shape.StandIn, error) {
	return create(c, c.App.Institutions.StandIns, in, shape.ShowStandIn)
}

// UpdateStandIn serves PUT and PATCH /institutions/{id}/stand-ins/{stand_in}.
func UpdateStandIn(c *rest.Call, in party.Patch[party.StandIn]) (shape.StandIn, error) {
	return update(c, c.App.Institutions.StandIns, "stand_in", in, shape.ShowStandIn)
}

// ListMasters serves GET /institutions/{id}/masters.
func ListMasters(c *rest.Call, _ rest.None) ([]shape.Master, error) {
	return list(c, c.App.Institutions.Masters, shape.ShowMaster)
}

// CreateMaster serves POST /institutions/{id}/masters.
func CreateMaster(c *rest.Call, in party.Patch[party.Master]) (shape.Master, error) {
	return create(c, c.App.Institutions.Masters, in, shape.ShowMaster)
}

// UpdateMaster serves PUT and PATCH /institutions/{id}/masters/{master}.
func UpdateMaster(c *rest.Call, in party.Patch[party.Master]) (shape.Master, error) {
	return update(c, c.App.Institutions.Masters, "master", in, shape.ShowMaster)
}

// ListApprovals serves GET /institutions/{id}/approvals.
func ListApprovals(c *rest.Call, _ rest.None) ([]shape.Approval, error) {
	return list(c, c.App.Institutions.Approvals, shape.ShowApproval)
}

// CreateApproval serves POST /institutions/{id}/approvals.
func CreateApproval(c *rest.Call, in party.Patch[approval.Approval]) (shape.Approval, error) {
	return create(c, c.App.Institutions.Approvals, in, shape.ShowApproval)
}

// UpdateApproval serves PUT and PATCH /institutions/{id}/approvals/{approval}.
func UpdateApproval(c *rest.Call, in party.Patch[approval.Approval]) (shape.Approval, error) {
	return update(c, c.App.Institutions.Approvals, "approval", in, shape.ShowApproval)
}

// SignApproval serves POST /institutions/{id}/approvals/{approval}/sign.
func SignApproval(c *rest.Call, in approval.SignNew) (shape.Approval, error) {
	signed, err := c.App.Institutions.SignApproval(c.Context(), c.Actor, c.ID("id"), c.ID("approval"), in)
	return shape.ShowApproval(signed), err
}

// AskApproval serves POST /institutions/{id}/approvals/{approval}/sign/options.
func AskApproval(c *rest.Call, in approval.AskNew) (shape.AgreementPasskeyOptions, error) {
	c.NoStore()
	asked, err := c.App.Institutions.AskApproval(c.Context(), c.Actor, c.ID("id"), c.ID("approval"), in)
	return shape.AgreementPasskeyOptions{Statement: asked.Statement, Options: asked.Options}, err
}

// SignatoryQuery says which signatories a download has, and in which form.
type SignatoryQuery struct {
	Family *string `query:"family" help:"The code of one master agreement, such as UBMTA; without it all."`
	Format *string `query:"format" help:"csv (the usual) or xlsx."`
}

// ExportSignatories serves GET /institutions/signatories.
func ExportSignatories(c *rest.Call, in SignatoryQuery) (rest.None, error) {
	family, format := "", "csv"
	if in.Family != nil {
		family = *in.Family
	}
	if in.Format != nil {
		format = *in.Format
	}
	if format != "csv" && format != "xlsx" {
		return rest.None{}, exchange.FieldErrors{"format": {"must be csv or xlsx"}}.Err()
	}
	return rest.None{}, c.SendFile("signatories."+format, func(begin func() io.Writer) error {
		return c.App.Institutions.ExportSignatories(c.Context(), family, format, begin)
	})
}

// ImportQuery holds the parameters of an import of signatories.
type ImportQuery struct {
	DryRun *bool `query:"dry_run" help:"Whether to change nothing, and only report what the import would do."`
}

// ImportSignatories serves POST /institutions/signatories.
func ImportSignatories(c *rest.Call, _ rest.None) (out shape.SignatoryImport, err error) {
	if err := c.App.Institutions.MayImportSignatories(c.Actor); err != nil { // before the body is read
		return out, err
	}
	var asked ImportQuery
	if err := c.ReadQuery(&asked); err != nil {
		return out, err
	}
	content, err := institutions.ReadSignatories(rest.Incoming{Reader: c.Body})
	if err != nil {
		return out, err
	}
	dryRun := asked.DryRun != nil && *asked.DryRun
	done, err := c.App.Institutions.ImportSignatories(c.Context(), c.Actor, content, dryRun)
	return shape.ShowSignatoryImport(done), err
}

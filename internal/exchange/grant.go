package exchange

import (
	"time"

	"github.com/google/uuid"
)

// Grant is a funding award of a user.
type Grant struct {
	ID        int64
	UserID    uuid.UUID
	Title     string
	FunderID  string // the grant number at the funder
	CreatedAt time.Time
	UpdatedAt time.Time
}

// GrantPatch is the body of POST, PUT and PATCH of grants.
type GrantPatch struct {
	Title    Opt[string] `json:"title"`
	FunderID Opt[string] `json:"funder_id"`
}

// Patch applies p to g; both the funder and the number are required.
func (p GrantPatch) Patch(g Grant) (Grant, error) {
	var f FieldErrors
	f.line("title", p.Title, titleLength, &g.Title)
	f.line("funder_id", p.FunderID, lineLength, &g.FunderID)
	f.need("title", g.Title)
	f.need("funder_id", g.FunderID)
	return g, f.Err()
}

// Validate implements Body.
func (p GrantPatch) Validate(bool) FieldErrors {
	_, err := p.Patch(Grant{})
	return fieldsOf(err)
}

// FundingBody is the body of POST /grants/:id/materials: the material that the grant paid for.
type FundingBody struct {
	Material Opt[Ref] `json:"material_id" alias:"material"`
}

// Check returns the id of the material.
func (p FundingBody) Check() (int64, error) {
	var f FieldErrors
	f.must("material_id", p.Material.Set, "is required: the id of a material")
	return int64(p.Material.Value), f.Err()
}

// Validate implements Body.
func (p FundingBody) Validate(bool) FieldErrors {
	_, err := p.Check()
	return fieldsOf(err)
}

// GrantLink is a link that lets anyone who has it read the report of a grant.
type GrantLink struct {
	ID        int64
	GrantID   int64
	Note      string // whom it is for
	CreatedAt time.Time
	ExpiresAt time.Time
	RevokedAt *time.Time
}

// The limits of links.
const (
	MaxGrantLinks    = 20  // valid links of one grant
	longestGrantLink = 730 // days
)

// GrantLinkNew is the form for a new link.
type GrantLinkNew struct {
	Note Opt[string]
	Days Opt[int]
}

// Create makes a link from p.
func (p GrantLinkNew) Create(grant int64, now time.Time) (GrantLink, error) {
	var f FieldErrors
	l := GrantLink{GrantID: grant}
	f.line("note", p.Note, lineLength, &l.Note)
	if p.Days.Value < 1 || p.Days.Value > longestGrantLink {
		f.Add("days", "must be a whole number of days from 1 to %d", longestGrantLink)
	}
	l.ExpiresAt = now.AddDate(0, 0, p.Days.Value)
	return l, f.Err()
}

// Opens reports whether l gives access to the report at a moment.
func (l GrantLink) Opens(now time.Time) bool { return l.RevokedAt == nil && now.Before(l.ExpiresAt) }

// FundedMaterial is a material of a grant, with its requests and publication.
type FundedMaterial struct {
	Material  ShownMaterial
	Requests  int64
	Completed int64
}

// Publication returns what the material was published in, "" if that is not known.
func (p FundedMaterial) Publication() string {
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

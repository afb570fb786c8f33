package person

import (
	"time"

	"aliquot/internal/exchange"

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
	Title    exchange.Opt[string] `json:"title"`
	FunderID exchange.Opt[string] `json:"funder_id"`
}

// Patch applies p to g; both the funder and the number are required.
func (p GrantPatch) Patch(g Grant) (Grant, error) {
	var f exchange.FieldErrors
	f.Line("title", p.Title, exchange.TitleLength, &g.Title)
	f.Line("funder_id", p.FunderID, exchange.LineLength, &g.FunderID)
	f.Need("title", g.Title)
	f.Need("funder_id", g.FunderID)
	return g, f.Err()
}

// Validate implements Body.
func (p GrantPatch) Validate(bool) exchange.FieldErrors {
	_, err := p.Patch(Grant{})
	return exchange.FieldsOf(err)
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
	Note exchange.Opt[string]
	Days exchange.Opt[int]
}

// Create makes a link from p.
func (p GrantLinkNew) Create(grant int64, now time.Time) (GrantLink, error) {
	var f exchange.FieldErrors
	l := GrantLink{GrantID: grant}
	f.Line("note", p.Note, exchange.LineLength, &l.Note)
	if p.Days.Value < 1 || p.Days.Value > longestGrantLink {
		f.Add("days", "must be a whole number of days from 1 to %d", longestGrantLink)
	}
	l.ExpiresAt = now.AddDate(0, 0, p.Days.Value)
	return l, f.Err()
}

// Opens reports whether l gives access to the report at a moment.
func (l GrantLink) Opens(now time.Time) bool { return l.RevokedAt == nil && now.Before(l.ExpiresAt) }

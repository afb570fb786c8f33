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
	FunderID  string // the grant's id at the funder
	CreatedAt time.Time
	UpdatedAt time.Time
}

// GrantPatch is the body of POST, PUT and PATCH of grants.
type GrantPatch struct {
	Title    Opt[string] `json:"title"`
	FunderID Opt[string] `json:"funder_id"`
}

// Patch lays p over g; a grant needs both.
func (p GrantPatch) Patch(g Grant) (Grant, error) {
	var f Faults
	f.line("title", p.Title, titleLength, &g.Title)
	f.line("funder_id", p.FunderID, lineLength, &g.FunderID)
	f.need("title", g.Title)
	f.need("funder_id", g.FunderID)
	return g, f.Err()
}

// Funding is the body of POST /grants/:id/materials: the material that the grant paid for.
type Funding struct {
	Material Opt[Ref] `json:"material_id" alias:"material"`
}

// Check gives the id of the material.
func (p Funding) Check() (int64, error) {
	var f Faults
	if !p.Material.Set {
		f.Add("material_id", "is required: the id of a material")
	}
	return int64(p.Material.Value), f.Err()
}

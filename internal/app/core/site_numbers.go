package core

import (
	"context"
	"slices"
	"time"

	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"
)

// SiteNumbers are public statistics of this installation.
type SiteNumbers struct {
	Materials  int64 // publicly available
	Categories map[string]int64
	Labs       int   // with available materials
	Transfers  int64 // with confirmed receipt
	Pace       request.Pace
	Newest     []RecentMaterial
}

// RecentMaterial is a material that was listed lately, or stands for all that an import listed.
type RecentMaterial struct {
	material.Material
	Lab      string
	Together int64  // how many an import listed; 0: it was listed alone
	Kind     string // their category; "": they have several
}

const (
	numbersLive = time.Minute
	pacesLive   = 10 * time.Minute
	paceOf      = 365 * 24 * time.Hour // paces count requests made in the last year
	maxTimed    = 20_000               // and at most so many of the newest ones
	newest      = 5
)

// SiteNumbers returns the statistics of this installation, at most a minute old. It leaves out recent materials that
// are no longer available.
func (a *Core) SiteNumbers(ctx context.Context) (SiteNumbers, error) {
	c := a.DB.Read()
	n, err := a.remembered(ctx, c)
	if err != nil {
		return n, err
	}
	var ids []int64
	for _, m := range n.Newest {
		ids = append(ids, m.ID)
	}
	offered, err := c.Materials.StillOffered(ctx, ids)
	shown := make([]RecentMaterial, 0, len(n.Newest)) // the cached value must not change
	for _, m := range n.Newest {
		if slices.Contains(offered, m.ID) {
			shown = append(shown, m)
		}
	}
	gone := int64(len(n.Newest) - len(shown))
	n.Newest, n.Materials = shown, n.Materials-gone
	return n, err
}

// remembered returns the cached statistics, at most a minute old.
func (a *Core) remembered(ctx context.Context, c store.Conn) (SiteNumbers, error) {
	return a.numbers.get(c.Now, numbersLive, func() (SiteNumbers, error) {
		n := SiteNumbers{Categories: map[string]int64{}}
		offered, err := c.Materials.CategoryCounts(ctx)
		if err != nil {
			return n, err
		}
		labs := map[int64]bool{}
		for _, o := range offered {
			n.Materials += o.Materials
			n.Categories[o.Category] += o.Materials
			labs[o.Organization] = true
		}
		n.Labs = len(labs)
		if n.Transfers, err = c.Requests.Transfers(ctx); err != nil {
			return n, err
		}
		paces, err := a.PacesOf(ctx, c)
		if err != nil {
			return n, err
		}
		n.Pace = paces[0]
		n.Newest, err = recentMaterials(ctx, c)
		return n, err
	})
}

// recentMaterials reads what was listed last: materials that one import listed are one line.
func recentMaterials(ctx context.Context, c store.Conn) ([]RecentMaterial, error) {
	var list []material.Material
	var made []RecentMaterial
	var imports []int64 // that have their line, or listed one material only
	for len(made) < newest {
		found, err := c.Materials.Newest(ctx, newest, imports)
		if err != nil {
			return nil, err
		}
		found = slices.DeleteFunc(found, func(m material.Material) bool {
			return slices.ContainsFunc(list, func(o material.Material) bool { return o.ID == m.ID })
		})
		if len(found) == 0 {
			break
		}
		for _, m := range found {
			if len(made) == newest || m.ListedBy != 0 && slices.Contains(imports, m.ListedBy) {
				continue
			}
			line := RecentMaterial{Material: m}
			if m.ListedBy != 0 {
				imports = append(imports, m.ListedBy)
				n, category, err := c.Materials.ListedBy(ctx, m.ListedBy)
				if err != nil {
					return nil, err
				}
				if n > 1 {
					line.Together, line.Kind = n, category
				}
			}
			list, made = append(list, m), append(made, line)
		}
	}
	labs, err := LabsOf(ctx, c, list)
	for i := range made {
		made[i].Lab = labs[made[i].OrganizationID].Name
	}
	return made, err
}

// LabsOf returns the organizations of materials, by id.
func LabsOf(ctx context.Context, c store.Conn, list []material.Material) (map[int64]lab.Organization, error) {
	var ids []int64
	for _, m := range list {
		ids = append(ids, m.OrganizationID)
	}
	organizations, err := c.Organizations.ByIDs(ctx, ids)
	labs := map[int64]lab.Organization{}
	for _, o := range organizations {
		labs[o.ID] = o
	}
	return labs, err
}

// PacesOf returns the paces of all organizations, and under 0 that of the whole installation, at most some minutes old.
func (a *Core) PacesOf(ctx context.Context, c store.Conn) (map[int64]request.Pace, error) {
	return a.paces.get(c.Now, pacesLive, func() (map[int64]request.Pace, error) {
		list, err := c.Requests.Timed(ctx, c.Now.Add(-paceOf), maxTimed)
		return request.Paces(list), err
	})
}

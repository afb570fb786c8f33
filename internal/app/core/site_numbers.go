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

// RecentMaterial is a material that was listed lately.
type RecentMaterial struct {
	material.Material
	Lab string
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

func recentMaterials(ctx context.Context, c store.Conn) ([]RecentMaterial, error) {
	list, err := c.Materials.Newest(ctx, newest)
	if err != nil {
		return nil, err
	}
	labs, err := LabsOf(ctx, c, list)
	if err != nil {
		return nil, err
	}
	var made []RecentMaterial
	for _, m := range list {
		made = append(made, RecentMaterial{m, labs[m.OrganizationID].Name})
	}
	return made, nil
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

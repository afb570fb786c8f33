package app

import (
	"context"
	"slices"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
)

// Numbers are what this exchange is, in numbers, as anyone may know it.
type SiteNumbers struct {
	Materials  int64 // on offer to everybody
	Categories map[string]int64
	Labs       int   // that offer some
	Transfers  int64 // whose receipt was confirmed
	Pace       exchange.Pace
	Newest     []RecentMaterial
}

// Newcomer is a material that was listed lately.
type RecentMaterial struct {
	exchange.Material
	Lab string
}

const (
	numbersLive = time.Minute
	pacesLive   = 10 * time.Minute
	paceOf      = 365 * 24 * time.Hour // of requests made in the last year
	maxTimed    = 20_000               // and of the newest so many of them at most
	newest      = 5
)

// Numbers tells what this exchange is in numbers, as they were at most a minute ago. The newest materials are shown
// only if they are offered at this moment.
func (a *App) SiteNumbers(ctx context.Context) (SiteNumbers, error) {
	c := a.DB.Read()
	n, err := a.remembered(ctx, c)
	if err != nil {
		return n, err
	}
	var ids []int64
	for _, m := range n.Newest {
		ids = append(ids, m.ID)
	}
	offered, err := c.StillOffered(ctx, ids)
	shown := make([]RecentMaterial, 0, len(n.Newest)) // what is remembered stays as it is
	for _, m := range n.Newest {
		if slices.Contains(offered, m.ID) {
			shown = append(shown, m)
		}
	}
	gone := int64(len(n.Newest) - len(shown))
	n.Newest, n.Materials = shown, n.Materials-gone
	return n, err
}

// remembered are the numbers as they were at most a minute ago.
func (a *App) remembered(ctx context.Context, c store.Conn) (SiteNumbers, error) {
	return a.numbers.get(c.Now, numbersLive, func() (SiteNumbers, error) {
		n := SiteNumbers{Categories: map[string]int64{}}
		offered, err := c.CategoryCounts(ctx)
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
		if n.Transfers, err = c.Transfers(ctx); err != nil {
			return n, err
		}
		paces, err := a.pacesOf(ctx, c)
		if err != nil {
			return n, err
		}
		n.Pace = paces[0]
		n.Newest, err = recentMaterials(ctx, c)
		return n, err
	})
}

func recentMaterials(ctx context.Context, c store.Conn) ([]RecentMaterial, error) {
	list, err := c.Newest(ctx, newest)
	if err != nil {
		return nil, err
	}
	labs, err := labsOf(ctx, c, list)
	if err != nil {
		return nil, err
	}
	var made []RecentMaterial
	for _, m := range list {
		made = append(made, RecentMaterial{m, labs[m.OrganizationID].Name})
	}
	return made, nil
}

// labsOf are the organizations of materials, by id.
func labsOf(ctx context.Context, c store.Conn, list []exchange.Material) (map[int64]exchange.Organization, error) {
	var ids []int64
	for _, m := range list {
		ids = append(ids, m.OrganizationID)
	}
	organizations, err := c.OrganizationsByID(ctx, ids)
	labs := map[int64]exchange.Organization{}
	for _, o := range organizations {
		labs[o.ID] = o
	}
	return labs, err
}

// pacesOf are the paces of all organizations, and of the exchange under 0, as they were some minutes ago.
func (a *App) pacesOf(ctx context.Context, c store.Conn) (map[int64]exchange.Pace, error) {
	return a.paces.get(c.Now, pacesLive, func() (map[int64]exchange.Pace, error) {
		list, err := c.Timed(ctx, c.Now.Add(-paceOf), maxTimed)
		return exchange.Paces(list), err
	})
}

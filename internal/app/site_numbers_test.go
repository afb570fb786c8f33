package app_test

import (
	"slices"
	"testing"
	"time"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

func TestSiteNumbers_CountPublicMaterialsAndAreCachedForAMinute(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newReminding(t, db)
		ctx, began := t.Context(), *r.now.Load()
		list := func(title string, embargo *exchange.Date) int64 {
			p := material.Patch{Category: exchange.Some("OTHER"), Title: exchange.Some(title),
				Organization: exchange.Some(exchange.Ref(r.lab))}
			if embargo != nil {
				p.EmbargoDate = exchange.NullOf(*embargo)
			}
			m, _, err := r.app.Materials.CreateMaterial(ctx, r.member, p)
			r.must(err)
			return m.ID
		}
		before, err := r.app.SiteNumbers(ctx)
		r.must(err)
		hidden := exchange.Date(began.AddDate(0, 0, 2).Format(time.DateOnly))
		list("embargoed", &hidden)
		open := list("open", nil)
		r.must(r.app.Materials.ArchiveMaterial(ctx, r.member, list("archived", nil), nil))
		if n, err := r.app.SiteNumbers(ctx); err != nil || n.Materials != before.Materials {
			t.Errorf("%d materials, %d a moment ago: %v", n.Materials, before.Materials, err)
		}
		r.set(began.Add(time.Minute))
		n, err := r.app.SiteNumbers(ctx)
		r.must(err)
		if n.Materials != before.Materials+1 || n.Categories["OTHER"] != before.Categories["OTHER"]+1 || n.Labs != 1 ||
			n.Transfers != 0 || n.Pace.Decides() {
			t.Errorf("%+v", n)
		}
		if len(n.Newest) == 0 || n.Newest[0].ID != open || n.Newest[0].Lab == "" {
			t.Errorf("newest: %+v", n.Newest)
		}
		_, err = r.app.Materials.UpdateMaterial(ctx, r.member, open,
			material.Patch{EmbargoDate: exchange.NullOf(hidden)}, nil)
		r.must(err)
		hides, err := r.app.SiteNumbers(ctx) // at once, despite the cache
		r.must(err)
		if hides.Materials != n.Materials-1 ||
			slices.ContainsFunc(hides.Newest, func(m core.RecentMaterial) bool { return m.ID == open }) {
			t.Errorf("a moment after it was put under embargo: %d materials, newest: %+v", hides.Materials,
				hides.Newest)
		}
		r.set(began.AddDate(0, 0, 3))
		if n, err := r.app.SiteNumbers(ctx); err != nil || n.Materials != before.Materials+2 {
			t.Errorf("%d materials after the embargo: %v", n.Materials, err)
		}
	})
}

func TestSiteNumbers_PaceIsThatOfDecidedRequests(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newReminding(t, db)
		ctx, began := t.Context(), *r.now.Load()
		var made []int64
		for range 3 {
			made = append(made, r.request())
		}
		for i, id := range made {
			r.set(began.AddDate(0, 0, i+1))
			_, err := r.app.Requests.UpdateRequest(ctx, r.member, id,
				request.Patch{Status: exchange.Some(request.Rejected), Rejection: exchange.Some("No.")}, nil)
			r.must(err)
		}
		n, err := r.app.SiteNumbers(ctx)
		r.must(err)
		if n.Pace.Decided != 3 || n.Pace.Decision != 48*time.Hour || n.Pace.Receives() {
			t.Errorf("%+v", n.Pace)
		}
		v, err := r.app.Materials.MaterialView(ctx, r.asks, r.material)
		r.must(err)
		if v.Pace.Decision != 48*time.Hour || v.MayUpdate || v.MayArchive {
			t.Errorf("%+v", v.Pace)
		}
	})
}

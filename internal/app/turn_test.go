package app_test

import (
	"slices"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

func TestTurn_BeginsAnewWhenTheMaterialRequiresSomethingElse(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newReminding(t, db)
		r.work(1)
		ctx, began := t.Context(), *r.now.Load()
		shipping, err := r.app.Documents.CreateShipping(ctx, r.member,
			lab.ShippingPatch{Organization: exchange.Some(exchange.Ref(r.lab))})
		r.must(err)
		fresh, approved, closed := r.request(), r.request(), r.request()
		status := func(id int64, s request.Status) {
			t.Helper()
			_, err := r.app.Requests.UpdateRequest(ctx, r.member, id, request.Patch{Status: exchange.Some(s)}, nil)
			r.must(err)
		}
		_, err = r.app.Requests.UpdateRequest(ctx, r.asks, approved,
			request.Patch{Abstract: exchange.Some("To map receptors.")}, nil)
		r.must(err)
		status(approved, request.Approved)
		status(closed, request.Rejected)
		materialOf := func(p material.Patch) func() error {
			return func() error { _, err := r.app.Materials.UpdateMaterial(ctx, r.member, r.material, p, nil); return err }
		}
		ships := func(p lab.ShippingPatch) func() error {
			return func() error { _, err := r.app.Documents.UpdateShipping(ctx, r.member, shipping.ID, p, nil); return err }
		}
		since := map[int64]int{fresh: 0, approved: 0, closed: 0} // the day
		for i, c := range []struct {
			change func() error
			again  []int64
			heard  [][]int // of the first two requests, by the requester, 7 days later
		}{
			{materialOf(material.Patch{Title: exchange.Some("HeLa S3")}), nil, [][]int{{7}, nil}},
			{materialOf(material.Patch{Shipping: exchange.NullOf(exchange.Ref(shipping.ID))}), nil,
				[][]int{{7, 14}, nil}},
			{ships(lab.ShippingPatch{Restrictions: exchange.Some("EU")}), nil, [][]int{{7, 14}, nil}},
			{ships(lab.ShippingPatch{NeedsPayment: exchange.Some(true)}), []int64{approved},
				[][]int{{7, 14, 28}, {7}}},
			{ships(lab.ShippingPatch{NeedsAddress: exchange.Some(true)}), []int64{approved},
				[][]int{{7, 14, 28}, {7, 7}}},
			{materialOf(material.Patch{NeedsMTA: exchange.Some(true)}), []int64{approved},
				[][]int{{7, 14, 28}, {7, 7, 7}}},
			{materialOf(material.Patch{NeedsAbstract: exchange.Some(false)}), []int64{fresh},
				[][]int{{7, 14, 28}, {7, 7, 7, 14}}},
			{materialOf(material.Patch{NeedsAbstract: exchange.Some(true)}), []int64{fresh},
				[][]int{{7, 14, 28, 7}, {7, 7, 7, 14}}},
		} {
			r.set(began.AddDate(0, 0, 7*i))
			r.must(c.change())
			for _, id := range c.again {
				since[id] = 7 * i
			}
			for id, day := range since {
				q, err := r.app.Requests.Request(ctx, r.asks, id)
				r.must(err)
				if !q.WaitingSince.Equal(began.AddDate(0, 0, day)) || q.UpdatedAt.After(began) {
					t.Errorf("change %d, request %d: since %s, updated at %s, want day %d and %s", i, id,
						q.WaitingSince, q.UpdatedAt, day, began)
				}
			}
			r.set(r.now.Load().Add(7 * 24 * time.Hour))
			r.remind(1)
			for j, id := range []int64{fresh, approved} {
				if got := r.heard(r.asks, id); !slices.Equal(got, c.heard[j]) {
					t.Errorf("change %d, request %d: reminded on %v, want %v", i, id, got, c.heard[j])
				}
			}
		}
	})
}

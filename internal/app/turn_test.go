package app_test

import (
	"slices"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

func TestATurnBeginsAnewWhereItsMaterialAsksForSomethingElse(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newReminding(t, db)
		r.work(1)
		ctx, began := t.Context(), *r.now.Load()
		shipping, err := r.app.CreateShipping(ctx, r.member,
			exchange.ShippingPatch{Organization: exchange.Some(exchange.Ref(r.lab))})
		r.must(err)
		fresh, approved, closed := r.request(), r.request(), r.request()
		status := func(id int64, s exchange.Status) {
			t.Helper()
			_, err := r.app.UpdateRequest(ctx, r.member, id, exchange.RequestPatch{Status: exchange.Some(s)}, nil)
			r.must(err)
		}
		_, err = r.app.UpdateRequest(ctx, r.asks, approved,
			exchange.RequestPatch{Abstract: exchange.Some("To map receptors.")}, nil)
		r.must(err)
		status(approved, exchange.Approved)
		status(closed, exchange.Rejected)
		material := func(p exchange.MaterialPatch) func() error {
			return func() error { _, err := r.app.UpdateMaterial(ctx, r.member, r.material, p, nil); return err }
		}
		ships := func(p exchange.ShippingPatch) func() error {
			return func() error { _, err := r.app.UpdateShipping(ctx, r.member, shipping.ID, p, nil); return err }
		}
		since := map[int64]int{fresh: 0, approved: 0, closed: 0} // the day
		for i, c := range []struct {
			change func() error
			anew   []int64
			heard  [][]int // of the first two requests, by the requester, 7 days later
		}{
			{material(exchange.MaterialPatch{Title: exchange.Some("HeLa S3")}), nil, [][]int{{7}, nil}},
			{material(exchange.MaterialPatch{Shipping: exchange.NullOf(exchange.Ref(shipping.ID))}), nil,
				[][]int{{7, 14}, nil}},
			{ships(exchange.ShippingPatch{Restrictions: exchange.Some("EU")}), nil, [][]int{{7, 14}, nil}},
			{ships(exchange.ShippingPatch{NeedsPayment: exchange.Some(true)}), []int64{approved},
				[][]int{{7, 14, 28}, {7}}},
			{ships(exchange.ShippingPatch{NeedsAddress: exchange.Some(true)}), []int64{approved},
				[][]int{{7, 14, 28}, {7, 7}}},
			{material(exchange.MaterialPatch{NeedsMTA: exchange.Some(true)}), []int64{approved},
				[][]int{{7, 14, 28}, {7, 7, 7}}},
			{material(exchange.MaterialPatch{NeedsAbstract: exchange.Some(false)}), []int64{fresh},
				[][]int{{7, 14, 28}, {7, 7, 7, 14}}},
			{material(exchange.MaterialPatch{NeedsAbstract: exchange.Some(true)}), []int64{fresh},
				[][]int{{7, 14, 28, 7}, {7, 7, 7, 14}}},
		} {
			r.set(began.AddDate(0, 0, 7*i))
			r.must(c.change())
			for _, id := range c.anew {
				since[id] = 7 * i
			}
			for id, day := range since {
				q, err := r.app.Request(ctx, r.asks, id)
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

package app_test

import (
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"

	"github.com/google/uuid"
)

// TestRefusals_UseABoundedNumberOfRows also checks that counting starts again an hour later.
func TestRefusals_UseABoundedNumberOfRows(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newReminding(t, db)
		r.person("admin")
		r.must(r.app.Accounts.SetAdmin(t.Context(), "admin", true))
		admin := r.person("admin")
		read := func() (rows int64, times int64) {
			part, err := r.app.Audit(t.Context(), admin, exchange.Page{Limit: 5000},
				exchange.AuditFilter{Refused: new(true)})
			r.must(err)
			for _, e := range part.Items {
				times += e.Times
			}
			return part.Total.N, times
		}
		no := exchange.Errorf(exchange.Forbidden, "No.")
		for range 3000 {
			r.app.RecordRefusal(exchange.Actor{ID: uuid.New()}, exchange.MaterialUpdate, "/materials/7", no)
		}
		r.app.RecordRefusal(exchange.Actor{ID: uuid.New()}, exchange.MaterialUpdate, "/materials/7",
			exchange.Errorf(exchange.NotFound, "None."))
		if rows, times := read(); rows != 1001 || times != 3000 {
			t.Errorf("%d rows of %d refusals, want 1001 of 3000", rows, times)
		}
		r.set(r.now.Load().Add(time.Hour))
		who := exchange.Actor{ID: uuid.New()}
		for range 2 { // the first makes room
			r.app.RecordRefusal(who, exchange.MaterialUpdate, "/materials/7", no)
			read()
		}
		if rows, times := read(); rows > 1003 || times != 3002 {
			t.Errorf("an hour later %d rows of %d refusals", rows, times)
		}
	})
}

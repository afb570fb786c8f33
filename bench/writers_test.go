package bench

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"aliquot/internal/store/storetest"
)

// writers are the clients of BenchmarkWriters.
const writers = 4 * clients

// BenchmarkWriters changes materials and the status of requests, with so many clients that writers wait for each other.
// The bare side changes one row in a transaction of its own, with its own flush.
func BenchmarkWriters(b *testing.B) {
	info := func(n int) string {
		return fmt.Sprintf(`{"additional_info": "Grows in McCoy's 5A with %d %% serum."}`, n)
	}
	for _, kind := range []struct {
		name string
		path func(w *world, n int) string
		body func(n int) string
		bars map[string]float64
	}{
		{"material", (*world).material, info, map[string]float64{storetest.SQLite: 0.8, storetest.PostgreSQL: 0.5}},
		{"status", (*world).requestPath, func(n int) string { return [2]string{reopened, approved}[n%2] },
			map[string]float64{storetest.SQLite: 0.6, storetest.PostgreSQL: 0.35}},
	} {
		b.Run(kind.name, func(b *testing.B) {
			each(b, func(b *testing.B, w *world) {
				_, database, _ := strings.Cut(strings.TrimPrefix(b.Name(), "Benchmark"), kind.name+"/")
				compareWith(b, writers, kind.bars[database], func(side, client, n int) *http.Request {
					if side == bare {
						return w.request(bare, "PATCH", fmt.Sprintf("/row/%d", w.materials[client]), "", info(n))
					}
					return w.request(ours, "PATCH", kind.path(w, client), w.member, kind.body(n))
				})
			})
		})
	}
}

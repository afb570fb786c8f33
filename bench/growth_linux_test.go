package bench

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"aliquot/internal/exchange/person"
	"aliquot/internal/identity"
	"aliquot/internal/seed"
	"aliquot/internal/store/storetest"
)

// grownBar is how many times as much a call may take among many materials.
const grownBar = 1.5

const (
	growthRounds = 20
	growthCalls  = 25 // of a kind in a round
)

// BenchmarkGrowth compares the processor time of calls among many materials and requests with that among few, served by
// one process and called in turns: lists with the smallest size of GROWTH_SIZES, which are ascending, and the rest with
// the second. There are as many requests as materials, at most GROWTH_REQUESTS. The databases are kept in SEARCH_FOLDER.
func BenchmarkGrowth(b *testing.B) {
	for _, kind := range storetest.Kinds() {
		b.Run(kind, func(b *testing.B) {
			var all []*grown
			for _, size := range growthSizes(b) {
				all = append(all, newGrown(newLibrary(b, kind, size)))
			}
			few, some, many := all[0], all[1], all[len(all)-1]
			for range b.N { // once: it takes longer than -benchtime
				for _, row := range []struct {
					name string
					few  *grown
					call func(g *grown, n int) *http.Request
				}{
					{"list", few, (*grown).list}, {"material", some, (*grown).material}, {"request", some, (*grown).request},
					{"first-change", some, (*grown).change}, {"change", some, (*grown).change}, {"status", some, (*grown).status},
				} {
					spent := [2]float64{}
					for round := range growthRounds {
						for i, g := range []*grown{row.few, many} {
							spent[i] += g.spent.of(func() {
								for n := range growthCalls {
									if _, err := send(g.caller, row.call(g, round*growthCalls+n), io.Discard); err != nil {
										b.Fatal(err)
									}
								}
							}).Seconds()
						}
					}
					b.ReportMetric(spent[1]/spent[0], row.name+"-growth")
					// The first changes after a load are not held to the bar: FTS5 merges its one large segment with theirs.
					if spent[1] > grownBar*spent[0] && row.name != "first-change" {
						b.Errorf("%s: %.2f ms among %d materials, %.2f ms among %d", row.name,
							1000*spent[1]/growthRounds/growthCalls, many.n, 1000*spent[0]/growthRounds/growthCalls, row.few.n)
					}
				}
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

// growthSizes are the sizes that the environment names.
func growthSizes(b *testing.B) (sizes []seed.Size) {
	most, err := strconv.Atoi(cmp.Or(os.Getenv("GROWTH_REQUESTS"), "1000000"))
	if err != nil {
		b.Fatalf("GROWTH_REQUESTS: %v", err)
	}
	for text := range strings.SplitSeq(cmp.Or(os.Getenv("GROWTH_SIZES"), "1000,10000,100000"), ",") {
		n, err := strconv.Atoi(text)
		if err != nil {
			b.Fatalf("GROWTH_SIZES: %v", err)
		}
		sizes = append(sizes, seed.Size{Materials: n, Requests: min(n, most)})
	}
	return sizes
}

// BenchmarkRates measures what each database does at each of the sizes of BenchmarkGrowth: the rate and the latency of
// each kind of call by 8 clients, the events that there are, and the size of the database.
func BenchmarkRates(b *testing.B) {
	for _, kind := range storetest.Kinds() {
		for _, size := range growthSizes(b) {
			b.Run(fmt.Sprintf("%s/%d", kind, size.Materials), func(b *testing.B) {
				g := newGrown(newLibrary(b, kind, size))
				for range b.N { // once: it takes longer than -benchtime
					for _, row := range []struct {
						name string
						call func(g *grown, n int) *http.Request
					}{
						{"material", (*grown).material}, {"list", (*grown).list}, {"search", (*grown).search},
						{"request", (*grown).request}, {"change", (*grown).change}, {"status", (*grown).status},
					} {
						g.rate(row.name, row.call)
					}
				}
				b.ReportMetric(float64(g.events()), "events")
				b.ReportMetric(g.size()/mib, "MiB")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// rateLasts is how long each kind of call is measured.
const rateLasts = 10 * time.Second

// rate has 8 clients call, and reports how they were answered.
func (g *grown) rate(name string, call func(g *grown, n int) *http.Request) {
	t := closed(clients, rateLasts, func(n uint32) (time.Duration, int, error) {
		began := time.Now()
		_, err := send(g.caller, call(g, int(n)), io.Discard)
		return time.Since(began), http.StatusOK, err
	})
	if t.failed > 0 {
		g.Errorf("%s: %s", name, t)
	}
	g.ReportMetric(t.rate(), name+"/s")
	g.ReportMetric(ms(t.percentile(50)), name+"-p50-ms")
	g.ReportMetric(ms(t.percentile(99)), name+"-p99-ms")
}

// events is how many events the record has.
func (g *grown) events() (n int64) {
	if err := storetest.SQL(g.B, g.db).QueryRowContext(g.Context(), "SELECT COUNT(*) FROM chain_events").Scan(&n); err != nil {
		g.Fatal(err)
	}
	return n
}

// size is how many bytes the database has on disk.
func (g *grown) size() (bytes float64) {
	query := "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
	if g.kind == storetest.PostgreSQL {
		query = "SELECT pg_database_size(current_database())"
	}
	if err := storetest.SQL(g.B, g.db).QueryRowContext(g.Context(), query).Scan(&bytes); err != nil {
		g.Fatal(err)
	}
	return bytes
}

// grown is a seeded installation with a member of the lab that has the most requests that may be approved.
type grown struct {
	*library
	spent     processorTime
	token     string
	materials []int64 // that everybody sees, of all ages
	requests  []int64
}

func newGrown(l *library) *grown {
	g := &grown{library: l, spent: newProcessorTime(l.B, l.db, l.where)}
	db := storetest.SQL(l.B, l.db)
	var lab int64
	var registryID string
	if err := db.QueryRowContext(l.Context(), `SELECT o.id, u.registry_id FROM material_requests r
		JOIN organizations o ON o.id = r.organization_id JOIN users u ON u.id = o.owner_id
		WHERE r.status = 'APPROVED' GROUP BY o.id, u.registry_id ORDER BY COUNT(*) DESC, o.id LIMIT 1`).Scan(&lab,
		&registryID); err != nil {
		l.Fatal(err)
	}
	ids := func(query string, args ...any) (list []int64) {
		rows, err := db.QueryContext(l.Context(), query, args...)
		if err != nil {
			l.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var id int64
			if err := rows.Scan(&id); err != nil {
				l.Fatal(err)
			}
			list = append(list, id)
		}
		if err := rows.Err(); err != nil {
			l.Fatal(err)
		}
		return list
	}
	g.materials = ids(`SELECT id FROM materials WHERE id % $1 = 0 AND NOT is_archived AND embargo_date IS NULL ORDER BY id`,
		max(1, l.n/500))
	g.requests = ids(`SELECT id FROM material_requests WHERE organization_id = $1 AND status = 'APPROVED' ORDER BY id
		LIMIT 5`, lab)
	signed, err := l.app.Accounts.SignIn(l.Context(), identity.Person{RegistryID: registryID, GivenName: "A",
		FamilyName: "B"}, person.Registration{})
	if err != nil {
		l.Fatal(err)
	}
	g.token = signed.Token
	return g
}

func (g *grown) ask(method, path, body string) *http.Request {
	r, err := http.NewRequestWithContext(g.Context(), method, g.url+path, strings.NewReader(body))
	if err != nil {
		g.Fatal(err)
	}
	r.Header.Set("Authorization", "Token "+g.token)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

// at is one of the materials, far from the one before.
func (g *grown) at(n int) int64 { return g.materials[n*79%len(g.materials)] }

func (g *grown) list(int) *http.Request { return g.ask("GET", "/v1/materials/?limit=10", "") }

func (g *grown) search(n int) *http.Request {
	words := []string{"colon", "plasmid+gfp", "mouse+strain", "antibody"}
	return g.ask("GET", "/v1/search/materials?limit=20&search="+words[n%len(words)], "")
}

func (g *grown) material(n int) *http.Request {
	return g.ask("GET", fmt.Sprintf("/v1/materials/%d", g.at(n)), "")
}

func (g *grown) request(n int) *http.Request {
	return g.ask("GET", fmt.Sprintf("/v1/material-requests/%d", g.requests[n%len(g.requests)]), "")
}

func (g *grown) change(n int) *http.Request {
	return g.ask("PATCH", fmt.Sprintf("/v1/materials/%d", g.at(n)),
		fmt.Sprintf(`{"additional_info": "Checked on %s."}`, time.Now().Format(time.RFC3339Nano)))
}

func (g *grown) status(n int) *http.Request {
	return g.ask("PATCH", fmt.Sprintf("/v1/material-requests/%d", g.requests[n%len(g.requests)]),
		[2]string{reopened, approved}[n/len(g.requests)%2])
}

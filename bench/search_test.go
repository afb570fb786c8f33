package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"aliquot/internal/api"
	"aliquot/internal/app"
	"aliquot/internal/exchange"
	"aliquot/internal/files"
	"aliquot/internal/seed"
	"aliquot/internal/store"
	"aliquot/internal/store/sqldb"
	"aliquot/internal/store/storetest"
)

// The bars: most milliseconds of 95 of 100 calls, and most times of something else.
const (
	selectiveBar = 30.0
	broadBar     = 150.0
	facetBar     = 50.0
	suggestBar   = 10.0
	nextBar      = 1.5
	writeBar     = 2.0
	sizeBar      = 1.5
)

const (
	selectiveQueries = 100
	broadQueries     = 25
	morePages        = 4 // behind the first one of each query
	writes           = 200
)

// BenchmarkSearch searches seeded databases of the sizes of SEARCH_SIZES, by default 10,000. They are kept in
// SEARCH_FOLDER, and on the PostgreSQL server as long as it runs: delete them when the index changes.
func BenchmarkSearch(b *testing.B) {
	eachLibrary(b, (*library).measure)
}

// eachLibrary runs a benchmark on each kind of database at each size of SEARCH_SIZES.
func eachLibrary(b *testing.B, measure func(*library)) {
	sizes := "10000"
	if s := os.Getenv("SEARCH_SIZES"); s != "" {
		sizes = s
	}
	for _, kind := range storetest.Kinds() {
		for text := range strings.SplitSeq(sizes, ",") {
			n, err := strconv.Atoi(text)
			if err != nil {
				b.Fatalf("SEARCH_SIZES: %v", err)
			}
			b.Run(kind+"/"+text, func(b *testing.B) {
				measure(newLibrary(b, kind, seed.Size{Materials: n}))
				b.ReportMetric(0, "ns/op") // of all together, which says nothing
			})
		}
	}
}

// library is a seeded installation, served.
type library struct {
	*testing.B
	kind   string
	n      int
	url    string
	db     *store.DB
	app    *app.App
	where  string
	caller *http.Client
}

func newLibrary(b *testing.B, kind string, size seed.Size) *library {
	l := &library{B: b, kind: kind, n: size.Materials,
		caller: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients, DisableCompression: true}}}
	folder := os.Getenv("SEARCH_FOLDER")
	if folder == "" {
		folder = b.TempDir()
	}
	if kind == storetest.PostgreSQL {
		l.where = storetest.Kept(b, fmt.Sprintf("aliquot_search_%d_%d", size.Materials, size.Requests))
	} else {
		l.where = filepath.Join(folder, fmt.Sprintf("%d-%d", size.Materials, size.Requests), "aliquot.db")
		if err := os.MkdirAll(filepath.Dir(l.where), 0o700); err != nil {
			b.Fatal(err)
		}
	}
	began := time.Now()
	err := store.Load(b.Context(), l.where, size.String(), func(ctx context.Context, loader *store.Loader) error {
		return seed.Fill(ctx, loader, size, func(exchange.Progress) {})
	})
	if err == nil {
		took := time.Since(began).Seconds()
		b.Logf("seeded in %.0f s, %.0f materials/s", took, float64(l.n)/took)
	} else if !errors.Is(err, sqldb.ErrTaken) {
		b.Fatal(err)
	}
	l.db = storetest.At(b, l.where)
	if label, err := l.db.Read().Secrets.Loaded(b.Context()); err != nil || label != size.String() {
		b.Fatalf("%s holds %q, %v", l.where, label, err)
	}
	content, err := files.OpenFolder(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = content.Close() })
	logFile, err := os.Create(filepath.Join(b.TempDir(), "log"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = logFile.Close() })
	log := slog.New(slog.NewJSONHandler(logFile, nil))
	l.app = app.New(app.Config{DB: l.db, Files: content, Access: exchange.AccessOpen, Log: log, UploadLimit: 1,
		Registration: []string{"open"}, TokenLifetime: time.Hour})
	l.url = serve(b, api.New(l.app, log), log)
	return l
}

// hitPage is what the benchmark reads of a page of hits.
type hitPage struct {
	Count   int
	Next    *string
	Results []struct{ ID int64 }
	Facets  map[string]map[string]int64
}

// call sends a request and returns how long it took until all of the answer was there.
func (l *library) call(method, address, body string, into any) time.Duration {
	r, err := http.NewRequestWithContext(l.Context(), method, address, strings.NewReader(body))
	if err != nil {
		l.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	began := time.Now()
	response, err := l.caller.Do(r)
	if err != nil {
		l.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	took := time.Since(began)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s", response.Status)
	}
	if err == nil && into != nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		l.Fatalf("%s %s: %v: %.300s", method, address, err, raw)
	}
	return took
}

func (l *library) search(key, value string) string {
	return l.url + "/v1/search/materials?" + url.Values{key: {value}}.Encode()
}

// queries draws different queries until there are enough that find few materials and, if there are so many, enough that
// find a tenth of all, or as many as are counted.
func (l *library) queries() (selective, broad []string) {
	templates := []string{"{gene}", "{disease}", "{gene} {tissue}", "{line} {gene}", "{technique}", "{organism}",
		"{gene} {gene2}", "{technique} {disease}", "{line} cells",
		"{animal} {tissue}", "{animal}", "\"{gene} knockout\"", "{backbone} {gene}", "{disease} {tissue}",
		"{tag}-{gene}", "{tissue}", "{gene} antibody", "{line}", "{number}", "{animal} -{tissue}"}
	everyday := []string{"cells", "human", "plasmid", "cell line", "expression", "loss of", "knockout",
		"verified by sequencing", "days after", "mutant", "samples", "weeks"}
	seen := map[string]bool{}
	for i := 0; i < 4000 && (len(selective) < selectiveQueries || len(broad) < broadQueries); i++ {
		query := seed.Draw(templates[i%len(templates)], i)
		if i < len(everyday) {
			query = everyday[i]
		}
		if seen[query] {
			continue
		}
		seen[query] = true
		var a hitPage
		l.call("GET", l.search("search", query)+"&facets=false", "", &a)
		switch {
		case a.Count > 0 && a.Count < 1000 && len(selective) < selectiveQueries:
			selective = append(selective, query)
		case a.Count >= min(l.n/10, exchange.CountLimit) && len(broad) < broadQueries:
			broad = append(broad, query)
		}
	}
	if len(selective) < selectiveQueries || len(broad) < 5 {
		l.Fatalf("%d selective, %d broad queries", len(selective), len(broad))
	}
	return selective, broad
}

// spread is how long calls took, in milliseconds.
type spread []float64

func (s *spread) add(took time.Duration) { *s = append(*s, float64(took.Microseconds())/1000) }

func (s spread) percentile(p int) float64 {
	slices.Sort(s)
	return s[(len(s)-1)*p/100]
}

// pages times the first page of each address, and some of those after it; everything was asked once before.
func (l *library) pages(addresses []string) (first, next spread) {
	for _, timed := range []bool{false, true} {
		for _, address := range addresses {
			for page := range 1 + morePages {
				var a hitPage
				took := l.call("GET", address, "", &a)
				switch {
				case !timed:
				case page == 0:
					first.add(took)
				default:
					next.add(took)
				}
				if a.Next == nil {
					break
				}
				address = *a.Next
				if strings.HasPrefix(address, "/") {
					address = l.url + address
				}
			}
		}
	}
	return first, next
}

// row reports a line of the table, and fails if it misses its bar; 0 is none.
func (l *library) row(name string, s spread, times, bar float64, unit string) {
	value := times
	shown := fmt.Sprintf("%.2f x", times)
	if s != nil {
		value = s.percentile(95)
		shown = fmt.Sprintf("p50 %.1f, p95 %.1f ms (of %d)", s.percentile(50), value, len(s))
	}
	verdict := ""
	switch {
	case bar == 0:
	case value > bar:
		verdict = fmt.Sprintf(" %g%s MISSED", bar, unit)
		l.Errorf("%s: %s, at most %g%s", name, shown, bar, unit)
	default:
		verdict = fmt.Sprintf(" %g%s held", bar, unit)
	}
	fmt.Printf("| %s | %d | %s | %s |%s |\n", l.kind, l.n, name, shown, verdict)
}

func (l *library) measure() {
	began := time.Now()
	selective, broad := l.queries()
	l.Logf("%d selective and %d broad queries found in %s", len(selective), len(broad),
		time.Since(began).Round(time.Second))
	addresses := func(queries []string) []string {
		list := make([]string, len(queries))
		for i, q := range queries {
			list[i] = l.search("search", q)
		}
		return list
	}
	first, next := l.pages(addresses(selective))
	l.row("selective query, first page", first, 0, selectiveBar, " ms")
	l.row("its next pages against the first", nil, next.percentile(95)/first.percentile(95), nextBar, " x")
	first, next = l.pages(addresses(broad))
	l.row("broad query, first page", first, 0, broadBar, " ms")
	l.row("its next pages against the first", nil, next.percentile(95)/first.percentile(95), nextBar, " x")
	first, next = l.pages(l.filters())
	l.row("no query, one facet filter", first, 0, facetBar, " ms")
	l.row("its next pages against the first", nil, next.percentile(95)/first.percentile(95), nextBar, " x")
	l.row("suggest", l.suggested(), 0, suggestBar, " ms")
	alone, beside := l.saved(addresses(slices.Concat(selective, broad)))
	l.row("a material saved", alone, 0, 0, "")
	l.row("a material saved while searching, compared with alone", nil, beside.percentile(95)/alone.percentile(95), writeBar,
		" x")
	text, index, more := l.sizes()
	l.row(fmt.Sprintf("index of words (%.0f MB) relative to the text (%.0f MB)", index/1e6, text/1e6), nil, index/text,
		sizeBar, " x")
	l.row(fmt.Sprintf("other search tables (%.0f MB) relative to the text", more/1e6), nil, more/text, 0, "")
}

// filters are addresses with the most frequent values of every facet.
func (l *library) filters() (addresses []string) {
	var a hitPage
	l.call("GET", l.url+"/v1/search/materials", "", &a)
	for _, name := range slices.Sorted(maps.Keys(a.Facets)) {
		values := slices.SortedFunc(maps.Keys(a.Facets[name]),
			func(x, y string) int { return int(a.Facets[name][y] - a.Facets[name][x]) })
		for _, value := range values[:min(4, len(values))] {
			addresses = append(addresses, l.search(name, value))
		}
	}
	return addresses
}

func (l *library) suggested() (s spread) {
	for i := range 200 {
		typed := seed.Draw([]string{"{gene}", "{disease}", "{line}", "{tissue}", "{technique}"}[i%5], i)
		typed = string([]rune(typed)[:min(len([]rune(typed)), 1+i%6)])
		address := l.url + "/v1/search/suggest?" + url.Values{"search": {typed}}.Encode()
		l.call("GET", address, "", nil)
		s.add(l.call("GET", address, "", nil))
	}
	return s
}

// saved changes materials, first alone, then while a client searches continuously. In the end they are as they were.
func (l *library) saved(searches []string) (alone, beside spread) {
	type material struct {
		Info *string `json:"additional_info"`
	}
	var before [writes]material
	address := func(i int) string { return fmt.Sprintf("%s/v1/materials/%d", l.url, 1+i*(l.n/writes)) }
	save := func(i int, m material) time.Duration {
		raw, err := json.Marshal(m)
		if err != nil {
			l.Fatal(err)
		}
		return l.call("PATCH", address(i), string(raw), nil)
	}
	for i := range writes {
		l.call("GET", address(i), "", &before[i])
	}
	for i := range writes {
		alone.add(save(i, material{new(seed.Draw("Now checked by {technique} and {technique2} for {gene}.", i))}))
	}
	ctx, stop := context.WithCancel(l.Context())
	var searching sync.WaitGroup
	searching.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			l.call("GET", searches[i*7%len(searches)], "", nil)
		}
	})
	for i := range writes {
		beside.add(save(i, before[i]))
	}
	stop()
	searching.Wait()
	return alone, beside
}

// sizes are in bytes: the text of all materials, the index of their words, and the other tables of the index.
func (l *library) sizes() (text, index, more float64) {
	db := storetest.SQL(l.B, l.db)
	read := func(query string) (bytes float64) {
		if err := db.QueryRowContext(l.Context(), query).Scan(&bytes); err != nil {
			l.Fatal(err)
		}
		return bytes
	}
	text = read(`SELECT CAST(SUM(octet_length(title) + octet_length(organisms) + octet_length(additional_metadata) + octet_length(COALESCE(publication_title, ''))
		+ octet_length(COALESCE(pre_print_title, '')) + octet_length(COALESCE(citation, '')) + octet_length(COALESCE(additional_info, ''))) AS DOUBLE PRECISION) FROM materials`)
	if l.kind == storetest.PostgreSQL {
		return text, read("SELECT pg_relation_size('material_words')"),
			read("SELECT pg_total_relation_size('material_index') - pg_relation_size('material_words')")
	}
	return text, read("SELECT SUM(pgsize) FROM dbstat WHERE name LIKE 'material_words%'"),
		read("SELECT SUM(pgsize) FROM dbstat WHERE name LIKE '%material_index%'")
}

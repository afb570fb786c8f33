package bench

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"aliquot/internal/app"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
	"aliquot/internal/identity"
	"aliquot/internal/mail/mailtest"
	"aliquot/internal/sheet"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// The bars of BenchmarkNeighbour.
const (
	neighbourRatio  = 3                      // of the 95th percentile beside the heavy user to that alone
	neighbourWrite  = 250 * time.Millisecond // 95th percentile of writes
	neighbourMemory = 512 * mib              // of the process, at most
	neighbourMail   = 2 * time.Second        // until the first mail
)

// neighbourSize is what the heavy user does. NEIGHBOUR_ROWS is the rows of the spreadsheet, and the rest in proportion.
type neighbourSize struct{ rows, bookRows, jobs, books, materials int }

func sizeOfNeighbour(b *testing.B) neighbourSize {
	rows := 200_000
	if text := os.Getenv("NEIGHBOUR_ROWS"); text != "" {
		var err error
		if rows, err = strconv.Atoi(text); err != nil || rows < 1000 {
			b.Fatalf("NEIGHBOUR_ROWS: %q is no number from 1000 on", text)
		}
	}
	return neighbourSize{rows: min(rows, sheet.MaxRows-1), bookRows: rows / 4, jobs: 100, books: 16,
		materials: min(rows/4, 50_000)}
}

// BenchmarkNeighbour measures what others feel of one heavy user, on the built program as it is deployed, with its
// limits: a large spreadsheet, 16 workbooks at once, 100 jobs, and an address that searches in a loop, with 15 kB and
// with the most that a search may ask for. Others read, write and search, first alone and then at the same time.
func BenchmarkNeighbour(b *testing.B) {
	for _, kind := range storetest.Kinds() {
		b.Run(kind, func(b *testing.B) {
			for range b.N { // once: it takes longer than -benchtime
				neighbours(b, kind, sizeOfNeighbour(b))
			}
		})
	}
}

// town is a running installation with its people.
type town struct {
	b      *testing.B
	p      *process
	letter *mailtest.Server
	heavy  resident
	others []resident

	binary   string
	settings []string // where its data are
	flags    []string // others
}

// run starts a process.
func (t *town) run() *process {
	return run(t.b, t.binary, t.settings[1], slices.Concat(t.settings[2:], t.flags)...)
}

// resident is someone with a token and a lab of their own.
type resident struct {
	token, email, id string
	lab              int64
	material         int64 // of their lab
	request          int64 // which they made for another's material
}

func neighbours(b *testing.B, kind string, size neighbourSize) {
	t := newTown(b, kind, size.materials, size.materials/10)
	defer t.p.stop()
	for i := range t.others {
		t.settle(i)
	}
	alone := t.live(b.Context(), 10*time.Second)
	t.p.resetPeak()
	ctx, done := context.WithCancel(b.Context())
	var calling sync.WaitGroup
	busy := t.bother(ctx, size, &calling)
	mailed := make(chan time.Duration, 1)
	go func() { mailed <- t.firstMail() }()
	beside := &felt{}
	for began := time.Now(); ; {
		beside.add(t.live(b.Context(), 5*time.Second))
		if spent := time.Since(began); spent > 5*time.Minute || spent > 20*time.Second && !busy() {
			break
		}
	}
	done()
	calling.Wait()
	memory := t.p.memory("VmHWM")
	for _, side := range []struct {
		name  string
		alone []time.Duration
		here  []time.Duration
	}{{"reads", alone.reads, beside.reads}, {"writes", alone.writes, beside.writes},
		{"searches", alone.searches, beside.searches}} {
		before, now := percentile95(side.alone), percentile95(side.here)
		ratio := float64(now) / float64(before)
		b.ReportMetric(float64(before.Microseconds())/1000, side.name+"-alone-p95-ms")
		b.ReportMetric(float64(now.Microseconds())/1000, side.name+"-p95-ms")
		b.ReportMetric(ratio, side.name+"-ratio")
		b.Logf("%s: p50 %v, p95 %v alone, %v beside (%d calls), longest %v", side.name, side.here[len(side.here)/2],
			before, now, len(side.here),
			slices.Max(side.here))
		if ratio > neighbourRatio {
			b.Errorf("the 95th percentile of %s is %.1f of alone, not %d", side.name, ratio, neighbourRatio)
		}
		if side.name == "writes" && now > neighbourWrite {
			b.Errorf("the 95th percentile of writes is %v, not %v", now, neighbourWrite)
		}
	}
	b.ReportMetric(float64(memory)/mib, "MiB")
	b.ReportMetric(0, "ns/op")
	if memory >= neighbourMemory {
		b.Errorf("%d MiB, not %d", memory/mib, neighbourMemory/mib)
	}
	first := <-mailed
	b.ReportMetric(float64(first.Milliseconds()), "first-mail-ms")
	if first >= neighbourMail {
		b.Errorf("the first mail after %v, not %v", first, neighbourMail)
	}
}

func percentile95(took []time.Duration) time.Duration { return percentile(took, 95) }

func percentile(took []time.Duration, n int) time.Duration {
	slices.Sort(took)
	return took[len(took)*n/100]
}

// newTown seeds a database, makes its people and starts the program, with more flags if there are some.
func newTown(b *testing.B, kind string, materials, requests int, flags ...string) *town {
	data, binary := b.TempDir(), build(b)
	settings, where := []string{"--data", data}, filepath.Join(data, "aliquot.db")
	if kind == storetest.PostgreSQL {
		where = storetest.Clone(b, "aliquot_bench", func(string) error { return nil })
		settings = append(settings, "--database", where)
	}
	seeding := exec.CommandContext(b.Context(), binary, append([]string{"seed", "--materials", strconv.Itoa(materials), "--requests", strconv.Itoa(requests)}, settings...)...) //nolint:gosec // our own binary
	if out, err := seeding.CombinedOutput(); err != nil {
		b.Fatalf("seed: %v\n%s", err, out)
	}
	t := &town{b: b, letter: mailtest.Start(b), binary: binary, settings: settings}
	t.flags = append([]string{"--access", "members", "--mail", t.letter.URL}, flags...)
	db, err := store.Open(b.Context(), where)
	if err != nil {
		b.Fatal(err)
	}
	// As if the people of old requests had been reminded: 65,000 mails among 100,000 requests are not what is measured.
	rows := openBare(b, "pgx", where, 1)
	if kind == storetest.SQLite {
		rows = openBare(b, "sqlite", sqliteName(where, ""), 1)
	}
	if _, err := rows.ExecContext(b.Context(),
		"UPDATE material_requests SET reminded = 10000, escalates = FALSE"); err != nil {
		b.Fatal(err)
	}
	a := app.New(app.Config{DB: db, Access: exchange.AccessMembers, Registration: []string{"open"},
		TokenLifetime: time.Hour})
	for i := range 5 {
		email := fmt.Sprintf("neighbour%d@example.org", i)
		signed, err := a.Accounts.SignIn(b.Context(),
			identity.Person{RegistryID: fmt.Sprint("neighbour ", i), GivenName: "N", FamilyName: fmt.Sprint(i),
				Email: email}, person.Registration{})
		if err != nil {
			b.Fatal(err)
		}
		who, err := a.Accounts.Actor(b.Context(), signed.Token)
		if err != nil {
			b.Fatal(err)
		}
		one := resident{token: signed.Token, email: email, id: who.ID.String(), lab: who.Organizations[0]}
		if i == 0 {
			t.heavy = one
		} else {
			t.others = append(t.others, one)
		}
	}
	t.p = t.run()
	rest(b, db)
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
	return t
}

// rest waits until the program has done the jobs that it begins with, which would slow down those who are alone: it
// reminds people of the seeded requests. They are done when none was due for some seconds.
func rest(b *testing.B, db *store.DB) {
	for idle := 0; idle < 20; idle++ {
		time.Sleep(200 * time.Millisecond)
		due, err := db.Read().Jobs.Due(b.Context(), false, []string{"remind", "tell", "mail.notification"})
		if err != nil {
			b.Fatal(err)
		}
		if due {
			idle = 0
		}
	}
}

// settle gives one of the others a material, and a request for another's.
func (t *town) settle(i int) {
	one := &t.others[i]
	one.material = t.make(one, "/v1/materials",
		fmt.Sprintf(`{"category": "CELL_LINE", "title": "HT-29 of %d", "organization_id": %d, "additional_metadata": {"cell_line_name": "HT-29"}}`, i, one.lab))
	if i > 0 {
		one.request = t.make(one, "/v1/material-requests", fmt.Sprintf(`{"material": %d}`, t.others[i-1].material))
	}
	if i == len(t.others)-1 {
		first := &t.others[0]
		first.request = t.make(first, "/v1/material-requests", fmt.Sprintf(`{"material": %d}`, one.material))
	}
}

func (t *town) make(one *resident, path, body string) int64 {
	var made struct{ ID int64 }
	raw, err := t.call(t.b.Context(), http.DefaultClient, "POST", path, one.token, "application/json",
		strings.NewReader(body))
	if err == nil {
		err = json.Unmarshal(raw, &made)
	}
	if err != nil {
		t.b.Fatal(err)
	}
	return made.ID
}

// call makes one call, which must succeed.
func (t *town) call(ctx context.Context, c *http.Client, method, path, token, kind string, body io.Reader) ([]byte,
	error) {
	r, err := http.NewRequestWithContext(ctx, method, t.p.url+path, body)
	if err != nil {
		return nil, err
	}
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	switch {
	case token == "":
	case strings.HasPrefix(path, "/v1/"):
		r.Header.Set("Authorization", "Token "+token)
	default: // a page
		r.AddCookie(&http.Cookie{Name: "__Host-session", Value: token})
	}
	var answer bytes.Buffer
	_, err = send(c, r, &answer)
	return answer.Bytes(), err
}

// felt is how long calls of the others took.
type felt struct{ reads, writes, searches []time.Duration }

func (f *felt) add(more felt) {
	f.reads, f.writes, f.searches = append(f.reads, more.reads...), append(f.writes, more.writes...),
		append(f.searches, more.searches...)
}

// pace is how often one of the others calls, below the limit of a user.
const pace = 75 * time.Millisecond

// live has each of the others go on with their work for a while.
func (t *town) live(ctx context.Context, length time.Duration) felt {
	all := make([]felt, len(t.others))
	var living sync.WaitGroup
	for i, one := range t.others {
		living.Go(func() {
			tick := time.NewTicker(pace)
			defer tick.Stop()
			c := &http.Client{Transport: &http.Transport{DisableCompression: true}}
			defer c.CloseIdleConnections()
			for n, began := 0, time.Now(); time.Since(began) < length; n++ {
				<-tick.C
				method, path, body, into := "GET", fmt.Sprintf("/v1/materials/%d", one.material), "", &all[i].reads
				switch n % 8 {
				case 1:
					path = "/v1/material-requests/?limit=20"
				case 2:
					method, path, into = "PATCH", fmt.Sprintf("/v1/materials/%d", one.material), &all[i].writes
					body = fmt.Sprintf(`{"additional_info": "checked %d"}`, n)
				case 3:
					path = fmt.Sprintf("/v1/material-requests/%d", one.request)
				case 4:
					path, into = "/v1/search/materials?limit=20&search="+
						url.QueryEscape([]string{"colon", "plasmid gfp", "mouse strain"}[n/8%3]), &all[i].searches
				case 5:
					path = fmt.Sprintf("/catalog/%d", one.material)
				case 6:
					method, path, into = "POST", fmt.Sprintf("/v1/material-requests/%d/messages", one.request),
						&all[i].writes
					body = `{"text": "We ship on Monday."}`
				}
				kind := ""
				if body != "" {
					kind = "application/json"
				}
				start := time.Now()
				if _, err := t.call(ctx, c, method, path, one.token, kind, strings.NewReader(body)); err != nil {
					t.b.Errorf("one of the others: %v", err)
					return
				}
				*into = append(*into, time.Since(start))
			}
		})
	}
	living.Wait()
	var sum felt
	for _, one := range all {
		sum.add(one)
	}
	return sum
}

// bother has the heavy user begin, and reports then whether their spreadsheet is still at work. Their calls may be
// refused: that is what limits are for.
func (t *town) bother(ctx context.Context, size neighbourSize, calling *sync.WaitGroup) (busy func() bool) {
	lab := fmt.Sprintf("/v1/organizations/%d/materials/bulk", t.heavy.lab)
	var over atomic.Bool
	calling.Go(func() {
		defer over.Store(true)
		t.sheet(ctx, lab, size.rows)
	})
	book := workbook(t.b, size.bookRows)
	var refused, taken atomic.Int64
	try := func(path, kind string, body []byte) {
		for ctx.Err() == nil {
			if _, err := t.call(ctx, http.DefaultClient, "POST", path, t.heavy.token, kind,
				bytes.NewReader(body)); err == nil {
				taken.Add(1)
				return
			}
			refused.Add(1)
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	}
	for range size.books {
		calling.Go(func() {
			try(lab+"?mode=dry-run", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", book)
		})
	}
	calling.Go(func() {
		var small bytes.Buffer
		_, _ = io.Copy(&small, inventory(200))
		for range size.jobs {
			try(lab+"?mode=dry-run", "text/csv", small.Bytes())
		}
		t.b.Logf("the heavy user: %d calls taken, %d refused", taken.Load(), refused.Load())
	})
	var searches, answered atomic.Int64
	long, most := "/v1/search/materials?search="+strings.Repeat("colon+", 2500), maxSearch()
	for _, path := range []string{long, most} {
		calling.Go(func() {
			c := &http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}).DialContext}}
			defer c.CloseIdleConnections()
			for ctx.Err() == nil {
				searches.Add(1)
				if _, err := t.call(ctx, c, "GET", path, "", "", http.NoBody); err == nil {
					answered.Add(1)
					continue
				}
				select { // refused calls cost this process, on the same processors, as much as the program
				case <-ctx.Done():
				case <-time.After(20 * time.Millisecond):
				}
			}
		})
	}
	return func() bool {
		if over.Load() {
			t.b.Logf("the address that searches: %d calls, %d answered", searches.Load(), answered.Load())
		}
		return !over.Load()
	}
}

// maxSearch asks for the most that a search may.
func maxSearch() string {
	values := url.Values{"search": {strings.Repeat("colon cell line mouse ", 8)}}
	for i := range exchange.MaxSearched - 32 {
		values.Add("organisms", fmt.Sprint("Species ", i))
	}
	return "/v1/search/materials?" + values.Encode()
}

// sheet sends the large spreadsheet, and waits until its job is over.
func (t *town) sheet(ctx context.Context, lab string, rows int) {
	began := time.Now()
	raw, err := t.call(ctx, http.DefaultClient, "POST", lab, t.heavy.token, "text/csv", inventory(rows))
	var j struct {
		ID    int64
		State exchange.JobState
	}
	for err == nil {
		if err = json.Unmarshal(raw, &j); err != nil || j.State.Over() {
			break
		}
		time.Sleep(time.Second)
		raw, err = t.call(ctx, http.DefaultClient, "GET", fmt.Sprintf("/v1/jobs/%d", j.ID), t.heavy.token, "",
			http.NoBody)
		if err != nil && ctx.Err() == nil && strings.Contains(err.Error(), "429") {
			err = nil // the limit of the user, whose other calls are as many
		}
	}
	if err != nil && ctx.Err() == nil {
		t.b.Errorf("the spreadsheet: %v", err)
	}
	t.b.Logf("the spreadsheet of %d rows: %s after %v", rows, j.State, time.Since(began).Round(time.Second))
}

// workbook is an XLSX whose rows are all alike, so that it is small until it is read.
func workbook(b *testing.B, rows int) []byte {
	var body bytes.Buffer
	archive := zip.NewWriter(&body)
	add := func(name, text string) io.Writer {
		w, err := archive.Create(name)
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err != nil {
			b.Fatal(err)
		}
		return w
	}
	add("[Content_Types].xml",
		`<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>`)
	add("_rels/.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>`)
	add("xl/workbook.xml", `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Materials" sheetId="1" r:id="rId1"/></sheets></workbook>`)
	add("xl/_rels/workbook.xml.rels",
		`<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`)
	cells := add("xl/worksheets/sheet1.xml",
		`<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>`)
	row := func(texts ...string) {
		_, _ = io.WriteString(cells, "<row>")
		for _, cell := range texts {
			_, _ = io.WriteString(cells, `<c t="inlineStr"><is><t>`+cell+`</t></is></c>`)
		}
		_, _ = io.WriteString(cells, "</row>")
	}
	row("category", "title", "cell line name", "notes")
	for range rows {
		row("CELL_LINE", "HT-29", "HT-29", "Grows fast; split twice a week.")
	}
	_, err := io.WriteString(cells, `</sheetData></worksheet>`)
	if err := errors.Join(err, archive.Close()); err != nil {
		b.Fatal(err)
	}
	return body.Bytes()
}

// firstMail returns how long it takes from a request until its lab has the mail, once the heavy user is at work.
func (t *town) firstMail() time.Duration {
	time.Sleep(5 * time.Second)
	asks, owns := t.others[0], t.others[2]
	before := len(t.mailTo(owns.email))
	began := time.Now()
	body := fmt.Sprintf(`{"material": %d, "note": "for the first mail"}`, owns.material)
	if _, err := t.call(t.b.Context(), http.DefaultClient, "POST", "/v1/material-requests", asks.token,
		"application/json", strings.NewReader(body)); err != nil {
		t.b.Errorf("the request of the first mail: %v", err)
	}
	for len(t.mailTo(owns.email)) == before && time.Since(began) < time.Minute {
		time.Sleep(10 * time.Millisecond)
	}
	return time.Since(began)
}

func (t *town) mailTo(address string) (list []mailtest.Letter) {
	for _, l := range t.letter.Messages() {
		if l.To == address {
			list = append(list, l)
		}
	}
	return list
}

package bench

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"aliquot/internal/job/jobtest"
	"aliquot/internal/mail"
	"aliquot/internal/notice"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// actBars are the most milliseconds of processor time that a status change may take with its jobs.
var actBars = map[string]float64{storetest.SQLite: 1.2, storetest.PostgreSQL: 2.5}

const (
	actRounds = 30
	actsEach  = 10 // in a round: so much mail one person may cause to another before it is held back
)

// BenchmarkActs measures the processor time of changes of materials and of the status of requests, with the jobs that
// they cause and without: of this process, which is client and server, and of the backends of PostgreSQL. Mail goes to
// a folder, about each change of a status: to the requester, and about half of them to one more member of the lab.
func BenchmarkActs(b *testing.B) {
	each(b, func(b *testing.B, w *world) {
		_, kind, _ := strings.Cut(b.Name(), "/")
		post, err := mail.Open("file:"+b.TempDir(), "Aliquot <aliquot@example.org>", w.log)
		if err != nil {
			b.Fatal(err)
		}
		words, err := notice.New("https://aliquot.example.org")
		if err != nil {
			b.Fatal(err)
		}
		w.app.Mail, w.app.Notice, w.app.PublicURL = post, words, "https://aliquot.example.org"
		spent := newProcessorTime(b, w.db, w.where)
		info := func(side int) func(n int) *http.Request {
			path := [2]func(n int) string{w.material, func(n int) string { return fmt.Sprintf("/row/%d", w.materials[n]) }}
			return func(n int) *http.Request {
				return w.request(side, "PATCH", path[side](n%len(w.materials)), w.member,
					fmt.Sprintf(`{"additional_info": "Grows in McCoy's 5A with %d %% serum."}`, n))
			}
		}
		status := func(side int) func(n int) *http.Request {
			return func(n int) *http.Request {
				return w.request(side, "PATCH", w.requestPath(n%actsEach+side*actsEach), w.member,
					[2]string{reopened, approved}[n/actsEach%2])
			}
		}
		for range b.N { // once: it takes longer than -benchtime
			b.Logf("a change of a material: %.2f ms, bare %.2f", spent.acts(info(ours), nil), spent.acts(info(bare), nil))
			changed := spent.acts(status(bare), nil)
			alone := spent.acts(status(ours), nil)
			stop := w.work()
			idle := func() {
				jobtest.Poll(b, "everybody was mailed", func() bool {
					before := w.db.Queries() // asking the database takes processor time too
					time.Sleep(50 * time.Millisecond)
					return w.db.Queries() == before && !w.waits("tell", "mail.notification")
				})
			}
			idle()
			whole := spent.acts(status(ours), idle)
			stop()
			b.Logf("a change of a status: %.2f ms, bare %.2f, its jobs %.2f", alone, changed, whole-alone)
			b.ReportMetric(0, "ns/op")
			if whole > actBars[kind] {
				b.Errorf("a status change takes %.2f ms of processor time with its jobs, not %.1f", whole, actBars[kind])
			}
			if whole > 2*alone {
				b.Errorf("the jobs take %.2f ms, and the act %.2f", whole-alone, alone)
			}
		}
	})
}

// processorTime is that of this process, which is client and server, and of the backends of PostgreSQL.
type processorTime struct {
	b    *testing.B
	db   *store.DB
	pool *sql.DB // of PostgreSQL
}

func newProcessorTime(b *testing.B, db *store.DB, where string) processorTime {
	p := processorTime{b: b, db: db}
	if db.Postgres() {
		p.pool = openBare(b, "pgx", where, 1)
	}
	return p
}

// acts returns how many milliseconds one act takes, in rounds after which rest runs, if there is one.
func (p processorTime) acts(call func(n int) *http.Request, rest func()) float64 {
	var total time.Duration
	for round := range actRounds {
		if err := p.db.Tx(p.b.Context(), func(ctx context.Context, tx store.Conn) error {
			return tx.Mail.DeleteCounts(ctx, tx.Now.Add(time.Hour)) // so that none is held back
		}); err != nil {
			p.b.Fatal(err)
		}
		total += p.of(func() {
			for n := range actsEach {
				if _, err := send(http.DefaultClient, call(round*actsEach+n), io.Discard); err != nil {
					p.b.Fatal(err)
				}
			}
			if rest != nil {
				rest()
			}
		})
	}
	return float64(total.Microseconds()) / 1000 / (actRounds * actsEach)
}

// of is how much do takes.
func (p processorTime) of(do func()) time.Duration {
	before := p.now()
	do()
	return p.now() - before
}

// now is how much there was so far.
func (p processorTime) now() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		p.b.Fatal(err)
	}
	total := time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	if p.pool == nil {
		return total
	}
	var pids string
	if err := p.pool.QueryRowContext(p.b.Context(), `SELECT string_agg(CAST(pid AS TEXT), ' ') FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid()`).Scan(&pids); err != nil {
		p.b.Fatal(err)
	}
	for pid := range strings.FieldsSeq(pids) {
		raw, err := os.ReadFile("/proc/" + pid + "/schedstat")
		if err != nil {
			p.b.Fatal(err)
		}
		running, _, _ := strings.Cut(string(raw), " ")
		spent, err := strconv.ParseInt(running, 10, 64)
		if err != nil {
			p.b.Fatal(err)
		}
		total += time.Duration(spent)
	}
	return total
}

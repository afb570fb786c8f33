package metrics

import (
	"context"
	"errors"
	"sync"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/server"
	"aliquot/internal/store"
	"aliquot/internal/store/queue"
	"aliquot/internal/store/scan"

	"github.com/prometheus/client_golang/prometheus"
)

// The figures that need the database are read at most every readEvery, however often they are asked for, and for
// readTime at most.
const (
	readEvery = 5 * time.Second
	readTime  = 2 * time.Second
)

// Figures are those of a state that the database has.
type Figures struct {
	Waiting    []queue.Waiting // jobs
	Pending    int64           // events that are not in the log yet
	Since      *time.Time      // when the oldest of them happened
	Entries    int64           // of the log
	Checkpoint time.Time       // when the newest one was signed; zero: there is none
	Withheld   scan.Counts     // files that nobody can open because of viruses
}

// Read reads the figures of a state.
func Read(ctx context.Context, db *store.DB) (f Figures, err error) {
	c := db.Read()
	var jobsErr, sizeErr, logErr, scanErr error
	f.Withheld, scanErr = c.Scans.Counts(ctx)
	f.Waiting, jobsErr = c.Jobs.Waiting(ctx)
	f.Entries, sizeErr = c.Log.Size(ctx)
	f.Pending, f.Since, logErr = c.Log.Waiting(ctx)
	newest, err := c.Log.Checkpoint(ctx, 0)
	if exchange.CodeOf(err) == exchange.NotFound {
		err = nil
	}
	f.Checkpoint = newest.At
	return f, errors.Join(jobsErr, sizeErr, logErr, scanErr, err)
}

// state collects the figures of the database.
type state struct {
	db   *store.DB
	load *server.LoadLimit

	mu   sync.Mutex
	read time.Time // when figures and err were read
	last Figures
	err  error
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

var (
	readOK = desc("aliquot_state_read_success",
		"Whether the figures of queue and log could be read; they are missing otherwise.")
	jobsWaiting = desc("aliquot_jobs_waiting",
		"Jobs that are due and that no worker has taken, by lane and kind; 10,000 of a lane are counted at most.",
		"lane", "kind")
	jobsAge = desc("aliquot_jobs_oldest_due_seconds",
		"For how long the oldest job that waits has been due, by lane and kind.", "lane", "kind")
	logEntries     = desc("aliquot_log_entries", "Events in the log of the record.")
	pendingEvents  = desc("aliquot_log_pending_events", "Events that are not in the log of the record yet.")
	pendingSeconds = desc("aliquot_log_pending_seconds",
		"Age of the oldest event that is not in the log of the record yet.")
	checkpointAt = desc("aliquot_log_checkpoint_timestamp_seconds",
		"When the newest checkpoint of the log was signed; 0: there is none.")
	withheld = desc("aliquot_files_withheld",
		"Versions of files that nobody can open, by reason: checking or infected.", "reason")
	connections = desc("aliquot_database_connections",
		"Connections to the database by pool and what they do: in_use or idle.", "pool", "state")
	connectionsMax = desc("aliquot_database_connections_max", "The most connections that a pool may have.", "pool")
	waits          = desc("aliquot_database_waits_total",
		"How often a statement or transaction waited for a connection of a pool.", "pool")
	waitSeconds = desc("aliquot_database_wait_seconds_total",
		"For how long statements and transactions waited for a connection of a pool.", "pool")
	statements     = desc("aliquot_database_statements_total", "Statements that were run.")
	slowStatements = desc("aliquot_database_slow_statements_total",
		"Statements that took as long as the setting slow-query, or longer.")
	working = desc("aliquot_http_requests_working",
		"Requests that are worked on, without those whose clients are slow or that have a queue of their own.")
	queued      = desc("aliquot_http_requests_queued", "Requests that wait until fewer are worked on.")
	shed        = desc("aliquot_http_requests_shed_total", "Requests refused because there was too much to do.")
	storageFull = desc("aliquot_storage_full", "Whether the disk of the database refused a write lately.")
)

// Describe lists the metrics.
func (s *state) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{readOK, jobsWaiting, jobsAge, logEntries, pendingEvents, pendingSeconds,
		checkpointAt, withheld, connections, connectionsMax, waits, waitSeconds, statements, slowStatements,
		working, queued, shed, storageFull} {
		to <- d
	}
}

// Collect sends the metrics.
func (s *state) Collect(to chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	counter := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, value, labels...)
	}
	for name, p := range s.db.Pools() {
		gauge(connections, float64(p.InUse), name, "in_use")
		gauge(connections, float64(p.Idle), name, "idle")
		gauge(connectionsMax, float64(p.MaxOpenConnections), name)
		counter(waits, float64(p.WaitCount), name)
		counter(waitSeconds, p.WaitDuration.Seconds(), name)
	}
	counter(statements, float64(s.db.Queries()))
	counter(slowStatements, float64(s.db.SlowStatements()))
	now, next, refused := s.load.Figures()
	gauge(working, float64(now))
	gauge(queued, float64(next))
	counter(shed, float64(refused))
	gauge(storageFull, number(s.db.Full()))
	f, err := s.figures()
	gauge(readOK, number(err == nil))
	if err != nil {
		return
	}
	for _, w := range f.Waiting {
		gauge(jobsWaiting, float64(w.Jobs), w.Lane(), w.Kind)
		gauge(jobsAge, time.Since(w.Since).Seconds(), w.Lane(), w.Kind)
	}
	gauge(logEntries, float64(f.Entries))
	gauge(pendingEvents, float64(f.Pending))
	age, signed := 0.0, 0.0
	if f.Since != nil {
		age = time.Since(*f.Since).Seconds()
	}
	if !f.Checkpoint.IsZero() {
		signed = float64(f.Checkpoint.UnixMicro()) / 1e6
	}
	gauge(pendingSeconds, age)
	gauge(checkpointAt, signed)
	gauge(withheld, float64(f.Withheld.Checking), "checking")
	gauge(withheld, float64(f.Withheld.Infected), "infected")
}

// figures returns those that were read lately, or reads them.
func (s *state) figures() (Figures, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.read) > readEvery {
		ctx, cancel := context.WithTimeout(context.Background(), readTime)
		defer cancel()
		s.last, s.err = Read(ctx, s.db)
		s.read = time.Now()
	}
	return s.last, s.err
}

func number(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

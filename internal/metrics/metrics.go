// Package metrics keeps the figures of a process for Prometheus: counts of requests, jobs and calls of public sources,
// and the state of queue, log and database as it is when they are read. docs/operation.md lists them all.
package metrics

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"aliquot/internal/server"
	"aliquot/internal/store"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics are the figures of a process. Its methods may be called by several goroutines at once.
type Metrics struct {
	registry *prometheus.Registry

	requests       *prometheus.CounterVec
	requestTime    *prometheus.HistogramVec
	runs           *prometheus.CounterVec
	runTime        *prometheus.HistogramVec
	sourceRequests *prometheus.CounterVec
	sourceTime     *prometheus.HistogramVec
}

// The buckets of histograms, in seconds. Requests are judged by whether they take 50 ms or 500 ms; jobs and public
// sources may take minutes.
var (
	requestBuckets = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}
	workBuckets    = []float64{.01, .05, .25, 1, 5, 30, 120, 600}
)

// New returns the figures of a process of a version that uses db and has a limit of load.
func New(db *store.DB, load *server.LoadLimit, version string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "aliquot_http_requests_total",
			Help: "Answered requests by method, route and status."}, []string{"method", "route", "status"}),
		requestTime: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "aliquot_http_request_duration_seconds",
			Help:    "Time to answer requests by method and route; streams last as long as their clients stay.",
			Buckets: requestBuckets}, []string{"method", "route"}),
		runs: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "aliquot_job_runs_total",
			Help: "Runs of jobs by kind and the state of the job afterwards; READY is one that is tried again."},
			[]string{"kind", "state"}),
		runTime: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "aliquot_job_run_duration_seconds",
			Help: "Duration of runs of jobs by kind.", Buckets: workBuckets}, []string{"kind"}),
		sourceRequests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "aliquot_source_requests_total",
			Help: "Requests to public sources of imports by source and result."}, []string{"source", "result"}),
		sourceTime: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "aliquot_source_request_duration_seconds", Help: "Duration of requests to public sources by source.",
			Buckets: workBuckets}, []string{"source"}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: "aliquot_build_info",
		Help: "1; the labels have the version.", ConstLabels: prometheus.Labels{"version": version}})
	build.Set(1)
	m.registry.MustRegister(m.requests, m.requestTime, m.runs, m.runTime, m.sourceRequests, m.sourceTime, build,
		&state{db: db, load: load}, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// WatchScanner adds whether the virus scanner responds, which is asked each time.
func (m *Metrics) WatchScanner(ready func(context.Context) error) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "aliquot_scanner_up",
		Help: "Whether the virus scanner responds; there only if one is set."}, func() float64 {
		ctx, cancel := context.WithTimeout(context.Background(), readTime)
		defer cancel()
		return number(ready(ctx) == nil)
	}))
}

// WatchHolds adds how much content the bucket should hold and does not, which is counted each time; -1: unknown.
func (m *Metrics) WatchHolds(count func(context.Context) (all, late int64, err error)) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "aliquot_files_not_held",
		Help: "Files that the bucket should hold and does not; there only with files-hold."}, func() float64 {
		ctx, cancel := context.WithTimeout(context.Background(), readTime)
		defer cancel()
		all, _, err := count(ctx)
		if err != nil {
			return -1
		}
		return float64(all)
	}))
}

// Handler answers with all figures in the text format of Prometheus.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 2, Timeout: 10 * time.Second})
}

// BeginRequest makes Metrics a server.Observer.
func (m *Metrics) BeginRequest(r *http.Request) *http.Request { return r }

// EndRequest counts a request that was answered.
func (m *Metrics) EndRequest(r *http.Request, status int, took time.Duration) {
	method, route := server.RouteOf(r)
	m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Inc()
	m.requestTime.WithLabelValues(method, route).Observe(took.Seconds())
}

// BeginJob makes Metrics a job.Observer.
func (m *Metrics) BeginJob(ctx context.Context, _ string) context.Context { return ctx }

// EndJob counts a run of a job of a kind, after which the job is in a state.
func (m *Metrics) EndJob(_ context.Context, kind, state string, took time.Duration, _ error) {
	m.runs.WithLabelValues(kind, state).Inc()
	m.runTime.WithLabelValues(kind).Observe(took.Seconds())
}

// Source counts a request to a public source.
func (m *Metrics) Source(source, result string, took time.Duration) {
	m.sourceRequests.WithLabelValues(source, result).Inc()
	m.sourceTime.WithLabelValues(source).Observe(took.Seconds())
}

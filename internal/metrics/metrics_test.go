package metrics_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/metrics"
	"aliquot/internal/server"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// scrape reads the metrics as Prometheus does.
func scrape(t *testing.T, m *metrics.Metrics) (text string, families map[string]*dto.MetricFamily) {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(w.Body.Bytes()))
	if err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d, %v:\n%s", w.Code, err, w.Body)
	}
	return w.Body.String(), families
}

// value returns the value of a metric with labels, written as in the text format.
func value(t *testing.T, text, metric string) string {
	t.Helper()
	for line := range strings.Lines(text) {
		if v, found := strings.CutPrefix(line, metric+" "); found {
			return strings.TrimSpace(v)
		}
	}
	return "none"
}

// used returns the metrics of a process that did something of everything.
func used(t *testing.T, db *store.DB) *metrics.Metrics {
	t.Helper()
	m := metrics.New(db, server.NewLoadLimit(1), "v1.2.3")
	m.WatchScanner(func(context.Context) error { return errors.New("away") })
	m.WatchHolds(func(context.Context) (all, late int64, err error) { return 3, 1, nil })
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/materials/{id}/{$}", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	mux.HandleFunc("GET /{$}", func(http.ResponseWriter, *http.Request) {})
	handler := server.Record(mux, slog.New(slog.DiscardHandler), m)
	for _, c := range []struct{ method, path string }{{"GET", "/v1/materials/7/"}, {"GET", "/v1/materials/8/"}, {"GET", "/"},
		{"GET", "/secret/elsewhere"}, {"BREW", "/"}} {
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(c.method, c.path, http.NoBody))
	}
	m.EndJob(m.BeginJob(t.Context(), "mail"), "mail", "DONE", time.Second, nil)
	m.Source("GEO", "down", time.Second)
	return m
}

func TestMetrics_CountRequestsByRouteJobsAndSources(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		text, _ := scrape(t, used(t, db))
		for metric, want := range map[string]string{
			`aliquot_build_info{version="v1.2.3"}`:      "1",
			`aliquot_scanner_up`:                        "0",
			`aliquot_files_withheld{reason="checking"}`: "0",
			`aliquot_http_requests_total{method="GET",route="/materials/{id}",status="418"}`:    "2",
			`aliquot_http_request_duration_seconds_count{method="GET",route="/materials/{id}"}`: "2",
			`aliquot_http_requests_total{method="GET",route="/",status="200"}`:                  "1",
			`aliquot_http_requests_total{method="GET",route="none",status="404"}`:               "1",
			`aliquot_http_requests_total{method="other",route="none",status="405"}`:             "1",
			`aliquot_job_runs_total{kind="mail",state="DONE"}`:                                  "1",
			`aliquot_source_requests_total{result="down",source="GEO"}`:                         "1",
			`aliquot_source_request_duration_seconds_bucket{source="GEO",le="1"}`:               "1",
			`aliquot_http_requests_shed_total`:                                                  "0",
			`aliquot_state_read_success`:                                                        "1",
			`aliquot_storage_full`:                                                              "0",
			`aliquot_log_pending_events`:                                                        "1",
			`aliquot_log_checkpoint_timestamp_seconds`:                                          "0",
		} {
			if got := value(t, text, metric); got != want {
				t.Errorf("%s: got %s, want %s", metric, got, want)
			}
		}
		if strings.Contains(text, "secret") || strings.Contains(text, "BREW") {
			t.Error("a client chooses a label")
		}
	})
}

func TestMetrics_ShowWhatWaitsInEachLane(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		enqueue(t, db, -time.Hour, false, "mail")
		enqueue(t, db, -time.Minute, false, "mail")
		enqueue(t, db, time.Hour, false, "mail") // not due
		enqueue(t, db, -time.Minute, true, "sheet")
		_, families := scrape(t, metrics.New(db, server.NewLoadLimit(1), "v1"))
		ages := map[string]float64{}
		for _, m := range families["aliquot_jobs_oldest_due_seconds"].GetMetric() {
			ages[m.GetLabel()[1].GetValue()+" "+m.GetLabel()[0].GetValue()] = m.GetGauge().GetValue()
		}
		if len(ages) != 2 || ages["quick mail"] < 3600 || ages["quick mail"] > 3700 || ages["heavy sheet"] < 60 {
			t.Errorf("ages: %v", ages)
		}
		counts := map[string]float64{}
		for _, m := range families["aliquot_jobs_waiting"].GetMetric() {
			counts[m.GetLabel()[0].GetValue()] = m.GetGauge().GetValue()
		}
		if len(counts) != 2 || counts["mail"] != 2 || counts["sheet"] != 1 {
			t.Errorf("counts: %v", counts)
		}
	})
}

// enqueue adds a job of a kind that is due at a moment from now.
func enqueue(t *testing.T, db *store.DB, in time.Duration, heavy bool, kind string) {
	t.Helper()
	if err := db.Tx(t.Context(), func(ctx context.Context, tx store.Conn) error {
		_, err := tx.Jobs.Insert(ctx, exchange.Job{Kind: kind, Args: []byte("null"), Heavy: heavy, DueAt: new(tx.Now.Add(in))})
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func TestMetrics_AreReadFromTheDatabaseNowAndThenHoweverOftenTheyAreAskedFor(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		m := metrics.New(db, server.NewLoadLimit(1), "v1")
		scrape(t, m)
		before := db.Queries()
		for range 100 {
			scrape(t, m)
		}
		if n := db.Queries() - before; n > 25 { // the figures are read again after 5 seconds
			t.Errorf("%d statements for 100 scrapes", n)
		}
	})
}

func TestMetrics_OfADatabaseThatDoesNotAnswerAreTheOthers(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		m := metrics.New(db, server.NewLoadLimit(1), "v1")
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		text, families := scrape(t, m)
		if value(t, text, "aliquot_state_read_success") != "0" || families["aliquot_log_entries"] != nil ||
			families["go_goroutines"] == nil || families["aliquot_database_connections"] == nil {
			t.Errorf("got\n%s", text)
		}
	})
}

// promtool returns the path of promtool. Without it a test is skipped, which make test does not allow: it installs it.
func promtool(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../../.bin/promtool")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		t.Skip("make .bin/promtool installs what this needs")
	}
	return path
}

func TestMetrics_PassTheChecksOfPrometheus(t *testing.T) {
	t.Parallel()
	tool := promtool(t)
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		enqueue(t, db, -time.Hour, false, "mail")
		text, _ := scrape(t, used(t, db))
		check := exec.CommandContext(t.Context(), tool, "check", "metrics")
		check.Stdin = strings.NewReader(text)
		if out, err := check.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%v\n%s", err, out)
		}
	})
}

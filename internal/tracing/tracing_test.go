package tracing_test

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"aliquot/internal/server"
	"aliquot/internal/tracing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// receiver is a collector that keeps the spans it is sent.
type receiver struct {
	mu       sync.Mutex
	spans    []*otlp.Span
	resource string
}

// ServeHTTP takes traces as OTLP over HTTP specifies it.
func (c *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = unzipped
	}
	raw, err := io.ReadAll(body)
	var sent collector.ExportTraceServiceRequest
	if err = errors.Join(err, proto.Unmarshal(raw, &sent)); err != nil || r.URL.Path != "/v1/traces" ||
		r.Header.Get("Content-Type") != "application/x-protobuf" {
		http.Error(w, fmt.Sprint(err, r.URL, r.Header), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, of := range sent.GetResourceSpans() {
		c.resource = fmt.Sprint(of.GetResource().GetAttributes())
		for _, scope := range of.GetScopeSpans() {
			c.spans = append(c.spans, scope.GetSpans()...)
		}
	}
}

// named returns the spans with a name.
func (c *receiver) named(name string) (found []*otlp.Span) {
	for _, s := range c.spans {
		if s.GetName() == name {
			found = append(found, s)
		}
	}
	return found
}

// start returns a tracer that sends to a receiver.
func start(t *testing.T) (*tracing.Tracer, *receiver) {
	t.Helper()
	c := &receiver{}
	s := httptest.NewServer(c)
	t.Cleanup(s.Close)
	tracer, err := tracing.New(t.Context(), s.URL, "v1.2.3", "sqlite", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return tracer, c
}

func TestTracer_SendsRequestsWithTheirStatementsAndNothingSecret(t *testing.T) {
	t.Parallel()
	tracer, c := start(t)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/links/{secret}", func(w http.ResponseWriter, r *http.Request) {
		ctx := tracer.BeginStatement(r.Context(), "SELECT id FROM links WHERE hash = $1")
		tracer.EndStatement(ctx, errors.New("Key (email)=(ada@example.org) already exists"))
		tracer.EndStatement(r.Context(), nil) // of none that was begun
		w.WriteHeader(http.StatusInternalServerError)
	})
	r := httptest.NewRequest(http.MethodGet, "/v1/links/hush?token=hush", http.NoBody)
	r.Header.Set("Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	r.Header.Set("User-Agent", "hush")
	handler := server.Record(server.Deadline(mux, time.Minute), slog.New(slog.DiscardHandler), tracer)
	handler.ServeHTTP(httptest.NewRecorder(), r)
	tracer.EndStatement(tracer.BeginStatement(t.Context(), "SELECT 1"), nil) // of no request: not traced
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	requests, statements := c.named("GET /links/{secret}"), c.named("SELECT")
	if len(requests) != 1 || len(statements) != 1 || len(c.spans) != 2 {
		t.Fatalf("got %v", c.spans)
	}
	request, statement := requests[0], statements[0]
	if fmt.Sprintf("%x", request.GetTraceId()) != "4bf92f3577b34da6a3ce929d0e0e4736" ||
		!slices.Equal(statement.GetTraceId(), request.GetTraceId()) ||
		!slices.Equal(statement.GetParentSpanId(), request.GetSpanId()) ||
		request.GetStatus().GetCode() != otlp.Status_STATUS_CODE_ERROR ||
		statement.GetStatus().GetCode() != otlp.Status_STATUS_CODE_ERROR ||
		request.GetKind() != otlp.Span_SPAN_KIND_SERVER {
		t.Errorf("got %v", c.spans)
	}
	all := fmt.Sprint(c.spans, c.resource)
	for _, want := range []string{"aliquot", "v1.2.3", "/links/{secret}", "SELECT id FROM links WHERE hash = $1", "sqlite", "500"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %s in %s", want, all)
		}
	}
	if strings.Contains(all, "hush") || strings.Contains(all, "ada@") {
		t.Errorf("a secret is in %s", all)
	}
}

func TestTracer_SendsJobs(t *testing.T) {
	t.Parallel()
	tracer, c := start(t)
	ctx := tracer.BeginJob(context.Background(), "mail")
	tracer.EndStatement(tracer.BeginStatement(ctx, "\n\tUPDATE jobs"), nil)
	tracer.EndJob(ctx, "mail", "READY", time.Second, errors.New("to ada@example.org"))
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	jobs := c.named("job mail")
	if len(jobs) != 1 || len(c.named("UPDATE")) != 1 || jobs[0].GetStatus().GetCode() != otlp.Status_STATUS_CODE_ERROR ||
		len(jobs[0].GetParentSpanId()) > 0 || strings.Contains(fmt.Sprint(c.spans), "ada@") {
		t.Errorf("got %v", c.spans)
	}
}

func TestEnabled_ByTheSettingOrTheStandardVariables(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		endpoint, variable string
		want               bool
	}{
		{"", "", false},
		{"http://127.0.0.1:4318", "", true},
		{"", "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318", true},
		{"", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://127.0.0.1:4318/v1/traces", true},
		{"http://127.0.0.1:4318", "OTEL_SDK_DISABLED=true", false},
		{"http://127.0.0.1:4318", "OTEL_TRACES_EXPORTER=none", false},
		{"", "OTEL_SERVICE_NAME=mta", false},
	} {
		getenv := func(name string) string {
			set, value, _ := strings.Cut(c.variable, "=")
			if set == name {
				return value
			}
			return ""
		}
		if got := tracing.Enabled(c.endpoint, getenv); got != c.want {
			t.Errorf("%+v: got %t", c, got)
		}
	}
}

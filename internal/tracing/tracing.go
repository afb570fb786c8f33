// Package tracing sends traces by OTLP over HTTP: of requests to the API and the pages, of jobs, and of the statements
// of both. Spans have routes, kinds and the texts of statements, but no paths, values or addresses of clients.
package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"aliquot/internal/server"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Tracer makes spans. It is an observer of requests, of jobs and of statements.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	system   attribute.KeyValue
}

// Enabled reports whether traces are wanted: an endpoint is set, or one of the standard variables of OpenTelemetry is,
// and they do not switch traces off.
func Enabled(endpoint string, getenv func(string) string) bool {
	if strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") || getenv("OTEL_TRACES_EXPORTER") == "none" {
		return false
	}
	return endpoint != "" || getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" ||
		getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
}

// New returns a tracer of a program of a version with a kind of database, "sqlite" or "postgresql". It sends to the
// base address of a collector, such as http://127.0.0.1:4318; if that is "", to the one of the standard variables. They
// also set headers, sampling and limits.
func New(ctx context.Context, endpoint, version, database string, log *slog.Logger) (*Tracer, error) {
	var options []otlptracehttp.Option
	if endpoint != "" {
		base, err := url.Parse(endpoint)
		if err != nil {
			return nil, fmt.Errorf("otlp-endpoint: %w", err)
		}
		options = append(options, otlptracehttp.WithEndpointURL(base.JoinPath("v1/traces").String()))
	}
	exporter, err := otlptracehttp.New(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	about, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", "aliquot"),
		attribute.String("service.version", version)), resource.WithFromEnv(), resource.WithTelemetrySDK())
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("traces", "error", err) }))
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(about))
	return &Tracer{provider: provider, tracer: provider.Tracer("aliquot"),
		system: attribute.String("db.system.name", database)}, nil
}

// Close sends the spans that were not sent yet.
func (t *Tracer) Close(ctx context.Context) error { return t.provider.Shutdown(ctx) }

// BeginRequest begins the span of a request, in the trace that the client names (W3C Trace Context), if it names one.
func (t *Tracer) BeginRequest(r *http.Request) *http.Request {
	ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	ctx, _ = t.tracer.Start(ctx, r.Method, trace.WithSpanKind(trace.SpanKindServer))
	return r.WithContext(ctx)
}

// EndRequest ends the span of a request.
func (t *Tracer) EndRequest(r *http.Request, status int, _ time.Duration) {
	span := trace.SpanFromContext(r.Context())
	method, route := server.RouteOf(r)
	span.SetName(method + " " + route)
	span.SetAttributes(attribute.String("http.request.method", method), attribute.String("http.route", route),
		attribute.Int("http.response.status_code", status))
	if status >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, http.StatusText(status))
	}
	span.End()
}

// BeginJob begins the span of a run of a job, in a trace of its own.
func (t *Tracer) BeginJob(ctx context.Context, kind string) context.Context {
	ctx, _ = t.tracer.Start(ctx, "job "+kind, trace.WithSpanKind(trace.SpanKindConsumer))
	return ctx
}

// EndJob ends the span of a run. The error itself is in the log, since it may have people's words in it.
func (t *Tracer) EndJob(ctx context.Context, kind, state string, _ time.Duration, err error) {
	span := trace.SpanFromContext(ctx)
	span.SetAttributes(attribute.String("aliquot.job.kind", kind), attribute.String("aliquot.job.state", state))
	if err != nil {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

// statement is the key of the span of a statement in its context.
type statement struct{}

// BeginStatement begins the span of a statement, if it runs for a request or a job that is traced.
func (t *Tracer) BeginStatement(ctx context.Context, query string) context.Context {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return ctx
	}
	verb, _, _ := strings.Cut(strings.TrimLeft(query, " \n\t"), " ")
	ctx, span := t.tracer.Start(ctx, verb, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(t.system, attribute.String("db.query.text", query)))
	return context.WithValue(ctx, statement{}, span)
}

// EndStatement ends the span of a statement.
func (t *Tracer) EndStatement(ctx context.Context, err error) {
	span, traced := ctx.Value(statement{}).(trace.Span)
	if !traced {
		return
	}
	if err != nil {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

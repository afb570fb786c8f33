package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"time"

	"aliquot/internal/job"
	"aliquot/internal/metrics"
	"aliquot/internal/server"
	"aliquot/internal/store"
	"aliquot/internal/tracing"
)

// operations is what operators see of a process while it serves.
type operations struct {
	log     *slog.Logger
	load    *server.LoadLimit
	private net.Listener     // nil: none
	metrics *metrics.Metrics // nil: nobody can read any
	tracer  *tracing.Tracer  // nil: no traces

	requests []server.Observer
	jobs     []job.Observer
	// countSource counts requests to public sources; nil: nothing does.
	countSource func(source, result string, took time.Duration)
}

// observe begins to watch what operators want to see, and listens on the private address, if there is one.
func (s *serve) observe(e environment, db *store.DB, log *slog.Logger) (*operations, error) {
	o := &operations{log: log, load: server.NewLoadLimit(runtime.GOMAXPROCS(0))}
	if tracing.Enabled(s.OTLPEndpoint, e.getenv) {
		kind := "sqlite"
		if db.Postgres() {
			kind = "postgresql"
		}
		tracer, err := tracing.New(e.ctx, s.OTLPEndpoint, built(), kind, log)
		if err != nil {
			return nil, err
		}
		o.tracer, db.Observer = tracer, tracer
		o.requests, o.jobs = append(o.requests, tracer), append(o.jobs, tracer)
	}
	if s.MetricsAddr == "" {
		return o, nil
	}
	l, err := net.Listen("tcp", s.MetricsAddr)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("metrics-addr: %w", err), o.close())
	}
	o.private, o.metrics = l, metrics.New(db, o.load, built())
	o.requests, o.jobs, o.countSource = append(o.requests, o.metrics), append(o.jobs, o.metrics), o.metrics.Source
	log.Info("metrics and profiles are served", "address", l.Addr().String())
	return o, nil
}

// watchScanner has metrics show whether the virus scanner responds.
func (o *operations) watchScanner(ready func(context.Context) error) {
	if o.metrics != nil {
		o.metrics.WatchScanner(ready)
	}
}

// watchHolds has metrics show how much the bucket should hold and does not.
func (o *operations) watchHolds(count func(context.Context) (all, late int64, err error)) {
	if o.metrics != nil {
		o.metrics.WatchHolds(count)
	}
}

// serve serves the private address until ctx ends.
func (o *operations) serve(ctx context.Context) {
	if o.private == nil {
		return
	}
	if err := server.Private(ctx, o.private, o.metrics.Handler(), o.log); err != nil {
		o.log.ErrorContext(ctx, "metrics and profiles are served no longer", "error", err)
	}
}

// flushTime is how long the last traces have to be sent.
const flushTime = 5 * time.Second

// close sends the last traces, and closes the private address if it was not served.
func (o *operations) close() error {
	var sent error
	if o.tracer != nil {
		ctx, cancel := context.WithTimeout(context.Background(), flushTime)
		defer cancel()
		sent = o.tracer.Close(ctx)
	}
	if o.private != nil {
		_ = o.private.Close() // fails if it was served, which closes it
	}
	return sent
}

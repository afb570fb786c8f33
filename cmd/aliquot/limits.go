package main

import (
	"context"
	"log/slog"
	"runtime"
	"time"

	"aliquot/internal/app/core"
	"aliquot/internal/store"
)

// capacity returns that of expensive reads: half of the processors for one caller, so that others make progress, unless
// limits are off for a load test, whose calls come from one address.
func (s *serve) capacity() core.Capacity {
	cores := runtime.GOMAXPROCS(0)
	c := core.Capacity{Slots: 2 * cores, Share: max(1, cores/2), Queue: 100, Wait: 10 * time.Second,
		Time: 5 * time.Second}
	if s.RateLimit == "off" {
		c.Share = c.Slots
	}
	return c
}

// countEvery is how often a process counts those that serve the same installation.
const countEvery = 5 * time.Second

// divideLimits has each limit of this process be its part of the limit of all that serve.
func divideLimits(ctx context.Context, db *store.DB, log *slog.Logger, limits []func(processes int)) {
	for before := 0; ctx.Err() == nil; {
		processes, err := db.CountServing(ctx)
		if err == nil && processes != before {
			before = processes
			for _, divide := range limits {
				divide(processes)
			}
			log.Info("limits are divided", "processes", processes)
		} // where the database does not answer, the last number holds
		select {
		case <-ctx.Done():
		case <-time.After(countEvery):
		}
	}
}

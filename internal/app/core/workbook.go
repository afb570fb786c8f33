package core

import (
	"context"
	"sync"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/sheet"

	"github.com/google/uuid"
)

// Limits of the workbooks, XLSX or ODS, that are read at once in this process: each may need some 80 MiB of memory.
// Requests that wait for a workbook have slots of their own, and read it only up to its headers.
const (
	workbooksOfCallers = 2
	workbooksInJobs    = 2
)

// workbookPatience is how long a request with a workbook waits for its turn.
const workbookPatience = 10 * time.Second

// workbooks hands out turns to read workbooks, one after the other.
type workbooks struct {
	callers, jobs chan struct{}

	mu      sync.Mutex
	waiting map[uuid.UUID]bool // users with a request that waits
}

func newWorkbooks() *workbooks {
	return &workbooks{callers: make(chan struct{}, workbooksOfCallers), jobs: make(chan struct{}, workbooksInJobs),
		waiting: map[uuid.UUID]bool{}}
}

// ForCaller waits until a user's request may read a file, if that is a workbook, and returns the function to call
// when it has been read. Only one request of a user waits at a time.
func (w *workbooks) ForCaller(ctx context.Context, who uuid.UUID, file sheet.File) (leave func(), err error) {
	if is, err := sheet.Workbook(file); err != nil || !is {
		return func() {}, err
	}
	select {
	case w.callers <- struct{}{}:
		return func() { <-w.callers }, nil
	default:
	}
	w.mu.Lock()
	if w.waiting[who] {
		w.mu.Unlock()
		return nil, exchange.Errorf(exchange.RateLimited,
			"Another of your workbooks is waiting to be read; send one at a time.").With("retry_after", 5)
	}
	w.waiting[who] = true
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.waiting, who)
	}()
	select {
	case w.callers <- struct{}{}:
		return func() { <-w.callers }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(workbookPatience):
		return nil, exchange.Errorf(exchange.Unavailable,
			"Too many workbooks are being read; try again, or send CSV.").With("retry_after", 10)
	}
}

// ForJob is ForCaller for a job, which waits as long as it may.
func (w *workbooks) ForJob(ctx context.Context, file sheet.File) (leave func(), err error) {
	if is, err := sheet.Workbook(file); err != nil || !is {
		return func() {}, err
	}
	select {
	case w.jobs <- struct{}{}:
		return func() { <-w.jobs }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

package importer

import (
	"context"
	"fmt"
)

// flight is a call in progress that any number of callers wait for.
type flight struct {
	done    chan struct{} // closed when value and err are set
	value   any
	err     error
	waiting int
	cancel  context.CancelFunc
}

// loadOnce returns the cached value of a key; otherwise it loads it, or waits for a load in progress. A load that
// nobody waits for any more is cancelled. A failure is not cached.
func (im *Importer) loadOnce(ctx context.Context, key string, load func(context.Context) (any, error)) (any, error) {
	im.mu.Lock()
	if value, ok := im.answers.GetIfPresent(key); ok {
		im.mu.Unlock()
		return value, nil
	}
	f := im.flights[key]
	if f == nil {
		loading, cancel := context.WithCancel(context.WithoutCancel(ctx))
		f = &flight{done: make(chan struct{}), cancel: cancel}
		im.flights[key] = f
		go im.fly(loading, f, key, load)
	}
	f.waiting++
	im.mu.Unlock()
	select {
	case <-f.done:
		return f.value, f.err
	case <-ctx.Done():
	}
	im.mu.Lock()
	defer im.mu.Unlock()
	if f.waiting--; f.waiting == 0 {
		f.cancel()
		im.removeFlight(f, key)
	}
	return nil, ctx.Err()
}

func (im *Importer) fly(ctx context.Context, f *flight, key string, load func(context.Context) (any, error)) {
	defer func() {
		if p := recover(); p != nil { // net/http does not recover panics of this goroutine
			f.err = &failure{kind: garbled, source: "The source", cause: fmt.Errorf("panic: %v", p)}
		}
		im.mu.Lock()
		defer im.mu.Unlock()
		if f.err == nil {
			im.answers.Set(key, f.value)
		}
		im.removeFlight(f, key)
		f.cancel()
		close(f.done)
	}()
	f.value, f.err = load(ctx)
}

// removeFlight removes a finished flight from under its key; the caller holds the lock.
func (im *Importer) removeFlight(f *flight, key string) {
	if im.flights[key] == f {
		delete(im.flights, key)
	}
}

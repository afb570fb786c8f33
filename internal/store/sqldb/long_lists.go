package sqldb

import (
	"sync"
	"time"
)

const (
	longListAge  = time.Minute // how long a list is taken for long without counting it again
	maxLongLists = 1000        // how many are remembered
)

// longLists remembers which lists were found to be long, by their condition, and when.
type longLists struct {
	mu    sync.Mutex
	found map[string]time.Time
}

func (l *longLists) has(list string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	at, ok := l.found[list]
	return ok && now.Sub(at) < longListAge
}

func (l *longLists) add(list string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.found == nil || len(l.found) >= maxLongLists {
		l.found = map[string]time.Time{}
	}
	l.found[list] = now
}

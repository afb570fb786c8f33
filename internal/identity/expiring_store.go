package identity

import (
	"crypto/rand"
	"sync"
)

// expiringStore keeps the newest values under unguessable keys; each put beyond its size drops the oldest.
type expiringStore[T any] struct {
	mu    sync.Mutex
	items map[string]T
	keys  []string // ring of the keys in the order of put
	next  int
}

func newExpiringStore[T any](size int) *expiringStore[T] {
	return &expiringStore[T]{items: map[string]T{}, keys: make([]string, size)}
}

func (s *expiringStore[T]) put(item T) (key string) {
	key = rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.items, s.keys[s.next])
	s.items[key], s.keys[s.next] = item, key
	s.next = (s.next + 1) % len(s.keys)
	return key
}

func (s *expiringStore[T]) get(key string) (T, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	item, ok := s.items[key]
	return item, ok
}

// take is get that also removes the value.
func (s *expiringStore[T]) take(key string) (T, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	item, ok := s.items[key]
	delete(s.items, key)
	return item, ok
}

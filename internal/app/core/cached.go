package core

import (
	"sync"
	"time"
)

// cached holds a value that takes long to compute. While it is computed again, other callers get the old one.
type cached[T any] struct {
	making sync.Mutex
	mu     sync.Mutex
	made   time.Time
	value  T
}

// get returns the cached value, or calls find if it is older than lives.
func (m *cached[T]) get(now time.Time, lives time.Duration, find func() (T, error)) (T, error) {
	value, made := m.last()
	if fresh(made, now, lives) {
		return value, nil
	}
	if made.IsZero() {
		m.making.Lock()
	} else if !m.making.TryLock() {
		return value, nil
	}
	defer m.making.Unlock()
	if value, made = m.last(); fresh(made, now, lives) { // another caller was faster
		return value, nil
	}
	value, err := find()
	if err != nil {
		return value, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.value, m.made = value, now
	return value, nil
}

func (m *cached[T]) last() (T, time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.value, m.made
}

// fresh reports whether a value made at a moment is not too old. If the clock was set back, it counts as too old.
func fresh(made, now time.Time, lives time.Duration) bool {
	age := now.Sub(made)
	return !made.IsZero() && age >= 0 && age < lives
}

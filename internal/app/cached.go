package app

import (
	"sync"
	"time"
)

// memory keeps one thing that takes long to find out. While it is found out anew, others get the old one.
type cached[T any] struct {
	making sync.Mutex
	mu     sync.Mutex
	made   time.Time
	value  T
}

// get gives what is remembered, or what find finds where that is older than lives.
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
	if value, made = m.last(); fresh(made, now, lives) { // somebody was faster
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

// fresh reports whether what was made at a moment is not too old; where the clock was set back it is.
func fresh(made, now time.Time, lives time.Duration) bool {
	age := now.Sub(made)
	return !made.IsZero() && age >= 0 && age < lives
}

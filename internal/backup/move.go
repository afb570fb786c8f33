package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"sync"

	"aliquot/internal/exchange"
	"aliquot/internal/files"
	"aliquot/internal/store"
)

// Mover copies the content of an instance to another store, while others use the instance.
type Mover struct {
	DB       *store.DB
	From, To files.Store
	Progress func(exchange.Progress)
}

// Moved is what a Mover did.
type Moved struct {
	Copied int
	There  int     // contents that the other store had already
	Faults []error // contents that were lost or altered before; they are not copied
}

// movers is how many contents are copied at once: a server on another machine takes most of the time to answer.
const movers = 8

// Move copies what the database names and the other store does not have, and compares the SHA-256 of each with the one
// that the database has. After an error, and when more was uploaded, it can be called again and copies the rest; two at
// once do no harm. It keeps some 200 bytes for each file in memory.
func (m Mover) Move(ctx context.Context) (Moved, error) {
	list, err := m.DB.Read().Attachments.ContentKeys(ctx)
	if err != nil {
		return Moved{}, err
	}
	there := map[string]bool{}
	for info, err := range m.To.Keys(ctx) {
		if err != nil {
			return Moved{}, err
		}
		there[info.Key] = there[info.Key] || !info.Unfinished
	}
	moving := moving{Mover: m, left: list, total: int64(len(list)), there: there}
	var group sync.WaitGroup
	for range movers {
		group.Go(func() {
			for {
				stored, ok := moving.next(ctx)
				if !ok {
					return
				}
				moving.done(stored, m.move(ctx, stored))
			}
		})
	}
	group.Wait()
	return moving.Moved, errors.Join(moving.err, ctx.Err())
}

// moving is a move under way.
type moving struct {
	Mover
	total int64
	there map[string]bool

	mu   sync.Mutex // guards what follows
	left []store.StoredKey
	err  error
	Moved
}

// next returns a content to copy, until there are no more or something is wrong.
func (m *moving) next(ctx context.Context) (stored store.StoredKey, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.left) > 0 && m.err == nil && ctx.Err() == nil {
		stored, m.left = m.left[0], m.left[1:]
		m.Progress(exchange.Progress{Note: "files", Done: m.total - int64(len(m.left)), Total: m.total})
		if !m.there[hex.EncodeToString(stored.Key[:])] {
			return stored, true
		}
		m.There++
	}
	return stored, false
}

// Why a content is not copied although nothing is wrong with the stores.
var (
	errAltered = errors.New("it was altered")
	errLost    = errors.New("it is missing")
	errDeleted = errors.New("it was deleted meanwhile")
)

// done counts a content.
func (m *moving) done(stored store.StoredKey, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case err == nil:
		m.Copied++
	case errors.Is(err, errAltered), errors.Is(err, errLost):
		m.Faults = append(m.Faults, fmt.Errorf("content %x: %w", stored.Key, err))
	case errors.Is(err, errDeleted):
	default:
		m.err = errors.Join(m.err, err)
	}
}

// move copies a content.
func (m Mover) move(ctx context.Context, stored store.StoredKey) error {
	key := hex.EncodeToString(stored.Key[:])
	content, err := m.From.Open(ctx, key)
	if exchange.CodeOf(err) == exchange.NotFound {
		known, err := m.DB.Read().Attachments.ContentKnown(ctx, key) // whoever deletes content forgets it first
		if err == nil && known {
			err = errLost
		} else if err == nil {
			err = errDeleted
		}
		return err
	}
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }() // it was only read
	return m.To.Restore(ctx, key, &summed{content, sha256.New(), stored.Sum})
}

// summed fails at its end if what was read has another SHA-256 than it should, so that it is not stored.
type summed struct {
	r    io.Reader
	sum  hash.Hash
	want [sha256.Size]byte // zero: unknown
}

// Read implements io.Reader. Error: errAltered.
func (s *summed) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	_, _ = s.sum.Write(p[:n]) // never fails
	if errors.Is(err, io.EOF) && s.want != [sha256.Size]byte{} {
		if got := s.sum.Sum(nil); !bytes.Equal(got, s.want[:]) {
			err = fmt.Errorf("%w: its SHA-256 is %x, and was %x", errAltered, got, s.want)
		}
	}
	return n, err
}

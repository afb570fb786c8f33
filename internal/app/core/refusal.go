package core

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Refusals are counted in memory and saved once a minute, as one audit event per actor, action, code and hour, so that
// somebody who is refused all the time costs one row an hour and no write per call. A process that dies loses the
// counts of its last minute; they are still in the log of requests.
const (
	refusalsEvery = time.Minute
	refusalHour   = time.Hour
	maxRefusals   = 1000 // kinds counted separately within an hour; the rest have no actor
	RefusalTime   = 90 * 24 * time.Hour
)

// refusalKey identifies one kind of refusal.
type refusalKey struct {
	actor  uuid.UUID // uuid.Nil: unknown or anonymous
	action exchange.Action
	code   exchange.Code
}

// refusalCount counts the refusals of one kind within an hour.
type refusalCount struct {
	object string // of the first one
	since  time.Time
	times  int64 // not saved yet
	event  int64 // the event that counts the saved ones; 0: none yet
}

// refusals counts the refusals of this process.
type refusals struct {
	mu   sync.Mutex
	list map[refusalKey]*refusalCount
}

// RecordRefusal records that a call was refused for lack of a right, if that is what err means: what was tried, and the
// path that was called or who wanted to sign in.
func (a *Core) RecordRefusal(who exchange.Actor, action exchange.Action, object string, err error) {
	code := exchange.CodeOf(err)
	if !slices.Contains([]exchange.Code{exchange.NotAuthenticated, exchange.Forbidden, exchange.FieldForbidden,
		exchange.OutOfScope, exchange.NoAuthority, exchange.LevelTooLow,
		exchange.InvalidCode, exchange.RegistrationClosed}, code) {
		return
	}
	if e, ok := errors.AsType[*exchange.Error](err); ok && e.Action != "" {
		action = e.Action
	}
	r := &a.refusals
	r.mu.Lock()
	defer r.mu.Unlock()
	kind, now := refusalKey{who.ID, action, code}, a.DB.Read().Now
	if r.list == nil {
		r.list = map[refusalKey]*refusalCount{}
	}
	if len(r.list) >= maxRefusals && r.list[kind] == nil {
		kind.actor = uuid.Nil
	}
	if r.list[kind] == nil {
		r.list[kind] = &refusalCount{object: object, since: now}
	}
	r.list[kind].times++
}

// SaveRefusals saves the counts of refusals every minute and when ctx ends.
func (a *Core) SaveRefusals(ctx context.Context) {
	tick := time.NewTicker(refusalsEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
		if err := a.saveRefusals(context.WithoutCancel(ctx)); err != nil {
			a.Log.WarnContext(ctx, "keep refusals", "error", err)
		}
	}
}

// saveRefusals saves the counts since the last time.
func (a *Core) saveRefusals(ctx context.Context) error {
	r := &a.refusals
	r.mu.Lock()
	now, taken := a.DB.Read().Now, map[refusalKey]refusalCount{}
	for kind, n := range r.list {
		if n.times > 0 {
			taken[kind] = *n
			n.times = 0
		} else if now.Sub(n.since) >= refusalHour {
			delete(r.list, kind)
		}
	}
	r.mu.Unlock()
	if len(taken) == 0 {
		return nil
	}
	events := map[refusalKey]int64{}
	err := a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
		clear(events)
		for _, kind := range slices.SortedFunc(maps.Keys(taken), compareRefusals) {
			n := taken[kind]
			id, err := tx.Audit.SaveRefusal(ctx,
				store.AccessRefusal{Event: n.event, Actor: kind.actor, Action: kind.action, Code: kind.code,
					Object: n.object, Times: n.times})
			if err != nil {
				return err
			}
			events[kind] = id
		}
		return nil
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	for kind, n := range taken {
		there := r.list[kind]
		switch {
		case err != nil:
			there.times += n.times
		case now.Sub(n.since) >= refusalHour:
			delete(r.list, kind)
		default:
			there.event = events[kind]
		}
	}
	return err
}

func compareRefusals(a, b refusalKey) int {
	if c := slices.Compare(a.actor[:], b.actor[:]); c != 0 {
		return c
	}
	return slices.Compare([]string{string(a.action), string(a.code)}, []string{string(b.action), string(b.code)})
}

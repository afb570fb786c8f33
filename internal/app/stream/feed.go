// Package stream sends people their notifications as they happen.
package stream

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Limits of notification streams.
const (
	maxFeeds      = 10   // per user
	maxFeedsHere  = 2000 // in this process
	lookEvery     = time.Second
	lookApart     = 20 * time.Millisecond // the least time between looks, however often something is committed
	readersAtOnce = 4                     // streams that read at the same time, so that calls still get a connection
	newsAtOnce    = 100                   // notifications read at a time
	newestRead    = 256                   // of the newest notifications, which may not be settled
)

// feeds holds the streams of this process. While there is one, a single goroutine checks for all of them whether there
// is something new; each stream then reads what is new for it.
type feeds struct {
	mu      sync.Mutex
	open    map[*Feed]bool
	stop    context.CancelFunc // stops the goroutine that checks
	reading chan struct{}
}

// Streams opens streams of notifications. Its copies share what is open.
type Streams struct {
	*core.Core
	feeds *feeds
}

// New returns the streams of c, of which none is open.
func New(c *core.Core) Streams { return Streams{c, &feeds{}} }

// Feed is a stream of a person's notifications to one client.
type Feed struct {
	app    Streams
	who    exchange.Actor
	user   uuid.UUID
	place  notify.FeedPosition
	unread int64 // the number last sent; -1: none yet
	marks  int64 // the number last seen
	fresh  chan struct{}
	over   chan struct{}
}

// Item is a notification with the position after it.
type Item struct {
	notify.Notification
	Place string
}

// FeedUpdate is what a feed has to send: new notifications, and the number of unread ones if that changed, with the
// position after all of it. More reports that there is more to read at once.
type FeedUpdate struct {
	Items  []Item
	Unread *int64
	Place  string
	More   bool
}

// Follow starts a feed of a person's notifications from a position, or from now if that is nil. The caller calls Read
// first and after each signal of Fresh until Over is closed, and then calls Close.
func (a Streams) Follow(ctx context.Context, who exchange.Actor, user uuid.UUID, from *notify.FeedPosition) (*Feed,
	error) {
	if err := a.MayRead(ctx, who, exchange.NotificationRead, who.ToUser(user),
		core.Object("notifications of", user)); err != nil {
		return nil, err
	}
	f := &Feed{app: a, who: who, user: user, unread: -1, fresh: make(chan struct{}, 1), over: make(chan struct{})}
	if err := f.begin(ctx, from); err != nil {
		return nil, err
	}
	return f, a.feeds.enter(ctx, f)
}

// begin finds the position to start at.
func (f *Feed) begin(ctx context.Context, from *notify.FeedPosition) error {
	c, now := f.app.DB.Read(), time.Now()
	marks, err := c.Notifications.Marks(ctx, []uuid.UUID{f.user})
	if err != nil {
		return err
	}
	f.marks = marks[f.user]
	newest, err := c.Notifications.Newest(ctx, f.user, newestRead)
	if err != nil {
		return err
	}
	if from != nil {
		f.place = *from
		if len(newest) > 0 {
			f.place.Lower(newest[0].ID)
		} else {
			f.place = notify.FeedPositionAt(0)
		}
		return nil
	}
	settled := settledBefore(c)
	for i, n := range newest {
		if n.At.Before(settled) || i == newestRead-1 {
			f.place.ReadUpTo(n.ID)
			break
		}
		f.place.MarkRead(n.ID, now)
	}
	return nil
}

// settledBefore returns the moment before which the list of notifications is settled: none made earlier can still
// appear with a lower id. A transaction may have begun long before it got its ids.
func settledBefore(c store.Conn) time.Time { return c.Now.Add(-2 * notify.Settled) }

// Fresh signals that there may be something new; several signals may be merged into one.
func (f *Feed) Fresh() <-chan struct{} { return f.fresh }

// Over is closed when the token that opened the feed is no longer valid.
func (f *Feed) Over() <-chan struct{} { return f.over }

// Read returns what is new since the last Read, ordered by notification id.
func (f *Feed) Read(ctx context.Context) (FeedUpdate, error) {
	select {
	case f.app.feeds.reading <- struct{}{}:
		defer func() { <-f.app.feeds.reading }()
	case <-ctx.Done():
		return FeedUpdate{}, ctx.Err()
	}
	c, now := f.app.DB.Read(), time.Now()
	settled := settledBefore(c)
	var news FeedUpdate
	for after := f.place.Low(); ; {
		list, err := c.Notifications.Behind(ctx, f.user, after, newsAtOnce)
		if err != nil {
			return news, err
		}
		for _, n := range list {
			after = n.ID
			fresh := f.place.MarkRead(n.ID, now)
			if f.place.Shorten(); n.CreatedAt.Before(settled) {
				f.place.ReadUpTo(n.ID) // all ids below were in this list, or in an earlier one
			}
			if fresh {
				news.Items = append(news.Items, Item{n, f.place.String()})
			}
		}
		if news.More = len(list) == newsAtOnce; !news.More || len(news.Items) > 0 {
			break
		}
	}
	if news.More {
		return news, nil
	}
	f.place.Settle(now)
	news.Place = f.place.String()
	unread, err := c.Notifications.Unread(ctx, f.user)
	if err == nil && unread != f.unread {
		f.unread, news.Unread = unread, &unread
	}
	return news, err
}

// Close ends a feed.
func (f *Feed) Close() {
	s := f.app.feeds
	s.mu.Lock()
	defer s.mu.Unlock()
	if delete(s.open, f); len(s.open) == 0 && s.stop != nil {
		s.stop()
		s.stop = nil
	}
}

// enter adds a feed; the first one starts the goroutine that checks for news.
func (s *feeds) enter(ctx context.Context, f *Feed) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open, s.reading = map[*Feed]bool{}, make(chan struct{}, readersAtOnce)
	}
	own := 0
	for other := range s.open {
		if other.who.ID == f.who.ID {
			own++
		}
	}
	switch {
	case own >= maxFeeds:
		return exchange.Errorf(exchange.RateLimited, "You have %d streams open, which is the limit; close one first.",
			own).
			With("limit", maxFeeds).With("retry_after", 5)
	case len(s.open) >= maxFeedsHere:
		return exchange.Errorf(exchange.Unavailable,
			"Too many streams are open; try again later, or read the list.").With("limit", maxFeedsHere)
	}
	s.open[f] = true
	if s.stop == nil {
		select {
		case <-f.app.DB.NewNotifications(): // a signal from before
		default:
		}
		ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
		go f.app.look(ctx)
	}
	return nil
}

// look wakes feeds when there is something new for them, until ctx ends.
func (a Streams) look(ctx context.Context) {
	every := time.NewTicker(lookEvery)
	defer every.Stop()
	var place *notify.FeedPosition
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-every.C:
			if err = a.lookAtTokens(ctx); err == nil {
				err = a.lookForNews(ctx, &place)
			}
		case <-a.DB.NewNotifications():
			err = a.lookForNews(ctx, &place)
		}
		if err != nil && ctx.Err() == nil {
			a.Log.WarnContext(ctx, "streams cannot read new notifications", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(lookApart):
		}
	}
}

// lookForNews wakes the feeds of people whose notifications were added or marked.
func (a Streams) lookForNews(ctx context.Context, place **notify.FeedPosition) error {
	c, now := a.DB.Read(), time.Now()
	if *place == nil {
		low, err := c.Notifications.AddedBefore(ctx, settledBefore(c), 16*newestRead)
		if err != nil {
			return err
		}
		*place = new(notify.FeedPositionAt(low))
	}
	added, err := c.Notifications.Added(ctx, (*place).Low())
	if err != nil {
		return err
	}
	notified := map[uuid.UUID]bool{}
	for _, n := range added {
		if (*place).MarkRead(n.ID, now) {
			notified[n.User] = true
		}
	}
	(*place).Settle(now)
	open := a.feeds.list()
	users := map[uuid.UUID]bool{}
	for _, f := range open {
		users[f.user] = true
	}
	marks, err := c.Notifications.Marks(ctx, slices.Collect(maps.Keys(users)))
	a.feeds.mu.Lock()
	defer a.feeds.mu.Unlock()
	for _, f := range open {
		if notified[f.user] || err == nil && f.marks != marks[f.user] {
			f.marks = marks[f.user]
			select {
			case f.fresh <- struct{}{}:
			default: // it has yet to read what it was woken for before
			}
		}
	}
	return err
}

// lookAtTokens ends the feeds whose token was revoked or has expired, and those of other people's notifications whose
// reader is no longer an admin.
func (a Streams) lookAtTokens(ctx context.Context) error {
	open := a.feeds.list()
	tokens := make([]int64, len(open))
	for i, f := range open {
		tokens[i] = f.who.TokenID
	}
	admin, err := a.DB.Read().Tokens.Valid(ctx, tokens)
	if err != nil {
		return err
	}
	a.feeds.mu.Lock()
	defer a.feeds.mu.Unlock()
	for _, f := range open {
		if isAdmin, valid := admin[f.who.TokenID]; (!valid || f.who.ID != f.user && !isAdmin) && a.feeds.open[f] {
			a.feeds.open[f] = false
			close(f.over)
		}
	}
	return nil
}

// list returns the open feeds.
func (s *feeds) list() []*Feed {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*Feed
	for f, goesOn := range s.open {
		if goesOn {
			list = append(list, f)
		}
	}
	return list
}

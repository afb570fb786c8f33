package app

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// The bounds of streams.
const (
	maxFeeds      = 10   // of one person
	maxFeedsHere  = 2000 // of this process
	lookEvery     = time.Second
	lookApart     = 20 * time.Millisecond // however often something is committed
	readersAtOnce = 4                     // streams that read what is new, so that calls find a connection
	newsAtOnce    = 100                   // notifications
	newestLooked  = 256                   // of the newest that may not be settled
)

// feeds are the streams of this process. While there is one, one goroutine looks for all of them
// whether there is something new; each reads then what is new for it.
type feeds struct {
	mu      sync.Mutex
	open    map[*Feed]bool
	stop    context.CancelFunc // of the goroutine that looks
	reading chan struct{}
}

// Feed is somebody who follows a person's notifications.
type Feed struct {
	app    *App
	who    exchange.Actor
	user   uuid.UUID
	place  exchange.FeedPosition
	unread int64 // as it was told last; -1: not yet
	marks  int64 // as it was seen last
	fresh  chan struct{}
	over   chan struct{}
}

// Item is a notification with the place behind it.
type Item struct {
	exchange.Notification
	Place string
}

// News are what a feed has to tell: notifications that are new, and the number of unread ones where
// that changed, with the place behind all of it. With More there are more at once.
type FeedUpdate struct {
	Items  []Item
	Unread *int64
	Place  string
	More   bool
}

// Follow begins to follow a person's notifications from a place on, nil for the present. Whoever
// calls it reads, and again after each Fresh, until Over, and then closes it.
func (a *App) Follow(ctx context.Context, who exchange.Actor, user uuid.UUID, from *exchange.FeedPosition) (*Feed,
	error) {
	if err := a.mayRead(ctx, who, exchange.NotificationRead, who.ToUser(user),
		object("notifications of", user)); err != nil {
		return nil, err
	}
	f := &Feed{app: a, who: who, user: user, unread: -1, fresh: make(chan struct{}, 1), over: make(chan struct{})}
	if err := f.begin(ctx, from); err != nil {
		return nil, err
	}
	return f, a.feeds.enter(ctx, f)
}

// begin finds the place to begin at.
func (f *Feed) begin(ctx context.Context, from *exchange.FeedPosition) error {
	c, now := f.app.DB.Read(), time.Now()
	marks, err := c.Marks(ctx, []uuid.UUID{f.user})
	if err != nil {
		return err
	}
	f.marks = marks[f.user]
	newest, err := c.NewestNotifications(ctx, f.user, newestLooked)
	if err != nil {
		return err
	}
	if from != nil {
		f.place = *from
		if len(newest) > 0 {
			f.place.Lower(newest[0].ID)
		} else {
			f.place = exchange.FeedPositionAt(0)
		}
		return nil
	}
	settled := settledBefore(c)
	for i, n := range newest {
		if n.At.Before(settled) || i == newestLooked-1 {
			f.place.ReadUpTo(n.ID)
			break
		}
		f.place.MarkRead(n.ID, now)
	}
	return nil
}

// settledBefore is the moment before which a notification was made that no other comes into sight
// below any more. Its transaction may have begun long before it got its id.
func settledBefore(c store.Conn) time.Time { return c.Now.Add(-2 * exchange.Settled) }

// Fresh gives a signal when there may be something new; several may come as one.
func (f *Feed) Fresh() <-chan struct{} { return f.fresh }

// Over is closed when the token that the feed was opened with is no longer good.
func (f *Feed) Over() <-chan struct{} { return f.over }

// Read gives what is new since the last Read, notifications by id.
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
		list, err := c.NotificationsBehind(ctx, f.user, after, newsAtOnce)
		if err != nil {
			return news, err
		}
		for _, n := range list {
			after = n.ID
			fresh := f.place.MarkRead(n.ID, now)
			if f.place.Shorten(); n.CreatedAt.Before(settled) {
				f.place.ReadUpTo(n.ID) // all below it was in this list, or before
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
	unread, err := c.Unread(ctx, f.user)
	if err == nil && unread != f.unread {
		f.unread, news.Unread = unread, &unread
	}
	return news, err
}

// Close ends a feed.
func (f *Feed) Close() {
	s := &f.app.feeds
	s.mu.Lock()
	defer s.mu.Unlock()
	if delete(s.open, f); len(s.open) == 0 && s.stop != nil {
		s.stop()
		s.stop = nil
	}
}

// enter lets one more feed in; with the first one it begins to look.
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
		return exchange.Errorf(exchange.RateLimited, "You have %d streams open, as many as one person may have; "+
			"close one first.", own).
			With("limit", maxFeeds).With("retry_after", 5)
	case len(s.open) >= maxFeedsHere:
		return exchange.Errorf(exchange.Unavailable,
			"Too many streams are open; try again later, or read the list.").With("limit", maxFeedsHere)
	}
	s.open[f] = true
	if s.stop == nil {
		select {
		case <-f.app.DB.NewNotifications(): // of before
		default:
		}
		ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
		go f.app.look(ctx)
	}
	return nil
}

// look tells feeds that there is something new for them, until ctx ends.
func (a *App) look(ctx context.Context) {
	every := time.NewTicker(lookEvery)
	defer every.Stop()
	var place *exchange.FeedPosition
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
			a.Log.WarnContext(ctx, "streams look for news in vain", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(lookApart):
		}
	}
}

// lookForNews wakes the feeds of whom notifications were added for, or marked.
func (a *App) lookForNews(ctx context.Context, place **exchange.FeedPosition) error {
	c, now := a.DB.Read(), time.Now()
	if *place == nil {
		low, err := c.AddedBefore(ctx, settledBefore(c), 16*newestLooked)
		if err != nil {
			return err
		}
		*place = new(exchange.FeedPositionAt(low))
	}
	added, err := c.Added(ctx, (*place).Low())
	if err != nil {
		return err
	}
	told := map[uuid.UUID]bool{}
	for _, n := range added {
		if (*place).MarkRead(n.ID, now) {
			told[n.User] = true
		}
	}
	(*place).Settle(now)
	open := a.feeds.list()
	users := map[uuid.UUID]bool{}
	for _, f := range open {
		users[f.user] = true
	}
	marks, err := c.Marks(ctx, slices.Collect(maps.Keys(users)))
	a.feeds.mu.Lock()
	defer a.feeds.mu.Unlock()
	for _, f := range open {
		if told[f.user] || err == nil && f.marks != marks[f.user] {
			f.marks = marks[f.user]
			select {
			case f.fresh <- struct{}{}:
			default: // it has not read yet what it was woken for
			}
		}
	}
	return err
}

// lookAtTokens ends the feeds whose token was revoked or is expired, and those of other people's
// notifications whose reader is no admin any more.
func (a *App) lookAtTokens(ctx context.Context) error {
	open := a.feeds.list()
	tokens := make([]int64, len(open))
	for i, f := range open {
		tokens[i] = f.who.TokenID
	}
	admin, err := a.DB.Read().Valid(ctx, tokens)
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

// list are the feeds that go on.
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

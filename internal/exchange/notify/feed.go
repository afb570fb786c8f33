package notify

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Settled is the time after which no notification becomes visible with a lower id than one already seen: PostgreSQL
// assigns ids before a transaction commits, and none of ours stays open that long afterwards.
const Settled = 30 * time.Second

// maxLoose is how many notifications a FeedPosition lists one by one at most.
const maxLoose = 256

// FeedPosition is how far someone has read a feed: everything up to the id low, and the ids in loose. A notification
// may become visible after one with a higher id, so the highest id alone would not tell what was read.
type FeedPosition struct {
	low   int64
	loose []readMark // by id
}

type readMark struct {
	id int64
	at time.Time
}

// FeedPositionAt returns the position behind all notifications up to the id low.
func FeedPositionAt(low int64) FeedPosition { return FeedPosition{low: low} }

// Low returns the id up to which everything was read.
func (p *FeedPosition) Low() int64 { return p.low }

// ReadUpTo records that everything up to a notification was read, and that nothing below it can appear any more.
func (p *FeedPosition) ReadUpTo(id int64) {
	p.low = max(p.low, id)
	p.loose = slices.DeleteFunc(p.loose, func(t readMark) bool { return t.id <= id })
}

// MarkRead records that a notification was read; it returns false if it was read before. now is a moment before the
// query that found it.
func (p *FeedPosition) MarkRead(id int64, now time.Time) bool {
	i, had := slices.BinarySearchFunc(p.loose, id, func(t readMark, id int64) int { return int(t.id - id) })
	if had || id <= p.low {
		return false
	}
	p.loose = slices.Insert(p.loose, i, readMark{id, now})
	return true
}

// Settle removes single ids that were read so long ago that nothing below them can appear any more. Everything visible
// at the moment now must have been marked as read.
func (p *FeedPosition) Settle(now time.Time) {
	for _, t := range slices.Backward(p.loose) {
		if now.Sub(t.at) >= Settled {
			p.ReadUpTo(t.id)
			return
		}
	}
}

// Shorten removes the lowest single id if there are too many, even if something may still appear below it.
func (p *FeedPosition) Shorten() {
	if len(p.loose) > maxLoose {
		p.ReadUpTo(p.loose[0].id)
	}
}

// Lower moves a position back to the id newest if it is beyond that: the database may be an older copy of the one that
// the position came from.
func (p *FeedPosition) Lower(newest int64) {
	p.low = min(p.low, newest)
	p.loose = slices.DeleteFunc(p.loose, func(t readMark) bool { return t.id > newest })
}

// String writes a position for ParseFeedPosition: the numbers of low and of loose, separated by dots.
func (p *FeedPosition) String() string {
	b := strconv.AppendInt(nil, p.low, 10)
	for _, t := range p.loose {
		b = strconv.AppendInt(append(b, '.'), t.id, 10)
	}
	return string(b)
}

// ParseFeedPosition parses what String wrote; ok is false for anything else. The id of a notification alone is the
// position behind it.
func ParseFeedPosition(s string, now time.Time) (p FeedPosition, ok bool) {
	for i, part := range strings.SplitN(s, ".", maxLoose+2) {
		id, err := strconv.ParseInt(part, 10, 64)
		last := p.low
		if n := len(p.loose); n > 0 {
			last = p.loose[n-1].id
		}
		switch {
		case err != nil || id < 0 || strconv.FormatInt(id, 10) != part || i > 0 && id <= last || i > maxLoose:
			return FeedPosition{}, false
		case i == 0:
			p.low = id
		default:
			p.loose = append(p.loose, readMark{id, now})
		}
	}
	return p, true
}

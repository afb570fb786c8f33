package exchange

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Settled is the time after which no notification comes into sight with a lower id than one that was
// seen: PostgreSQL gives ids before a transaction commits, and none of ours goes on so long after that.
const Settled = 30 * time.Second

// maxLoose is how many notifications a Place names one by one at most.
const maxLoose = 256

// Place is how far someone has read a feed: all up to the id low, and those of loose. A
// notification may come into sight behind one with a higher id, so the highest id alone would not
// tell what was read.
type FeedPosition struct {
	low   int64
	loose []readMark // by id
}

type readMark struct {
	id int64
	at time.Time
}

// FeedPositionAt is the place behind all notifications up to the id low.
func FeedPositionAt(low int64) FeedPosition { return FeedPosition{low: low} }

// Low is the id up to which everything was read.
func (p *FeedPosition) Low() int64 { return p.low }

// Reach notes that all up to a notification was read, and that nothing below it can come any more.
func (p *FeedPosition) ReadUpTo(id int64) {
	p.low = max(p.low, id)
	p.loose = slices.DeleteFunc(p.loose, func(t readMark) bool { return t.id <= id })
}

// Take notes that a notification is read; false: it was read before. now is a moment before the
// look into the database that found it.
func (p *FeedPosition) MarkRead(id int64, now time.Time) bool {
	i, had := slices.BinarySearchFunc(p.loose, id, func(t readMark, id int64) int { return int(t.id - id) })
	if had || id <= p.low {
		return false
	}
	p.loose = slices.Insert(p.loose, i, readMark{id, now})
	return true
}

// Settle forgets single ids that were read so long ago that nothing below them can come any more,
// once all that was in sight at the moment now is taken.
func (p *FeedPosition) Settle(now time.Time) {
	for _, t := range slices.Backward(p.loose) {
		if now.Sub(t.at) >= Settled {
			p.ReadUpTo(t.id)
			return
		}
	}
}

// Shorten forgets the lowest single id where there are very many, whatever may come below it.
func (p *FeedPosition) Shorten() {
	if len(p.loose) > maxLoose {
		p.ReadUpTo(p.loose[0].id)
	}
}

// Lower puts a place back to the id newest, where it claims to be beyond all that there is: the
// database may be an older copy of the one that it was read from.
func (p *FeedPosition) Lower(newest int64) {
	p.low = min(p.low, newest)
	p.loose = slices.DeleteFunc(p.loose, func(t readMark) bool { return t.id > newest })
}

// String writes a place for ParseFeedPosition: the numbers of low and of loose, with dots between.
func (p *FeedPosition) String() string {
	b := strconv.AppendInt(nil, p.low, 10)
	for _, t := range p.loose {
		b = strconv.AppendInt(append(b, '.'), t.id, 10)
	}
	return string(b)
}

// ParseFeedPosition reads what String wrote; ok is false for anything else. The id of a notification alone
// is the place behind it.
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

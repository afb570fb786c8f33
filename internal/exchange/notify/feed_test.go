package notify_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"aliquot/internal/exchange/notify"

	"pgregory.net/rapid"
)

// TestFeed_ReaderGetsEverythingOnce: in whatever order notifications become visible, and however often
// the reader disconnects and returns with their position.
func TestFeed_ReaderGetsEverythingOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		begin := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
		second := rapid.Int64Range(0, 3)
		n := rapid.IntRange(1, 120).Draw(r, "notifications")
		given, visible := int64(0), make([]int64, n) // by id - 1, in seconds
		for i := range visible {
			given += second.Draw(r, "pause")
			visible[i] = given + rapid.Int64Range(0, int64(notify.Settled/time.Second)-1).Draw(r, "takes")
		}
		var place notify.FeedPosition
		read := make([]int, n)
		for now := int64(0); now < given+int64(notify.Settled/time.Second); now += 1 + second.Draw(r, "look") {
			at := begin.Add(time.Duration(now) * time.Second)
			if rapid.IntRange(0, 4).Draw(r, "again") == 0 {
				var ok bool
				if place, ok = notify.ParseFeedPosition(place.String(), at); !ok {
					r.Fatalf("cannot read %s", place.String())
				}
			}
			for i, from := range visible {
				if id := int64(i + 1); from <= now && id > place.Low() && place.MarkRead(id, at) {
					read[i]++
				}
			}
			place.Settle(at)
		}
		at := begin.Add(time.Duration(given)*time.Second + notify.Settled)
		for i := range visible {
			if id := int64(i + 1); id > place.Low() && place.MarkRead(id, at) {
				read[i]++
			}
		}
		if slices.ContainsFunc(read, func(times int) bool { return times != 1 }) {
			r.Fatalf("read %v times each", read)
		}
		if place.Settle(at.Add(notify.Settled)); place.Low() != int64(n) {
			r.Fatalf("read all and is at %s", place.String())
		}
	})
}

func TestPosition_IsWrittenAsItIsRead(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, text := range []string{"0", "7", "7.8", "7.9.12", "9223372036854775807"} {
		if p, ok := notify.ParseFeedPosition(text, now); !ok || p.String() != text {
			t.Errorf("%s: got %s, %v", text, p.String(), ok)
		}
	}
	for _, text := range []string{"", "-1", "+1", "01", "1.", ".1", "1.1", "2.1", "1.3.2", "1.2.2", "a", "1,2", "1 2",
		"1.-2", "9223372036854775808",
		"0x1", "1e3", "0.1" + strings.Repeat(".2", 400)} {
		if p, ok := notify.ParseFeedPosition(text, now); ok {
			t.Errorf("%s: got %s, want a refusal", text, p.String())
		}
	}
}

func TestPosition_StaysShort(t *testing.T) {
	t.Parallel()
	var p notify.FeedPosition
	now := time.Now()
	for id := range int64(10_000) {
		p.MarkRead(2*id+1, now)
		p.Shorten()
	}
	if n := strings.Count(p.String(), "."); n != 256 {
		t.Errorf("got %d single ids", n)
	}
	again, ok := notify.ParseFeedPosition(p.String(), now)
	if !ok || again.MarkRead(19_999, now) || !again.MarkRead(20_000, now) {
		t.Errorf("got %s, %v", again.String(), ok)
	}
	p.Lower(5000)
	if p.String() != "5000" || !p.MarkRead(5001, now) {
		t.Errorf("lowered to 5000: got %s", p.String())
	}
	p.ReadUpTo(7000)
	if p.String() != "7000" || p.MarkRead(6999, now) {
		t.Errorf("reached 7000: got %s", p.String())
	}
}

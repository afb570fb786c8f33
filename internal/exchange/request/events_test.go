package request_test

import (
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"aliquot/internal/exchange/request"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"
)

func drawEvent(t *rapid.T) request.Event {
	id := uuid.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "actor"))
	return request.Event{
		RequestID: rapid.Int64Min(1).Draw(t, "request"),
		Kind:      rapid.SampledFrom(request.EventKinds).Draw(t, "kind"),
		Actor:     id,
		At:        time.UnixMicro(rapid.Int64Range(0, 4e15).Draw(t, "at")).UTC(),
		Detail: request.EventDetail{
			To: rapid.SampledFrom(append(request.Statuses, "")).Draw(t, "to"), Text: rapid.String().Draw(t, "text"),
			Attachment: rapid.Int64Min(0).Draw(t, "attachment"),
			Fields:     rapid.SliceOfN(rapid.String(), 0, 2).Draw(t, "fields"),
		},
	}
}

// drawChain draws the sealed events of one request.
func drawChain(t *rapid.T) []request.Event {
	var chain []request.Event
	seq, prev := int64(0), ""
	for range rapid.IntRange(1, 6).Draw(t, "events") {
		e, err := drawEvent(t).Seal(seq, prev)
		if err != nil {
			t.Fatal(err)
		}
		chain = append(chain, e)
		seq, prev = e.Seq, e.Hash
	}
	return chain
}

// unbroken reports whether every event of a chain is unaltered and follows the one before, up to the head stored in the
// request's row.
func unbroken(chain []request.Event, head request.Event) bool {
	seq, prev := int64(0), ""
	for _, e := range chain {
		if !e.Follows(seq, prev, "") {
			return false
		}
		seq, prev = e.Seq, e.Hash
	}
	return seq == head.Seq && prev == head.Hash
}

func TestEvents_AreNumberedChainedAndHashed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		chain := drawChain(t)
		for i, e := range chain {
			prev := ""
			if i > 0 {
				prev = chain[i-1].Hash
			}
			if e.Seq != int64(i+1) || e.Prev != prev {
				t.Fatalf("got seq %d, prev %q, want %d, %q", e.Seq, e.Prev, i+1, prev)
			}
			if sum, err := hex.DecodeString(e.Hash); err != nil || len(sum) != 32 {
				t.Fatalf("got hash %q, want hex of a SHA-256", e.Hash)
			}
			var d request.EventDetail
			if err := json.Unmarshal([]byte(e.Raw), &d); err != nil {
				t.Fatalf("raw %q: %v", e.Raw, err)
			}
			if len(e.Detail.Fields) == 0 {
				d.Fields = e.Detail.Fields // nil and an empty list are equal
			}
			if diff := cmp.Diff(e.Detail, d); diff != "" {
				t.Fatalf("raw is another detail (-want +got):\n%s", diff)
			}
		}
		if !unbroken(chain, chain[len(chain)-1]) {
			t.Fatal("an unaltered chain does not hold")
		}
	})
}

func TestEvents_AnyChangeIsFound(t *testing.T) {
	t.Parallel()
	alter := map[string]func(e *request.Event, n int64, s string){
		"request": func(e *request.Event, n int64, _ string) { e.RequestID += n },
		"seq":     func(e *request.Event, n int64, _ string) { e.Seq += n },
		"kind":    func(e *request.Event, _ int64, s string) { e.Kind += request.EventKind(s) },
		"actor":   func(e *request.Event, n int64, _ string) { e.Actor[n%16] ^= 1 << (n % 8) },
		"at":      func(e *request.Event, n int64, _ string) { e.At = e.At.Add(time.Duration(n) * time.Microsecond) },
		"raw":     func(e *request.Event, _ int64, s string) { e.Raw += s },
		"detail": func(e *request.Event, _ int64, s string) {
			e.Detail.Text += s
			raw, _ := json.Marshal(e.Detail)
			e.Raw = string(raw)
		},
		"prev": func(e *request.Event, _ int64, s string) { e.Prev += s },
		"hash": func(e *request.Event, _ int64, s string) { e.Hash += s },
		"all and sealed again": func(e *request.Event, n int64, _ string) {
			e.RequestID += n
			*e, _ = e.Seal(e.Seq-1, e.Prev)
		},
	}
	rapid.Check(t, func(t *rapid.T) {
		chain := drawChain(t)
		head := chain[len(chain)-1]
		i := rapid.IntRange(0, len(chain)-1).Draw(t, "altered")
		n := rapid.Int64Range(1, 1<<40).Draw(t, "by")
		s := rapid.StringMatching(`[ a-z0-9{}":,]{1,9}`).Draw(t, "with")
		for member, change := range alter {
			old := chain[i]
			change(&chain[i], n, s)
			if unbroken(chain, head) {
				t.Fatalf("%s of event %d changed, and the chain holds: %+v", member, i+1, chain[i])
			}
			chain[i] = old
		}
	})
}

func TestEvents_MissingAddedOrMovedOneIsFound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		chain := drawChain(t)
		head := chain[len(chain)-1]
		i := rapid.IntRange(0, len(chain)-1).Draw(t, "at")
		without := append(append([]request.Event{}, chain[:i]...), chain[i+1:]...)
		twice := append(append([]request.Event{}, chain[:i+1]...), chain[i:]...)
		if unbroken(without, head) || unbroken(twice, head) {
			t.Fatalf("event %d of %d is missing or there twice, and the chain holds", i+1, len(chain))
		}
		if i > 0 {
			chain[i], chain[i-1] = chain[i-1], chain[i]
			if unbroken(chain, head) {
				t.Fatalf("events %d and %d changed places, and the chain holds", i, i+1)
			}
		}
	})
}

// The hashed bytes show where each member ends: moving bytes from one member to the next changes the hash.
func TestEvents_HashShowsWhereEachMemberEnds(t *testing.T) {
	t.Parallel()
	text := rapid.StringMatching(`[0-9:a-z{}\n]{0,12}`)
	rapid.Check(t, func(t *rapid.T) {
		e := drawEvent(t)
		all := text.Draw(t, "prev and kind")
		i, j := rapid.IntRange(0, len(all)).Draw(t, "cut"), rapid.IntRange(0, len(all)).Draw(t, "other cut")
		sealed := func(cut int) string {
			e.Kind = request.EventKind(all[cut:])
			s, err := e.Seal(0, all[:cut])
			if err != nil {
				t.Fatal(err)
			}
			return s.Hash
		}
		if a, b := sealed(i), sealed(j); (a == b) != (i == j) {
			t.Fatalf("prev and kind %q cut at %d and %d: got hashes %s and %s", all, i, j, a, b)
		}
		first, errFirst := e.Seal(0, "")
		other, errOther := e.Seal(0, first.Hash)
		if errFirst != nil || errOther != nil || first.Hash == other.Hash {
			t.Fatalf("one event behind two others: got hash %s for both", first.Hash)
		}
		one, two := e, e
		one.RequestID, two.RequestID = 1, 12
		x, errX := one.Seal(22, "")
		y, errY := two.Seal(2, "") // "1"+"23" and "12"+"3"
		if errX != nil || errY != nil || x.Hash == y.Hash {
			t.Fatalf("request 1, seq 23 and request 12, seq 3: got hash %s for both", x.Hash)
		}
	})
}

func TestEvent_OfWhichWordsAreErasedStaysInItsChain(t *testing.T) {
	t.Parallel()
	other := uuid.MustParse("11111111-1111-4111-8111-111111111111")
	for name, tc := range map[string]struct {
		event  request.Event
		issues []int64 // that the person opened
		words  []string
	}{
		"a message":     {request.Event{Kind: request.Messaged, Detail: request.EventDetail{Text: "Hello"}}, nil, []string{"Hello"}},
		"of another":    {request.Event{Kind: request.Messaged, Actor: other, Detail: request.EventDetail{Text: "Hello"}}, nil, nil},
		"a decision":    {request.Event{Kind: request.StatusChanged, Detail: request.EventDetail{To: request.Approved, Reason: "a", Override: "b"}}, nil, []string{"a", "b"}},
		"a parcel":      {request.Event{Kind: request.ShipmentChanged, Detail: request.EventDetail{Text: "DHL 123"}}, nil, nil},
		"quoted":        {request.Event{Kind: request.IssueClosed, Actor: other, Detail: request.EventDetail{Issue: 7, Text: "Thawed", Reason: "Resent"}}, []int64{7}, []string{"Thawed"}},
		"not quoted":    {request.Event{Kind: request.IssueClosed, Actor: other, Detail: request.EventDetail{Issue: 8, Text: "Thawed", Reason: "Resent"}}, []int64{7}, nil},
		"quoting":       {request.Event{Kind: request.IssueClosed, Detail: request.EventDetail{Issue: 8, Text: "Thawed", Reason: "Resent"}}, nil, []string{"Resent"}},
		"without words": {request.Event{Kind: request.Made}, nil, nil},
	} {
		e, err := tc.event.Seal(0, "")
		if err != nil {
			t.Fatal(err)
		}
		words, err := e.EraseWordsOf(uuid.Nil, tc.issues)
		if err != nil || !slices.Equal(words, tc.words) || e.Detail.Erased != (len(words) > 0) {
			t.Errorf("%s: erased %q, %v, want %q; left %s", name, words, err, tc.words, e.Raw)
		}
		for _, word := range words {
			if strings.Contains(e.Raw, `"`+word+`"`) {
				t.Errorf("%s: left %s", name, e.Raw)
			}
		}
		left := e.HashLeft()
		if e.Follows(0, "", "") != (len(words) == 0) || !e.Follows(0, "", left) {
			t.Errorf("%s: it does not follow", name)
		}
		if e.Kind += "x"; e.Follows(0, "", left) {
			t.Errorf("%s: it follows with another kind", name)
		}
	}
}

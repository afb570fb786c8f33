package record_test

import (
	"strings"
	"testing"
	"time"

	"aliquot/internal/record"

	"pgregory.net/rapid"
)

// drawDraft draws the detail of an event.
func drawDraft(t *rapid.T) (d record.Draft) {
	for range rapid.IntRange(0, 5).Draw(t, "fields") {
		names := []string{"set.status", "set.note", "set.abstract", "reason", "text", "from"}
		name := rapid.SampledFrom(names).Draw(t, "name")
		if _, ok := d.Detail.Get(name); ok {
			continue
		}
		switch text := rapid.String().Draw(t, "value"); rapid.IntRange(0, 2).Draw(t, "mark") {
		case 0:
			d.Set(name, text)
		case 1:
			d.Commit(name, text)
		default:
			d.SetNull(name)
		}
	}
	return d
}

// entry is an event of a chain with what opens its commitments.
type entry struct {
	event    record.Event
	openings map[string]record.Opening
}

// chain is the events of one object.
type chain struct {
	head    record.Head
	state   record.State
	entries []entry
}

func (c *chain) add(t interface{ Fatal(...any) }, kind string, d record.Draft) {
	after, err := d.Apply(c.state)
	if err != nil {
		t.Fatal(err)
	}
	e := c.head.Seal(record.Event{Chain: "request/17", Kind: kind, Actor: "018f0a53-0000-7000-8000-000000000001",
		At: time.UnixMicro(1773308400000000 + c.head.Seq), Detail: d.Detail.String()})
	c.state, c.head = after, e.Head()
	c.entries = append(c.entries, entry{e, d.Openings})
}

// verify checks a chain as far as it is given.
func verify(entries []entry, head record.Head) (*record.Verifier, error) {
	v := &record.Verifier{Chain: "request/17"}
	for _, e := range entries {
		if err := v.Add(e.event, e.openings); err != nil {
			return v, err
		}
	}
	return v, v.End(head)
}

func drawChain(t *rapid.T) *chain {
	c := &chain{}
	for range rapid.IntRange(1, 6).Draw(t, "events") {
		c.add(t, rapid.SampledFrom([]string{"request_made", "message"}).Draw(t, "kind"), drawDraft(t))
	}
	return c
}

func TestChain_UnalteredHoldsAndLeadsToItsState(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := drawChain(t)
		v, err := verify(c.entries, c.head)
		if err != nil || v.State.Digest() != c.state.Digest() {
			t.Fatalf("%v: state %q, want %q", err, v.State, c.state)
		}
		for _, e := range c.entries {
			again, err := record.ParseEvent(e.event.Bytes())
			if err != nil || again != e.event {
				t.Fatalf("got %+v, %v, want %+v", again, err, e.event)
			}
		}
	})
}

func TestChain_AnyChangeOfThePastShows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := drawChain(t)
		i := rapid.IntRange(0, len(c.entries)-1).Draw(t, "altered")
		n := rapid.Int64Range(1, 1<<40).Draw(t, "by")
		s := rapid.StringMatching(`[ a-z0-9:=#-]{1,9}`).Draw(t, "with")
		for member, change := range map[string]func(e *record.Event){
			"chain":  func(e *record.Event) { e.Chain += s },
			"seq":    func(e *record.Event) { e.Seq += n },
			"prev":   func(e *record.Event) { e.Prev += s },
			"kind":   func(e *record.Event) { e.Kind += s },
			"actor":  func(e *record.Event) { e.Actor += s },
			"at":     func(e *record.Event) { e.At = e.At.Add(time.Duration(n) * time.Microsecond) },
			"detail": func(e *record.Event) { e.Detail += s },
			"hash":   func(e *record.Event) { e.Hash += s },
			"all, and sealed again": func(e *record.Event) {
				e.Kind += s
				*e = record.Head{Seq: e.Seq - 1, Hash: e.Prev}.Seal(*e)
			},
		} {
			old := c.entries[i]
			change(&c.entries[i].event)
			if _, err := verify(c.entries, c.head); err == nil {
				t.Fatalf("%s of event %d changed, and the chain holds", member, i+1)
			}
			c.entries[i] = old
		}
		without := append(append([]entry{}, c.entries[:i]...), c.entries[i+1:]...)
		if _, err := verify(without, c.head); err == nil {
			t.Fatalf("event %d is missing, and the chain holds", i+1)
		}
	})
}

func TestChain_AChangedMissingOrAddedTextShows(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(map[string]record.Opening)
		want   string
	}{
		"changed": {func(o map[string]record.Opening) { o["text"] = record.Opening{Salt: o["text"].Salt, Text: "No"} },
			"request/17, event 1: the text of text was altered"},
		"another salt": {func(o map[string]record.Opening) { o["text"] = record.NewOpening("Yes") },
			"request/17, event 1: the text of text was altered"},
		"no salt": {func(o map[string]record.Opening) { o["text"] = record.Opening{Text: "Yes"} },
			"request/17, event 1: the text of text was altered"},
		"missing": {func(o map[string]record.Opening) { delete(o, "text") },
			"request/17, event 1: the text of text is missing, and no event erased it"},
		"added": {func(o map[string]record.Opening) { o["reason"] = record.NewOpening("x") },
			"request/17, event 1: there is a text for reason, to which it has no commitment"},
		"of a field in clear": {func(o map[string]record.Opening) { o["from"] = record.NewOpening("x") },
			"request/17, event 1: there is a text for from, to which it has no commitment"},
	} {
		var d record.Draft
		d.Commit("text", "Yes")
		d.Set("from", "OPEN")
		c := &chain{}
		c.add(t, "message", d)
		tc.change(c.entries[0].openings)
		if _, err := verify(c.entries, c.head); err == nil || err.Error() != tc.want {
			t.Errorf("%s: got %v, want %s", name, err, tc.want)
		}
	}
}

func TestChain_ErasedTextIsGoneAndTheRestHolds(t *testing.T) {
	t.Parallel()
	c := &chain{}
	var d record.Draft
	d.Commit("set.abstract", "We study Dr. Miller's cells.")
	d.Set("set.status", "OPEN")
	c.add(t, "request_made", d)
	text := c.entries[0].openings["set.abstract"]
	whole, err := verify(c.entries, c.head)
	if err != nil || len(whole.Compare(record.Row{"status": {Text: "OPEN"},
		"abstract": {Text: text.Text, Personal: true}})) > 0 {
		t.Errorf("before: %v, %v", err, whole.Texts)
	}
	delete(c.entries[0].openings, "set.abstract")
	if _, err := verify(c.entries, c.head); err == nil {
		t.Error("text is missing that no event erased, and the chain holds")
	}
	c.add(t, record.Erased, record.EraseDraft(map[int64][]string{1: {"set.abstract"}}))
	v, err := verify(c.entries, c.head)
	if err != nil || !v.Gone["1.set.abstract"].Equal(c.entries[1].event.At) {
		t.Errorf("got %v, %v, %v", err, v.Gone, v.Texts)
	}
	row := record.Row{"status": {Text: "OPEN"}, "abstract": {Personal: true}}
	if differ := v.Compare(row); len(differ) > 0 {
		t.Errorf("the row differs in %v", differ)
	}
	row["status"], row["quantity"] = record.Value{Text: "APPROVED"}, record.Value{Text: "2"}
	delete(row, "abstract")
	if got := strings.Join(v.Compare(row), " "); got != "quantity status abstract" {
		t.Errorf("the row differs in %s", got)
	}
	c.entries[0].openings["set.abstract"] = text
	if _, err := verify(c.entries, c.head); err == nil || !strings.Contains(err.Error(), "which is still stored") {
		t.Errorf("erased text that is still stored: %v", err)
	}
}

// A row is saved again and again; whatever it was before, the events lead to what it is.
func TestDraft_OfARowLeadsToTheRowAndNotesOnlyWhatDiffers(t *testing.T) {
	t.Parallel()
	value := rapid.Custom(func(t *rapid.T) record.Value {
		return record.Value{Text: rapid.SampledFrom([]string{"", "a", "Zoë", "0"}).Draw(t, "text"),
			Personal: rapid.Bool().Draw(t, "personal")}
	})
	rows := rapid.MapOf(rapid.SampledFrom([]string{"abstract", "note", "status"}), value)
	rapid.Check(t, func(t *rapid.T) {
		c := &chain{}
		salts := map[string]string{}
		for range rapid.IntRange(1, 6).Draw(t, "events") {
			row := record.Row(rows.Draw(t, "row"))
			for _, name := range []string{"abstract", "note", "status"} {
				if _, ok := row[name]; !ok {
					row[name] = record.Value{None: true}
				}
			}
			for _, again := range []bool{false, true} {
				var d record.Draft
				d.SetRow(c.state, salts, row)
				if again && len(d.Detail) > 0 {
					t.Fatalf("saved again without a change: %v", d.Detail)
				}
				for name, value := range row {
					f, ok := d.Detail.Get("set." + name)
					if ok && value.Personal && value.Text != "" && f.Mark != record.Committed {
						t.Fatalf("personal text in clear: %v", d.Detail)
					}
				}
				c.add(t, "saved", d)
				for name, o := range d.Openings {
					salts[strings.TrimPrefix(name, "set.")] = o.Salt
				}
			}
			v, err := verify(c.entries, c.head)
			if err != nil || len(v.Compare(row)) > 0 {
				t.Fatalf("%v; the row differs in %v", err, v.Compare(row))
			}
		}
	})
}

func TestDraft_OfARowWhoseTextWasErasedDoesNotDiffer(t *testing.T) {
	t.Parallel()
	var d, again record.Draft
	d.SetRow(record.State{}, nil, record.Row{"abstract": {Text: "Dr. Miller", Personal: true}})
	state, err := d.Apply(record.State{})
	if err != nil {
		t.Fatal(err)
	}
	if again.SetRow(state, nil, record.Row{"abstract": {Personal: true}}); len(again.Detail) > 0 {
		t.Errorf("it notes %v", again.Detail)
	}
}

func TestChain_CarriesOverAChainOfTheOldFormat(t *testing.T) {
	t.Parallel()
	old := record.Head{Seq: 7, Hash: strings.Repeat("ab", 32)}
	c := &chain{}
	c.add(t, record.CarriedOver, record.CarryDraft(old))
	c.add(t, "message", record.CarryDraft(old))
	if _, err := verify(c.entries, c.head); err != nil {
		t.Error(err)
	}
	if got := c.entries[0].event.OldHead(); got != old {
		t.Errorf("got %v, want %v", got, old)
	}
	if got := c.entries[1].event.OldHead(); got != (record.Head{}) {
		t.Errorf("an event of another kind carries over %v", got)
	}
}

func TestChain_NothingIsErasedBeforeItIsWritten(t *testing.T) {
	t.Parallel()
	for _, seq := range []int64{-1, 0, 1, 2} {
		c := &chain{}
		c.add(t, record.Erased, record.EraseDraft(map[int64][]string{seq: {"text"}}))
		if _, err := verify(c.entries, c.head); err == nil {
			t.Errorf("event 1 erased text of event %d, and the chain holds", seq)
		}
	}
}

func TestChain_ThatWasCutOrGrewSinceItsRowWasWrittenShows(t *testing.T) {
	t.Parallel()
	c := &chain{}
	c.add(t, "request_made", record.Draft{})
	first := c.head
	c.add(t, "message", record.Draft{})
	if _, err := verify(c.entries[:1], c.head); err == nil {
		t.Error("the last event is missing, and the chain holds")
	}
	if _, err := verify(c.entries, first); err == nil {
		t.Error("an event is added, and the chain holds")
	}
}

func FuzzParseEvent(f *testing.F) {
	c := &chain{}
	var d record.Draft
	d.Set("set.status", "OPEN")
	d.SetNull("set.note")
	d.Commit("text", "x")
	c.add(f, "request_made", d)
	f.Add(c.entries[0].event.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := record.ParseEvent(b)
		if err == nil && string(e.Bytes()) != string(b) {
			t.Errorf("%q is %+v, which is %q", b, e, e.Bytes())
		}
	})
}

func FuzzParseDetail(f *testing.F) {
	f.Add("4:from\n5:=OPEN\n1:x\n1:-\n")
	f.Add("1:a\n65:#abababababababababababababababababababababababababababababababab\n")
	f.Fuzz(func(t *testing.T, text string) {
		if d, err := record.ParseDetail(text); err == nil && d.String() != text {
			t.Errorf("%q is %+v, which is %q", text, d, d)
		}
	})
}

func TestDetail_NotInItsCanonicalFormIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"x", "1:a\n", "1:a\n0:\n", "1:a\n2:?x\n", "01:a\n1:-\n", "1:a\n2:-x\n", "1:A\n1:-\n",
		"1:b\n1:-\n1:a\n1:-\n", "1:a\n1:-\n1:a\n1:-\n", "1:a\n2:#a\n", "1:a\n2:=\xff\n", "1:a\n1:- ", "+1:a\n1:-\n",
		"-1:a\n", "99999999999999999999:a\n", "1:a\n5:=b\n", strings.Repeat("x", record.MaxDetail+1)} {
		if d, err := record.ParseDetail(text); err == nil {
			t.Errorf("%.40q is read as %v", text, d)
		}
	}
}

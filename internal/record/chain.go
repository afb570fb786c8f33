package record

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The kind and field of the event that erases personal text: the field lists what it erases of earlier events of the
// chain, each as SEQ.FIELD, with a space between them. Text that is missing without such an event was tampered with.
const (
	Erased       = "erased"
	ErasedValues = "values"
)

// ErasesContent reports whether erasing a field means erasing the document that it has the hash of.
func ErasesContent(field string) bool { return strings.HasSuffix(field, "sha256") }

// EraseDraft returns the detail of an event that erases, by the number of their event, fields of a chain.
func EraseDraft(fields map[int64][]string) Draft {
	var list []string
	for _, seq := range slices.Sorted(maps.Keys(fields)) {
		for _, name := range slices.Sorted(slices.Values(fields[seq])) {
			list = append(list, valueName(seq, name))
		}
	}
	var d Draft
	d.Set(ErasedValues, strings.Join(list, " "))
	return d
}

// CarriedOver is the kind of the first event of an object that has a chain of format 1: two fields hold the last event
// of that, which verifies as before.
const (
	CarriedOver = "carried_over"
	oldSeq      = "old.seq"
	oldHash     = "old.hash"
)

// CarryDraft returns the detail of an event that carries over a chain of format 1 with a head.
func CarryDraft(old Head) Draft {
	var d Draft
	d.Set(oldSeq, strconv.FormatInt(old.Seq, 10))
	d.Set(oldHash, old.Hash)
	return d
}

// OldHead returns the head of the chain of format 1 that an event of the kind CarriedOver carried over; the zero Head
// for other events.
func (e Event) OldHead() Head {
	detail, err := ParseDetail(e.Detail)
	if err != nil || e.Kind != CarriedOver {
		return Head{}
	}
	seq, _ := detail.Get(oldSeq)
	hash, _ := detail.Get(oldHash)
	n, _ := strconv.ParseInt(seq.Value, 10, 64) // 0 as in an empty chain
	return Head{n, hash.Value}
}

// RequestEvent is the field with the number of the event of a request, of format 1, that an event has in it.
const RequestEvent = "event.seq"

// Covers reports whether e has in it the event of format 1 of a number, or carried it over.
func (e Event) Covers(seq int64) bool {
	if e.OldHead().Seq >= seq {
		return true
	}
	detail, err := ParseDetail(e.Detail)
	of, _ := detail.Get(RequestEvent)
	return err == nil && of.Value == strconv.FormatInt(seq, 10)
}

func valueName(seq int64, field string) string { return strconv.FormatInt(seq, 10) + "." + field }

// Verifier checks the events of one chain, which it is given in their order. It keeps the state of the object and the
// names of the texts that are committed to, not the events.
type Verifier struct {
	Chain string
	State State
	Head  Head
	Texts map[string]string    // by field of the state that is a commitment, what it is to; none if it was erased
	Gone  map[string]time.Time // by SEQ.FIELD, when it was erased

	missing map[string]bool // by SEQ.FIELD
}

// Fault is an event that is not as it was written.
type Fault struct {
	Chain string
	Seq   int64
	What  string
}

// Error names the chain, the event and what is wrong with it.
func (f *Fault) Error() string { return fmt.Sprintf("%s, event %d: %s", f.Chain, f.Seq, f.What) }

// Add checks the next event and what opens its commitments, by field. The error is a *Fault; nothing that follows can
// be checked then.
func (v *Verifier) Add(e Event, openings map[string]Opening) error {
	fault := func(format string, args ...any) error {
		return &Fault{v.Chain, e.Seq, fmt.Sprintf(format, args...)}
	}
	switch {
	case e.Chain != v.Chain:
		return fault("it is of the chain %s", e.Chain)
	case e.Seq != v.Head.Seq+1 || e.Prev != v.Head.Hash:
		return fault("it does not follow event %d", v.Head.Seq)
	case e.Hash != e.sum():
		return fault("it was altered")
	}
	detail, err := ParseDetail(e.Detail)
	if err != nil {
		return fault("%v", err)
	}
	v.begin()
	for _, f := range detail {
		o, opened := openings[f.Name]
		switch {
		case f.Mark != Committed && opened:
			return fault("there is a text for %s, to which it has no commitment", f.Name)
		case f.Mark != Committed:
		case !opened:
			v.missing[valueName(e.Seq, f.Name)] = true
		case !o.Opens(f.Value):
			return fault("the text of %s was altered", f.Name)
		}
		if name, ok := strings.CutPrefix(f.Name, SetPrefix); ok {
			if delete(v.Texts, name); opened {
				v.Texts[name] = o.Text
			}
		}
	}
	for name := range openings {
		if _, ok := detail.Get(name); !ok {
			return fault("there is a text for %s, to which it has no commitment", name)
		}
	}
	v.State = v.State.Apply(detail)
	if f, ok := detail.Get(StateField); ok && f.Value != v.State.Digest() {
		return fault("the state that it led to is not what its chain says")
	}
	v.Head = e.Head()
	if e.Kind == Erased {
		return v.erase(e, detail, fault)
	}
	return nil
}

func (v *Verifier) begin() {
	if v.missing == nil {
		v.missing, v.Texts, v.Gone = map[string]bool{}, map[string]string{}, map[string]time.Time{}
	}
}

func (v *Verifier) erase(e Event, d Detail, fault func(string, ...any) error) error {
	list, _ := d.Get(ErasedValues)
	for _, value := range strings.Fields(list.Value) {
		if seq, _, _ := strings.Cut(value, "."); !v.happened(seq) {
			return fault("it erased %s, which had not been written", value)
		}
		_, gone := v.Gone[value]
		if !gone && !v.missing[value] && !ErasesContent(value) {
			return fault("it erased %s, which is still stored", value)
		}
		if delete(v.missing, value); !gone {
			v.Gone[value] = e.At
		}
	}
	return nil
}

// happened reports whether there was an event of a number before the last one.
func (v *Verifier) happened(seq string) bool {
	n, err := strconv.ParseInt(seq, 10, 64)
	return err == nil && 0 < n && n < v.Head.Seq
}

// End checks that the chain ends at head, and that no text is missing that no event erased.
func (v *Verifier) End(head Head) error {
	if v.Head != head {
		return &Fault{v.Chain, v.Head.Seq, fmt.Sprintf("its events end here, and not with event %d, %.12s, as its "+
			"record says", head.Seq, head.Hash)}
	}
	if len(v.missing) == 0 {
		return nil
	}
	value := slices.Min(slices.Collect(maps.Keys(v.missing)))
	seq, field, _ := strings.Cut(value, ".")
	n, _ := strconv.ParseInt(seq, 10, 64) // as valueName wrote it
	return &Fault{v.Chain, n, fmt.Sprintf("the text of %s is missing, and no event erased it", field)}
}

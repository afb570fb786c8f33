package record

import (
	"maps"
	"slices"
	"strings"
)

// State is the fields of an object after some events, without SetPrefix in their names. Personal text is in it as the
// commitment that the last event had, so that a digest survives erasure and does not disclose anything.
type State struct{ Detail }

// ParseState is the reverse of Detail.String for a state.
func ParseState(text string) (State, error) {
	d, err := ParseDetail(text)
	return State{d}, err
}

// Apply returns the state after an event.
func (s State) Apply(d Detail) State {
	after := slices.Clone(s.Detail)
	for _, f := range d {
		if name, ok := strings.CutPrefix(f.Name, SetPrefix); ok {
			after = after.with(Field{name, f.Mark, f.Value})
		}
	}
	return State{after}
}

// Digest returns the hex SHA-256 of the state.
func (s State) Digest() string {
	return hexSum(append(appendPart(nil, "aliquot-state-2"), s.String()...))
}

// Row is an object as its row in the database has it, by field.
type Row map[string]Value

// Value is the value of a field in a row.
type Value struct {
	Text     string
	Personal bool // a personal or free text, which can be erased
	None     bool // the field has no value
}

// SetRow notes in an event how fields of a row differ from the state before; fields that are not in the row stay as
// they are. salts has those of the state's commitments, by field; a text that was erased has none, is "" in the row,
// and no difference.
func (d *Draft) SetRow(before State, salts map[string]string, row Row) {
	for _, name := range slices.Sorted(maps.Keys(row)) {
		value := row[name]
		old, known := before.Get(name)
		switch {
		case value.None:
			if known && old.Mark != Null {
				d.SetNull(SetPrefix + name)
			}
		case old.Mark == Committed && value.Personal && same(old.Value, salts[name], value.Text),
			old.Mark == Clear && old.Value == value.Text:
		case value.Personal && value.Text != "":
			d.Commit(SetPrefix+name, value.Text)
		default:
			d.Set(SetPrefix+name, value.Text)
		}
	}
}

func same(commitment, salt, text string) bool {
	return salt == "" && text == "" || Opening{salt, text}.Opens(commitment)
}

// Compare lists the fields in which a row differs from the state that the events led to. A text that was erased is ""
// in the row.
func (v *Verifier) Compare(row Row) []string {
	want := map[string]string{}
	for _, f := range v.State.Detail {
		switch f.Mark {
		case Clear:
			want[f.Name] = f.Value
		case Committed:
			want[f.Name] = v.Texts[f.Name]
		}
	}
	var differ []string
	for _, name := range slices.Sorted(maps.Keys(row)) {
		if row[name].None {
			continue
		}
		if text, ok := want[name]; !ok || text != row[name].Text {
			differ = append(differ, name)
		}
		delete(want, name)
	}
	return append(differ, slices.Sorted(maps.Keys(want))...)
}

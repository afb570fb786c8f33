package store

import (
	"context"
	"maps"
	"slices"
	"strings"

	"aliquot/internal/record"
	"aliquot/internal/store/sqldb"
)

// forget erases from chains the texts that acts deleted or overwrote, with all that were there before them. stored are
// the events of the acts.
func (st Chains) forget(ctx context.Context, actor string, acts []ChainAct, stored []StoredEvent) error {
	gone := map[string]*forgotten{}
	for _, act := range acts {
		gone[act.Chain] = &forgotten{fields: emptied(act.Row), audits: map[string]bool{}}
	}
	for _, e := range stored {
		if err := gone[e.Chain].add(e); err != nil {
			return err
		}
	}
	var erasures []ChainAct
	for names := range slices.Chunk(slices.Sorted(maps.Keys(gone)), sqldb.MaxIn) {
		places, args := sqldb.In(nil, names)
		list, err := st.events(ctx, "c.name IN ("+places+") AND e.texts IS NOT NULL ORDER BY c.name, e.seq", args...)
		if err != nil {
			return err
		}
		for _, e := range list {
			if err := gone[e.Chain].take(e); err != nil {
				return err
			}
		}
		for _, name := range names {
			if f := gone[name]; len(f.erased) > 0 {
				erasures = append(erasures, ChainAct{Chain: name, erase: f.salts,
					Events: []*ChainEvent{{record.Erased, actor, record.EraseDraft(f.erased)}}})
				if err := st.saveTexts(ctx, f.events); err != nil {
					return err
				}
			}
		}
	}
	_, err := st.Append(ctx, erasures...)
	return err
}

// emptied are the fields of a row that have no text.
func emptied(row record.Row) map[string]bool {
	fields := map[string]bool{}
	for name, value := range row {
		if value.Text == "" {
			fields[record.SetPrefix+name] = true
		}
	}
	return fields
}

// forgotten is what is to be forgotten of a chain.
type forgotten struct {
	fields map[string]bool
	audits map[string]bool // the ids of audit events
	first  int64           // the first event of the act, 0: there is none
	erased map[int64][]string
	salts  []string
	events []StoredEvent // those of erased, with the texts that are left
}

// add notes what an event of the act overwrote.
func (f *forgotten) add(e StoredEvent) error {
	if f.first == 0 {
		f.first = e.Seq
	}
	detail, err := record.ParseDetail(e.Detail)
	if id, ok := detail.Get("audit.id"); ok && e.Kind == auditRemoved {
		f.audits[id.Value] = true
	}
	for _, field := range detail {
		if strings.HasPrefix(field.Name, record.SetPrefix) {
			f.fields[field.Name] = true
		}
	}
	return err
}

// take takes from an event the texts that are to be forgotten.
func (f *forgotten) take(e StoredEvent) error {
	if f.first != 0 && e.Seq >= f.first {
		return nil
	}
	detail, err := record.ParseDetail(e.Detail)
	if err != nil {
		return err
	}
	audit, _ := detail.Get("audit.id")
	for _, name := range slices.Sorted(maps.Keys(e.Openings)) {
		if !f.fields[name] && (name != auditObject || !f.audits[audit.Value]) {
			continue
		}
		if f.erased == nil {
			f.erased = map[int64][]string{}
		}
		f.salts, f.erased[e.Seq] = append(f.salts, e.Openings[name].Salt), append(f.erased[e.Seq], name)
		delete(e.Openings, name)
	}
	if len(f.erased[e.Seq]) > 0 {
		f.events = append(f.events, e)
	}
	return nil
}

package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/record"
	"aliquot/internal/store/sqldb"

	"github.com/google/uuid"
)

// forget erases from chains the texts that acts deleted or overwrote, with all that were there before them, or some
// reasons. stored are the events of the acts.
func (st Chains) forget(ctx context.Context, actor string, acts []ChainAct, stored []StoredEvent) error {
	gone := map[string]*forgotten{}
	for _, act := range acts {
		f := &forgotten{audits: map[string]bool{}, seqs: map[string]bool{}, reasons: st.conn.Changes.Reasons[act.Chain]}
		if st.conn.Changes.Forget {
			f.fields = emptied(act.Row)
		}
		gone[act.Chain] = f
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
	fields  map[string]bool // nil: none
	audits  map[string]bool // the ids of audit events
	seqs    map[string]bool // the numbers of events of a request of which something is erased
	reasons []string        // that people gave
	first   int64           // the first event of the act, 0: there is none
	erased  map[int64][]string
	salts   []string
	events  []StoredEvent // those of erased, with the texts that are left
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
		name, set := strings.CutPrefix(field.Name, record.SetPrefix)
		if set && f.fields != nil {
			f.fields[field.Name] = true
		}
		if seq, erased := strings.CutPrefix(name, erasedPart+"."); set && erased {
			f.seqs[strings.TrimSuffix(seq, "."+hashLeft)] = true
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
	seq, _ := detail.Get(record.RequestEvent)
	for _, name := range slices.Sorted(maps.Keys(e.Openings)) {
		if !f.forgets(name, e.Openings[name].Text, audit.Value, seq.Value) {
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

// forgets reports whether a text of a field is to be forgotten, of an event that is about an audit event or about an
// event of a request, if they have ids.
func (f *forgotten) forgets(name, text, audit, seq string) bool {
	switch {
	case f.fields[name]:
		return true
	case name == auditObject:
		return f.audits[audit]
	case name == eventDetail:
		return f.seqs[seq]
	case strings.HasSuffix(name, "reason") || name == record.SetPrefix+"correction":
		return slices.Contains(f.reasons, text)
	}
	return false
}

// EventsWith reads events past after that have words of a user: those that they did, and those that quote a problem
// that they reported.
func (st Closing) EventsWith(ctx context.Context, user uuid.UUID, after int64, limit int) ([]request.Event, error) {
	return sqldb.All(ctx, st.conn, scanEvent, "SELECT "+eventColumns+` FROM request_events o
		WHERE o.id > $1 AND (o.actor_id = $2 OR o.kind = $3 AND o.request_id IN
			(SELECT i.request_id FROM request_issues i WHERE i.opened_by = $2))
		ORDER BY o.id LIMIT $4`, after, user, string(request.IssueClosed), limit)
}

// ForgetEvents erases the words of a user from events that EventsWith read, and from the requests that have them too.
// It returns the requests that it changed, whose index is to be made again.
func (st Closing) ForgetEvents(ctx context.Context, user uuid.UUID, events []request.Event) ([]int64, error) {
	st.conn.Changes.Reasons = map[string][]string{}
	issues, err := sqldb.All(ctx, st.conn, sqldb.Value[int64],
		"SELECT id FROM request_issues WHERE opened_by = $1", user)
	if err != nil {
		return nil, err
	}
	changed := map[int64]bool{}
	for _, e := range events {
		words, err := e.EraseWordsOf(user, issues)
		if err != nil {
			return nil, err
		}
		if len(words) == 0 {
			continue
		}
		changed[e.RequestID] = true
		if err := st.saveErased(ctx, e); err != nil {
			return nil, err
		}
		chain := fmt.Sprintf("request/%d", e.RequestID)
		for _, text := range words {
			st.conn.Changes.Reasons[chain] = append(st.conn.Changes.Reasons[chain], text)
			if err := changeAll(ctx, st.conn,
				change{`UPDATE material_requests SET rejection_reason = CASE rejection_reason WHEN $2 THEN '' ELSE
					rejection_reason END,
					override_reason = CASE override_reason WHEN $2 THEN '' ELSE override_reason END,
					correction = CASE correction WHEN $2 THEN '' ELSE correction END
					WHERE id = $1 AND $2 IN (rejection_reason, override_reason, correction)`, []any{e.RequestID, text}},
				change{"UPDATE request_documents SET reason = '' WHERE request_id = $1 AND reason = $2",
					[]any{e.RequestID, text}}); err != nil {
				return nil, err
			}
		}
	}
	requests := slices.Sorted(maps.Keys(changed))
	return requests, st.forgetCopies(ctx, requests)
}

// saveErased saves an event of which something was erased.
func (st Closing) saveErased(ctx context.Context, e request.Event) error {
	changes := st.conn.Changes
	st.conn.Changes = nil // it is the same event; what is recorded is the row of erased_events
	_, err := st.conn.Exec(ctx, "UPDATE request_events SET detail = $2 WHERE id = $1", e.ID, e.Raw)
	st.conn.Changes = changes
	if err != nil {
		return err
	}
	return changeAll(ctx, st.conn,
		change{`INSERT INTO erased_events (request_id, seq, hash_left) VALUES ($1, $2, $3)
			ON CONFLICT (request_id, seq) DO UPDATE SET hash_left = excluded.hash_left`,
			[]any{e.RequestID, e.Seq, e.HashLeft()}},
		change{"DELETE FROM webhook_deliveries WHERE event_id = $1", []any{e.ID}})
}

// forgetCopies deletes copies of the words of requests: those that mail is made of, and the index, which is to be made
// again.
func (st Closing) forgetCopies(ctx context.Context, requests []int64) error {
	for _, id := range requests {
		if err := changeAll(ctx, st.conn,
			change{"UPDATE request_events SET facts = NULL WHERE request_id = $1 AND facts IS NOT NULL", []any{id}},
			change{"DELETE FROM request_words WHERE rowid >= $1 AND rowid < $2",
				[]any{id * rowsOfRequest, (id + 1) * rowsOfRequest}}); err != nil {
			return err
		}
	}
	return nil
}

// ForgetRest erases what a user, whose account is closed, wrote in their own requests and about problems, and the names
// of their documents. It returns the requests that it changed, whose index is to be made again.
func (st Closing) ForgetRest(ctx context.Context, user uuid.UUID) ([]int64, error) {
	st.conn.Changes.Forget = true
	requests, err := sqldb.All(ctx, st.conn, sqldb.Value[int64], `SELECT id FROM material_requests
		WHERE requester_id = $1 UNION SELECT d.request_id FROM request_documents d JOIN attachments a
		ON a.id = d.attachment_id WHERE a.owned_by_user = $1 AND NOT a.of_lab ORDER BY 1`, user)
	if err != nil {
		return nil, err
	}
	const documents = "owned_by_user = $1 AND NOT of_lab"
	id := []any{user}
	return requests, errors.Join(changeAll(ctx, st.conn,
		change{"UPDATE material_requests SET note = '', requester_abstract = '', payment_method_notes = '' " +
			"WHERE requester_id = $1", id},
		change{"UPDATE request_issues SET text = '' WHERE opened_by = $1", id},
		change{"UPDATE attachment_versions SET filename = $2 WHERE attachment_id IN (SELECT id FROM attachments " +
			"WHERE " + documents + ")", []any{user, person.ClosedFile}},
		change{"UPDATE attachments SET filename = $2, filename_sort = $2, description = '' WHERE " + documents,
			[]any{user, person.ClosedFile}}),
		st.forgetCopies(ctx, requests))
}

// Erasure reads what is known of a user's erasure, and keeps others from changing it until commit if lock is set.
func (st Closing) Erasure(ctx context.Context, user uuid.UUID, lock bool) (person.Erasure, error) {
	scan := func(r sqldb.Row, e *person.Erasure) error {
		var by uuid.NullUUID
		var reason *string
		err := r.Scan(sqldb.UTCOrNull(&e.AskedAt), &by, &reason, sqldb.UTCOrNull(&e.DueAt), sqldb.UTCOrNull(&e.DoneAt))
		if by.Valid {
			e.AskedBy = &by.UUID
		}
		if reason != nil {
			e.Reason = *reason
		}
		return err
	}
	query := "SELECT erase_asked_at, erase_asked_by, erase_reason, erase_due_at, erased_at FROM users WHERE id = $1"
	if lock {
		query += st.conn.Dialect().ForChange
	}
	return sqldb.One(ctx, st.conn, scan, query, user)
}

// SaveErasure saves the erasure of a user. The reason of one that was done, or taken back, is forgotten.
func (st Closing) SaveErasure(ctx context.Context, user uuid.UUID, e person.Erasure) error {
	var reason *string
	if e.Reason != "" {
		reason = &e.Reason
	}
	if e.DueAt == nil {
		st.conn.Changes.Forget = true
	}
	_, err := st.conn.Exec(ctx, `UPDATE users SET erase_asked_at = $2, erase_asked_by = $3, erase_reason = $4,
		erase_due_at = $5, erased_at = $6 WHERE id = $1`, user, e.AskedAt, e.AskedBy, reason, e.DueAt, e.DoneAt)
	return err
}

// DueErasures reads the users whose erasure is due.
func (st Closing) DueErasures(ctx context.Context) ([]uuid.UUID, error) {
	return sqldb.All(ctx, st.conn, sqldb.Value[uuid.UUID], "SELECT id FROM users WHERE erase_due_at <= $1 "+
		"ORDER BY erase_due_at, id LIMIT 100", st.conn.Now)
}

// Erased reads when people were erased.
func (st Closing) Erased(ctx context.Context) (map[uuid.UUID]time.Time, error) {
	found := map[uuid.UUID]time.Time{}
	_, err := sqldb.All(ctx, st.conn, func(r sqldb.Row, _ *struct{}) error {
		var id uuid.UUID
		var at time.Time
		err := r.Scan(&id, sqldb.UTC(&at))
		found[id] = at
		return err
	}, "SELECT id, erased_at FROM users WHERE erased_at IS NOT NULL")
	return found, err
}

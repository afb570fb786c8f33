package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/exchange/request"
	"aliquot/internal/record"
	"aliquot/internal/store/sqldb"
)

// VerifyRecord checks every chain, and every row that is recorded against its chain, and passes what is wrong to
// fault. It reads some events at a time, calls progress after each unless that is nil, and returns how many there are.
// It sees one state of the database only if c is a snapshot or a transaction, or if nobody writes meanwhile.
func (c Conn) VerifyRecord(ctx context.Context, fault func(error), progress func()) (int64, error) {
	v := &rowVerifier{Conn: c, ctx: ctx, fault: fault, pending: map[int64]error{}, seen: map[int64]uint64{}}
	n, err := c.Chains.Verify(ctx, fault, v.object, func(e StoredEvent) {
		if v.event(e); progress != nil {
			progress()
		}
	})
	if err == nil {
		err = v.end()
	}
	return n, err
}

// rowVerifier compares rows with chains that are whole.
type rowVerifier struct {
	Conn
	ctx      context.Context
	fault    func(error)
	err      error // of the database
	objects  []chainObject
	notified map[string][]string // by the number of an event of the chain that is read, who was notified of it
	audits   []auditEvent
	pending  map[int64]error  // by the id of an audit event, what is wrong unless a later event says so
	seen     map[int64]uint64 // the ids of audit events that are in chains, 64 in each
	closed   map[string]bool  // users who closed their account, nil: not read yet
}

// chainObject is an object whose chain is whole.
type chainObject struct {
	*record.Verifier
	notified map[string][]string
}

// auditEvent is an event of a chain that says what an audit event is.
type auditEvent struct {
	id     int64
	chain  string
	seq    int64
	fields record.Detail
	gone   bool
}

const verifiedAtOnce = 256

func (v *rowVerifier) event(e StoredEvent) {
	detail, err := record.ParseDetail(e.Detail)
	if err != nil {
		return // the chain is not whole
	}
	if users, ok := detail.Get(notifiedField); ok {
		seq, _ := detail.Get("event.seq")
		if v.notified == nil {
			v.notified = map[string][]string{}
		}
		v.notified[seq.Value] = append(v.notified[seq.Value], strings.Fields(users.Value)...)
	}
	if id, ok := detail.Get("audit.id"); ok {
		n, _ := strconv.ParseInt(id.Value, 10, 64) // 0, which no row has, where it is none
		v.audits = append(v.audits, auditEvent{n, e.Chain, e.Seq, detail, e.Kind == auditRemoved})
		if len(v.audits) == verifiedAtOnce {
			v.compareAudits()
		}
	}
}

func (v *rowVerifier) object(whole *record.Verifier) {
	v.objects = append(v.objects, chainObject{whole, v.notified})
	if v.notified = nil; len(v.objects) == verifiedAtOnce {
		v.compareObjects()
	}
}

// end compares what is left, and finds rows that are in no chain.
func (v *rowVerifier) end() error {
	v.compareObjects()
	v.compareAudits()
	for _, id := range slices.Sorted(maps.Keys(v.pending)) {
		v.fault(v.pending[id])
	}
	for _, table := range sortedTables() {
		t := recordedTables[table]
		if t.part != "" || v.err != nil {
			continue
		}
		rows, _, err := v.Chains.rows(v.ctx, table, t, t.unchained(table)+" LIMIT 100")
		for _, key := range slices.Sorted(maps.Keys(rows)) {
			v.fault(fmt.Errorf("%s/%s: there is a row in %s that no event led to", t.object, key, table))
		}
		v.err = err
	}
	return v.lostAudits()
}

// compareObjects compares the objects that were collected with their rows, of one kind after the other.
func (v *rowVerifier) compareObjects() {
	byKind := map[string][]chainObject{}
	for _, o := range v.objects {
		kind, _, _ := strings.Cut(o.Chain, "/")
		byKind[kind] = append(byKind[kind], o)
	}
	v.objects = nil
	for _, kind := range slices.Sorted(maps.Keys(byKind)) {
		if tables := recordedOf(kind); len(tables) > 0 && v.err == nil {
			v.err = v.compareKind(kind, tables, byKind[kind])
		}
	}
}

func (v *rowVerifier) compareKind(kind string, tables []string, list []chainObject) error {
	var keys []string
	for _, o := range list {
		keys = append(keys, strings.TrimPrefix(o.Chain, kind+"/"))
	}
	rows := map[string]record.Row{}
	for _, table := range tables {
		if t := recordedTables[table]; t.part == "" {
			var err error
			if rows, err = v.Chains.rowsOf(v.ctx, table, t, keys); err != nil {
				return err
			}
		}
	}
	if err := v.Chains.addParts(v.ctx, kind, keys, rows); err != nil {
		return err
	}
	for i, o := range list {
		if differ := o.differ(rows[keys[i]]); len(differ) > 0 {
			v.fault(&record.Fault{Chain: o.Chain, Seq: o.Head.Seq, What: "the row is not what the events led to: " +
				strings.Join(differ, ", ")})
		}
	}
	if kind == "request" {
		return v.compareNotified(list, keys)
	}
	return nil
}

// differ lists the fields in which a row differs, but for those with the hash of a content that was erased.
func (o chainObject) differ(row record.Row) []string {
	return slices.DeleteFunc(o.Compare(row), func(name string) bool {
		for value := range o.Gone {
			if strings.HasSuffix(value, "."+record.SetPrefix+name) && record.ErasesContent(name) {
				return true
			}
		}
		return false
	})
}

// compareNotified finds notifications of requests that are not there any more. Whoever closes their account takes
// theirs along.
func (v *rowVerifier) compareNotified(list []chainObject, keys []string) error {
	places, args := sqldb.In(nil, keysOf(recordedTables["material_requests"], keys))
	for i := len(keys); i < len(args); i++ {
		args[i] = args[0]
	}
	there := map[string]bool{}
	if _, err := sqldb.All(v.ctx, v.conn, func(r sqldb.Row, _ *struct{}) error {
		var request, seq, user string
		err := r.Scan(&request, &seq, &user)
		there[request+" "+seq+" "+user] = true
		return err
	}, `SELECT CAST(e.request_id AS TEXT), CAST(e.seq AS TEXT), CAST(n.user_id AS TEXT) FROM request_events e
		JOIN notifications n ON n.event_id = e.id WHERE e.request_id IN (`+places+")", args...); err != nil {
		return err
	}
	for i, o := range list {
		for _, seq := range slices.Sorted(maps.Keys(o.notified)) {
			for _, user := range o.notified[seq] {
				if there[keys[i]+" "+seq+" "+user] {
					continue
				}
				if gone, err := v.isClosed(user); err != nil {
					return err
				} else if !gone {
					v.fault(fmt.Errorf("%s: the notification of %s of event %s is missing", o.Chain, user, seq))
				}
			}
		}
	}
	return nil
}

func (v *rowVerifier) isClosed(user string) (bool, error) {
	if v.closed == nil {
		v.closed = map[string]bool{}
		if _, err := sqldb.All(v.ctx, v.conn, func(r sqldb.Row, _ *struct{}) error {
			var id string
			err := r.Scan(&id)
			v.closed[id] = true
			return err
		}, "SELECT CAST(id AS TEXT) FROM users WHERE closed_at IS NOT NULL"); err != nil {
			return false, err
		}
	}
	return v.closed[user], nil
}

// compareAudits compares the audit events that were collected with their rows.
func (v *rowVerifier) compareAudits() {
	list := v.audits
	if v.audits = nil; len(list) == 0 || v.err != nil {
		return
	}
	ids := make([]int64, len(list))
	for i, a := range list {
		ids[i] = a.id
	}
	places, args := sqldb.In(nil, ids)
	rows, err := auditRows(v.ctx, v.conn, "id IN ("+places+")", args...)
	if v.err = err; err != nil {
		return
	}
	byID := map[string]map[string]string{}
	for _, values := range rows {
		row, err := texts(auditColumnsRecorded, values)
		if err != nil {
			v.err = err
			return
		}
		byID[row["id"]] = row
	}
	for _, a := range list {
		v.seen[a.id/64] |= 1 << (a.id % 64)
		delete(v.pending, a.id)
		if what := a.differs(byID[strconv.FormatInt(a.id, 10)]); what != "" {
			v.pending[a.id] = &record.Fault{Chain: a.chain, Seq: a.seq, What: fmt.Sprintf("the audit event %d %s", a.id,
				what)}
		}
	}
}

// differs states how an audit event differs from its row; "": it does not.
func (a auditEvent) differs(row map[string]string) string {
	switch {
	case a.gone && row == nil:
		return ""
	case a.gone:
		return "was removed, and is there"
	case row == nil:
		return "is missing"
	}
	var want record.Draft
	setAudit(&want, row, false)
	for _, f := range want.Detail {
		if got, _ := a.fields.Get(f.Name); got != f {
			return "was altered: " + strings.TrimPrefix(f.Name, "audit.")
		}
	}
	if auditChain(row["object"]) != a.chain {
		return "was altered: object"
	}
	return ""
}

// lostAudits finds audit events that are in no chain.
func (v *rowVerifier) lostAudits() error {
	for after := int64(0); v.err == nil; {
		ids, err := sqldb.All(v.ctx, v.conn, sqldb.Value[int64],
			"SELECT id FROM audit_events WHERE id > $1 ORDER BY id LIMIT 4096", after)
		if err != nil || len(ids) == 0 {
			return err
		}
		for _, id := range ids {
			if after = id; v.seen[id/64]&(1<<(id%64)) == 0 {
				v.fault(fmt.Errorf("the audit event %d is in no chain", id))
			}
		}
	}
	return v.err
}

// RequestHead is the last event of a request according to the request's row.
type RequestHead struct {
	Request int64
	request.Head
}

// Heads reads, by id, the heads of the requests past after; for verifying.
func (st Events) Heads(ctx context.Context, after int64, limit int) ([]RequestHead, error) {
	scan := func(r sqldb.Row, h *RequestHead) error {
		return r.Scan(&h.Request, &h.Seq, &h.Hash)
	}
	return sqldb.All(ctx, st.conn, scan, "SELECT id, last_seq, last_hash FROM material_requests WHERE id > $1 "+
		"ORDER BY id LIMIT $2", after, limit)
}

// Chain reads the events of a request from the first on; for verifying.
func (st Events) Chain(ctx context.Context, request int64) ([]request.Event, error) {
	return sqldb.All(ctx, st.conn, scanEvent, "SELECT "+eventColumns+
		" FROM request_events o WHERE o.request_id = $1 ORDER BY o.seq", request)
}

// HashesLeft reads, by request and number, what is left of the events of requests past after up to another one, of
// which something was erased; for verifying.
func (st Events) HashesLeft(ctx context.Context, after, until int64) (map[int64]map[int64]string, error) {
	left := map[int64]map[int64]string{}
	_, err := sqldb.All(ctx, st.conn, func(r sqldb.Row, _ *struct{}) error {
		var request, seq int64
		var hash string
		err := r.Scan(&request, &seq, &hash)
		if left[request] == nil {
			left[request] = map[int64]string{}
		}
		left[request][seq] = hash
		return err
	}, "SELECT request_id, seq, hash_left FROM erased_events WHERE request_id > $1 AND request_id <= $2", after, until)
	return left, err
}

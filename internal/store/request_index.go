package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"aliquot/internal/exchange/fulltext"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/search"
	"aliquot/internal/store/sqldb"

	"github.com/google/uuid"
)

// rowsOfRequest is how many rows of request_words a request may have; their rowid is the id of the request
// times this, and the number of the row.
const rowsOfRequest = 1 << 24

// IndexEvents keeps the index of a request in step with what just happened to it, and was saved with it.
func (st Requests) IndexEvents(ctx context.Context, q request.Detail, events []request.Event) error {
	var rows []request.IndexRow
	var changed []int64
	for _, e := range events {
		if e.Kind == request.Deleted {
			_, err := st.conn.Exec(ctx, "DELETE FROM request_words WHERE rowid >= $1 AND rowid < $2",
				q.ID*rowsOfRequest,
				(q.ID+1)*rowsOfRequest)
			return err
		}
		if row, ok := e.IndexRow(q.Requester, q.Organization); ok {
			rows = append(rows, row)
		}
		if e.ChangesSearchText() {
			changed = []int64{q.ID}
		}
	}
	texts, err := st.texts(ctx, changed)
	if err != nil {
		return err
	}
	for _, t := range texts {
		rows = append(rows, t.IndexRow())
	}
	return st.putWords(ctx, rows)
}

// Index brings the index rows of requests up to date, at most 256 of them: with names, notes and documents,
// and where whole is true with what was written in them, which a request that moved to another
// organization needs. Those that there are not, or were deleted, are passed over.
func (st Requests) Index(ctx context.Context, ids []int64, whole bool) error {
	texts, err := st.texts(ctx, ids)
	if err != nil {
		return err
	}
	rows := make([]request.IndexRow, len(texts))
	for i, t := range texts {
		rows[i] = t.IndexRow()
	}
	if err := st.putWords(ctx, rows); err != nil || !whole || len(texts) == 0 {
		return err
	}
	places, args := sqldb.In([]any{string(request.Messaged), string(request.IssueOpened)}, ids)
	written, err := sqldb.All(ctx, st.conn, sqldb.Value[int64], `SELECT DISTINCT request_id FROM request_events
		WHERE kind IN ($1, $2) AND request_id IN (`+places+")", args...)
	if err != nil {
		return err
	}
	for _, t := range texts {
		if !slices.Contains(written, t.ID) {
			continue
		}
		if err := st.indexWritten(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// writtenAtOnce is how many messages are held in memory.
const writtenAtOnce = 200

func (st Requests) indexWritten(ctx context.Context, t request.Text) error {
	for seq := int64(0); ; {
		events, err := sqldb.All(ctx, st.conn, scanEvent, "SELECT "+eventColumns+` FROM request_events o
			WHERE o.request_id = $1 AND o.seq > $2 AND o.kind IN ($3, $4) ORDER BY o.seq LIMIT $5`,
			t.ID, seq, string(request.Messaged), string(request.IssueOpened), writtenAtOnce)
		if err != nil || len(events) == 0 {
			return err
		}
		var rows []request.IndexRow
		for _, e := range events {
			if row, ok := e.IndexRow(t.Requester, t.Organization); ok {
				rows = append(rows, row)
			}
			seq = e.Seq
		}
		if err := st.putWords(ctx, rows); err != nil {
			return err
		}
	}
}

// texts reads what requests are found by, and keeps it as it is until commit, so that whoever renames
// something sees the requests that are just being made. Reminders, which have no words, pass.
func (st Requests) texts(ctx context.Context, ids []int64) ([]request.Text, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	lock := ""
	if st.conn.Postgres() {
		lock = " FOR SHARE OF m, g, u, a FOR KEY SHARE OF o"
	}
	places, args := sqldb.In(nil, ids)
	scan := func(r sqldb.Row, t *request.Text) error {
		var requester, assignee person.User
		var title, lab, quantity, note, abstract string
		var carrier, tracking, conditions, documents *string
		err := r.Scan(&t.ID, &t.Requester, &t.Organization, &title, &lab,
			&requester.FirstName, &requester.LastName, &requester.Username, &assignee.FirstName, &assignee.LastName,
			&assignee.Username,
			&quantity, &note, &abstract, &carrier, &tracking, &conditions, &documents)
		t.Names = []string{title, lab, requester.Name(), requester.Username, assignee.Name(), assignee.Username}
		t.Notes = []string{quantity, note, abstract}
		if carrier != nil {
			t.Parcel, t.Notes = []string{*carrier, *tracking}, append(t.Notes, *conditions)
		}
		if documents != nil {
			t.Documents = strings.Split(*documents, "/")
		}
		return err
	}
	return sqldb.All(ctx, st.conn, scan, `SELECT o.id, o.requester_id, m.organization_id, m.title, g.name,
			u.first_name, u.last_name, u.username, a.first_name, a.last_name, a.username,
			o.quantity, o.note, o.requester_abstract, o.carrier, o.tracking, o.conditions,
			(SELECT string_agg(t.filename, '/' ORDER BY d.id) FROM request_documents d JOIN attachments t
			ON t.id = d.attachment_id
				WHERE d.request_id = o.id)
		FROM material_requests o JOIN materials m ON m.id = o.material_id JOIN organizations g
		ON g.id = m.organization_id
			JOIN users u ON u.id = o.requester_id JOIN users a ON a.id = o.assigned_to
		WHERE o.id IN (`+places+") AND o.deleted_at IS NULL ORDER BY o.id"+lock, args...)
}

// putWords adds rows of the index, or puts them in the place of those that there are.
func (st Requests) putWords(ctx context.Context, rows []request.IndexRow) error {
	slices.SortFunc(rows, func(a, b request.IndexRow) int { // FTS5 writes to the disk whenever they go back
		return slices.Compare([]int64{a.Request, a.Seq}, []int64{b.Request, b.Seq})
	})
	insert, text, replace := "INSERT OR REPLACE", search.FTSText, ""
	atOnce := 1 // FTS5 writes to the disk at each statement of several rows
	if st.conn.Postgres() {
		insert, text, replace = "INSERT", search.TSVector, " ON CONFLICT (rowid) DO UPDATE SET words = excluded.words"
		atOnce = st.conn.Dialect().AtOnce
	}
	for some := range sqldb.Batches(rows, atOnce) {
		var args []any
		for _, r := range some {
			if r.Seq >= rowsOfRequest {
				return fmt.Errorf("request %d has more events than its index has room for", r.Request)
			}
			args = append(args, r.Request*rowsOfRequest+r.Seq, text(r.Doc.Tokens))
		}
		if _, err := st.conn.Exec(ctx, insert+" INTO request_words (rowid, words) VALUES "+
			sqldb.Places(len(some), 2)+replace,
			args...); err != nil {
			return err
		}
	}
	return nil
}

// matching makes conditions on a request o of expressions, whose words may stand in different rows of the
// index. scope narrows the rows that are looked at.
type matching struct {
	c     *sqldb.Conn
	scope func(fulltext.Expr) fulltext.Expr
}

// requests is the condition that a request matches e. What one row can tell is asked of the index; the
// rest is put together of that.
func (m matching) requests(e fulltext.Expr) (condition string, args []any) {
	switch ways := slices.DeleteFunc(slices.Clone(e.Or), inNoRow); len(ways) {
	case 0:
	case 1:
		return m.requests(ways[0]) // mostly words that must all be there: a database may begin with any of them
	default:
		e.Or = ways
	}
	switch {
	case e.Token == fulltext.All:
		return "1 = 1", nil
	case inOneRow(e):
		row := "request_words MATCH ?"
		if m.c.Postgres() {
			row = "words @@ CAST(? AS TSQUERY)"
		}
		return "o.id IN (SELECT rowid >> 24 FROM request_words WHERE " + row + ")",
			[]any{search.Asked(m.c, m.scope(e))}
	case e.But != nil:
		return m.several(" AND NOT ", e.But.Yes, e.But.No)
	case e.Or != nil:
		return m.several(" OR ", e.Or...)
	}
	return m.several(" AND ", e.And...)
}

func (m matching) several(between string, list ...fulltext.Expr) (condition string, args []any) {
	conditions := make([]string, len(list))
	for i, e := range list {
		var more []any
		conditions[i], more = m.requests(e)
		args = append(args, more...)
	}
	return "(" + strings.Join(conditions, between) + ")", args
}

// inNoRow reports whether e is the mark of a whole name or an identifier, which requests do not have.
func inNoRow(e fulltext.Expr) bool {
	return e.Token != "" && (e.Token[0] == fulltext.WholeMark || e.Token[0] == fulltext.KeyMark)
}

// inOneRow reports whether a request matches e where one of its rows does.
func inOneRow(e fulltext.Expr) bool {
	for _, part := range e.Or {
		if !inOneRow(part) {
			return false
		}
	}
	return e.And == nil && e.But == nil
}

// Behind reads, in their order, places past after in the walk through the requests that are found by the name of
// something; limit of them, fewer if there are no more.
func (st Requests) Behind(ctx context.Context, named request.Renaming, after request.SearchPosition,
	limit int) ([]request.SearchPosition, error) {
	scan := func(r sqldb.Row, p *request.SearchPosition) error { return r.Scan(&p.Material, &p.Request) }
	if named.User != uuid.Nil {
		return sqldb.All(ctx, st.conn, scan, `SELECT 0, id FROM (
				SELECT id FROM (SELECT id FROM material_requests WHERE requester_id = $1 AND id > $2
				ORDER BY id LIMIT $3) made
				UNION SELECT id FROM (SELECT id FROM material_requests WHERE assigned_to = $1 AND id > $2
				ORDER BY id LIMIT $3) assigned) o
			ORDER BY id LIMIT $3`, named.User, after.Request, limit)
	}
	of, id := "m.id", named.Material
	if named.Organization != 0 {
		of, id = "m.organization_id", named.Organization
	}
	return sqldb.All(ctx, st.conn, scan, "SELECT m.id, o.id FROM materials m JOIN material_requests o ON "+
		"o.material_id = "+
		"m.id WHERE "+of+` = $1
		AND m.id >= $2 AND (m.id > $2 OR o.id > $3) ORDER BY m.id,
		o.id LIMIT $4`, id, after.Material, after.Request, limit)
}

// Behind reads the ids of materials of an organization past after, in their order.
func (st Materials) Behind(ctx context.Context, organization, after int64, limit int) ([]int64, error) {
	return sqldb.All(ctx, st.conn, sqldb.Value[int64], "SELECT id FROM materials m WHERE organization_id = $1 AND id "+
		"> $2 AND "+
		published("m")+" ORDER BY id LIMIT $3", organization, after, limit)
}

// indexAll makes all requests found, once there are the indexes that it reads them by. On PostgreSQL the index of their
// words is made afterwards, in a tenth of the time that adding to it takes.
func (st Requests) indexAll(ctx context.Context) error {
	if !st.conn.Postgres() {
		return search.LoadWords(ctx, st.conn, "request", func() error { return st.indexEach(ctx) })
	}
	definition, err := sqldb.One(ctx, st.conn, sqldb.Value[string],
		"SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema() AND indexname = 'request_words_words'")
	if err != nil {
		return err
	}
	if _, err := st.conn.Exec(ctx, "DROP INDEX request_words_words"); err != nil {
		return err
	}
	if err := st.indexEach(ctx); err != nil {
		return err
	}
	_, err = st.conn.Exec(ctx, definition)
	return err
}

func (st Requests) indexEach(ctx context.Context) error {
	const atOnce = 256
	last, err := sqldb.One(ctx, st.conn, sqldb.Value[int64], "SELECT COALESCE(MAX(id), 0) FROM material_requests")
	for first := int64(1); err == nil && first <= last; first += atOnce {
		ids := make([]int64, min(atOnce, last-first+1))
		for i := range ids {
			ids[i] = first + int64(i)
		}
		err = st.Index(ctx, ids, true)
	}
	return err
}

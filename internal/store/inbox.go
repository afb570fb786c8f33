package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/fulltext"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store/sqldb"

	"github.com/google/uuid"
)

// myLabs are the organizations that a person is in.
const myLabs = "(SELECT organization_id FROM memberships WHERE user_id = ? AND left_at IS NULL)"

// The requests of a person and of their labs as conditions on material_requests o; every ? is the person. Each is read
// off an index, and those of a state share no request.
var inboxes = map[request.InboxState][]string{
	request.OnMe: {"o.requester_id = ? AND o.party = 'requester'",
		"o.assigned_to = ? AND o.party = 'lab' AND o.organization_id IN " + myLabs},
	request.OnMyLabs: {"o.organization_id IN " + myLabs + " AND o.party = 'lab' AND o.assigned_to <> ?"},
	request.OnOthers: {"o.requester_id = ? AND o.party = 'lab' AND o.organization_id NOT IN " + myLabs,
		"o.organization_id IN " + myLabs + " AND o.party = 'requester' AND o.requester_id <> ?"},
	request.OnNobody: {"o.requester_id = ? AND o.party = '' AND o.organization_id NOT IN " + myLabs,
		"o.organization_id IN " + myLabs + " AND o.party = ''"},
	request.Own:      {"o.requester_id = ? AND o.party = 'requester'", "o.requester_id = ? AND o.party = 'lab'"},
	request.ToShip:   {"o.organization_id IN " + myLabs + " AND o.party = 'lab' AND o.step = 'shipment'"},
	request.OnTheWay: {"o.organization_id IN " + myLabs + " AND o.party = 'requester' AND o.step = 'receipt'"},
	everyTurn:        {"o.requester_id = ? AND o.organization_id NOT IN " + myLabs, "o.organization_id IN " + myLabs},
}

const everyTurn request.InboxState = ""

// narrow adds the conditions of an inbox beside whose turn it is.
func narrow(w *sqldb.Filter, f request.InboxFilter) {
	w.And("o.deleted_at IS NULL")
	sqldb.AndEqual(w, "o.organization_id", f.Organization)
	sqldb.AndEqual(w, "o.material_id", f.Material)
	sqldb.AndEqual(w, "o.group_id", f.Group)
	sqldb.AndEqual(w, "(o.status || '')", f.Status) // never by the index of all requests of a status
	sqldb.AndEqual(w, "o.assigned_to", f.AssignedTo)
	if f.Search != nil {
		w.And("o.id IN (SELECT id FROM found)")
	}
}

// search begins a statement with what a search finds, which is read once for all conditions that speak of it.
func (st Inbox) search(w *sqldb.Filter, f request.InboxFilter, viewer exchange.Actor) {
	if f.Search == nil {
		return
	}
	condition, args := matching{st.conn,
		request.SearchScope(exchange.Actor{ID: viewer.ID, Organizations: viewer.Organizations})}.
		requests(fulltext.Parse(string(*f.Search)).Expr())
	w.Begin("WITH found AS MATERIALIZED (SELECT o.id FROM material_requests o")
	w.And(condition, args...)
	w.SQL.WriteString(") ")
}

// persons are as many times the viewer as a text has places for them.
func persons(text string, viewer exchange.Actor) []any {
	args := make([]any, strings.Count(text, "?"))
	for i := range args {
		args[i] = viewer.ID
	}
	return args
}

// Count returns how many requests are what to a person, of those that a filter leaves; whose turn it is is no part of
// it. It stops counting at request.MaxCounted of each arm of inboxes.
func (st Inbox) Count(ctx context.Context, f request.InboxFilter, viewer exchange.Actor) (request.InboxCounts, error) {
	if f.Search != nil {
		st.conn = st.conn.WithoutStmtCache()
	}
	w := &sqldb.Filter{}
	st.search(w, f, viewer)
	w.SQL.WriteString("SELECT ")
	for i, whose := range request.Whoses {
		for j, arm := range inboxes[whose] {
			before := ", "
			if i == 0 && j == 0 {
				before = ""
			} else if j > 0 {
				before = " + "
			}
			w.Begin(before + "(SELECT COUNT(*) FROM (SELECT 1 FROM material_requests o")
			w.And(arm, persons(arm, viewer)...)
			narrow(w, f)
			w.SQL.WriteString(" LIMIT " + strconv.Itoa(request.MaxCounted) + ") counted)")
		}
	}
	return sqldb.One(ctx, st.conn, func(r sqldb.Row, counts *request.InboxCounts) error {
		n := make([]any, len(request.Whoses))
		for i := range n {
			n[i] = new(int64)
		}
		err := r.Scan(n...)
		*counts = request.InboxCounts{}
		for i, whose := range request.Whoses {
			(*counts)[whose] = *n[i].(*int64)
		}
		return err
	}, w.SQL.String(), w.Args...)
}

// late is a number after every day that is due.
const late = 1 << 40

// dueAt is when the turn in a request o of the organization g is due, in seconds.
func (st Inbox) dueAt() string {
	return `COALESCE(86400 * CASE o.step WHEN 'decision' THEN g.decide_days WHEN 'executed_mta' THEN g.countersign_days
		WHEN 'shipment' THEN g.ship_days WHEN 'issue' THEN g.ship_days END + ` +
		fmt.Sprintf(st.conn.Dialect().Seconds, "o.waiting_since") +
		", " + strconv.Itoa(late) + ")"
}

// List reads a part of the requests of a person and of the labs that they are in. It does not count them.
func (st Inbox) List(ctx context.Context, p exchange.Page, f request.InboxFilter,
	viewer exchange.Actor) (list []request.Detail, next *exchange.Position, err error) {
	if f.Search != nil {
		st.conn = st.conn.WithoutStmtCache()
	}
	whose := everyTurn
	if f.Whose != nil {
		whose = *f.Whose
	}
	place, from := "o.id", "material_requests o"
	switch p.Order.Name {
	case request.ByWaiting.Name:
		place = "o.waiting_since"
	case request.ByDue.Name:
		place, from = st.dueAt(), from+" JOIN organizations g ON g.id = o.organization_id"
	}
	direction, than := " DESC", " < "
	if p.Order.Ascending {
		direction, than = " ASC", " > "
	}
	order := func(table string) string {
		return " ORDER BY " + table + "place" + direction + ", " + table + "id" + direction
	}
	var due []int64 // of each, where that is the order
	columns, scan := requestColumns, scanRequest
	if p.Order.Name == request.ByDue.Name {
		columns, scan = columns+", x.place", func(r sqldb.Row, q *request.Detail) error {
			due = append(due, 0)
			return scanRequest(sqldb.MoreColumns(r, []any{&due[len(due)-1]}), q)
		}
	}
	w := &sqldb.Filter{}
	st.search(w, f, viewer)
	w.SQL.WriteString("SELECT " + columns + " FROM (")
	for i, arm := range inboxes[whose] {
		before := ""
		if i > 0 {
			before = " UNION ALL "
		}
		w.Begin(before + "SELECT " + place + " AS place, o.id AS id FROM " + from)
		w.And(arm, persons(arm, viewer)...)
		narrow(w, f)
		switch {
		case p.After == nil:
		case p.Order.Name == "":
			w.And("o.id"+than+"?", p.After.ID)
		default:
			w.And("("+place+", o.id)"+than+"(?, ?)", p.After.Value, p.After.ID)
		}
	}
	list, err = sqldb.All(ctx, st.conn, scan, w.SQL.String()+order("")+" LIMIT $"+strconv.Itoa(len(w.Args)+1)+
		") x JOIN material_requests o ON o.id = x.id "+requestJoins+order("x."), append(w.Args, p.Limit+1)...)
	if err != nil {
		return nil, nil, err
	}
	if len(list) > p.Limit {
		list = list[:p.Limit]
		last := list[p.Limit-1]
		next = &exchange.Position{ID: last.ID}
		switch p.Order.Name {
		case request.ByWaiting.Name:
			next.Value = last.WaitingSince
		case request.ByDue.Name:
			next.Value = due[p.Limit-1]
		}
	}
	return list, next, Requests(st).addDocuments(ctx, list)
}

// Colleagues are the people of the organizations that a person is in, by name; limit of them.
func (st Inbox) Colleagues(ctx context.Context, user uuid.UUID, limit int) ([]person.User, error) {
	return sqldb.All(ctx, st.conn, scanUser, "SELECT "+userColumns+` FROM users u WHERE u.id IN (SELECT m.user_id
		FROM memberships m WHERE m.left_at IS NULL
		AND m.organization_id IN (SELECT organization_id FROM memberships WHERE user_id = $1 AND left_at IS NULL))
		ORDER BY u.last_name_sort, u.first_name_sort, u.id LIMIT $2`, user, limit)
}

// PeopleCalled are the people of organizations whom a text may mean, at most limit: first who has it as registry id,
// also after a name and a comma, then by name those whose name has it in it.
func (st Inbox) PeopleCalled(ctx context.Context, organizations []int64, text string, limit int) ([]person.User,
	error) {
	part := "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(exchange.SortKey(text)) + "%"
	id := strings.TrimSpace(text[strings.LastIndex(text, ",")+1:])
	places, args := sqldb.In([]any{text, id, part, limit}, organizations)
	return sqldb.All(ctx, st.conn, scanUser, "SELECT "+userColumns+` FROM users u WHERE u.id IN (SELECT m.user_id
		FROM memberships m WHERE m.left_at IS NULL
		AND m.organization_id IN (`+places+`)) AND (u.registry_id IN ($1, $2)
			OR u.first_name_sort || ' ' || u.last_name_sort LIKE $3 ESCAPE '\')
		ORDER BY CASE WHEN u.registry_id IN ($1, $2) THEN 0 ELSE 1 END, u.last_name_sort, u.first_name_sort,
		u.id LIMIT $4`, args...)
}

// Requested reads the materials of the newest requests of a person and of their organizations, each once, by title.
func (st Inbox) Requested(ctx context.Context, who exchange.Actor, most int) ([]exchange.Named, error) {
	parts := "SELECT material_id FROM (SELECT material_id FROM material_requests WHERE requester_id = $1 " +
		"AND deleted_at IS NULL ORDER BY id DESC LIMIT $2) own"
	args := []any{who.ID, most}
	for _, id := range who.Organizations {
		args = append(args, id)
		parts += fmt.Sprintf(" UNION SELECT material_id FROM (SELECT material_id FROM material_requests "+
			"WHERE organization_id = $%d AND deleted_at IS NULL ORDER BY id DESC LIMIT $2) part", len(args))
	}
	return sqldb.All(ctx, st.conn, func(r sqldb.Row, m *exchange.Named) error { return r.Scan(&m.ID, &m.Name) },
		"SELECT id, title FROM materials WHERE id IN ("+parts+") ORDER BY title_sort, id", args...)
}

// Views reads the views that a person keeps, the oldest first.
func (st Inbox) Views(ctx context.Context, user uuid.UUID) ([]request.InboxView, error) {
	return sqldb.All(ctx, st.conn,
		func(r sqldb.Row, v *request.InboxView) error { return r.Scan(&v.ID, &v.Name, &v.Query) },
		"SELECT id, name, query FROM inbox_views WHERE user_id = $1 ORDER BY id", user)
}

// InsertView adds a view of a person.
func (st Inbox) InsertView(ctx context.Context, user uuid.UUID, v request.InboxView) error {
	_, err := st.conn.Exec(ctx, "INSERT INTO inbox_views (user_id, name, query, created_at) VALUES ($1, $2, $3, $4)",
		user, v.Name, v.Query, st.conn.Now)
	return err
}

// DeleteView deletes a view of a person, if it is theirs, and reports whether it was.
func (st Inbox) DeleteView(ctx context.Context, user uuid.UUID, id int64) (bool, error) {
	n, err := st.conn.Exec(ctx, "DELETE FROM inbox_views WHERE user_id = $1 AND id = $2", user, id)
	return n > 0, err
}

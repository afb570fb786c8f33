package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/search"
	"aliquot/internal/store/sqldb"

	"github.com/google/uuid"
	"github.com/pressly/goose/v3"
)

// Loader takes in the rows of a new database, many at once. It writes in the background what it was
// given, so that the next rows are made meanwhile; an error of theirs comes back from a later call,
// or from Load. Rows come with their own times and are believed: no index and no reference is
// checked before all are in.
type Loader struct {
	rows  *sqldb.Loader
	index *search.Loader
}

// Load makes a database of what fill gives to the loader: all of it or nothing. It notes label, which
// Loaded reads. A database that is not new is refused with ErrTaken.
func Load(ctx context.Context, where, label string, fill func(context.Context, *Loader) error) error {
	var l Loader
	return sqldb.Load(ctx, where, sqldb.NewDB{
		Begin: l.begin,
		Fill: []func(context.Context) error{
			func(ctx context.Context) error { return fill(ctx, &l) },
			func(ctx context.Context) error { return l.index.Flush(ctx) },
		},
		End: func(ctx context.Context) error {
			if err := l.index.End(ctx); err != nil {
				return err
			}
			if err := (Requests{l.rows.Conn}).indexAll(ctx); err != nil {
				return err
			}
			if _, err := (Secrets{l.rows.Conn}).store(ctx, loaded, label); err != nil {
				return err
			}
			if _, err := l.rows.Conn.Exec(ctx, `UPDATE carry_over SET done = FALSE,
				audit_until = (SELECT COALESCE(MAX(id), 0) FROM audit_events)`); err != nil {
				return err
			}
			return carryOver(ctx, func(ctx context.Context, do func(context.Context, Conn) error) error {
				return do(ctx, storesOn(l.rows.Conn))
			})
		},
	})
}

func (l *Loader) begin(ctx context.Context, rows *sqldb.Loader) (err error) {
	if taken, err := sqldb.One(ctx, rows.Conn, sqldb.Value[bool],
		"SELECT EXISTS (SELECT 1 FROM users)"); err != nil || taken {
		return errors.Join(err, sqldb.ErrTaken)
	}
	if rows.Conn.Postgres() { // what failed before took numbers
		if _, err := rows.Conn.Exec(ctx,
			"TRUNCATE organizations, addresses RESTART IDENTITY CASCADE"); err != nil {
			return err
		}
	}
	l.rows = rows
	l.index, err = search.NewLoader(ctx, rows)
	return err
}

// Loaded is the label of the Load that made the database; NotFound where it grew otherwise.
func (st Secrets) Loaded(ctx context.Context) (string, error) { return st.stored(ctx, loaded) }

const loaded = "loaded"

// LoadedRequest is a request with all that happened in it: its events sealed, in order, with the head of
// its chain, and the account of its turns. Its documents have no ids yet.
type LoadedRequest struct {
	request.Detail
	Events []request.Event
	Turns  []request.TurnRecord
	Issues []request.Issue
}

// Do writes by the stores of a Conn, as if it were at.
func (l *Loader) Do(ctx context.Context, at time.Time, write func(context.Context, Conn) error) error {
	return l.rows.Add(ctx, func() error { return write(ctx, storesOn(l.rows.Conn.At(at))) })
}

// Materials adds materials with the ids and times that they have.
func (l *Loader) Materials(ctx context.Context, list []material.Material) error {
	rows := make([][]any, len(list))
	for i, m := range list {
		args, err := Materials{l.rows.Conn.At(m.UpdatedAt)}.args(list[i:i+1], 0) // nobody saved a search before
		if err != nil {
			return err
		}
		rows[i] = append([]any{m.ID}, args...)
	}
	return l.rows.Rows(ctx, "materials", withID(materialWritten), rows)
}

// IndexMaterials makes materials found that Materials added. They come in the order of search.InOrderOfRank, the
// archived ones after all others.
func (l *Loader) IndexMaterials(ctx context.Context, list []material.Material,
	organization func(id int64) lab.Organization) error {
	return l.index.Materials(ctx, list, organization)
}

// Requests adds requests with the ids and times that they have.
func (l *Loader) Requests(ctx context.Context, list []LoadedRequest) error {
	var requests, events, turns, documents, issues [][]any
	for _, q := range list {
		args, err := Requests{l.rows.Conn.At(q.UpdatedAt)}.args(q.Request)
		if err != nil {
			return err
		}
		requests = append(requests, append(append([]any{q.ID}, args...),
			q.MaterialID, q.Requester, q.Quantity, q.Note, q.CreatedAt, q.Head.Seq, q.Head.Hash, q.Organization))
		for _, e := range q.Events {
			events = append(events, eventArgs(q.Detail, e))
		}
		for _, t := range q.Turns {
			t.Organization = q.Organization
			turn, err := turnArgs(t)
			if err != nil {
				return err
			}
			turns = append(turns, turn)
		}
		for _, d := range q.Documents {
			documents = append(documents, documentArgs(q.ID, d))
		}
		for _, i := range q.Issues {
			issues = append(issues, []any{i.ID, i.RequestID, i.Text, i.OpenedBy, i.OpenedAt, i.ClosedAt})
		}
	}
	for _, part := range []struct {
		table   string
		columns []string
		rows    [][]any
	}{
		{"material_requests", append(withID(requestWritten), "organization_id"), requests},
		{"request_events", eventWritten, events},
		{"request_turns", turnWritten, turns},
		{"request_documents", documentWritten, documents},
		{"request_issues", strings.Fields("id request_id text opened_by opened_at closed_at"), issues},
	} {
		if len(part.rows) == 0 {
			continue
		}
		if err := l.rows.Rows(ctx, part.table, part.columns, part.rows); err != nil {
			return err
		}
	}
	return nil
}

func withID(columns []string) []string { return append([]string{"id"}, columns...) }

// SchemaVersion is the number of the newest migration that was run.
func (c Conn) SchemaVersion(ctx context.Context) (int64, error) { return c.conn.SchemaVersion(ctx) }

// Tables reads the tables with what cannot be derived from others.
func (c Conn) Tables(ctx context.Context) ([]sqldb.Table, error) { return keptTables(ctx, c.conn) }

// Numbers reads the last id that each table gave.
func (c Conn) Numbers(ctx context.Context) (map[string]int64, error) { return c.conn.Numbers(ctx) }

// Copy writes the rows of a table as Restorer.Table takes them; c is a snapshot.
func (c Conn) Copy(ctx context.Context, t sqldb.Table, w io.Writer) error {
	return c.conn.Copy(ctx, t, w)
}

// keptTables reads all tables but those of the search index, and that of the schema's version.
func keptTables(ctx context.Context, c *sqldb.Conn) ([]sqldb.Table, error) {
	tables, err := c.Tables(ctx)
	return slices.DeleteFunc(tables, func(t sqldb.Table) bool {
		return strings.HasSuffix(t.Name, "_index") || strings.Contains(t.Name, "_words") ||
			t.Name == goose.DefaultTablename
	}), err
}

// Restorer takes in the tables of another database.
type Restorer struct {
	Loader
	tables map[string]sqldb.Table // those that are still to come
	labs   map[int64]lab.Organization
}

// Restore makes a database of what fill hands over: the tables of another one, which were read by Copy. It rebuilds the
// search index. The database is there only if check returns nil; one that is in use is refused with ErrTaken.
func Restore(ctx context.Context, where string, fill func(context.Context, *Restorer) error,
	check func(context.Context, Conn) error) error {
	r := Restorer{tables: map[string]sqldb.Table{}}
	return sqldb.Load(ctx, where, sqldb.NewDB{
		Begin: func(ctx context.Context, rows *sqldb.Loader) error {
			if err := r.begin(ctx, rows); err != nil {
				return err
			}
			list, err := keptTables(ctx, rows.Conn)
			for _, t := range list {
				r.tables[t.Name] = t
			}
			return err
		},
		Fill: []func(context.Context) error{
			func(ctx context.Context) error {
				err := fill(ctx, &r)
				if names := slices.Sorted(maps.Keys(r.tables)); err == nil && len(names) > 0 {
					err = fmt.Errorf("the table %s is missing", names[0])
				}
				return err
			},
			r.indexOrganizations, r.indexUsers, r.indexMaterials,
			func(ctx context.Context) error { return r.index.Flush(ctx) },
		},
		End: func(ctx context.Context) error {
			if err := r.index.End(ctx); err != nil {
				return err
			}
			if err := r.rows.Conn.CheckReferences(ctx); err != nil {
				return err
			}
			c := storesOn(r.rows.Conn)
			return errors.Join(c.Requests.indexAll(ctx), check(ctx, c))
		},
	})
}

// Recording does something to a database that Restore made, and records it as a transaction does.
func (c Conn) Recording(ctx context.Context, do func(context.Context, Conn) error) error {
	c.conn.DB.Observe(observed)
	c.conn.Changes = &sqldb.Changes{}
	defer func() { c.conn.Changes = nil }()
	return onStores(do)(ctx, c.conn)
}

// Schema is the version of the schema of the database.
func (r *Restorer) Schema(ctx context.Context) (version int64, err error) {
	err = r.rows.Do(ctx, func() error {
		version, err = r.rows.Conn.SchemaVersion(ctx)
		return err
	})
	return version, err
}

// ContentKeys reads the keys of all content of the tables that were taken in.
func (r *Restorer) ContentKeys(ctx context.Context) (list []StoredKey, err error) {
	err = r.rows.Do(ctx, func() error {
		list, err = Attachments{r.rows.Conn}.ContentKeys(ctx)
		return err
	})
	return list, err
}

// Table takes in the rows of a table as Copy wrote them; each table comes once.
func (r *Restorer) Table(ctx context.Context, name string, rows io.Reader) error {
	t, ok := r.tables[name]
	if !ok {
		return errors.New("there is no such table")
	}
	delete(r.tables, name)
	return r.rows.Replace(ctx, t, rows)
}

// Numbers takes in what Numbers read.
func (r *Restorer) Numbers(ctx context.Context, last map[string]int64) error {
	for _, table := range slices.Sorted(maps.Keys(last)) {
		t, ok := r.tables[table]
		if !ok || !slices.ContainsFunc(t.Columns, func(c sqldb.Column) bool { return c.Name == "id" }) {
			return fmt.Errorf("there is no table %.100q with ids", table)
		}
		if err := r.rows.Number(ctx, table, last[table]); err != nil {
			return err
		}
	}
	return nil
}

// indexOrganizations and the like make found what was taken in.
func (r *Restorer) indexOrganizations(ctx context.Context) error {
	r.labs = map[int64]lab.Organization{}
	return pages(ctx, r, "SELECT "+organizationColumns+" FROM organizations o WHERE o.id > $1 ORDER BY o.id LIMIT $2",
		scanOrganization, int64(0), func(o lab.Organization) (int64, error) {
			r.labs[o.ID] = lab.Organization{Name: o.Name, PublicKeys: o.PublicKeys}
			return o.ID, search.On(r.rows.Conn).AddOrganization(ctx, o)
		})
}

func (r *Restorer) indexUsers(ctx context.Context) error {
	return pages(ctx, r, "SELECT "+userColumns+" FROM users u WHERE u.id > $1 AND u.closed_at IS NULL ORDER BY u.id "+
		"LIMIT $2", scanUser, uuid.Nil, func(u person.User) (uuid.UUID, error) {
		return u.ID, search.On(r.rows.Conn).AddUser(ctx, u)
	})
}

// pages reads the rows behind a key, some at a time.
func pages[T, K any](ctx context.Context, r *Restorer, query string, scan func(sqldb.Row, *T) error, after K,
	do func(T) (K, error)) error {
	for n := sqldb.MaxIn; n == sqldb.MaxIn; {
		if err := r.rows.Do(ctx, func() error {
			list, err := sqldb.All(ctx, r.rows.Conn, scan, query, after, sqldb.MaxIn)
			n = len(list)
			for i := 0; err == nil && i < n; i++ {
				after, err = do(list[i])
			}
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

func (r *Restorer) indexMaterials(ctx context.Context) error {
	var last int64
	if err := r.rows.Do(ctx, func() (err error) {
		last, err = sqldb.One(ctx, r.rows.Conn, sqldb.Value[int64], "SELECT COALESCE(MAX(id), 0) FROM materials")
		return err
	}); err != nil {
		return err
	}
	ids, err := search.InOrderOfRank(int(last))
	if err != nil {
		return err
	}
	var archived []int64
	for some := range slices.Chunk(ids, sqldb.MaxIn) {
		list, err := r.materials(ctx, some)
		if err != nil {
			return err
		}
		listed := list[:0]
		for _, m := range list {
			if m.Archived {
				archived = append(archived, m.ID)
			} else {
				listed = append(listed, m)
			}
		}
		if err := r.IndexMaterials(ctx, listed, r.lab); err != nil {
			return err
		}
	}
	for some := range slices.Chunk(archived, sqldb.MaxIn) {
		list, err := r.materials(ctx, some)
		if err == nil {
			err = r.IndexMaterials(ctx, list, r.lab)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *Restorer) lab(id int64) lab.Organization { return r.labs[id] }

// materials reads those that there are of some, in the order of ids. Spreadsheets that are under way are not found yet.
func (r *Restorer) materials(ctx context.Context, ids []int64) (list []material.Material, err error) {
	err = r.rows.Do(ctx, func() error {
		places, args := sqldb.In(nil, ids)
		list, err = sqldb.All(ctx, r.rows.Conn, scanMaterial, "SELECT "+materialColumns+
			" FROM materials o WHERE o.id IN ("+places+") AND "+published("o"), args...)
		return err
	})
	place := make(map[int64]int, len(ids))
	for i, id := range ids {
		place[id] = i
	}
	slices.SortFunc(list, func(a, b material.Material) int { return place[a.ID] - place[b.ID] })
	return list, err
}

package store

import (
	"context"
	"errors"
	"strings"
	"time"

	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/request"
	"aliquot/internal/search"
	"aliquot/internal/store/sqldb"
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
		Begin: func(ctx context.Context, rows *sqldb.Loader) (err error) {
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
		},
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
// archived ones behind all others; organization is the name of one.
func (l *Loader) IndexMaterials(ctx context.Context, list []material.Material,
	organization func(id int64) string) error {
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

// indexAll makes all requests found, once there are the indexes that it reads them by.
func (st Requests) indexAll(ctx context.Context) error {
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

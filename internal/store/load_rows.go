package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/fulltext"
)

// LoadedRequest is a request with all that happened in it: its events sealed, in order, with the head of
// its chain, and the account of its turns. Its documents have no ids yet.
type LoadedRequest struct {
	exchange.RequestDetail
	Events []exchange.Event
	Turns  []exchange.RequestTurn
	Issues []exchange.Issue
}

// Do writes by the stores of a Conn, as if it were at.
func (l *Loader) Do(ctx context.Context, at time.Time, write func(context.Context, Conn) error) error {
	return l.add(ctx, func() error { return write(ctx, storesOn(l.c.at(at))) })
}

// Materials adds materials with the ids and times that they have.
func (l *Loader) Materials(ctx context.Context, list []exchange.Material) error {
	rows := make([][]any, len(list))
	for i, m := range list {
		args, err := Materials{l.c.at(m.UpdatedAt)}.args(list[i:i+1], 0) // nobody saved a search before
		if err != nil {
			return err
		}
		rows[i] = append([]any{m.ID}, args...)
	}
	return l.rows(ctx, "materials", withID(materialWritten), rows)
}

// IndexMaterials makes materials found that Materials added. They come in the order of InOrderOfRank, the
// archived ones behind all others; organization is the name of one.
func (l *Loader) IndexMaterials(ctx context.Context, list []exchange.Material,
	organization func(id int64) string) error {
	rows, spelt, errs := make([]indexRow, len(list)), make([][]string, len(list)), make([]error, len(list))
	parallel(len(list), func(i int) {
		var e entry
		errs[i] = e.material(list[i], exchange.Organization{Name: organization(list[i].OrganizationID)})
		rows[i], spelt[i] = l.indexRow(materialIndex, e), fulltext.Spellings(e.Doc.Weights)
	})
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, word := range slices.Concat(spelt...) {
		l.said[word] = true
	}
	return l.index(ctx, materialIndex, rows)
}

// InOrderOfRank are the ids from 1 to n in the order in which the index has materials that are not archived.
func InOrderOfRank(n int) ([]int64, error) {
	ids, ranks := make([]int64, n), make([]int64, n+1)
	for i := range ids {
		id, err := int64(i+1), error(nil)
		if ranks[id], err = rankOf(id, false); err != nil {
			return nil, err
		}
		ids[i] = id
	}
	slices.SortFunc(ids, func(a, b int64) int { return cmp.Compare(ranks[a], ranks[b]) })
	return ids, nil
}

// Requests adds requests with the ids and times that they have.
func (l *Loader) Requests(ctx context.Context, list []LoadedRequest) error {
	var requests, events, turns, documents, issues [][]any
	for _, q := range list {
		args, err := Requests{l.c.at(q.UpdatedAt)}.args(q.Request)
		if err != nil {
			return err
		}
		requests = append(requests, append(append([]any{q.ID}, args...),
			q.MaterialID, q.Requester, q.Quantity, q.Note, q.CreatedAt, q.Head.Seq, q.Head.Hash, q.Organization))
		for _, e := range q.Events {
			events = append(events, eventArgs(q.RequestDetail, e))
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
		if err := l.rows(ctx, part.table, part.columns, part.rows); err != nil {
			return err
		}
	}
	return nil
}

func withID(columns []string) []string { return append([]string{"id"}, columns...) }

// indexAll makes all requests found, once there are the indexes that it reads them by.
func (st Requests) indexAll(ctx context.Context) error {
	const atOnce = 256
	last, err := one(ctx, st.conn, value[int64], "SELECT COALESCE(MAX(id), 0) FROM material_requests")
	for first := int64(1); err == nil && first <= last; first += atOnce {
		ids := make([]int64, min(atOnce, last-first+1))
		for i := range ids {
			ids[i] = first + int64(i)
		}
		err = st.Index(ctx, ids, true)
	}
	return err
}

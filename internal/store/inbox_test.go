package store_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"
)

// TestInbox_EqualsANaiveImplementation compares tabs, filters, orders and pages on random requests with what
// WaitingOn returns for each.
func TestInbox_EqualsANaiveImplementation(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		l.check(t, func(r *rapid.T, l testLab) {
			w := l.world(r)
			user, yes := rapid.SampledFrom(w.users), rapid.Bool()
			terms := map[int64]request.Terms{}
			var materials []int64
			for range 3 {
				var asks request.Terms
				id := l.material(rapid.SampledFrom(w.organizations).Draw(r, "organization"), w.users[0],
					func(m *material.Material) {
						m.NeedsMTA, m.NeedsIRB, m.NeedsAbstract = yes.Draw(r, "mta"), yes.Draw(r, "irb"),
							yes.Draw(r, "abstract")
						asks = request.Terms{MTA: m.NeedsMTA, IRB: m.NeedsIRB, Abstract: m.NeedsAbstract}
					})
				materials, terms[id] = append(materials, id), asks
			}
			for range rapid.IntRange(0, 9).Draw(r, "requests") {
				material := rapid.SampledFrom(materials).Draw(r, "material")
				id := l.request(material, user.Draw(r, "requester"), user.Draw(r, "assigned"),
					func(q *request.Request) {
						q.Status = rapid.SampledFrom(request.Statuses).Draw(r, "status")
						q.Active, q.OpenIssues = q.Status.Active(), rapid.IntRange(0, 1).Draw(r, "issues")
						q.Correction = rapid.SampledFrom([]string{"", "it lacks a date"}).Draw(r, "correction")
						*q = q.Begin(terms[material], start.AddDate(0, 0, rapid.IntRange(0, 3).Draw(r, "day")))
					})
				if rapid.IntRange(0, 5).Draw(r, "deleted") == 0 {
					l.change(id, true, func(context, store.Conn, *request.Detail) error { return nil })
				}
			}
			viewer := exchange.Actor{ID: user.Draw(r, "viewer")}
			for _, o := range w.organizations {
				if slices.Contains(w.members[o], viewer.ID) {
					viewer.Organizations = append(viewer.Organizations, o)
				}
			}
			f := request.InboxFilter{Organization: maybe(r, "filter lab", w.organizations),
				Material:   maybe(r, "filter material", materials),
				Status:     maybe(r, "filter status", request.Statuses),
				AssignedTo: maybe(r, "filter assigned", w.users)}
			all, err := l.tx.Requests.List(l.ctx, exchange.Page{},
				request.Filter{Material: f.Material, Status: f.Status, AssignedTo: f.AssignedTo}, viewer)
			if err != nil {
				r.Fatal(err)
			}
			counts := request.InboxCounts{request.OnMe: 0, request.OnMyLabs: 0, request.OnOthers: 0,
				request.OnNobody: 0}
			for _, q := range all.Items {
				if f.Organization == nil || *f.Organization == q.Organization {
					counts[naiveWhose(q, viewer.ID, w.members)]++
				}
			}
			if got, err := l.tx.Inbox.Count(l.ctx, f, viewer); err != nil || !maps.Equal(counts, got) {
				r.Fatalf("counts %v, %v, want %v", got, err, counts)
			}
			f.Whose = maybe(r, "whose", request.Whoses)
			order := exchange.Order{Field: rapid.SampledFrom([]exchange.Field{{}, request.ByWaiting,
				request.ByDue}).Draw(r, "order"), Ascending: yes.Draw(r, "ascending")}
			var want []string
			for _, q := range sortedInbox(all.Items, order) {
				whose := naiveWhose(q, viewer.ID, w.members)
				if (f.Organization == nil || *f.Organization == q.Organization) &&
					(f.Whose == nil || *f.Whose == whose) {
					want = append(want, fmt.Sprint(q.ID, whose))
				}
			}
			var got []string
			page := exchange.Page{Limit: rapid.IntRange(1, 4).Draw(r, "limit"), Order: order}
			for {
				list, next, err := l.tx.Inbox.List(l.ctx, page, f, viewer)
				if err != nil {
					r.Fatal(err)
				}
				for _, q := range list {
					got = append(got, fmt.Sprint(q.ID, q.InboxState(viewer)))
				}
				if page.After = next; next == nil {
					break
				}
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				r.Fatalf("%+v by %+v (-want +got):\n%s", f, order, diff)
			}
			v, err := l.tx.Mail.Visitor(l.ctx, viewer.ID)
			mine, countErr := l.tx.Inbox.Count(l.ctx, request.InboxFilter{}, viewer)
			if err != nil || countErr != nil || v.Waiting != mine[request.OnMe] {
				r.Fatalf("a page shows that %d wait, %v; the inbox shows %d, %v", v.Waiting, err,
					mine[request.OnMe], countErr)
			}
		})
	})
}

// naiveWhose returns what a request is to a reader, by the rules of WaitingOn.
func naiveWhose(q request.Detail, reader uuid.UUID, members map[int64][]uuid.UUID) request.InboxState {
	turn, inLab := request.WaitingOn(q.Terms, q.Targets, q.Request), slices.Contains(members[q.Organization], reader)
	switch {
	case turn == nil:
		return request.OnNobody
	case turn.Side == request.RequesterSide && q.Requester == reader:
		return request.OnMe
	case turn.Side == request.LabSide && inLab && q.AssignedTo == reader:
		return request.OnMe
	case turn.Side == request.LabSide && inLab:
		return request.OnMyLabs
	}
	return request.OnOthers
}

// sortedInbox puts requests in an order.
func sortedInbox(list []request.Detail, o exchange.Order) []request.Detail {
	key := func(q request.Detail) int64 {
		switch o.Name {
		case request.ByWaiting.Name:
			return q.WaitingSince.UnixMicro()
		case request.ByDue.Name:
			if turn := request.WaitingOn(q.Terms, q.Targets, q.Request); turn != nil && turn.Due != nil {
				return turn.Due.Unix()
			}
			return start.Add(1e6 * time.Hour).Unix()
		}
		return 0
	}
	return slices.SortedFunc(slices.Values(list), func(a, b request.Detail) int {
		n := cmp.Or(cmp.Compare(key(a), key(b)), cmp.Compare(a.ID, b.ID))
		if !o.Ascending {
			n = -n
		}
		return n
	})
}

func TestInbox_CountsUpToAHundred(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		owner := l.user().ID
		material := l.material(l.organization(owner, owner), owner, nil)
		for i := range 102 {
			l.request(material, l.user().ID, owner, func(r *request.Request) { r.Party = request.LabSide })
			if n := i + 1; n == 99 || n > 100 {
				l.write(func(ctx context, tx store.Conn) error {
					v, err := tx.Mail.Visitor(ctx, owner)
					if want := min(int64(n), 100); v.Waiting != want {
						t.Errorf("of %d requests a page counts %d, want %d", n, v.Waiting, want)
					}
					return err
				})
			}
		}
	})
}

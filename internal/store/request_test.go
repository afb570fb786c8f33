package store_test

import (
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

func TestRequests_AreReadAsWrittenWithTheTermsOfTheMaterial(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		member, requester := l.user().ID, l.user().ID
		organization := l.organization(member, member)
		var shipping int64
		l.write(func(ctx context, tx store.Conn) (err error) {
			shipping, err = tx.Shippings.Insert(ctx,
				lab.Shipping{OrganizationID: organization, NeedsPayment: true})
			return err
		})
		plain := l.material(organization, member, func(m *material.Material) { m.NeedsIRB = true })
		shipped := l.material(organization, member, func(m *material.Material) {
			m.Title, m.ShippingID, m.NeedsMTA, m.NeedsAbstract = odd, &shipping, true, true
		})
		targets := lab.Targets{Decide: 1, Countersign: 2, Ship: 3}
		for _, beside := range []request.Detail{
			{Request: request.Request{MaterialID: plain}, Material: "HeLa", Organization: organization,
				Targets: targets,
				Terms:   request.Terms{IRB: true}},
			{Request: request.Request{MaterialID: shipped}, Material: odd, Organization: organization,
				Targets: targets,
				Terms:   request.Terms{MTA: true, Abstract: true, Payment: true}},
		} {
			var first request.Request
			every(l, func(ctx context, tx store.Conn, round int, id *int64) (err error) {
				q := beside
				fill(&q.Request, round)
				q.Requester, q.AssignedTo, q.MaterialID, q.Documents = requester, member, beside.MaterialID,
					[]document.Document{}
				q.MTA = nil // the material shows none
				if q.Address != nil {
					q.Address.CreatedAt, q.Address.UpdatedAt = time.Time{}, time.Time{} // a copy has none
				}
				if *id == 0 {
					q.Group, err = tx.Requests.InsertGroup(ctx, requester)
					code(t, "group", err, "")
					first = q.Request
					first.CreatedAt = tx.Now
					*id, err = tx.Requests.Insert(ctx, q.Request)
				} else {
					q.ID, q.Quantity, q.Note, q.Group = *id, first.Quantity, first.Note, first.Group // these never change
					err = tx.Requests.Update(ctx, q, false)
				}
				code(t, "save", err, "")
				if q.Shipment != nil {
					q.Shipment.SentAt = utc(q.Shipment.SentAt)
				}
				q.ID, q.WaitingSince, q.SnoozedUntil, q.CreatedAt, q.UpdatedAt = *id, q.WaitingSince.UTC(),
					utc(q.SnoozedUntil), first.CreatedAt, tx.Now
				got, err := tx.Requests.Get(ctx, *id)
				same(t, "Request", q, got)
				code(t, "Request", err, "")
				got, err = tx.Requests.ForUpdate(ctx, *id)
				same(t, "RequestForUpdate", q, got)
				code(t, "RequestForUpdate", err, "")
				part, err := tx.Requests.List(ctx, exchange.Page{Limit: 1}, request.Filter{},
					exchange.Actor{ID: requester})
				q.Documents = nil
				same(t, "Requests", []request.Detail{q}, part.Items)
				return err
			})
		}
	})
}

func TestRequests_DeletedKeepTheirEvents(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		member, requester := l.user().ID, l.user().ID
		organization := l.organization(member, member)
		material := l.material(organization, member, nil)
		id := l.request(material, requester, member, nil)
		l.event(id, requester, request.Made)
		c := l.db.Read()
		if n, err := c.Materials.ActiveRequests(l.ctx, material); n != 1 || err != nil {
			t.Errorf("ActiveRequests = %d, %v", n, err)
		}
		if list, err := c.Requests.AssignedTo(l.ctx, organization, member); len(list) != 1 || list[0] != id ||
			err != nil {
			t.Errorf("AssignedTo = %v, %v", list, err)
		}
		l.change(id, true, func(context, store.Conn, *request.Detail) error { return nil })
		_, err := c.Requests.Get(l.ctx, id)
		code(t, "Request", err, exchange.NotFound)
		_, err = c.Requests.ForUpdate(l.ctx, id)
		code(t, "RequestForUpdate", err, exchange.NotFound)
		part, err := c.Requests.List(l.ctx, exchange.Page{Limit: 5}, request.Filter{},
			exchange.Actor{Admin: true})
		if err != nil || part.Total.N != 0 || len(part.Items) != 0 {
			t.Errorf("Requests = %+v, %v", part, err)
		}
		if n, err := c.Materials.ActiveRequests(l.ctx, material); n != 0 || err != nil {
			t.Errorf("ActiveRequests = %d, %v", n, err)
		}
		if list, err := c.Requests.AssignedTo(l.ctx, organization, member); len(list) != 0 || err != nil {
			t.Errorf("AssignedTo = %v, %v", list, err)
		}
		if chain, err := c.Events.Chain(l.ctx, id); len(chain) != 1 || err != nil {
			t.Errorf("Chain = %v, %v", chain, err)
		}
	})
}

func TestRequests_AssignedToReadsActiveOnesOfTheOrganization(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		member, other := l.user().ID, l.user().ID
		here, there := l.organization(member, member), l.organization(member, member)
		material := l.material(here, member, nil)
		first := l.request(material, other, member, nil)
		l.request(material, other, other, nil)
		l.request(l.material(there, member, nil), other, member, nil)
		l.request(material, other, member, func(r *request.Request) { r.Active = false })
		second := l.request(material, other, member, nil)
		list, err := l.db.Read().Requests.AssignedTo(l.ctx, here, member)
		code(t, "AssignedTo", err, "")
		same(t, "AssignedTo", []int64{first, second}, list)
		if n, err := l.db.Read().Materials.ActiveRequests(l.ctx, material); n != 3 || err != nil {
			t.Errorf("ActiveRequests = %d, %v, want 3", n, err)
		}
	})
}

func TestRequests_SaveDocumentsAddsVersionsAndReviews(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		member, requester := l.user().ID, l.user().ID
		material := l.material(l.organization(member, member), member, nil)
		id, neighbour := l.request(material, requester, member, nil), l.request(material, requester, member, nil)
		documentOf := func() (d document.Document) {
			fill(&d, 0)
			d.ID, d.RequestID, d.AttachmentID, d.AddedBy = 0, id, l.attachment(requester, nil), requester
			return d
		}
		saved := func(before, after []document.Document) []document.Document {
			l.write(func(ctx context, tx store.Conn) error { return tx.Requests.SaveDocuments(ctx, id, before, after) })
			q, err := l.db.Read().Requests.Get(l.ctx, id)
			if err != nil || len(q.Documents) != len(after) {
				t.Fatalf("documents %+v, %v", q.Documents, err)
			}
			for i, d := range after {
				d.ID, d.AddedAt, d.ReviewedAt = q.Documents[i].ID, d.AddedAt.UTC(), utc(d.ReviewedAt)
				same(t, "document", d, q.Documents[i])
			}
			return q.Documents
		}
		none := saved(nil, nil)
		first := saved(none, []document.Document{documentOf(), documentOf()})
		second := append([]document.Document(nil), first...)
		second[0].State, second[0].Reason, second[0].ReviewedAt = document.Returned, odd, &times[0]
		second[1].State, second[1].ReviewedAt = document.Superseded, nil
		second = saved(first, append(second, documentOf()))
		saved(second, second)
		part, err := l.db.Read().Requests.List(l.ctx, exchange.Page{Limit: 5}, request.Filter{},
			exchange.Actor{ID: requester})
		if err != nil || len(part.Items) != 2 {
			t.Fatalf("Requests = %+v, %v", part, err)
		}
		if part.Items[0].ID != neighbour || len(part.Items[0].Documents) != 0 {
			t.Errorf("the neighbour has documents: %+v", part.Items[0].Documents)
		}
		same(t, "the documents in the list", second, part.Items[1].Documents)
	})
}

func TestIssues_AreReadAsWrittenInTheirRequest(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		user := l.user().ID
		material := l.material(l.organization(user), user, nil)
		requestID, other := l.request(material, user, user, nil), l.request(material, user, user, nil)
		issue := request.Issue{RequestID: requestID, Text: odd, OpenedBy: user}
		l.write(func(ctx context, tx store.Conn) (err error) {
			issue.OpenedAt = tx.Now
			issue.ID, err = tx.Requests.InsertIssue(ctx, issue)
			return err
		})
		for _, closed := range []bool{false, true} {
			if closed {
				l.write(func(ctx context, tx store.Conn) error {
					issue.ClosedAt = &tx.Now
					return tx.Requests.CloseIssue(ctx, issue.ID)
				})
			}
			got, err := l.db.Read().Requests.Issue(l.ctx, requestID, issue.ID)
			code(t, "Issue", err, "")
			same(t, "Issue", issue, got)
			part, err := l.db.Read().Requests.Issues(l.ctx, requestID, exchange.Page{Limit: 2})
			code(t, "Issues", err, "")
			same(t, "Issues", exchange.ListPage[request.Issue]{Items: []request.Issue{issue}, Total: exchange.Count{N: 1}}, part)
		}
		_, err := l.db.Read().Requests.Issue(l.ctx, other, issue.ID)
		code(t, "the issue in another request", err, exchange.NotFound)
	})
}

func TestRequests_EventsAreAChain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		user := l.user().ID
		material := l.material(l.organization(user), user, nil)
		requestID, other := l.request(material, user, user, nil), l.request(material, user, user, nil)
		var made []request.Event
		for round := range rounds {
			var detail request.EventDetail
			fill(&detail, round)
			detail.AssignedTo = new(uuid.New())
			if round == 0 { // an empty list is left out
				detail.Missing, detail.Fields, detail.What = nil, nil, nil
			}
			l.change(requestID, false, func(ctx context, tx store.Conn, q *request.Detail) error {
				events, err := tx.Events.Append(ctx, q, []request.Event{
					{Kind: request.Messaged, Actor: user, Detail: detail}, {Kind: request.Closed, Actor: user}})
				made = append(made, events...)
				return err
			})
		}
		l.event(other, user, request.Made)
		chain, err := l.db.Read().Events.Chain(l.ctx, requestID)
		code(t, "Chain", err, "")
		same(t, "Chain", made, chain)
		var last request.Event
		for _, e := range chain {
			if !e.Follows(last.Seq, last.Hash, "") {
				t.Errorf("event %d does not follow event %d", e.Seq, last.Seq)
			}
			last = e
		}
		heads, err := l.db.Read().Events.Heads(l.ctx, 0, 5)
		if err != nil || len(heads) != 2 {
			t.Fatalf("Heads = %v, %v", heads, err)
		}
		same(t, "the head", store.RequestHead{Request: requestID, Head: request.Head{Seq: 2 * rounds, Hash: last.Hash}},
			heads[0])
		if heads, err := l.db.Read().Events.Heads(l.ctx, requestID, 5); len(heads) != 1 || heads[0].Request != other ||
			err != nil {
			t.Errorf("Heads behind the first = %v, %v", heads, err)
		}
		if heads, err := l.db.Read().Events.Heads(l.ctx, 0, 1); len(heads) != 1 || heads[0].Request != requestID ||
			err != nil {
			t.Errorf("one of Heads = %v, %v", heads, err)
		}
		for kind, want := range map[request.EventKind]int64{"": 2 * rounds, request.Closed: rounds,
			request.Reopened: 0} {
			part, err := l.db.Read().Events.List(l.ctx, requestID, kind, exchange.Page{Limit: 100})
			if err != nil || part.Total.N != want || int64(len(part.Items)) != want ||
				(kind == "" && part.Items[0].ID != last.ID) {
				t.Errorf("Events of kind %q: %d of %d, %v, want %d, newest first", kind, len(part.Items), part.Total.N,
					err, want)
			}
		}
	})
}

func TestAudit_KeepsWhatWasDone(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		user := l.user()
		l.write(func(ctx context, tx store.Conn) error {
			if err := tx.Audit.Insert(ctx, &user.ID, "material.create", odd, true, user); err != nil {
				return err
			}
			return tx.Audit.Insert(ctx, nil, "", "", false, nil)
		})
		c := l.db.Read()
		for query, want := range map[string]int64{
			"SELECT COUNT(*) FROM audit_events WHERE actor_id IS NULL AND state = 'null'":                 1,
			"SELECT COUNT(*) FROM audit_events WHERE as_admin AND action = 'material.create'":             1,
			"SELECT COUNT(*) FROM audit_events a JOIN users u ON u.id = a.actor_id AND u.created_at < at": 1,
		} {
			if n, err := store.Values[int64](l.ctx, c, query); err != nil || n[0] != want {
				t.Errorf("%s = %v, %v, want %d", query, n, err, want)
			}
		}
		if objects, err := store.Values[string](l.ctx, c, "SELECT object FROM audit_events ORDER BY id"); err != nil ||
			objects[0] != odd {
			t.Errorf("objects = %q, %v", objects, err)
		}
	})
}

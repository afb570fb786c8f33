package store_test

import (
	"errors"
	"slices"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// list is one paged list: how a row is added to it, and its ids on a page.
type list struct {
	add  func(l testLab) int64
	page func(ctx context, c store.Conn, p exchange.Page) (ids []int64, total int64, next *exchange.Position, err error)
}

func ids[T any](part exchange.ListPage[T], err error, id func(T) int64) ([]int64, int64, *exchange.Position, error) {
	list := []int64{}
	for _, item := range part.Items {
		list = append(list, id(item))
	}
	return list, part.Total.N, part.Next, err
}

// lists are all paged lists of the store, on rows of their own.
func lists(l testLab) map[string]list {
	user, viewer := l.user().ID, l.user().ID
	organization := l.organization(user, user)
	materialID := l.material(organization, user, nil)
	requestID := l.request(materialID, user, user, nil)
	inserted := func(insert func(ctx context, tx store.Conn) (int64, error)) func(l testLab) int64 {
		return func(l testLab) (id int64) {
			l.write(func(ctx context, tx store.Conn) (err error) {
				id, err = insert(ctx, tx)
				return err
			})
			return id
		}
	}
	another := l.organization(user)
	hook := inserted(func(ctx context, tx store.Conn) (int64, error) {
		return tx.Webhooks.Insert(ctx, notify.Webhook{OrganizationID: another})
	})(l)
	newest := func(l testLab, table string) int64 {
		found, err := store.Values[int64](l.ctx, *l.tx, "SELECT MAX(id) FROM "+table)
		if err != nil {
			l.t.Fatal(err)
		}
		return found[0]
	}
	return map[string]list{
		"organizations": {func(l testLab) int64 { return l.organization(user) },
			func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
				part, err := c.Organizations.List(ctx, p)
				return ids(part, err, func(o lab.Organization) int64 { return o.ID })
			}},
		"memberships": {func(l testLab) int64 { l.organization(user, viewer); return newest(l, "memberships") },
			func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
				part, err := c.Memberships.List(ctx, viewer, p)
				return ids(part, err, func(m lab.Membership) int64 { return m.ID })
			}},
		"materials": {func(l testLab) int64 { return l.material(organization, user, nil) },
			func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
				part, err := c.Materials.List(ctx, p, material.Filter{}, viewer)
				return ids(part, err, func(m material.Shown) int64 { return m.ID })
			}},
		"requests": {func(l testLab) int64 { return l.request(materialID, viewer, user, nil) },
			func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
				part, err := c.Requests.List(ctx, p, request.Filter{}, exchange.Actor{ID: viewer})
				return ids(part, err, func(q request.Detail) int64 { return q.ID })
			}},
		"shippings": {inserted(func(ctx context, tx store.Conn) (int64, error) {
			return tx.Shippings.Insert(ctx, lab.Shipping{OrganizationID: organization})
		}), func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
			part, err := c.Shippings.List(ctx, &organization, p)
			return ids(part, err, func(s lab.Shipping) int64 { return s.ID })
		}},
		"saved searches": {inserted(func(ctx context, tx store.Conn) (int64, error) {
			return tx.SavedSearches.Insert(ctx, material.SavedSearch{UserID: user})
		}), func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
			part, err := c.SavedSearches.List(ctx, user, p)
			return ids(part, err, func(s material.SavedSearch) int64 { return s.ID })
		}},
		"addresses": {inserted(func(ctx context, tx store.Conn) (int64, error) {
			return tx.Addresses.Insert(ctx, person.Address{UserID: user})
		}), func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
			part, err := c.Addresses.List(ctx, user, p)
			return ids(part, err, func(a person.Address) int64 { return a.ID })
		}},
		"attachments": {func(l testLab) int64 { return l.attachment(user, nil) },
			func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
				part, err := c.Attachments.List(ctx, p)
				return ids(part, err, func(a document.Attachment) int64 { return a.ID })
			}},
		"grants of an organization": {inserted(func(ctx context, tx store.Conn) (int64, error) {
			id, err := tx.Grants.Insert(ctx, person.Grant{UserID: viewer})
			if err == nil {
				_, err = tx.Grants.Fund(ctx, id, materialID)
			}
			return id, err
		}), func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
			part, err := c.Grants.OfOrganization(ctx, organization, p)
			return ids(part, err, func(g person.Grant) int64 { return g.ID })
		}},
		"grants": {inserted(func(ctx context, tx store.Conn) (int64, error) {
			return tx.Grants.Insert(ctx, person.Grant{UserID: user})
		}), func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
			part, err := c.Grants.List(ctx, user, p)
			return ids(part, err, func(g person.Grant) int64 { return g.ID })
		}},
		"invitations": {inserted(func(ctx context, tx store.Conn) (int64, error) {
			return tx.Invitations.Insert(ctx,
				lab.Invitation{OrganizationID: organization, RegistryID: "id", InvitedBy: user,
					Status: lab.InvitationPending, ExpiresAt: times[1]})
		}), func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
			part, err := c.Invitations.List(ctx, organization, lab.InvitationFilter{Role: new(lab.Role(""))},
				p)
			return ids(part, err, func(i lab.ShownInvitation) int64 { return i.ID })
		}},
		"join requests": {inserted(func(ctx context, tx store.Conn) (int64, error) {
			return tx.JoinRequests.Insert(ctx,
				lab.JoinRequest{OrganizationID: organization, UserID: user, Status: lab.JoinDeclined})
		}), func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
			part, err := c.JoinRequests.List(ctx, organization, lab.JoinFilter{Status: new(lab.JoinDeclined)},
				p)
			return ids(part, err, func(j lab.ShownJoinRequest) int64 { return j.ID })
		}},
		"join requests of a user": {inserted(func(ctx context, tx store.Conn) (int64, error) {
			return tx.JoinRequests.Insert(ctx,
				lab.JoinRequest{OrganizationID: organization, UserID: viewer, Status: lab.JoinWithdrawn})
		}), func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
			part, err := c.JoinRequests.OfUser(ctx, viewer, lab.JoinFilter{}, p)
			return ids(part, err, func(j lab.ShownJoinRequest) int64 { return j.ID })
		}},
		"webhooks": {inserted(func(ctx context, tx store.Conn) (int64, error) {
			return tx.Webhooks.Insert(ctx, notify.Webhook{OrganizationID: organization})
		}), func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
			part, err := c.Webhooks.List(ctx, organization, p)
			return ids(part, err, func(w notify.Webhook) int64 { return w.ID })
		}},
		"deliveries": {inserted(func(ctx context, tx store.Conn) (int64, error) {
			id, _, err := tx.Deliveries.Insert(ctx, notify.WebhookDelivery{WebhookID: hook, Type: notify.Ping})
			return id, err
		}), func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
			part, err := c.Deliveries.List(ctx, hook, p, notify.DeliveryFilter{Type: new(notify.Ping)})
			return ids(part, err, func(d notify.WebhookDelivery) int64 { return d.ID })
		}},
		"jobs": {inserted(func(ctx context, tx store.Conn) (int64, error) {
			return tx.Jobs.Insert(ctx, exchange.Job{Kind: "k", User: &viewer, Args: []byte("1"), DueAt: &tx.Now})
		}), func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
			part, err := c.Jobs.List(ctx, p, &viewer, exchange.JobFilter{})
			return ids(part, err, func(j exchange.Job) int64 { return j.ID })
		}},
		"tokens": {func(l testLab) int64 {
			l.write(func(ctx context, tx store.Conn) error {
				_, err := tx.Tokens.Insert(ctx, person.Token{UserID: user, ExpiresAt: times[1]}, uuid.NewString())
				return err
			})
			return newest(l, "tokens")
		}, func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
			part, err := c.Tokens.List(ctx, user, p)
			return ids(part, err, func(t person.Token) int64 { return t.ID })
		}},
		"turns": {func(l testLab) int64 {
			l.write(func(ctx context, tx store.Conn) error {
				return tx.Turns.Insert(ctx,
					[]request.TurnRecord{{RequestID: requestID, Seq: l.count.Add(1), BeganAt: tx.Now}})
			})
			return newest(l, "request_turns")
		}, func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
			part, err := c.Turns.List(ctx, requestID, p)
			return ids(part, err, func(t request.TurnRecord) int64 { return t.ID })
		}},
		"issues": {inserted(func(ctx context, tx store.Conn) (int64, error) {
			return tx.Requests.InsertIssue(ctx, request.Issue{RequestID: requestID, OpenedBy: user})
		}), func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
			part, err := c.Requests.Issues(ctx, requestID, p)
			return ids(part, err, func(i request.Issue) int64 { return i.ID })
		}},
		"audit events": {func(l testLab) int64 {
			l.write(func(ctx context, tx store.Conn) error {
				return tx.Audit.Insert(ctx, &user, "user.update", "x", true, nil)
			})
			return newest(l, "audit_events")
		}, func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
			part, err := c.Audit.List(ctx, p,
				exchange.AuditFilter{Actor: &user, Object: new("x"), Action: new("user.update"), AsAdmin: new(true)})
			return ids(part, err, func(a exchange.AuditEvent) int64 { return a.ID })
		}},
		"versions": {func(l testLab) int64 {
			l.write(func(ctx context, tx store.Conn) error {
				return tx.Audit.InsertVersion(ctx, nil, "material.update", "material 1", false, nil)
			})
			return newest(l, "audit_events")
		}, func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
			part, err := c.Audit.Versions(ctx, "material 1", 0, p)
			return ids(part, err, func(v store.Version) int64 { return v.ID })
		}},
		"events": {func(l testLab) int64 { return l.event(requestID, user, request.Messaged).ID },
			func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
				part, err := c.Events.List(ctx, requestID, request.Messaged, p)
				return ids(part, err, func(e request.Event) int64 { return e.ID })
			}},
		"events of an organization": {func(l testLab) int64 { return l.event(requestID, user, request.Messaged).ID },
			func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
				part, err := c.Events.OfOrganization(ctx, organization, p,
					request.EventFilter{Kind: new(request.Messaged), Request: &requestID, Material: &materialID,
						Actor: &user})
				return ids(part, err, func(e request.OrganizationEvent) int64 { return e.ID })
			}},
		"notifications": {func(l testLab) int64 {
			e := l.event(requestID, user, request.Closed)
			l.write(func(ctx context, tx store.Conn) error {
				return tx.Notifications.Notify(ctx,
					notify.Audience{Category: mailing.StatusNotif, To: notify.ToRequester}, e,
					organization, viewer)
			})
			return newest(l, "notifications")
		}, func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
			part, err := c.Notifications.List(ctx, viewer, notify.NotificationFilter{Unread: new(true)}, p)
			return ids(part, err, func(n notify.Notification) int64 { return n.ID })
		}},
	}
}

func TestLists_PagingLosesAndRepeatsNothingWhileRowsAreAdded(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		for name, list := range lists(l) {
			add := func(n int) {
				l.write(func(ctx context, tx store.Conn) error {
					in := l
					in.tx = &tx
					for range n {
						list.add(in)
					}
					return nil
				})
			}
			add(101)
			want, total, next, err := list.page(l.ctx, l.db.Read(), exchange.Page{Limit: 1000})
			if err != nil || total < 101 || int(total) != len(want) || next != nil {
				t.Fatalf("all %s: %d of %d, next %v, %v", name, len(want), total, next, err)
			}
			if !slices.IsSortedFunc(want, func(a, b int64) int { return int(b - a) }) {
				t.Errorf("%s are not the newest first: %v", name, want)
			}
			for _, limit := range []int{1, 7, len(want) - 1, len(want)} {
				var got []int64
				pages := 0
				for p := (exchange.Page{Limit: limit}); ; pages++ {
					page, _, next, err := list.page(l.ctx, l.db.Read(), p)
					if err != nil || len(page) > limit {
						t.Fatalf("a page of %s: %v, %v", name, page, err)
					}
					got = append(got, page...)
					if next == nil {
						break
					}
					p.After = next
					if pages%5 == 0 {
						add(1)
					}
				}
				same(t, name, want, got)
				want, _, _, err = list.page(l.ctx, l.db.Read(), exchange.Page{Limit: 1000})
				code(t, name, err, "")
			}
		}
	})
}

func TestLists_PageBehindTheLastIsEmptyWithTheTotal(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		for name, list := range lists(l) {
			l.write(func(ctx context, tx store.Conn) error {
				in := l
				in.tx = &tx
				list.add(in)
				return nil
			})
			got, total, next, err := list.page(l.ctx, l.db.Read(),
				exchange.Page{Limit: 5, After: &exchange.Position{ID: 1}})
			if err != nil || got == nil || len(got) != 0 || total == 0 || next != nil {
				t.Errorf("%s: %v of %d, next %v, %v", name, got, total, next, err)
			}
		}
	})
}

func TestShippings_FilterByOrganization(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		user := l.user().ID
		here, there := l.organization(user), l.organization(user)
		l.write(func(ctx context, tx store.Conn) error {
			_, err := tx.Shippings.Insert(ctx, lab.Shipping{OrganizationID: here})
			_, again := tx.Shippings.Insert(ctx, lab.Shipping{OrganizationID: there})
			return errors.Join(err, again)
		})
		for organization, want := range map[*int64]int64{nil: 2, &here: 1, new(int64(1)): 0} {
			part, err := l.db.Read().Shippings.List(l.ctx, organization, exchange.Page{Limit: 5})
			if err != nil || part.Total.N != want || (want == 1 && part.Items[0].OrganizationID != here) {
				t.Errorf("Shippings = %+v, %v, want %d", part, err, want)
			}
		}
	})
}

func TestAttachments_OfAUserAreOldestFirst(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		user, other := l.user().ID, l.user().ID
		first := l.attachment(user, nil)
		l.attachment(other, nil)
		second := l.attachment(user, nil)
		list, err := l.db.Read().Attachments.OfUser(l.ctx, user)
		if err != nil || len(list) != 2 || list[0].ID != first || list[1].ID != second {
			t.Errorf("AttachmentsOf = %+v, %v", list, err)
		}
	})
}

// TestLists_SortedOnesPrepareNoStatements: their texts are too many, by field, direction and filters.
func TestLists_SortedOnesPrepareNoStatements(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		user := l.user().ID
		list := func(o exchange.Order) {
			_, err := l.db.Read().Materials.List(l.ctx, exchange.Page{Limit: 5, Order: o}, material.Filter{},
				user)
			code(t, "Materials", err, "")
		}
		list(exchange.Order{})
		before, _ := l.db.Prepared()
		for _, field := range exchange.MaterialFields {
			list(exchange.Order{Field: field})
			list(exchange.Order{Field: field, Ascending: true})
		}
		if after, _ := l.db.Prepared(); after != before {
			t.Errorf("%d orderings keep %d statements", 2*len(exchange.MaterialFields), after-before)
		}
	})
}

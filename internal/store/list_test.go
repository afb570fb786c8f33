package store_test

import (
	"errors"
	"slices"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// list is one paged list: how a row is added to it, and its ids on a page.
type list struct {
	add  func(l lab) int64
	page func(ctx context, c store.Conn, p exchange.Page) (ids []int64, total int64, next *exchange.Position, err error)
}

func ids[T any](part exchange.ListPage[T], err error, id func(T) int64) ([]int64, int64, *exchange.Position, error) {
	list := []int64{}
	for _, item := range part.Items {
		list = append(list, id(item))
	}
	return list, part.Total, part.Next, err
}

// lists are all paged lists of the store, on rows of their own.
func lists(l lab) map[string]list {
	user, viewer := l.user().ID, l.user().ID
	organization := l.organization(user, user)
	material := l.material(organization, user, nil)
	request := l.request(material, user, user, nil)
	inserted := func(insert func(ctx context, tx store.Conn) (int64, error)) func(l lab) int64 {
		return func(l lab) (id int64) {
			l.write(func(ctx context, tx store.Conn) (err error) {
				id, err = insert(ctx, tx)
				return err
			})
			return id
		}
	}
	another := l.organization(user)
	hook := inserted(func(ctx context, tx store.Conn) (int64, error) {
		return tx.Webhooks.Insert(ctx, exchange.Webhook{OrganizationID: another})
	})(l)
	newest := func(l lab, table string) int64 {
		found, err := store.Values[int64](l.ctx, *l.tx, "SELECT MAX(id) FROM "+table)
		if err != nil {
			l.t.Fatal(err)
		}
		return found[0]
	}
	return map[string]list{
		"organizations": {func(l lab) int64 { return l.organization(user) },
			func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
				part, err := c.Organizations.List(ctx, p)
				return ids(part, err, func(o exchange.Organization) int64 { return o.ID })
			}},
		"memberships": {func(l lab) int64 { l.organization(user, viewer); return newest(l, "memberships") },
			func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
				part, err := c.Memberships.List(ctx, viewer, p)
				return ids(part, err, func(m exchange.Membership) int64 { return m.ID })
			}},
		"materials": {func(l lab) int64 { return l.material(organization, user, nil) },
			func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
				part, err := c.Materials.List(ctx, p, exchange.MaterialFilter{}, viewer)
				return ids(part, err, func(m exchange.ShownMaterial) int64 { return m.ID })
			}},
		"requests": {func(l lab) int64 { return l.request(material, viewer, user, nil) },
			func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
				part, err := c.Requests.List(ctx, p, exchange.RequestFilter{}, exchange.Actor{ID: viewer})
				return ids(part, err, func(q exchange.RequestDetail) int64 { return q.ID })
			}},
		"shippings": {inserted(func(ctx context, tx store.Conn) (int64, error) {
			return tx.Shippings.Insert(ctx, exchange.Shipping{OrganizationID: organization})
		}), func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
			part, err := c.Shippings.List(ctx, &organization, p)
			return ids(part, err, func(s exchange.Shipping) int64 { return s.ID })
		}},
		"saved searches": {inserted(func(ctx context, tx store.Conn) (int64, error) {
			return tx.SavedSearches.Insert(ctx, exchange.SavedSearch{UserID: user})
		}), func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
			part, err := c.SavedSearches.List(ctx, user, p)
			return ids(part, err, func(s exchange.SavedSearch) int64 { return s.ID })
		}},
		"addresses": {inserted(func(ctx context, tx store.Conn) (int64, error) {
			return tx.Addresses.Insert(ctx, exchange.Address{UserID: user})
		}), func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
			part, err := c.Addresses.List(ctx, user, p)
			return ids(part, err, func(a exchange.Address) int64 { return a.ID })
		}},
		"attachments": {func(l lab) int64 { return l.attachment(user, nil) },
			func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
				part, err := c.Attachments.List(ctx, p)
				return ids(part, err, func(a exchange.Attachment) int64 { return a.ID })
			}},
		"grants of an organization": {inserted(func(ctx context, tx store.Conn) (int64, error) {
			id, err := tx.Grants.Insert(ctx, exchange.Grant{UserID: viewer})
			if err == nil {
				_, err = tx.Grants.Fund(ctx, id, material)
			}
			return id, err
		}), func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
			part, err := c.Grants.OfOrganization(ctx, organization, p)
			return ids(part, err, func(g exchange.Grant) int64 { return g.ID })
		}},
		"grants": {inserted(func(ctx context, tx store.Conn) (int64, error) {
			return tx.Grants.Insert(ctx, exchange.Grant{UserID: user})
		}), func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
			part, err := c.Grants.List(ctx, user, p)
			return ids(part, err, func(g exchange.Grant) int64 { return g.ID })
		}},
		"invitations": {inserted(func(ctx context, tx store.Conn) (int64, error) {
			return tx.Invitations.Insert(ctx,
				exchange.Invitation{OrganizationID: organization, RegistryID: "id", InvitedBy: user,
					Status: exchange.InvitationPending, ExpiresAt: times[1]})
		}), func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
			part, err := c.Invitations.List(ctx, organization, exchange.InvitationFilter{Role: new(exchange.Role(""))},
				p)
			return ids(part, err, func(i exchange.ShownInvitation) int64 { return i.ID })
		}},
		"join requests": {inserted(func(ctx context, tx store.Conn) (int64, error) {
			return tx.JoinRequests.Insert(ctx,
				exchange.JoinRequest{OrganizationID: organization, UserID: user, Status: exchange.JoinDeclined})
		}), func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
			part, err := c.JoinRequests.List(ctx, organization, exchange.JoinFilter{Status: new(exchange.JoinDeclined)},
				p)
			return ids(part, err, func(j exchange.ShownJoinRequest) int64 { return j.ID })
		}},
		"join requests of a user": {inserted(func(ctx context, tx store.Conn) (int64, error) {
			return tx.JoinRequests.Insert(ctx,
				exchange.JoinRequest{OrganizationID: organization, UserID: viewer, Status: exchange.JoinWithdrawn})
		}), func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
			part, err := c.JoinRequests.OfUser(ctx, viewer, exchange.JoinFilter{}, p)
			return ids(part, err, func(j exchange.ShownJoinRequest) int64 { return j.ID })
		}},
		"webhooks": {inserted(func(ctx context, tx store.Conn) (int64, error) {
			return tx.Webhooks.Insert(ctx, exchange.Webhook{OrganizationID: organization})
		}), func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
			part, err := c.Webhooks.List(ctx, organization, p)
			return ids(part, err, func(w exchange.Webhook) int64 { return w.ID })
		}},
		"deliveries": {inserted(func(ctx context, tx store.Conn) (int64, error) {
			id, _, err := tx.Deliveries.Insert(ctx, exchange.WebhookDelivery{WebhookID: hook, Type: exchange.Ping})
			return id, err
		}), func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
			part, err := c.Deliveries.List(ctx, hook, p, exchange.DeliveryFilter{Type: new(exchange.Ping)})
			return ids(part, err, func(d exchange.WebhookDelivery) int64 { return d.ID })
		}},
		"jobs": {inserted(func(ctx context, tx store.Conn) (int64, error) {
			return tx.Jobs.Insert(ctx, exchange.Job{Kind: "k", User: &viewer, Args: []byte("1"), DueAt: &tx.Now})
		}), func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
			part, err := c.Jobs.List(ctx, p, &viewer, exchange.JobFilter{})
			return ids(part, err, func(j exchange.Job) int64 { return j.ID })
		}},
		"tokens": {func(l lab) int64 {
			l.write(func(ctx context, tx store.Conn) error {
				_, err := tx.Tokens.Insert(ctx, exchange.Token{UserID: user, ExpiresAt: times[1]}, uuid.NewString())
				return err
			})
			return newest(l, "tokens")
		}, func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
			part, err := c.Tokens.List(ctx, user, p)
			return ids(part, err, func(t exchange.Token) int64 { return t.ID })
		}},
		"turns": {func(l lab) int64 {
			l.write(func(ctx context, tx store.Conn) error {
				return tx.Turns.Insert(ctx,
					[]exchange.RequestTurn{{RequestID: request, Seq: l.count.Add(1), BeganAt: tx.Now}})
			})
			return newest(l, "request_turns")
		}, func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
			part, err := c.Turns.List(ctx, request, p)
			return ids(part, err, func(t exchange.RequestTurn) int64 { return t.ID })
		}},
		"issues": {inserted(func(ctx context, tx store.Conn) (int64, error) {
			return tx.Requests.InsertIssue(ctx, exchange.Issue{RequestID: request, OpenedBy: user})
		}), func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
			part, err := c.Requests.Issues(ctx, request, p)
			return ids(part, err, func(i exchange.Issue) int64 { return i.ID })
		}},
		"audit events": {func(l lab) int64 {
			l.write(func(ctx context, tx store.Conn) error {
				return tx.Audit.Insert(ctx, &user, "user.update", "x", true, nil)
			})
			return newest(l, "audit_events")
		}, func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
			part, err := c.Audit.List(ctx, p,
				exchange.AuditFilter{Actor: &user, Object: new("x"), Action: new("user.update"), AsAdmin: new(true)})
			return ids(part, err, func(a exchange.AuditEvent) int64 { return a.ID })
		}},
		"versions": {func(l lab) int64 {
			l.write(func(ctx context, tx store.Conn) error {
				return tx.Audit.InsertVersion(ctx, nil, "material.update", "material 1", false, nil)
			})
			return newest(l, "audit_events")
		}, func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
			part, err := c.Audit.Versions(ctx, "material 1", 0, p)
			return ids(part, err, func(v store.Version) int64 { return v.ID })
		}},
		"events": {func(l lab) int64 { return l.event(request, user, exchange.Messaged).ID },
			func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
				part, err := c.Events.List(ctx, request, exchange.Messaged, p)
				return ids(part, err, func(e exchange.Event) int64 { return e.ID })
			}},
		"events of an organization": {func(l lab) int64 { return l.event(request, user, exchange.Messaged).ID },
			func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
				part, err := c.Events.OfOrganization(ctx, organization, p,
					exchange.EventFilter{Kind: new(exchange.Messaged), Request: &request, Material: &material,
						Actor: &user})
				return ids(part, err, func(e exchange.OrganizationEvent) int64 { return e.ID })
			}},
		"notifications": {func(l lab) int64 {
			e := l.event(request, user, exchange.Closed)
			l.write(func(ctx context, tx store.Conn) error {
				return tx.Notifications.Notify(ctx,
					exchange.Audience{Category: exchange.StatusNotif, To: exchange.ToRequester}, e,
					organization, viewer)
			})
			return newest(l, "notifications")
		}, func(ctx context, c store.Conn, p exchange.Page) ([]int64, int64, *exchange.Position, error) {
			part, err := c.Notifications.List(ctx, viewer, exchange.NotificationFilter{Unread: new(true)}, p)
			return ids(part, err, func(n exchange.Notification) int64 { return n.ID })
		}},
	}
}

func TestWalkOfAListLosesAndRepeatsNothingWhileRowsAreAdded(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l lab) {
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

func TestPageBehindTheOldestIsEmptyAndTellsTheTotal(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l lab) {
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

func TestShippingsAreFilteredByOrganization(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l lab) {
		user := l.user().ID
		here, there := l.organization(user), l.organization(user)
		l.write(func(ctx context, tx store.Conn) error {
			_, err := tx.Shippings.Insert(ctx, exchange.Shipping{OrganizationID: here})
			_, again := tx.Shippings.Insert(ctx, exchange.Shipping{OrganizationID: there})
			return errors.Join(err, again)
		})
		for organization, want := range map[*int64]int64{nil: 2, &here: 1, new(int64(1)): 0} {
			part, err := l.db.Read().Shippings.List(l.ctx, organization, exchange.Page{Limit: 5})
			if err != nil || part.Total != want || (want == 1 && part.Items[0].OrganizationID != here) {
				t.Errorf("Shippings = %+v, %v, want %d", part, err, want)
			}
		}
	})
}

func TestAttachmentsOfAUserAreTheirOwnOldestFirst(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l lab) {
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

// TestSortedListsKeepNoStatements: their texts are too many, by field, direction and filters.
func TestSortedListsKeepNoStatements(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l lab) {
		user := l.user().ID
		list := func(o exchange.Order) {
			_, err := l.db.Read().Materials.List(l.ctx, exchange.Page{Limit: 5, Order: o}, exchange.MaterialFilter{},
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

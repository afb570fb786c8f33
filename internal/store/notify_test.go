package store_test

import (
	"math"
	"slices"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

var categories = []mailing.Category{mailing.NewRequestNotif, mailing.StatusNotif, mailing.DecisionNotif,
	mailing.AssignedNotif, mailing.ReminderNotif}

func TestNotify_WritesOnePerPersonByTheirSwitches(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		l.check(t, func(r *rapid.T, l testLab) {
			w := l.world(r)
			organization := rapid.SampledFrom(w.organizations).Draw(r, "organization")
			switches := map[uuid.UUID]lab.Switches{} // of present members
			for _, u := range w.members[organization] {
				part, err := l.tx.Memberships.List(l.ctx, u, exchange.Page{Limit: 9})
				if err != nil {
					r.Fatal(err)
				}
				for _, m := range part.Items {
					on := rapid.Bool()
					s := lab.Switches{NewRequest: on.Draw(r, "new"), StatusChange: on.Draw(r, "status"),
						Decision: on.Draw(r, "decision"),
						Assigned: on.Draw(r, "assigned"), Reminder: on.Draw(r, "reminder")}
					if err := l.tx.Memberships.UpdateSwitches(l.ctx, m.ID, s); err != nil {
						r.Fatal(err)
					}
					if m.OrganizationID == organization {
						switches[u] = s
					}
				}
			}
			lab, err := l.tx.Organizations.Get(l.ctx, organization)
			if err != nil {
				r.Fatal(err)
			}
			user := rapid.SampledFrom(w.users)
			actor := user.Draw(r, "actor")
			requestID := l.request(l.material(organization, w.users[0], nil), user.Draw(r, "requester"), w.users[0],
				nil)
			for range 2 {
				event := l.event(requestID, actor, request.Messaged)
				want := map[uuid.UUID]mailing.Category{}
				for range rapid.IntRange(0, 5).Draw(r, "audiences") {
					audience := notify.Audience{Category: rapid.SampledFrom(categories).Draw(r, "category"),
						To: rapid.SampledFrom([]notify.Group{notify.ToMembers, notify.ToRequester,
							notify.ToAssignee, notify.ToOwner}).Draw(r, "to")}
					person := user.Draw(r, "person")
					if err := l.tx.Notifications.Notify(l.ctx, audience, event, organization, person); err != nil {
						r.Fatal(err)
					}
					for _, u := range w.users {
						s, member := switches[u]
						hears := audience.To == notify.ToRequester && u == person ||
							member && s.On(audience.Category) && (audience.To == notify.ToMembers ||
								audience.To == notify.ToAssignee && u == person || audience.To == notify.ToOwner &&
								u == lab.Owner)
						if _, told := want[u]; hears && !told && u != actor {
							want[u] = audience.Category
						}
					}
				}
				for _, u := range w.users {
					part, err := l.tx.Notifications.List(l.ctx, u, notify.NotificationFilter{},
						exchange.Page{Limit: 99})
					if err != nil {
						r.Fatal(err)
					}
					got := slices.DeleteFunc(part.Items,
						func(n notify.Notification) bool { return n.Event.ID != event.ID })
					category, hears := want[u]
					if hears && (len(got) != 1 || got[0].Category != category) || !hears && len(got) != 0 {
						r.Fatalf("%v was told %+v, should hear: %v, of %q", u, got, hears, category)
					}
				}
			}
		})
	})
}

func TestNotifications_AreReadAsWritten(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		actor, requester := l.user(), l.user().ID
		organization := l.organization(actor.ID, actor.ID)
		material := l.material(organization, actor.ID, func(m *material.Material) { m.Title = odd })
		requestID := l.request(material, requester, actor.ID, nil)
		event := l.event(requestID, actor.ID, request.StatusChanged)
		want := notify.Notification{User: requester, Mail: mailing.NotProcessed, Category: mailing.DecisionNotif,
			Event: event, Material: material, Title: odd,
			Organization: organization, OrganizationName: "Lab", Actor: &actor}
		want.Event.Prev, want.Event.Hash = "", "" // no one asks for them here
		l.write(func(ctx context, tx store.Conn) error {
			want.CreatedAt = tx.Now
			return tx.Notifications.Notify(ctx,
				notify.Audience{Category: mailing.DecisionNotif, To: notify.ToRequester}, event,
				organization, requester)
		})
		part, err := l.db.Read().Notifications.List(l.ctx, requester, notify.NotificationFilter{Unread: new(true)},
			exchange.Page{Limit: 2})
		if err != nil || len(part.Items) != 1 {
			t.Fatalf("Notifications = %+v, %v", part, err)
		}
		want.ID = part.Items[0].ID
		same(t, "Notification", want, part.Items[0])
	})
}

func TestNotifications_MarkReadTakesOnlyOwnOnes(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		actor, user, other := l.user().ID, l.user().ID, l.user().ID
		organization := l.organization(actor)
		requestID := l.request(l.material(organization, actor, nil), user, actor, nil)
		for range 3 {
			e := l.event(requestID, actor, request.Messaged)
			l.write(func(ctx context, tx store.Conn) error {
				for _, u := range []uuid.UUID{user, other} {
					if err := tx.Notifications.Notify(ctx,
						notify.Audience{Category: mailing.StatusNotif, To: notify.ToRequester}, e, organization,
						u); err != nil {
						return err
					}
				}
				return nil
			})
		}
		part, err := l.db.Read().Notifications.List(l.ctx, user, notify.NotificationFilter{}, exchange.Page{Limit: 9})
		if err != nil || len(part.Items) != 3 {
			t.Fatalf("Notifications = %+v, %v", part, err)
		}
		newest, middle, oldest := part.Items[0].ID, part.Items[1].ID, part.Items[2].ID
		for _, step := range []struct {
			user  uuid.UUID
			id    int64 // negative: all up to it
			read  bool
			want  exchange.Code
			mine  int64
			their int64
		}{
			{user, middle, true, "", 2, 3},
			{user, middle, true, "", 2, 3},
			{other, middle, true, exchange.NotFound, 2, 3},
			{user, middle, false, "", 3, 3},
			{user, -middle, true, "", 1, 3}, // the newest came later
			{user, oldest, false, "", 2, 3},
			{user, -newest, true, "", 0, 3},
			{user, middle, false, "", 1, 3},
			{actor, -newest, true, "", 1, 3}, // who has none has read all
			{other, -math.MaxInt64, true, "", 1, 0},
		} {
			err := l.db.Tx(l.ctx, func(ctx context, tx store.Conn) error {
				if step.id < 0 {
					return tx.Notifications.MarkAllRead(ctx, step.user, -step.id)
				}
				return tx.Notifications.MarkRead(ctx, step.user, step.id, step.read)
			})
			code(t, "marking", err, step.want)
			for u, want := range map[uuid.UUID]int64{user: step.mine, other: step.their} {
				n, err := l.db.Read().Notifications.Unread(l.ctx, u)
				unread, again := l.db.Read().Notifications.List(l.ctx, u,
					notify.NotificationFilter{Unread: new(true)},
					exchange.Page{Limit: 9})
				if n != want || unread.Total.N != want || int64(len(unread.Items)) != want || err != nil || again != nil {
					t.Errorf("after %+v: Unread %d, listed %d, %v, %v, want %d", step, n, len(unread.Items), err, again,
						want)
				}
				for _, n := range unread.Items {
					if n.ReadAt != nil {
						t.Errorf("an unread one was read at %v", n.ReadAt)
					}
				}
			}
		}
	})
}

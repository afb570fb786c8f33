package store_test

import (
	"slices"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

func TestReminders_OfTheDayLongestWaitingFirst(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		user := l.user().ID
		material := l.material(l.organization(user, user), user, nil)
		requestOf := func(reminded, waits int, active bool) int64 {
			return l.request(material, user, user, func(r *request.Request) {
				r.Reminded, r.WaitingSince, r.Active = reminded, start.AddDate(0, 0, -waits), active
			})
		}
		young, old, oldest, alike := requestOf(0, 6, true), requestOf(0, 7, true), requestOf(0, 9, true),
			requestOf(0, 7, true)
		reminded, long := requestOf(7, 9, true), requestOf(58, 60, true)
		requestOf(0, 9, false)
		l.request(material, user, user, func(r *request.Request) {
			r.WaitingSince, r.SnoozedUntil = start.AddDate(0, 0, -9), new(start.AddDate(0, 0, 1))
		})
		over := l.request(material, user, user, func(r *request.Request) {
			r.Reminded, r.WaitingSince, r.SnoozedUntil = 7, start.AddDate(0, 0, -8), new(start)
		})
		// deleted
		l.change(requestOf(0, 9, true), true, func(context, store.Conn, *request.Detail) error { return nil })
		paper := l.attachment(user, nil)
		l.write(func(ctx context, tx store.Conn) error {
			return tx.Requests.SaveDocuments(ctx, old, nil,
				[]document.Document{{Slot: document.IRB, AttachmentID: paper, State: document.Delivered, AddedBy: user,
					AddedAt: tx.Now}})
		})
		var days []int
		for day, some := -1, true; some; {
			var err error
			if day, some, err = l.db.Read().Reminders.Next(l.ctx, day); err != nil {
				t.Fatal(err)
			} else if some {
				days = append(days, day)
			}
		}
		if !slices.Equal(days, []int{0, 7, 58}) {
			t.Errorf("the days of reminders: %v", days)
		}
		for _, c := range []struct {
			day   int
			began time.Time
			limit int
			want  []int64
		}{
			{0, start.AddDate(0, 0, -7), 9, []int64{oldest, old, alike}},
			{0, start.AddDate(0, 0, -7), 2, []int64{oldest, old, alike}},
			{0, start.AddDate(0, 0, -7), 1, []int64{oldest, old, alike}},
			{0, start.AddDate(0, 0, -7).Add(-time.Microsecond), 9, []int64{oldest}},
			{0, start, 9, []int64{oldest, old, alike, young}},
			{7, start, 9, []int64{reminded, over}},
			{58, start.AddDate(0, 0, -60), 9, []int64{long}},
			{14, start, 9, nil},
		} {
			var got []int64
			l.write(func(ctx context, tx store.Conn) error {
				var after request.Request
				for {
					list, err := tx.Reminders.ToRemind(ctx, c.day, c.began, after, c.limit)
					if err != nil || len(list) > c.limit {
						t.Fatalf("%d of %d, %v", len(list), c.limit, err)
					}
					for _, q := range list {
						whole, err := tx.Requests.ForUpdate(ctx, q.ID)
						code(t, "RequestForUpdate", err, "")
						if len(whole.Documents) == 0 {
							whole.Documents = nil
						}
						same(t, "RequestsToRemind", whole, q)
						got, after = append(got, q.ID), q.Request
					}
					if len(list) < c.limit {
						return nil
					}
				}
			})
			if !slices.Equal(got, c.want) {
				t.Errorf("day %d until %s, %d at once: got %v, want %v", c.day, c.began, c.limit, got, c.want)
			}
		}
	})
}

func TestEscalations_AreDueOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		user := l.user().ID
		material := l.material(l.organization(user, user), user, nil)
		requestOf := func(escalates bool, waits int, change func(*request.Request)) int64 {
			return l.request(material, user, user, func(r *request.Request) {
				r.Escalates, r.WaitingSince, r.Reminded = escalates, start.AddDate(0, 0, -waits), waits
				change(r)
			})
		}
		none := func(*request.Request) {}
		old, oldest := requestOf(true, 21, none), requestOf(true, 40, none)
		requestOf(true, 20, none)
		requestOf(false, 40, none)
		requestOf(true, 40, func(r *request.Request) { r.Active = false })
		requestOf(true, 40, func(r *request.Request) { r.SnoozedUntil = new(start.AddDate(0, 0, 1)) })
		told := requestOf(true, 30, none)
		l.write(func(ctx context, tx store.Conn) error {
			q, err := tx.Requests.ForUpdate(ctx, told)
			code(t, "RequestForUpdate", err, "")
			q.Escalates = false
			return tx.Reminders.Save(ctx, q)
		})
		l.write(func(ctx context, tx store.Conn) error {
			first, err := tx.Reminders.ToEscalate(ctx, start.AddDate(0, 0, -21), request.Request{}, 1)
			code(t, "RequestsToEscalate", err, "")
			rest, err := tx.Reminders.ToEscalate(ctx, start.AddDate(0, 0, -21), first[0].Request, 9)
			code(t, "RequestsToEscalate", err, "")
			if got := slices.Concat(first, rest); len(got) != 2 || got[0].ID != oldest || got[1].ID != old {
				t.Errorf("RequestsToEscalate = %+v, want %d and %d", got, oldest, old)
			}
			return nil
		})
	})
}

func TestReminders_SkipLockedRequests(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		user := l.user().ID
		material := l.material(l.organization(user, user), user, nil)
		held, free := l.request(material, user, user, nil), l.request(material, user, user, nil)
		if !l.db.Postgres() { // it has one writer
			return
		}
		l.write(func(ctx context, tx store.Conn) error {
			_, err := tx.Requests.ForUpdate(ctx, held)
			code(t, "RequestForUpdate", err, "")
			return l.db.Tx(t.Context(), func(ctx context, tx store.Conn) error {
				list, err := tx.Reminders.ToRemind(ctx, 0, tx.Now, request.Request{}, 9)
				if len(list) != 1 || list[0].ID != free {
					t.Errorf("RequestsToRemind = %+v, want %d alone", list, free)
				}
				return err
			})
		})
	})
}

func TestReminders_AreEventsOfNobodyAndChangeNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		user, requester := l.user().ID, l.user().ID
		organization := l.organization(user, user)
		requestID := l.request(l.material(organization, user, nil), requester, user, nil)
		var before, want request.Detail
		var e request.Event
		l.write(func(ctx context, tx store.Conn) (err error) {
			if before, err = tx.Requests.ForUpdate(ctx, requestID); err != nil {
				return err
			}
			q := before
			events, err := tx.Events.Append(ctx, &q,
				[]request.Event{{Kind: request.Reminded, Detail: request.EventDetail{Days: 7}}})
			if err != nil {
				return err
			}
			q.Reminded = 7
			want, e = q, events[0]
			if err := tx.Reminders.Save(ctx, q); err != nil {
				return err
			}
			for _, to := range []notify.Group{notify.ToRequester, notify.ToMembers} {
				if err := tx.Notifications.Notify(ctx, notify.Audience{Category: mailing.ReminderNotif, To: to}, e,
					organization,
					requester); err != nil {
					return err
				}
			}
			return nil
		})
		got, err := l.db.Read().Requests.Get(l.ctx, requestID)
		code(t, "Request", err, "")
		same(t, "Request", want, got)
		if !got.UpdatedAt.Equal(before.UpdatedAt) || e.Actor != uuid.Nil || !e.Follows(0, "", "") {
			t.Errorf("updated at %s, was %s; event %+v", got.UpdatedAt, before.UpdatedAt, e)
		}
		chain, err := l.db.Read().Events.Chain(l.ctx, requestID)
		code(t, "Chain", err, "")
		same(t, "Chain", []request.Event{e}, chain)
		for _, person := range []uuid.UUID{user, requester} {
			part, err := l.db.Read().Notifications.List(l.ctx, person, notify.NotificationFilter{Unread: new(true)},
				exchange.Page{Limit: 9})
			if err != nil || len(part.Items) != 1 || part.Items[0].Actor != nil || part.Items[0].Event.ID != e.ID {
				t.Errorf("Notifications = %+v, %v", part, err)
			}
		}
	})
}

// TestReminders_AreSentWhileTheIndexIsUpdated holds only PostgreSQL to it: SQLite has one
// writer, for whom reminders wait.
func TestReminders_AreSentWhileTheIndexIsUpdated(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		if !l.db.Postgres() {
			return
		}
		user := l.user().ID
		id := l.request(l.material(l.organization(user, user), user, nil), user, user, nil)
		l.write(func(ctx context, tx store.Conn) error {
			if err := tx.Requests.Index(ctx, []int64{id}, true); err != nil {
				return err
			}
			return l.db.Tx(t.Context(), func(ctx context, tx store.Conn) error {
				list, err := tx.Reminders.ToRemind(ctx, 0, tx.Now.AddDate(1, 0, 0), request.Request{}, 9)
				if err != nil || len(list) != 1 {
					t.Errorf("%d requests are reminded of, %v", len(list), err)
				}
				for _, q := range list {
					q.Reminded = 7
					if err := tx.Reminders.Save(ctx, q); err != nil {
						t.Error(err)
					}
				}
				return err
			})
		})
	})
}

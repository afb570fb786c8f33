package app_test

import (
	"maps"
	"testing"

	"aliquot/internal/agreement/requirement"
	"aliquot/internal/app/requirements"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/request"
	"aliquot/internal/job"
	"aliquot/internal/job/jobtest"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

type fields = map[string]any

// until is the day so many days from now.
func (r *reminding) until(days int) exchange.Date {
	return exchange.DayOf(r.now.Load().AddDate(0, 0, days))
}

// permit adds an IRB approval that ends so many days from now.
func (r *reminding) permit(by exchange.Actor, number string, days int, own fields) int64 {
	r.Helper()
	body := fields{"regime": "IRB", "number": number, "authority": "University Board", "from": "2020-01-01",
		"until": r.until(days)}
	maps.Copy(body, own)
	p, err := r.app.Requirements.AddPermit(r.Context(), by, patchOf[requirement.Permit](r.T, body))
	r.must(err)
	return p.ID
}

// choose uses a permit for a request.
func (r *reminding) choose(by exchange.Actor, permit, request int64) {
	r.Helper()
	_, _, err := r.app.Requirements.UsePermit(r.Context(), by, request,
		requirement.PermitUse{Permit: exchange.Some(exchange.Ref(permit))})
	r.must(err)
}

// remindOfPermits runs so many jobs at the same time.
func (r *reminding) remindOfPermits(jobs int) {
	r.Helper()
	ids := make([]int64, jobs)
	for i := range ids {
		ids[i] = jobtest.Enqueue(r.T, r.db, requirements.Remind, struct{}{}, job.EnqueueOptions{})
	}
	for _, id := range ids {
		jobtest.Wait(r.T, r.db, id, exchange.JobDone)
	}
}

// remindedOf counts how often somebody was reminded of each permit, by its number.
func (r *reminding) remindedOf(who exchange.Actor) map[string]int {
	r.Helper()
	part, err := r.db.Read().Notifications.List(r.Context(), who.ID, notify.NotificationFilter{},
		exchange.Page{Limit: 1000})
	r.must(err)
	times := map[string]int{}
	for _, n := range part.Items {
		if n.Announcement != nil && n.Announcement.Kind == notify.PermitEnding {
			times[n.Announcement.Detail.Name]++
		}
	}
	return times
}

// TestRemindOfPermits_OnceForEachReminderWithSeveralProcesses: 60 and 14 days before the end, not after it, and again
// if the day is moved.
func TestRemindOfPermits_OnceForEachReminderWithSeveralProcesses(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newReminding(t, db)
		r.work(3)
		began, id := *r.now.Load(), r.permit(r.asks, "long", 70, nil)
		check := func(day, long, late int) {
			t.Helper()
			r.set(began.AddDate(0, 0, day))
			r.remindOfPermits(6)
			if got := r.remindedOf(r.asks); got["long"] != long || got["late"] != late {
				t.Errorf("day %d: reminded %v, want %d and %d", day, got, long, late)
			}
		}
		check(9, 0, 0)
		check(10, 1, 0)
		check(55, 1, 0)
		check(56, 2, 0)
		check(57, 2, 0)
		r.permit(r.asks, "late", 10, fields{"regime": "IBC"}) // the first reminder would have been long ago
		check(57, 2, 1)
		check(70, 2, 1)
		_, err := r.app.Requirements.ChangePermit(t.Context(), r.asks, id,
			patchOf[requirement.Permit](t, fields{"until": r.until(60)}), nil)
		r.must(err)
		check(70, 3, 1)
		_, err = r.app.Requirements.ChangePermit(t.Context(), r.asks, id,
			patchOf[requirement.Permit](t, fields{"number": "renamed"}), nil)
		r.must(err)
		check(71, 3, 1)
	})
}

// TestRemindOfPermits_GoesToWhoNeedsThem: those who keep them, or chose them for an open request.
func TestRemindOfPermits_GoesToWhoNeedsThem(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newReminding(t, db)
		ctx, owner, adds := t.Context(), r.member, r.off
		labs := fields{"organization": r.lab}
		forMaterial := func(id int64) fields { return fields{"organization": r.lab, "materials": []int64{id}} }
		archived, _, err := r.app.Materials.CreateMaterial(ctx, owner, material.Patch{Category: exchange.Some("OTHER"),
			Title: exchange.Some("Old"), Organization: exchange.Some(exchange.Ref(r.lab))})
		r.must(err)

		r.permit(r.asks, "own", 30, fields{"regime": "IBC"})
		r.permit(adds, "lab", 30, labs)
		r.permit(owner, "material", 30, forMaterial(r.material))
		r.permit(owner, "archived", 30, forMaterial(archived.ID))
		_, err = r.app.Materials.UpdateMaterial(ctx, owner, archived.ID, material.Patch{Archived: exchange.Some(true)},
			nil)
		r.must(err)

		r.permit(owner, "replaced", 30, fields{"organization": r.lab, "regime": "IBC"})
		r.permit(adds, "replacing", 400, fields{"organization": r.lab, "regime": "IBC"})
		r.permit(owner, "not covered", 30, fields{"organization": r.lab, "regime": "IACUC"})
		r.permit(owner, "narrower", 400,
			fields{"organization": r.lab, "regime": "IACUC", "categories": []string{"PDX"}})
		r.permit(owner, "with a gap", 30, fields{"organization": r.lab, "regime": "IRCC"})
		r.permit(owner, "after it", 400, fields{"organization": r.lab, "regime": "IRCC", "from": r.until(31)})
		r.permit(r.asks, "of somebody else", 30, fields{"regime": "IMPORT_PERMIT"})
		r.permit(owner, "not theirs", 400, fields{"organization": r.lab, "regime": "IMPORT_PERMIT"})

		open, closed, renewed := r.request(), r.request(), r.request()
		r.choose(r.asks, r.permit(r.asks, "open", 30, nil), open)
		r.choose(r.asks, r.permit(r.asks, "closed", 30, nil), closed)
		old := r.permit(r.asks, "renewed", 30, nil)
		r.choose(r.asks, old, renewed)
		r.choose(r.asks, r.permit(r.asks, "newer", 400, nil), renewed)
		_, err = r.app.Requests.UpdateRequest(ctx, r.asks, closed,
			request.Patch{Status: exchange.Some(request.Cancelled)}, nil)
		r.must(err)

		leaver := r.person("leaver")
		r.must(join(ctx, db, r.lab, leaver.ID))
		r.permit(r.person("leaver"), "of a former member", 30, fields{"organization": r.lab, "regime": "DATA_USE"})
		r.must(r.app.Labs.Leave(ctx, r.person("leaver"), r.lab))
		gone := r.person("gone")
		r.choose(gone, r.permit(gone, "erased", 30, nil), r.requestOf(gone))
		r.must(r.app.Accounts.CloseAccount(ctx, gone, gone.ID, nil))

		r.work(1)
		r.remindOfPermits(1)
		for who, want := range map[*exchange.Actor]map[string]int{
			&owner:  {"lab": 1, "material": 1, "not covered": 1, "with a gap": 1, "of a former member": 1},
			&adds:   {"lab": 1},
			&r.asks: {"own": 1, "of somebody else": 1, "open": 1},
			&leaver: {}, &gone: {},
		} {
			if got := r.remindedOf(*who); !maps.Equal(got, want) {
				t.Errorf("reminded of %v, want %v", got, want)
			}
		}
	})
}

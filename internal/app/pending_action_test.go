package app_test

import (
	"testing"
	"time"

	"aliquot/internal/app/transfer"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/request"
	"aliquot/internal/job/jobtest"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// later schedules an action of somebody.
func (r *reminding) later(who exchange.Actor, d transfer.PendingAction) int64 {
	r.Helper()
	id, err := r.app.Schedule(r.Context(), who, d, nil)
	r.must(err)
	return id
}

// pending returns what somebody sees of a pending action on a request.
func (r *reminding) pending(who exchange.Actor, id int64) (*transfer.PendingStatus, error) {
	r.Helper()
	q, err := r.app.Requests.Request(r.Context(), r.member, id)
	r.must(err)
	return r.app.Requests.PendingStatusOf(r.Context(), who, q)
}

// timeIsUp advances the clock past the time to undo the last action.
func (r *reminding) timeIsUp() { r.set(r.now.Load().Add(transfer.UndoTime + time.Second)) }

func (r *reminding) status(request int64) request.Status {
	r.Helper()
	q, err := r.app.Requests.Request(r.Context(), r.member, request)
	r.must(err)
	return q.Status
}

// events returns how many events of a kind a request has.
func (r *reminding) events(request int64, kind request.EventKind) int {
	r.Helper()
	part, err := r.app.DB.Read().Events.List(r.Context(), request, kind, exchange.Page{})
	r.must(err)
	return len(part.Items)
}

func wantRefusal(t *testing.T, what string, err error, want ...exchange.Code) {
	t.Helper()
	for _, code := range want {
		if exchange.CodeOf(err) == code {
			return
		}
	}
	t.Errorf("%s: %v, want one of %v", what, err, want)
}

func TestPendingAction_RunsOnceWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newReminding(t, db)
		ctx, requestID := t.Context(), r.request()
		id := r.later(r.member, transfer.PendingAction{Request: requestID, Status: request.Approved})
		other, _, err := r.app.Materials.CreateMaterial(ctx, r.member,
			material.Patch{Category: exchange.Some("OTHER"), Title: exchange.Some("Sf9"),
				Organization: exchange.Some(exchange.Ref(r.lab))})
		r.must(err)
		archive := r.later(r.member, transfer.PendingAction{Material: other.ID})
		remove := r.later(r.member, transfer.PendingAction{Organization: r.lab, Member: r.off.ID})
		doing, err := r.pending(r.member, requestID)
		r.must(err)
		if doing == nil || doing.ID != id || doing.Failed != "" || doing.Action.Status != request.Approved ||
			!doing.At.Equal(r.now.Load().Add(transfer.UndoTime)) {
			t.Errorf("%+v waits", doing)
		}
		if theirs, err := r.pending(r.asks, requestID); theirs != nil || err != nil {
			t.Errorf("the requester sees %+v, %v", theirs, err)
		}
		m, err := r.app.Materials.Material(ctx, exchange.Actor{}, other.ID)
		r.must(err)
		lab, err := r.app.Labs.Organization(ctx, r.lab)
		r.must(err)
		if r.status(requestID) != request.Open || r.events(requestID, request.StatusChanged) != 0 || m.Archived ||
			len(lab.Members) != 2 {
			t.Error("it was done at once")
		}
		r.timeIsUp()
		r.work(2)
		for _, one := range []int64{id, archive, remove} {
			jobtest.Wait(t, db, one, exchange.JobDone)
			_, err := r.app.Undo(ctx, r.member, one)
			wantRefusal(t, "taken back too late", err, exchange.Conflict)
		}
		if m, err = r.app.Materials.Material(ctx, exchange.Actor{}, other.ID); err != nil || !m.Archived {
			t.Errorf("archived: %v, %v", m.Archived, err)
		}
		if lab, err = r.app.Labs.Organization(ctx, r.lab); err != nil || len(lab.Members) != 1 ||
			lab.Members[0].ID != r.member.ID {
			t.Errorf("the lab has %d members, %v", len(lab.Members), err)
		}
		if r.status(requestID) != request.Approved || r.events(requestID, request.StatusChanged) != 1 {
			t.Errorf("the request is %s after %d moves", r.status(requestID),
				r.events(requestID, request.StatusChanged))
		}
		if doing, err := r.pending(r.member, requestID); doing != nil || err != nil {
			t.Errorf("%+v still waits, %v", doing, err)
		}
	})
}

// TestPendingAction_AndTheEndOfItsJobAreOneTransaction checks that the action and the end of its job are one transaction:
// else the next run would find the action done, and report that it failed.
func TestPendingAction_AndTheEndOfItsJobAreOneTransaction(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newReminding(t, db)
		ctx, requestID, sql := t.Context(), r.request(), storetest.SQL(t, db)
		id := r.later(r.member, transfer.PendingAction{Request: requestID, Status: request.Approved})
		fails := []string{"CREATE TRIGGER fails BEFORE UPDATE ON jobs WHEN NEW.state = 'DONE' BEGIN SELECT " +
			"RAISE(ABORT, 'no'); END", "DROP TRIGGER fails"}
		if db.Postgres() {
			fails = []string{"CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION " +
				"''no''; END'; " +
				"CREATE TRIGGER fails BEFORE UPDATE ON jobs FOR EACH ROW WHEN (NEW.state = 'DONE') EXECUTE " +
				"FUNCTION no()", "DROP TRIGGER fails ON jobs"}
		}
		_, err := sql.ExecContext(ctx, fails[0])
		r.must(err)
		r.timeIsUp()
		r.work(1)
		jobtest.Poll(t, "a run that cannot end", func() bool {
			j, err := db.Read().Jobs.Get(ctx, id)
			return err == nil && j.Failures > 0
		})
		if r.status(requestID) != request.Open || r.events(requestID, request.StatusChanged) != 0 {
			t.Errorf("the job is not done, and the request is %s", r.status(requestID))
		}
		_, err = sql.ExecContext(ctx, fails[1])
		r.must(err)
		r.set(r.now.Load().Add(2 * time.Hour))
		jobtest.Wait(t, db, id, exchange.JobDone)
		if r.status(requestID) != request.Approved || r.events(requestID, request.StatusChanged) != 1 {
			t.Errorf("the request is %s", r.status(requestID))
		}
	})
}

func TestPendingAction_UndoneNeverRuns(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newReminding(t, db)
		ctx, requestID, other := t.Context(), r.request(), r.request()
		id := r.later(r.member, transfer.PendingAction{Request: requestID, Status: request.Approved})
		done := r.later(r.member, transfer.PendingAction{Request: other, Status: request.Approved})
		_, err := r.app.Undo(ctx, r.asks, id)
		wantRefusal(t, "taken back by somebody else", err, exchange.Forbidden, exchange.NotFound)
		for range 2 { // the second time changes nothing
			d, err := r.app.Undo(ctx, r.member, id)
			if err != nil || d.Request != requestID {
				t.Errorf("took back %+v, %v", d, err)
			}
		}
		if doing, err := r.pending(r.member, requestID); doing != nil || err != nil {
			t.Errorf("%+v waits, %v", doing, err)
		}
		r.timeIsUp()
		r.work(1)
		jobtest.Wait(t, db, done, exchange.JobDone)
		if r.status(requestID) != request.Open || r.events(requestID, request.StatusChanged) != 0 {
			t.Error("it was done")
		}
	})
}

func TestPendingAction_ForbiddenByARuleIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newReminding(t, db)
		ctx, requestID := t.Context(), r.request()
		stranger := r.person("stranger")
		for what, c := range map[string]struct {
			who    exchange.Actor
			action transfer.PendingAction
			want   exchange.Code
		}{
			"accepted by a stranger": {stranger, transfer.PendingAction{Request: requestID, Status: request.Approved},
				exchange.Forbidden},
			"accepted by the requester": {r.asks, transfer.PendingAction{Request: requestID, Status: request.Approved},
				exchange.FieldForbidden},
			"received before it was sent": {r.asks, transfer.PendingAction{Request: requestID, Status: request.Verified},
				exchange.InvalidTransition},
			"sent with something missing": {r.member, transfer.PendingAction{Request: requestID, Status: request.Fulfilled},
				exchange.MissingRequirements},
			"archived by a stranger": {stranger, transfer.PendingAction{Material: r.material}, exchange.Forbidden},
			"a member removed by no member": {stranger, transfer.PendingAction{Organization: r.lab, Member: r.off.ID},
				exchange.Forbidden},
			"a request that is not there": {r.member, transfer.PendingAction{Request: 1 << 40, Status: request.Approved},
				exchange.NotFound},
		} {
			_, err := r.app.Schedule(ctx, c.who, c.action, nil)
			wantRefusal(t, what, err, c.want)
			if doing, err := r.pending(c.who, requestID); doing != nil || err != nil {
				t.Errorf("%s: %+v waits, %v", what, doing, err)
			}
		}
	})
}

func TestPendingAction_ThatBecameImpossibleSaysWhy(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newReminding(t, db)
		ctx, requestID := t.Context(), r.request()
		id := r.later(r.member, transfer.PendingAction{Request: requestID, Status: request.Approved})
		_, err := r.app.Requests.UpdateRequest(ctx, r.asks, requestID,
			request.Patch{Status: exchange.Some(request.Cancelled)}, nil)
		r.must(err)
		r.timeIsUp()
		r.work(1)
		j := jobtest.Wait(t, db, id, exchange.JobFailed)
		doing, err := r.pending(r.member, requestID)
		if err != nil || doing == nil || doing.Failed == "" || doing.Ended.IsZero() {
			t.Errorf("%+v, %v; the job says %q", doing, err, j.Error)
		}
		if r.status(requestID) != request.Cancelled {
			t.Errorf("the request is %s", r.status(requestID))
		}
	})
}

func TestPendingAction_LaterOneReplacesTheEarlier(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newReminding(t, db)
		ctx, requestID := t.Context(), r.request()
		first := r.later(r.member, transfer.PendingAction{Request: requestID, Status: request.Approved})
		second := r.later(r.member,
			transfer.PendingAction{Request: requestID, Status: request.Rejected, Reason: "Our freezer broke."})
		if first != second {
			t.Errorf("the actions %d and %d both wait", first, second)
		}
		r.timeIsUp()
		r.work(1)
		jobtest.Wait(t, db, second, exchange.JobDone)
		q, err := r.app.Requests.Request(ctx, r.asks, requestID)
		r.must(err)
		if q.Status != request.Rejected || q.Rejection != "Our freezer broke." ||
			r.events(requestID, request.StatusChanged) != 1 {
			t.Errorf("%s because of %q", q.Status, q.Rejection)
		}
	})
}

func TestPendingAction_OfShippingHasShipmentAndWaivers(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newReminding(t, db)
		ctx, requestID := t.Context(), r.request()
		sent := r.now.Load().Add(-time.Hour)
		id := r.later(r.member, transfer.PendingAction{Request: requestID, Status: request.Fulfilled,
			Override: "A colleague vouches for them.",
			Shipment: &request.Shipment{Carrier: "DHL", Tracking: "JD01", Conditions: "Dry ice", SentAt: &sent}})
		if n := r.events(requestID, request.ShipmentChanged); n != 0 {
			t.Errorf("%d shipments at once", n)
		}
		r.timeIsUp()
		r.work(1)
		jobtest.Wait(t, db, id, exchange.JobDone)
		q, err := r.app.Requests.Request(ctx, r.asks, requestID)
		r.must(err)
		if s := q.Shipment; q.Status != request.Fulfilled || q.Override != "A colleague vouches for them." ||
			s == nil || s.Carrier != "DHL" || s.Tracking != "JD01" ||
			s.Conditions != "Dry ice" || s.SentAt == nil || !s.SentAt.Equal(sent) {
			t.Errorf("%s, %q, %+v", q.Status, q.Override, s)
		}
	})
}

func TestRemindOtherSide_OnceADay(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newReminding(t, db)
		ctx, requestID := t.Context(), r.request()
		wantRefusal(t, "reminded on the first day", r.app.Requests.RemindRequest(ctx, r.member, requestID), exchange.Conflict)
		r.set(r.now.Load().Add(3 * 24 * time.Hour))
		wantRefusal(t, "reminded of one's own turn", r.app.Requests.RemindRequest(ctx, r.asks, requestID), exchange.Forbidden)
		wantRefusal(t, "reminded by a stranger", r.app.Requests.RemindRequest(ctx, r.person("stranger"), requestID),
			exchange.Forbidden)
		before, err := r.app.Requests.Request(ctx, r.member, requestID)
		r.must(err)
		r.must(r.app.Requests.RemindRequest(ctx, r.member, requestID))
		wantRefusal(t, "reminded twice a day", r.app.Requests.RemindRequest(ctx, r.member, requestID), exchange.Conflict)
		after, err := r.app.Requests.Request(ctx, r.member, requestID)
		r.must(err)
		if !after.UpdatedAt.Equal(before.UpdatedAt) || !after.WaitingSince.Equal(before.WaitingSince) {
			t.Error("a reminder changed the request or its turn")
		}
		if days := r.heard(r.asks, requestID); len(days) != 1 || days[0] != 3 {
			t.Errorf("the requester was notified of %v", days)
		}
		r.set(r.now.Load().Add(24 * time.Hour))
		_, err = r.app.Requests.SnoozeRequest(ctx, r.asks, requestID,
			request.SnoozeNew{Until: exchange.Some(exchange.Until(r.now.Load().Add(48 * time.Hour)))})
		r.must(err)
		wantRefusal(t, "reminded while they snooze", r.app.Requests.RemindRequest(ctx, r.member, requestID), exchange.Conflict)
		r.set(r.now.Load().Add(4 * 24 * time.Hour)) // the eighth day
		r.work(1)
		r.remind(1)
		if days := r.heard(r.asks, requestID); len(days) != 2 || days[1] != 7 {
			t.Errorf("by hand and by itself the requester was reminded on %v", days)
		}
	})
}

func TestPendingAction_IsShownToTheLabAndBlocksOtherDecisions(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newReminding(t, db)
		ctx, requestID := t.Context(), r.request()
		accept := transfer.PendingAction{Request: requestID, Status: request.Approved, From: request.Open}
		decline := transfer.PendingAction{Request: requestID, Status: request.Rejected, From: request.Open, Reason: "No."}
		id := r.later(r.member, accept)
		for who, want := range map[*exchange.Actor]bool{&r.member: true, &r.off: true, &r.asks: false} {
			seen, err := r.pending(*who, requestID)
			if err != nil || (seen != nil) != want || want && seen.By.ID != r.member.ID {
				t.Errorf("%s sees %+v, %v", who.ID, seen, err)
			}
		}
		_, err := r.app.Schedule(ctx, r.off, decline, nil)
		wantRefusal(t, "declined by a colleague", err, exchange.Conflict)
		_, err = r.app.Undo(ctx, r.off, id)
		wantRefusal(t, "undone by a colleague", err, exchange.Forbidden, exchange.NotFound)
		r.timeIsUp()
		r.work(1)
		jobtest.Wait(t, db, id, exchange.JobDone)
		_, err = r.app.Schedule(ctx, r.off, decline, nil)
		wantRefusal(t, "declined as new after it was accepted", err, exchange.InvalidTransition)
		if r.status(requestID) != request.Approved || r.events(requestID, request.StatusChanged) != 1 {
			t.Errorf("the request is %s after %d moves", r.status(requestID), r.events(requestID, request.StatusChanged))
		}
	})
}

func TestPendingAction_DoesNotRunAfterAnotherChangeOfStatus(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newReminding(t, db)
		ctx, requestID := t.Context(), r.request()
		id := r.later(r.member, transfer.PendingAction{Request: requestID, Status: request.Rejected, From: request.Open,
			Reason: "No."})
		_, err := r.app.Requests.UpdateRequest(ctx, r.off, requestID,
			request.Patch{Status: exchange.Some(request.Approved)}, nil) // as a program may
		r.must(err)
		r.timeIsUp()
		r.work(1)
		jobtest.Wait(t, db, id, exchange.JobFailed)
		if r.status(requestID) != request.Approved || r.events(requestID, request.StatusChanged) != 1 {
			t.Errorf("the request is %s after %d moves", r.status(requestID), r.events(requestID, request.StatusChanged))
		}
		if seen, err := r.pending(r.member, requestID); err != nil || seen == nil || seen.Failed == "" {
			t.Errorf("who decided is told %+v, %v", seen, err)
		}
		if seen, err := r.pending(r.off, requestID); err != nil || seen != nil {
			t.Errorf("the colleague is told %+v, %v", seen, err)
		}
	})
}

package web_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"aliquot/internal/app/transfer"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/request"
	"aliquot/internal/job"
	"aliquot/internal/job/jobtest"

	"github.com/PuerkitoBio/goquery"
)

// TestShippingDesk_HasWhatIsReadyToShip: the requests of the visitor's labs in which it is time to ship, and no others,
// those due first.
func TestShippingDesk_HasWhatIsReadyToShip(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		seen := 0
		for name := range people {
			v := w.as(name)
			part, err := w.app.Requests.Requests(w.Context(),
				exchange.Actor{ID: v.actor.ID, Organizations: v.actor.Organizations}, exchange.Page{Limit: 200},
				request.Filter{})
			w.must(err)
			want, last := map[string]bool{}, time.Time{}
			for _, q := range part.Items {
				turn := request.WaitingOn(q.Terms, q.Targets, q.Request)
				if turn != nil && turn.What[0] == request.StepShipment && v.actor.MemberOf(q.Organization) {
					want[number(q.ID)] = true
				}
			}
			got := v.get("/requests/shipping").want(http.StatusOK).inboxOf()
			for _, id := range got {
				q := w.now(w.id(id))
				due := *request.WaitingOn(q.Terms, q.Targets, q.Request).Due
				if !want[id] || due.Truncate(time.Second).Before(last.Truncate(time.Second)) {
					t.Errorf("%s: request %s is due %s, after one of %s; wanted: %v", name, id, due, last, want[id])
				}
				delete(want, id)
				last, seen = due, seen+1
			}
			if len(want) > 0 {
				t.Errorf("%s does not see %v", name, want)
			}
		}
		if seen == 0 {
			t.Error("the demo has nothing to ship")
		}
	})
}

// id returns the number that a text is.
func (w *world) id(text string) int64 {
	w.Helper()
	id, err := strconv.ParseInt(text, 10, 64)
	w.must(err)
	return id
}

// finish waits until a pending action, of which undo is the address, is done.
func (w *world) finish(undo string) {
	w.Helper()
	w.db.Clock = func() time.Time { return time.Now().Add(transfer.UndoTime + time.Second) }
	w.Cleanup(jobtest.Start(w.T, job.Config{DB: w.db, Handlers: w.app.Handlers()}))
	jobtest.Wait(w.T, w.db, w.id(strings.TrimPrefix(undo, "/undo/")), exchange.JobDone)
}

// toShip returns a member who has something to ship, and the requests that they can ship.
func (w *world) toShip() (v *visitor, ids []string) {
	w.Helper()
	for name := range people {
		v = w.as(name)
		if ids = v.get("/requests/shipping").inboxOf(); len(ids) > 0 {
			return v, ids
		}
	}
	w.Fatal("the demo has nothing to ship")
	return nil, nil
}

// TestShippingDesk_ShipsManyEachWithItsOwnNumber: what cannot be shipped is named and stays as it is.
func TestShippingDesk_ShipsManyEachWithItsOwnNumber(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v, ids := w.toShip()
		open := number(w.requests(request.Open)[0].ID)
		id := ids[0]
		a := v.post("/requests/shipping", "do", "ship", "id", id, "carrier-"+id, "UPS", "tracking-"+id,
			"1Z 999 AA1 01 2345 6784", "id", open, "id", "999999").want(http.StatusUnprocessableEntity)
		report := a.text("#errors")
		for _, want := range []string{"2 requests could not be marked as shipped, 1 will be in 10 seconds",
			"request " + open, "request 999999"} {
			if !strings.Contains(report, want) {
				t.Errorf("no %q in %s", want, report)
			}
		}
		if !a.has(`#request-` + id + ` form[action^="/undo/"]`) {
			t.Error("it cannot be undone")
		}
		w.finish(a.doc.Find("#request-"+id+" form").AttrOr("action", ""))
		q := w.now(w.id(id))
		if q.Status != request.Fulfilled || q.Shipment == nil || q.Shipment.Carrier != "UPS" ||
			q.Shipment.SentAt == nil {
			t.Fatalf("%s, %+v", q.Status, q.Shipment)
		}
		a = v.get("/requests/shipping").want(http.StatusOK)
		const page = "https://www.ups.com/track?tracknum=1Z999AA10123456784"
		if got := a.doc.Find(`#h-way`).Closest("section").Find("a[href='" + page + "']"); got.Length() != 1 {
			t.Errorf("no link to %s: %s", page, a.text("main"))
		}
		if !v.get("/requests/" + id).has("a[href='" + page + "']") {
			t.Error("the page of the request does not link to the carrier")
		}
	})
}

// TestShippingDesk_LosesNothingTyped: a number without its request selected is not thrown away, and nothing is done.
func TestShippingDesk_LosesNothingTyped(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v, ids := w.toShip()
	id := ids[0]
	for _, form := range [][]string{
		{"do", "ship", "tracking-" + id, "123456"},
		{"do", "ship", "id", "7777", "carrier-" + id, "DHL", "tracking-" + id, "123456"},
		{"do", "ship", "id", id, "carrier-" + id, strings.Repeat("x", 2000), "tracking-" + id, "123456"},
		{"id", id, "tracking-" + id, "123456"},
	} {
		a := v.post("/requests/shipping", form...).want(http.StatusUnprocessableEntity)
		if got := a.input("tracking-" + id); got != "123456" || a.text("#errors") == "" {
			t.Errorf("%.60v: the number is %q, the errors are %s", form, got, a.text("#errors"))
		}
	}
	if a := v.post("/requests/shipping", "do", "labels", "id", id); a.location != "/requests/labels?id="+id {
		t.Errorf("labels are at %s", a.location)
	}
}

// TestShippingDesk_SaysWhatIsPickedUp: a request without address says so, and takes being picked up as its carrier.
func TestShippingDesk_SaysWhatIsPickedUp(t *testing.T) {
	t.Parallel()
	w := alone(t)
	for name := range people {
		v := w.as(name)
		a := v.get("/requests/shipping")
		for _, row := range a.doc.Find("tr[data-row]").EachIter() {
			hasAddress := row.Find(`td[data-label="To"] br`).Length() > 1
			if says := strings.Contains(row.Text(), "No address"); says && hasAddress {
				t.Errorf("%s", row.Text())
			}
		}
		if len(a.inboxOf()) > 0 && a.doc.Find("#carriers option").FilterFunction(func(_ int, o *goquery.Selection) bool {
			return o.AttrOr("value", "") == request.PickedUp
		}).Length() != 1 {
			t.Error("picking up is not offered")
		}
	}
}

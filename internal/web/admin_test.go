package web_test

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"aliquot/internal/app/core"
	"aliquot/internal/app/transfer"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"
)

var adminPlaces = []string{"/admin", "/admin/users", "/admin/users?only=admins", "/admin/users?q=mario",
	"/admin/organizations", "/admin/organizations?q=bank",
	"/admin/jobs", "/admin/jobs?state=FAILED&kind=remind", "/admin/stuck", "/admin/stuck?only=all",
	"/admin/stuck?only=escalated", "/admin/stuck?only=lab",
	"/admin/mail", "/admin/audit", "/admin/audit?power=1&action=admin.read&object=overview"}

func TestAdminPages_AreForAdminsAndAudited(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		for _, path := range adminPlaces {
			if a := w.as("").get(path); a.status != http.StatusSeeOther {
				t.Errorf("nobody gets %d of %s", a.status, path)
			}
			if a := w.as("mario").get(path); a.status != http.StatusForbidden {
				t.Errorf("a member gets %d of %s", a.status, path)
			}
			a := w.as("ada").get(path).want(http.StatusOK)
			if a.text("h1") == "" || !a.has(".side-nav [aria-current]") {
				t.Errorf("%s: %s", path, a.text("main"))
			}
		}
		a := w.as("ada").get("/admin/audit?power=1&action=admin.read&object=overview")
		if !strings.Contains(a.text("tbody"), "Ada Admin") {
			t.Errorf("that the overview was read is not noted: %s", a.text("main"))
		}
	})
}

func TestAdmins_AppointOthersAndCannotDismissThemselves(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		ada, mario := w.as("ada"), w.as("mario")
		path := "/admin/users/" + mario.actor.ID.String() + "/admin"
		mario.post(path, "admin", "1").want(http.StatusForbidden)
		if a := ada.post(path, "admin", "1").follow(); !strings.Contains(a.text(".toast"),
			"Mario Manager is now an admin") {
			t.Errorf("it says %q", a.text(".toast"))
		}
		mario.get("/admin").want(http.StatusOK)
		mario.post("/admin/users/"+ada.actor.ID.String()+"/admin", "admin", "0").want(http.StatusSeeOther)
		ada.get("/admin").want(http.StatusForbidden)
		mario.post(path, "admin", "0").want(http.StatusConflict)
		mario.get("/admin").want(http.StatusOK)
		if a := mario.get("/admin/audit?action=user.admin"); a.doc.Find("tbody tr").Length() != 3 ||
			a.doc.Find("tbody .tag:contains(refused)").Length() != 1 {
			t.Errorf("on record: %s", a.text("tbody"))
		}
		mario.post("/admin/users/nobody/admin", "admin", "1").want(http.StatusNotFound)
	})
}

func TestAdmins_SignOthersOutEverywhere(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		ada, mario := w.as("ada"), w.as("mario")
		if !ada.get("/admin/users?q=mario").has("form[action='/admin/users/" + mario.actor.ID.String() + "/signout']") {
			t.Error("the page of users does not offer it")
		}
		mario.post("/admin/users/" + ada.actor.ID.String() + "/signout").want(http.StatusForbidden)
		if a := ada.post("/admin/users/" + mario.actor.ID.String() + "/signout").follow(); !strings.Contains(
			a.text(".toast"), "Mario Manager is signed out everywhere") {
			t.Errorf("it says %q", a.text(".toast"))
		}
		if a := mario.get("/account").want(http.StatusSeeOther); !strings.HasPrefix(a.location, "/signin") {
			t.Errorf("their session leads to %s", a.location)
		}
		ada.post("/admin/users/nobody/signout").want(http.StatusNotFound)
		ada.post("/admin/users/00000000-0000-7000-8000-000000000000/signout").want(http.StatusNotFound)
	})
}

func TestJobPage_ShowsProgressOnlyToItsOwner(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v, q := w.opened()
		id, err := w.app.Schedule(w.Context(), v.actor,
			transfer.PendingAction{Request: q.ID, Status: request.Approved}, nil)
		w.must(err)
		path := "/progress/" + strconv.FormatInt(id, 10)
		a := v.get(path).want(http.StatusOK)
		if !a.has("#job[hx-get='"+path+"']") || !a.has("head noscript") || !strings.Contains(a.text("#job"),
			"Waiting") {
			t.Errorf("it shows %s", a.text("main"))
		}
		w.as("somebody").get(path).want(http.StatusForbidden)
		w.as("somebody").post(path + "/cancel").want(http.StatusForbidden)
		v.post("/admin/jobs/" + strconv.FormatInt(id, 10) + "/retry").want(http.StatusForbidden)
		v.get("/progress/999999").want(http.StatusNotFound)
		a = v.post(path + "/cancel").follow().want(http.StatusOK)
		if a.has("#job[hx-get]") || !strings.Contains(a.text("#job"), "Cancelled") {
			t.Errorf("cancelled it shows %s", a.text("#job"))
		}
		ada, work := w.as("ada"), "/admin/jobs/"+strconv.FormatInt(id, 10)
		if a := ada.get("/admin/jobs?state=CANCELLED&kind=deed"); !a.has("form[action='"+work+"/retry']") ||
			!strings.Contains(a.text("tbody"), v.get("/").text("#account-menu strong")) {
			t.Errorf("an admin sees %s", a.text("main"))
		}
		ada.post(work + "/retry").want(http.StatusSeeOther)
		ada.post(work + "/cancel").want(http.StatusSeeOther)
	})
}

func TestAdminRequests_LongestStuckComesFirst(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		ada := w.as("ada")
		if a := ada.get("/admin/stuck"); a.text(".empty h3") != "No stuck requests" {
			t.Errorf("on the first day: %s", a.text("main"))
		}
		later := time.Now().AddDate(0, 0, 40)
		w.db.Clock = func() time.Time { return later }
		w.must(w.db.Tx(w.Context(), func(ctx context.Context, tx store.Conn) error {
			_, err := tx.Tokens.Insert(ctx,
				person.Token{UserID: ada.actor.ID, Kind: person.SessionToken, ExpiresAt: later.Add(time.Hour)},
				core.Hash("later"))
			return err
		}))
		ada.cookies["__Host-session"] = "later"
		active := 0
		for _, s := range request.Statuses {
			for _, q := range w.requests(s) {
				if q.Party != request.Nobody {
					active++
				}
			}
		}
		a := ada.get("/admin/stuck").want(http.StatusOK)
		if n := a.doc.Find("tbody tr").Length(); n != active || n == 0 {
			t.Errorf("%d are stuck, want %d", n, active)
		}
		if a := ada.get("/admin"); !strings.Contains(a.text("main"), strconv.Itoa(active)+
			" requests waiting for more than 28 days") {
			t.Errorf("the overview says %s", a.text("main"))
		}
	})
}

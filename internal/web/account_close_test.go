package web_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"aliquot/internal/exchange/person"
	"aliquot/internal/store/storetest"
)

func TestCloseAccountPage_AsksAndSignsOut(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v, other := w.as("josiah"), w.as("josiah")
		page := v.get("/account/close").want(http.StatusOK)
		if text := page.text("main"); !strings.Contains(text, "What is deleted") ||
			!strings.Contains(text, "What stays") || !page.has("input[name=confirm]") {
			t.Errorf("%s", text)
		}
		name := page.text("label[for=f-confirm]")
		v.post("/account/close", "confirm", "somebody else").want(http.StatusUnprocessableEntity)
		v.get("/account").want(http.StatusOK)
		a := v.post("/account/close", "confirm", people["josiah"]).want(http.StatusSeeOther)
		if a.location != "/account/closed" || v.cookies["__Host-session"] != "" {
			t.Errorf("leads to %s", a.location)
		}
		if page := v.get(a.location).want(http.StatusOK); page.text("h1") != "Your account is closed" {
			t.Errorf("%s", page.text("h1"))
		}
		other.get("/account").want(http.StatusSeeOther)
		u, err := w.app.DB.Read().Users.Get(w.Context(), other.actor.ID)
		w.must(err)
		if !u.Closed || u.Name() != person.ClosedName {
			t.Errorf("%+v", u)
		}
		for _, path := range []string{"/requests?turn=all", "/labs", "/notifications", w.at("HeLa")} {
			first := strings.Fields(strings.TrimPrefix(name, "Type "))[0]
			if text := w.as("olivia").get(path).want(http.StatusOK).text("main"); strings.Contains(text,
				people["josiah"]) || strings.Contains(text, first) {
				t.Errorf("%s still has %q", path, first)
			}
		}
	})
}

func TestCloseAccountPage_SaysWhatHasToBeDoneFirst(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v := w.as("olivia") // who owns a lab with other members
		page := v.get("/account/close").want(http.StatusOK)
		if text := page.text(".note.bad"); !strings.Contains(text, "has other members") ||
			page.has("input[name=confirm]") || len(page.foundLinks(".note.bad a[href^='/labs/']")) == 0 {
			t.Errorf("%s", page.text("main"))
		}
		again := v.post("/account/close", "confirm", people["olivia"]).want(http.StatusConflict)
		if !strings.Contains(again.text(".note.bad"), "has other members") {
			t.Errorf("%s", again.text("main"))
		}
		v.get("/account").want(http.StatusOK)
	})
}

func TestCloseAccountPage_AdminsCloseOthers(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		admin, josiah := w.as("ada"), w.as("josiah")
		path := "/admin/users/" + josiah.actor.ID.String() + "/close"
		if !admin.get("/admin/users?q=josiah").has("a[href='" + path + "']") {
			t.Error("the list of users has no link to it")
		}
		admin.get(path).want(http.StatusOK)
		admin.post(path, "confirm", people["josiah"]).want(http.StatusSeeOther)
		josiah.get("/account").want(http.StatusSeeOther)
		if text := admin.get(path).want(http.StatusOK).text("main"); !strings.Contains(text, "This account is closed") {
			t.Errorf("%s", text)
		}
	})
}

func TestErasurePage_SaysWhatStaysAndAsks(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v := w.as("josiah")
		page := v.get("/account/erasure").want(http.StatusOK)
		if text := page.text("main"); !strings.Contains(text, person.ErasureStays) ||
			!strings.Contains(text, "What is erased") || !strings.Contains(text, "What changes") {
			t.Errorf("%s", text)
		}
		if !v.get("/account/close").has("main a[href='/account/erasure']") {
			t.Error("no link leads from closing an account to erasing it")
		}
		v.post("/account/erasure").want(http.StatusSeeOther)
		page = v.get("/account/erasure").want(http.StatusOK)
		if text := page.text(".note.turn"); !strings.Contains(text, "Planned for") ||
			page.has("form[action='/account/erasure']") {
			t.Errorf("%s", page.text("main"))
		}
		if text := v.get("/notifications").text("main"); !strings.Contains(text, "You asked for the erasure") {
			t.Errorf("the person is not told: %s", text)
		}
		v.post("/account/erasure/withdraw").want(http.StatusSeeOther)
		if !v.get("/account/erasure").has("form[action='/account/erasure']") {
			t.Error("it is not taken back")
		}
		_, err := storetest.SQL(t, w.db).ExecContext(t.Context(), "UPDATE tokens SET created_at = $1",
			time.Now().Add(-person.FreshSignIn-time.Minute).UTC())
		w.must(err)
		page = v.get("/account/erasure").want(http.StatusOK)
		if !page.has("a[href='/signin/start?next=/account/erasure']") || page.has("form[action='/account/erasure']") {
			t.Errorf("long after signing in: %s", page.text("main"))
		}
		v.post("/account/erasure").want(http.StatusForbidden)
	})
}

func TestErasurePage_AdminsGiveAReason(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		admin, josiah := w.as("ada"), w.as("josiah")
		path := "/admin/users/" + josiah.actor.ID.String() + "/erasure"
		if !admin.get(strings.TrimSuffix(path, "erasure") + "close").has("main a[href='" + path + "']") {
			t.Error("no link leads to it")
		}
		admin.post(path, "reason", "").want(http.StatusUnprocessableEntity)
		admin.post(path, "reason", "They asked by letter").want(http.StatusSeeOther)
		for _, page := range []answer{admin.get(path), josiah.get("/account/erasure")} {
			if text := page.text(".note.turn"); !strings.Contains(text, "They asked by letter") {
				t.Errorf("%s", text)
			}
		}
		admin.post(path + "/withdraw").want(http.StatusSeeOther)
		if josiah.get("/account/erasure").has(".note.turn") {
			t.Error("it is not taken back")
		}
		if a := admin.get("/admin/users/" + admin.actor.ID.String() + "/erasure"); a.location != "/account/erasure" {
			t.Errorf("their own leads to %s", a.location)
		}
	})
}

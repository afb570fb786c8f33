package web_test

import (
	"net/http"
	"strings"
	"testing"

	"aliquot/internal/exchange/person"
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

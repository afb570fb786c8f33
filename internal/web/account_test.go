package web_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/identity"
	"aliquot/internal/store"

	"github.com/PuerkitoBio/goquery"
)

// settingsPages are all pages below /account.
var settingsPages = []string{"/account", "/account/storage", "/account/notifications", "/account/appearance",
	"/account/addresses", "/account/addresses/new", "/account/searches",
	"/account/tokens", "/account/sessions", "/account/passkeys", "/account/export", "/account/close",
	"/account/erasure", "/welcome"}

func TestSettings_NeedASignedInPerson(t *testing.T) {
	t.Parallel()
	w := alone(t)
	for _, path := range append(settingsPages, "/account/export/data.zip") {
		if a := w.as("").get(path); a.status != http.StatusSeeOther || !strings.HasPrefix(a.location, "/signin?next=") {
			t.Errorf("%s: %d %s", path, a.status, a.location)
		}
		// Somebody new has nothing yet, which no page may trip over.
		if a := w.as("Newcomer").get(path); a.status != http.StatusOK {
			t.Errorf("%s for somebody new: %d", path, a.status)
		}
	}
	for _, path := range settingsPages {
		a := w.as("josiah").get(path).want(http.StatusOK)
		if a.doc.Find("h1").Length() != 1 || strings.Contains(a.body, "ZgotmplZ") ||
			strings.Contains(a.body, "<no value>") {
			t.Errorf("%s: %s", path, a.text("h1"))
		}
		if strings.Contains(a.body, a.cookies["__Host-session"]) {
			t.Errorf("%s has the token of the session", path)
		}
		a.doc.Find("label[for]").Each(func(i int, label *selection) {
			if id := label.AttrOr("for", ""); !a.has("#" + id) {
				t.Errorf("%s: the label of %s has no field", path, id)
			}
		})
	}
}

func TestProfile_SaysWhoSomebodyIs(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v := w.as("josiah")
		if page := v.get("/account"); !strings.Contains(page.text("label[for=f-email]"),
			"confirmed by your identity provider") {
			t.Errorf("e-mail: %s", page.text("label[for=f-email]"))
		}
		page := v.post("/account", "first_name", "<b>Jo</b>", "last_name", "C", "email",
			"no address").want(http.StatusUnprocessableEntity)
		if page.input("email") != "no address" || page.input("first_name") != "<b>Jo</b>" ||
			!strings.Contains(page.text("#errors"), "The e-mail address must be") {
			t.Errorf("%s: %s", page.input("email"), page.text("#errors"))
		}
		v.post("/account", "first_name", "<b>Jo</b>", "last_name", "C", "email",
			"jo@example.com").want(http.StatusSeeOther)
		page = v.get("/account")
		if page.input("first_name") != "<b>Jo</b>" || strings.Contains(page.body, "<b>Jo") ||
			!strings.Contains(page.text("label[for=f-email]"), "not confirmed") {
			t.Errorf("%s, %s", page.input("first_name"), page.text("label[for=f-email]"))
		}
	})
}

func TestSwitches_AreTurnedOneByOne(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v := w.as("mario")
		own, err := w.app.Labs.OwnSwitches(w.Context(), v.actor)
		w.must(err)
		if len(own) < 2 {
			t.Fatalf("%d memberships", len(own))
		}
		page := v.get("/account/notifications").want(http.StatusOK)
		if n := page.doc.Find("input[role=switch]").Length(); n != 5*len(own) {
			t.Errorf("%d switches of %d labs", n, len(own))
		}
		first, second := own[0].Membership.ID, own[1].Membership.ID
		// Of the first all but reminders, as script sends it; the second is not in the form.
		form := []string{"membership", fmt.Sprint(first)}
		for _, c := range mailing.Categories[:4] {
			form = append(form, fmt.Sprintf("%d.%s", first, c), "on")
		}
		v.post("/account/notifications/switches", form...).want(http.StatusSeeOther)
		own, err = w.app.Labs.OwnSwitches(w.Context(), v.actor)
		w.must(err)
		if s := own[0].Switches; s.Reminder || !s.NewRequest || own[1].Membership.ID != second ||
			own[1].Switches != lab.AllOn {
			t.Errorf("%+v, %+v", own[0].Switches, own[1].Switches)
		}
		// Nobody turns those of another.
		w.as("josiah").post("/account/notifications/switches", "membership",
			fmt.Sprint(second)).want(http.StatusSeeOther)
		if own, err = w.app.Labs.OwnSwitches(w.Context(), v.actor); err != nil || own[1].Switches != lab.AllOn {
			t.Errorf("a stranger turned %+v (%v)", own[1].Switches, err)
		}
	})
}

func TestMailSettings_DecideHowMailComes(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v := w.as("josiah")
	form := []string{"delivery", "WEEKLY", "time_zone", "Europe/Amsterdam", "digest_at", "07:30", "digest_day",
		"FRIDAY", "quiet_from", "22:00", "quiet_until", "07:00",
		"about", "reminder_notif"}
	v.post("/account/notifications", form...).want(http.StatusSeeOther)
	s, err := w.app.Accounts.MailSettings(w.Context(), v.actor, v.actor.ID)
	w.must(err)
	if s.Delivery != mailing.Weekly || s.TimeZone != "Europe/Amsterdam" || s.DigestAt != 450 || s.DigestDay != 5 ||
		s.QuietFrom == nil || len(s.Muted) != len(mailing.AllCategories)-1 {
		t.Errorf("%+v", s)
	}
	page := v.get("/account/notifications")
	if page.input("time_zone") != "Europe/Amsterdam" || page.input("quiet_from") != "22:00" ||
		page.doc.Find("[name=about][checked]").Length() != 1 {
		t.Errorf("shown as %s %s", page.input("time_zone"), page.input("quiet_from"))
	}
	page = v.post("/account/notifications", "delivery", "DAILY", "time_zone", "Mars/Base", "digest_at", "25:00",
		"digest_day", "MONDAY", "quiet_from", "22:00").want(http.StatusUnprocessableEntity)
	for _, field := range []string{"time_zone", "digest_at", "quiet_until"} {
		if page.text("#f-"+field+"-e") == "" || !page.has(`#errors a[href="#f-`+field+`"]`) {
			t.Errorf("nothing about %s: %s", field, page.text("#errors"))
		}
	}
	if page.input("delivery") != "DAILY" || page.input("quiet_from") != "22:00" {
		t.Error("the form is not as it was typed")
	}
}

func TestAddresses_AreAddedChangedAndDeleted(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v := w.as("josiah")
		page := v.post("/account/addresses/new", "name", "Dock", "address_line_1", "", "country",
			"Japan").want(http.StatusUnprocessableEntity)
		if page.input("name") != "Dock" || !strings.Contains(page.text("#errors"), "Enter the street address") ||
			!strings.Contains(page.text("label[for=f-state]"), "Prefecture") {
			t.Errorf("%s", page.text("#errors"))
		}
		v.post("/account/addresses/new", "name", "Dock <i>", "address_line_1", "Gate 2", "locality", "Kyoto", "country",
			"Japan", "saved_for_reuse", "1").want(http.StatusSeeOther)
		page = v.get("/account/addresses")
		edit := page.doc.Find("main a.btn").FilterFunction(func(_ int,
			s *selection) bool {
			return strings.Contains(s.Text(), "Dock")
		}).AttrOr("href", "")
		if edit == "" || strings.Contains(page.body, "Dock <i>") {
			t.Fatalf("not listed: %s", page.text("main"))
		}
		w.as("mario").get(edit).want(http.StatusNotFound)
		w.as("mario").post(edit + "/delete").want(http.StatusNotFound)
		if page = v.get(edit).want(http.StatusOK); page.input("locality") != "Kyoto" ||
			page.input("name") != "Dock <i>" {
			t.Errorf("%s", page.input("locality"))
		}
		v.post(edit, "name", "Dock", "address_line_1", "Gate 3", "locality", "Kyoto", "country",
			"Japan").want(http.StatusSeeOther)
		if page = v.get("/account/addresses"); !strings.Contains(page.text("main"), "Gate 3") ||
			!strings.Contains(page.text("main"), "not offered on forms") {
			t.Errorf("%s", page.text("main"))
		}
		v.post(edit + "/delete").want(http.StatusSeeOther)
		v.get(edit).want(http.StatusNotFound)
	})
}

func TestSavedSearch_IsRenamedAndDeleted(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v := w.as("josiah")
	s, err := w.app.Materials.CreateSavedSearch(w.Context(), v.actor, v.actor.ID,
		material.SavedSearchPatch{Name: exchange.Some("Colon"), Search: exchange.Some("colon <cancer>"),
			Filters: exchange.Some(material.Filters{"category": {"CELL_LINE"}})})
	w.must(err)
	path := fmt.Sprintf("/account/searches/%d", s.ID)
	page := v.get("/account/searches").want(http.StatusOK)
	if !page.has(`a[href="/catalog?category=CELL_LINE&q=colon+%3Ccancer%3E"]`) {
		t.Errorf("leads to %s", page.doc.Find("main ul.lines a").AttrOr("href", ""))
	}
	long := strings.Repeat("x", 300)
	if page = v.post(path, "name", long).want(http.StatusUnprocessableEntity); page.input("name") != long {
		t.Error("the name is not as it was typed")
	}
	v.post(path, "name", "Gut").want(http.StatusSeeOther)
	if s, err = w.app.Materials.SavedSearch(w.Context(), v.actor, v.actor.ID, s.ID); err != nil || s.Name != "Gut" || s.Alerts {
		t.Errorf("%+v %v", s, err)
	}
	if got := v.post(path, "name", "Gut", "alerts", "on").follow().text("main"); !strings.Contains(got, "alerts on") {
		t.Error(got)
	}
	w.as("mario").post(path + "/delete").want(http.StatusNotFound)
	v.post(path + "/delete").want(http.StatusSeeOther)
	if page = v.get("/account/searches"); !strings.Contains(page.text("main"), "No saved searches") {
		t.Errorf("%s", page.text("main"))
	}
}

func TestTheme_IsKeptByTheBrowser(t *testing.T) {
	t.Parallel()
	v := alone(t).as("josiah")
	v.post("/account/appearance", "theme", "dark").want(http.StatusSeeOther)
	page := v.get("/account/appearance")
	if page.doc.Find("html").AttrOr("data-theme", "") != "dark" || page.has("body[data-keys]") ||
		page.input("theme") != "dark" {
		t.Error("not dark, or with shortcuts")
	}
	v.post("/account/appearance", "theme", "", "keys", "on").want(http.StatusSeeOther)
	if page = v.get("/account/appearance"); page.has("html[data-theme]") || !page.has("body[data-keys]") {
		t.Error("not as the device, or without shortcuts")
	}
}

func TestExport_HasAllOfThePersonAndNoSecret(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v := w.as("josiah")
		v.post("/account/addresses/new", "name", "Dock", "address_line_1", "Gate 2", "locality", "Kyoto", "country",
			"Japan").want(http.StatusSeeOther)
		a := v.get("/account/export/data.zip").want(http.StatusOK)
		z, err := zip.NewReader(bytes.NewReader([]byte(a.body)), int64(len(a.body)))
		w.must(err)
		lists := map[string][]map[string]any{}
		for _, f := range z.File {
			r, err := f.Open()
			w.must(err)
			text, err := io.ReadAll(r)
			w.must(err)
			if name, is := strings.CutSuffix(f.Name, ".json"); is {
				var list []map[string]any
				w.must(json.Unmarshal(text, &list))
				lists[name] = list
			}
			for _, secret := range []string{v.cookies["__Host-session"], "hash_of", "content_key"} {
				if strings.Contains(string(text), secret) {
					t.Errorf("%s has a secret", f.Name)
				}
			}
			for name, id := range people {
				if !strings.Contains(f.Name, "README") && name != "josiah" &&
					strings.Contains(string(text), name+"@example.org") {
					t.Errorf("%s has the address of %s (%s)", f.Name, name, id)
				}
			}
		}
		made, err := w.app.Requests.Requests(w.Context(), v.actor, exchange.Page{Limit: 100},
			request.Filter{Requester: &v.actor.ID})
		w.must(err)
		if len(lists["requests"]) != len(made.Items) || len(lists["requests"]) == 0 || len(lists["addresses"]) != 2 ||
			len(lists["profile"]) != 1 || len(lists["notifications"]) == 0 || len(lists["tokens"]) == 0 {
			t.Errorf("%d requests, %d addresses", len(lists["requests"]), len(lists["addresses"]))
		}
		for _, q := range lists["requests"] {
			if events, is := q["Events"].([]any); !is || len(events) == 0 {
				t.Errorf("request %v without what happened in it", q["ID"])
			}
		}
		if _, err := w.app.Accounts.ExportAccount(w.Context(), w.as("mario").actor,
			v.actor.ID); exchange.CodeOf(err) != exchange.Forbidden {
			t.Errorf("another exports it: %v", err)
		}
	})
}

func TestFirstSteps_AreTakenOrSkipped(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v := w.as("Newcomer")
		page := v.get("/welcome?next=%2Fcatalog%3Fq%3Dx").want(http.StatusOK)
		if !page.has(`a[href="/catalog?q=x"]`) || !page.has("[name=email]") || page.input("first_name") != "Newcomer" {
			t.Errorf("no way on, or no e-mail asked for: %s", page.text("main"))
		}
		if evil := v.get("/welcome?next=https%3A%2F%2Fevil.example"); evil.input("next") != "/" {
			t.Errorf("leads to %s", evil.input("next"))
		}
		page = v.post("/welcome", "next", "/catalog?q=x", "first_name", "Nina", "last_name", "New", "email", "nina",
			"time_zone", "Asia/Tokyo", "name", "Nina New", "locality", "Kyoto").want(http.StatusUnprocessableEntity)
		if page.input("locality") != "Kyoto" || page.input("next") != "/catalog?q=x" || !page.has("details[open]") ||
			!strings.Contains(page.text("#errors"), "Enter the country") ||
			!strings.Contains(page.text("#errors"), "The e-mail address must") {
			t.Errorf("%s", page.text("#errors"))
		}
		if u, err := w.app.Accounts.User(w.Context(), v.actor, v.actor.ID); err != nil || u.FirstName == "Nina" ||
			len(u.Addresses) > 0 {
			t.Errorf("half of it was kept: %+v %v", u.User, err)
		}
		done := v.post("/welcome", "next", "/catalog?q=x", "first_name", "Nina", "last_name", "New", "email",
			"nina@example.org", "time_zone", "Asia/Tokyo",
			"name", "Nina New", "address_line_1", "1 Street", "locality", "Kyoto", "country",
			"Japan").want(http.StatusSeeOther)
		u, err := w.app.Accounts.User(w.Context(), v.actor, v.actor.ID)
		w.must(err)
		s, err := w.app.Accounts.MailSettings(w.Context(), v.actor, v.actor.ID)
		w.must(err)
		if done.location != "/catalog?q=x" || u.FirstName != "Nina" || u.Email != "nina@example.org" ||
			len(u.Addresses) != 1 || s.TimeZone != "Asia/Tokyo" {
			t.Errorf("to %s: %+v, %s", done.location, u.User, s.TimeZone)
		}
		if page = v.get("/welcome"); page.has("[name=email]") {
			t.Error("e-mail is asked for again")
		}
	})
}

func TestSettings_RunAConstantNumberOfStatements(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v := w.as("josiah")
	count := func() map[string]int64 {
		statements := map[string]int64{}
		for _, path := range settingsPages {
			before := w.db.Queries()
			v.get(path).want(http.StatusOK)
			statements[path] = w.db.Queries() - before
		}
		return statements
	}
	few := count()
	for i := range 12 {
		v.post("/account/addresses/new", "name", "N", "address_line_1", "L", "locality", "T", "country",
			"Italy").want(http.StatusSeeOther)
		v.post("/account/tokens", "name", "n").want(http.StatusOK)
		_, err := w.app.Materials.CreateSavedSearch(w.Context(), v.actor, v.actor.ID,
			material.SavedSearchPatch{Search: exchange.Some(fmt.Sprint(i))})
		w.must(err)
		_, err = w.app.Labs.CreateOrganization(w.Context(), v.actor,
			lab.OrganizationPatch{Owner: exchange.Some(exchange.UserRef(v.actor.ID)),
				Members: exchange.Some([]exchange.UserRef{})})
		w.must(err)
		_, err = w.app.Accounts.SignIn(w.Context(), identity.Person{RegistryID: people["josiah"]}, person.Registration{})
		w.must(err)
	}
	for path, n := range count() {
		if n != few[path] {
			t.Errorf("%s: %d statements, before %d", path, n, few[path])
		}
	}
}

// selection is what a selector finds.
type selection = goquery.Selection

func TestMailAddress_RefusedByTheServerIsShownAndTriedAgain(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v := w.as("josiah")
		if page := v.get("/account/notifications"); page.has("main .note.bad") {
			t.Error("an address is refused that was not")
		}
		s := mailing.Default(v.actor.ID)
		s.Refused = &mailing.Rejection{Address: "requester@example.org", Reason: "<b>550</b> no such user",
			At: w.db.Read().Now}
		w.must(w.db.Tx(w.Context(),
			func(ctx context.Context, tx store.Conn) error { return tx.Mail.SaveSettings(ctx, s) }))
		page := v.get("/account/notifications").want(http.StatusOK)
		if got := page.text("main .note.bad"); !strings.Contains(got, "requester@example.org was refused") ||
			!strings.Contains(got, "<b>550</b>") {
			t.Errorf("%s", got)
		}
		v.post("/account/notifications/retry").want(http.StatusSeeOther)
		if page = v.get("/account/notifications"); page.has("main .note.bad") {
			t.Error("it is still refused")
		}
	})
}

func TestSwitch_WithScriptGetsItsPartOfThePage(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v := w.as("josiah")
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost,
		"http://example.org/account/notifications/switches", strings.NewReader("membership=1"))
	for name, value := range map[string]string{"Content-Type": "application/x-www-form-urlencoded",
		"HX-Request": "true", "HX-Request-Type": "partial", "HX-Target": "span#switches-saved"} {
		r.Header.Set(name, value)
	}
	if a := v.send(r).want(http.StatusOK); a.has("main") || !strings.Contains(a.text("#switches-saved"), "Saved") {
		t.Errorf("%s", a.body)
	}
}

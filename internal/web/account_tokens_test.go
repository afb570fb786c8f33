package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"aliquot/internal/app/account"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
	"aliquot/internal/identity"
	"aliquot/internal/store/storetest"
)

func TestToken_IsShownOnceAndRevoked(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v := w.as("josiah")
		v.post("/account/tokens", "name", "").want(http.StatusUnprocessableEntity)
		page := v.post("/account/tokens", "name", "freezer-sync").want(http.StatusOK)
		secret := page.text("#secret")
		who, err := w.app.Accounts.Actor(w.Context(), secret)
		if err != nil || who.ID != v.actor.ID {
			t.Fatalf("the token %q is of %v: %v", secret, who.ID, err)
		}
		page = v.get("/account/tokens")
		if strings.Contains(page.body, secret) || !strings.Contains(page.text("table"), "freezer-sync") {
			t.Errorf("%s", page.text("table"))
		}
		revoke := fmt.Sprintf("/account/tokens/%d/revoke", who.TokenID)
		w.as("mario").post(revoke).want(http.StatusNotFound)
		v.post(revoke).want(http.StatusSeeOther)
		if _, err := w.app.Accounts.Actor(w.Context(), secret); exchange.CodeOf(err) != exchange.NotAuthenticated {
			t.Errorf("it still works: %v", err)
		}
	})
}

func TestSession_EndsHereOrEverywhere(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		here, there, program := w.as("josiah"), w.as("josiah"), w.as("josiah")
		for _, v := range []*visitor{here, there} {
			signed, err := w.app.Accounts.SignInBrowser(w.Context(), identity.Person{RegistryID: people["josiah"]},
				person.Registration{}, account.Browser{Name: "Firefox on Linux"})
			w.must(err)
			v.cookies["__Host-session"] = signed.Token
		}
		page := here.get("/account/sessions").want(http.StatusOK)
		if page.doc.Find("main ul.lines li").Length() != 2 || page.doc.Find("main ul.lines .tag.good").Length() != 1 {
			t.Errorf("%s", page.text("main"))
		}
		here.post("/account/sessions/others").want(http.StatusSeeOther)
		here.get("/account").want(http.StatusOK)
		there.get("/account").want(http.StatusSeeOther)
		program.get("/account").want(http.StatusOK)
		here.post("/account/sessions/all").want(http.StatusSeeOther)
		if here.cookies["__Host-session"] != "" {
			t.Error("the cookie is still there")
		}
		program.get("/account").want(http.StatusSeeOther)
		w.as("josiah").get("/account").want(http.StatusOK)
	})
}

func TestSession_LastUseIsWrittenOnceAnHour(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		here, there := w.as("josiah"), w.as("josiah")
		for _, v := range []*visitor{here, there} {
			signed, err := w.app.Accounts.SignInBrowser(w.Context(), identity.Person{RegistryID: people["josiah"]},
				person.Registration{}, account.Browser{Name: "Firefox on Linux"})
			w.must(err)
			v.cookies["__Host-session"] = signed.Token
		}
		said := func() string { return here.get("/account/sessions").text("main ul.lines") }
		if text := said(); !strings.Contains(text, "used now") || !strings.Contains(text, "used within the last hour") {
			t.Errorf("just signed in: %s", text)
		}
		hash := core.Hash(there.cookies["__Host-session"])
		raw := storetest.SQL(w, w.db)
		rest := func(d time.Duration) {
			_, err := raw.ExecContext(w.Context(), "UPDATE tokens SET used_at = $1 WHERE hash = $2",
				time.Now().UTC().Truncate(time.Microsecond).Add(-d), hash)
			w.must(err)
		}
		used := func() (at time.Time) {
			w.must(raw.QueryRowContext(w.Context(), "SELECT used_at FROM tokens WHERE hash = $1", hash).Scan(&at))
			return at
		}
		rest(73 * time.Hour)
		if text := said(); !strings.Contains(text, "last used 3 days ago") {
			t.Errorf("after three days: %s", text)
		}
		there.get("/account").want(http.StatusOK)
		if since := time.Since(used()); since > time.Minute {
			t.Errorf("it was used %s ago, which is not noted", since)
		}
		rest(50 * time.Minute)
		before := used()
		there.get("/account").want(http.StatusOK)
		if !used().Equal(before) {
			t.Error("a page within the hour writes")
		}
	})
}

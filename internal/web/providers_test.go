package web_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"aliquot/internal/demo"
	"aliquot/internal/exchange/person"
	"aliquot/internal/identity"
	"aliquot/internal/store/storetest"
)

// university adds a further identity provider to a world, at which the sample people can sign in too.
func (w *world) university(name, label string) {
	w.Helper()
	server := httptest.NewUnstartedServer(nil)
	issuer := "http://" + server.Listener.Addr().String() + "/demo/identity"
	provider, err := identity.NewDemo(issuer, demo.People())
	w.must(err)
	server.Config.Handler = provider
	server.Start()
	w.Cleanup(server.Close)
	client, err := identity.New(identity.Config{Issuer: issuer, ClientID: identity.DemoClientID, ClientSecret: "demo",
		Further: true})
	w.must(err)
	w.app.Providers = append(w.app.Providers, identity.Provider{Name: name, Label: label, Client: client})
}

// signsInAt signs somebody in at a provider ("": the main one) and returns the answer to their coming back.
func (v *visitor) signsInAt(provider, person string) answer {
	v.Helper()
	back := v.get("/signin/start?provider="+provider).consentsAt(provider, person)
	return v.get(back.RequestURI())
}

func TestSignIn_AtAnotherProviderIsLinkedOnce(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		w.provided()
		w.university("uni", "University of Example")
		v := w.as("")
		if page := v.get("/signin").want(http.StatusOK); !strings.Contains(page.text("main"), "University of Example") {
			t.Errorf("the page to sign in: %s", page.text("main"))
		}
		if a := v.signsInAt("uni", "josiah").want(http.StatusSeeOther); a.location != "/signin/link" ||
			v.cookies["__Host-session"] != "" {
			t.Fatalf("an unknown sign-in leads to %s", a.location)
		}
		page := v.get("/signin/link").want(http.StatusOK)
		if page.has("form[action='/signin/link']") || !page.has("a[href='/signin/start?next=/signin/link']") {
			t.Errorf("before the main provider: %s", page.text("main"))
		}
		v.post("/signin/link").want(http.StatusSeeOther) // to sign in first
		v.signsInAt("", "josiah").want(http.StatusSeeOther)
		if page := v.get("/signin/link").want(http.StatusOK); !page.has("form[action='/signin/link']") {
			t.Errorf("after the main provider: %s", page.text("main"))
		}
		sealed := v.cookies["__Host-link"]
		v.post("/signin/link").want(http.StatusSeeOther)
		if text := v.get("/notifications").text("main"); !strings.Contains(text,
			"linked a sign-in at University of Example") {
			t.Errorf("notified of %s", text)
		}

		other := w.as("")
		if a := other.signsInAt("uni", "josiah").want(http.StatusSeeOther); a.location != "/" {
			t.Errorf("a linked sign-in leads to %s", a.location)
		}
		sessions := other.get("/account/sessions").want(http.StatusOK)
		if text := sessions.text("main"); !strings.Contains(text, "signed in at University of Example") ||
			!strings.Contains(text, "as "+people["josiah"]) {
			t.Errorf("the page of sessions: %s", text)
		}

		thief := w.as("") // somebody else cannot link what is linked
		thief.signsInAt("", "mario")
		thief.cookies["__Host-link"] = sealed
		if a := thief.post("/signin/link").want(http.StatusUnprocessableEntity); !strings.Contains(a.text(".note.bad"),
			"already") {
			t.Errorf("a linked sign-in, again: %s", a.text("main"))
		}

		unlink := sessions.doc.Find("form[action$='/unlink']").AttrOr("action", "")
		thief.post(unlink).want(http.StatusNotFound)
		v.post(unlink).want(http.StatusSeeOther)
		if a := other.get("/account/sessions").want(http.StatusSeeOther); !strings.HasPrefix(a.location, "/signin") {
			t.Errorf("after unlinking, its session leads to %s", a.location)
		}
		v.get("/account/sessions").want(http.StatusOK)
		if a := w.as("").signsInAt("uni", "josiah").want(http.StatusSeeOther); a.location != "/signin/link" {
			t.Errorf("after unlinking, a sign-in leads to %s", a.location)
		}
	})
}

func TestSignIn_IsLinkedOnlyRightAfterTheMainProvider(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		w.provided()
		w.university("uni", "University of Example")
		w.university("other", "Other University")
		v := w.as("")
		v.signsInAt("", "josiah")
		v.signsInAt("uni", "josiah")
		v.post("/signin/link")
		refuses := func(what string) {
			w.Helper()
			page := v.get("/signin/link").want(http.StatusOK)
			if a := v.post("/signin/link").want(http.StatusSeeOther); a.location != "/signin/link" ||
				page.has("form[action='/signin/link']") {
				t.Errorf("%s: %s, to %s", what, page.text("main"), a.location)
			}
		}
		second := w.as("")
		first := v
		v = second
		v.signsInAt("uni", "josiah")
		v.signsInAt("other", "josiah")
		refuses("a session of another provider")
		v = first
		v.signsInAt("other", "josiah")
		_, err := storetest.SQL(t, w.db).ExecContext(t.Context(), "UPDATE tokens SET created_at = $1",
			time.Now().UTC().Add(-person.FreshSignIn-time.Minute))
		w.must(err)
		refuses("an old session")
		v.cookies["__Host-link"] = "e30.AAAAAAAAAAAAAAAAAAAAAA"
		v.get("/signin/link").want(http.StatusUnprocessableEntity)
		v.post("/signin/link").want(http.StatusUnprocessableEntity)
	})
}

// TestSignIn_OneProviderCannotAnswerForAnother holds the defences against mix-up (RFC 9700 section 4.4): a callback of
// its own for each provider, to which the state is bound, and iss (RFC 9207).
func TestSignIn_OneProviderCannotAnswerForAnother(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		w.provided()
		w.university("uni", "University of Example")
		w.university("evil", "Another one")
		v := w.as("")
		for what, tamper := range map[string]func(begun, foreign *url.URL) string{
			"the callback of the main provider": func(begun, _ *url.URL) string {
				return strings.Replace(begun.RequestURI(), "/callback/uni", "/callback", 1)
			},
			"the callback of another provider": func(begun, _ *url.URL) string {
				return strings.Replace(begun.RequestURI(), "/callback/uni", "/callback/evil", 1)
			},
			"the code of another provider": func(begun, foreign *url.URL) string {
				return with(begun, "code", foreign.Query().Get("code"))
			},
			"the issuer of another provider": func(begun, foreign *url.URL) string {
				return with(begun, "iss", foreign.Query().Get("iss"))
			},
			"no issuer": func(begun, _ *url.URL) string { return with(begun, "iss", "") },
		} {
			foreign := w.as("").get("/signin/start?provider=evil").consentsAt("evil", "josiah")
			begun := v.get("/signin/start?provider=uni").consentsAt("uni", "josiah")
			a := v.get(tamper(begun, foreign)).want(http.StatusUnprocessableEntity)
			if v.cookies["__Host-session"] != "" || v.cookies["__Host-link"] != "" {
				t.Errorf("%s: %s", what, a.text("main"))
			}
			v.get(begun.RequestURI()).want(http.StatusUnprocessableEntity) // that sign-in is over
		}
		v.get("/signin/start?provider=none").want(http.StatusUnprocessableEntity)
	})
}

package web_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"aliquot/internal/demo"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
	"aliquot/internal/identity"
	"aliquot/internal/store/storetest"
	"aliquot/internal/web"
)

// provided runs for a world the built-in identity provider, on a listener.
func (w *world) provided() {
	w.Helper()
	server := httptest.NewUnstartedServer(nil)
	issuer := "http://" + server.Listener.Addr().String() + "/demo/identity"
	provider, err := identity.NewDemo(issuer, demo.People())
	w.must(err)
	server.Config.Handler = provider
	server.Start()
	w.Cleanup(server.Close)
	w.app.Identity, err = identity.New(identity.Config{Issuer: issuer, ClientID: identity.DemoClientID,
		ClientSecret: "demo", ORCID: true})
	w.must(err)
}

// consents goes to the identity provider, is somebody there, and returns the path and query that it leads back to.
func (a answer) consents(person string) *url.URL { return a.consentsAt("", person) }

// consentsAt is consents for one of several providers.
func (a answer) consentsAt(provider, person string) *url.URL {
	a.Helper()
	callback := "http://example.org/signin/callback"
	if provider != "" {
		callback += "/" + provider
	}
	u, err := url.Parse(a.want(http.StatusSeeOther).location)
	a.must(err)
	q := u.Query()
	for _, name := range []string{"state", "nonce", "code_challenge"} {
		if len(q.Get(name)) < 20 {
			a.Errorf("%s is %q", name, q.Get(name))
		}
	}
	if q.Get("code_challenge_method") != "S256" || q.Get("redirect_uri") != callback {
		a.Errorf("asked with %v", q)
	}
	q.Set("login_hint", people[person])
	u.RawQuery = q.Encode()
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := http.NewRequestWithContext(a.Context(), http.MethodGet, u.String(), http.NoBody)
	a.must(err)
	response, err := client.Do(r)
	a.must(err)
	a.must(response.Body.Close())
	back, err := response.Location()
	a.must(err)
	return back
}

func with(u *url.URL, name, value string) string {
	q := u.Query()
	q.Set(name, value)
	if value == "" {
		q.Del(name)
	}
	return u.Path + "?" + q.Encode()
}

func TestSignIn_OnlyTheBrowserThatBeganItEndsIt(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		w.provided()
		v := w.as("")
		back := v.get("/signin/start?next=/requests").consents("josiah")
		for _, cookie := range v.get("/signin/start").header["Set-Cookie"] {
			for _, want := range []string{"__Host-", "; Path=/;", "; Secure", "; HttpOnly", "; SameSite=Lax"} {
				if !strings.Contains(cookie, want) || strings.Contains(cookie, "Domain") {
					t.Errorf("%s lacks %s", cookie, want)
				}
			}
		}
		v.get(back.RequestURI()).want(http.StatusUnprocessableEntity) // of the start before

		for name, tamper := range map[string]func(v *visitor, back *url.URL) string{
			"state":     func(_ *visitor, back *url.URL) string { return with(back, "state", "x") },
			"no state":  func(_ *visitor, back *url.URL) string { return with(back, "state", "") },
			"issuer":    func(_ *visitor, back *url.URL) string { return with(back, "iss", "https://orcid.org") },
			"no issuer": func(_ *visitor, back *url.URL) string { return with(back, "iss", "") },
			"code":      func(_ *visitor, back *url.URL) string { return with(back, "code", "x") },
			"no code":   func(_ *visitor, back *url.URL) string { return with(back, "code", "") },
			"another's code": func(_ *visitor, back *url.URL) string {
				return with(back, "code", w.as("").get("/signin/start").consents("ada").Query().Get("code"))
			},
			"another verifier": func(v *visitor,
				back *url.URL) string {
				v.keep("v", strings.Repeat("x", 50))
				return back.RequestURI()
			},
			"another nonce": func(v *visitor,
				back *url.URL) string {
				v.keep("o", strings.Repeat("x", 26))
				return back.RequestURI()
			},
			"a cookie of before": func(v *visitor, back *url.URL) string { v.keep("o", ""); return back.RequestURI() },
			"another browser": func(v *visitor,
				back *url.URL) string {
				v.cookies = map[string]string{}
				return back.RequestURI()
			},
		} {
			v := w.as("")
			path := tamper(v, v.get("/signin/start").consents("josiah"))
			if a := v.get(path); a.status != http.StatusUnprocessableEntity || v.cookies["__Host-session"] != "" ||
				a.text(".note.bad") == "" {
				t.Errorf("%s: %d %s", name, a.status, a.text("main"))
			}
		}

		v = w.as("")
		back = v.get("/signin/start?next=/requests").consents("josiah")
		if a := v.get(back.RequestURI()); a.status != http.StatusSeeOther || a.location != "/requests" {
			t.Fatalf("%d to %s: %s", a.status, a.location, a.text("main"))
		}
		v.get("/account").want(http.StatusOK)
		v.get(back.RequestURI()).want(http.StatusUnprocessableEntity) // once more
	})
}

// keep changes what the browser keeps of the sign-in that it began.
func (v *visitor) keep(name, value string) {
	v.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(v.cookies["__Host-signin"])
	v.must(err)
	var kept map[string]string
	v.must(json.Unmarshal(raw, &kept))
	kept[name] = value
	raw, err = json.Marshal(kept)
	v.must(err)
	v.cookies["__Host-signin"] = base64.RawURLEncoding.EncodeToString(raw)
}

func TestSignIn_EndsTheSessionThatTheBrowserHad(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		w.provided()
		v, elsewhere := w.as(""), w.as("")
		for _, browser := range []*visitor{v, elsewhere} {
			browser.get(browser.get("/signin/start").consents("josiah").RequestURI()).want(http.StatusSeeOther)
		}
		before := v.cookies["__Host-session"]
		v.get(v.get("/signin/start").consents("mario").RequestURI()).want(http.StatusSeeOther)
		if _, err := w.app.Accounts.Actor(w.Context(), before); exchange.CodeOf(err) != exchange.NotAuthenticated {
			t.Errorf("the old session still works: %v", err)
		}
		who, err := w.app.Accounts.Actor(w.Context(), v.cookies["__Host-session"])
		if err != nil || who.ID != w.as("mario").actor.ID {
			t.Errorf("%v, %v", who.ID, err)
		}
		elsewhere.get("/account").want(http.StatusOK)

		program, err := w.app.Accounts.SignIn(w.Context(), identity.Person{RegistryID: people["josiah"]},
			person.Registration{})
		w.must(err)
		v.cookies["__Host-session"] = program.Token // which is no session
		v.get(v.get("/signin/start").consents("mario").RequestURI()).want(http.StatusSeeOther)
		if _, err := w.app.Accounts.Actor(w.Context(), program.Token); err != nil {
			t.Errorf("the token of a program ended: %v", err)
		}
	})
}

func TestSignIn_ShowsAndLogsWhatTheProviderSays(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	w := newWorld(t, openDemo(t, storetest.SQLite),
		func(c *web.Config) { c.App.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	w.provided()
	v := w.as("")
	back := v.get("/signin/start").consents("josiah")
	q := back.Query()
	q.Del("code")
	q.Set("error", "access_denied")
	q.Set("error_description", "<script>alert(1)</script> not today"+strings.Repeat("x", 3000))
	forged := w.as("").get(back.Path + "?" + q.Encode()).want(http.StatusUnprocessableEntity)
	if strings.Contains(forged.body, "not today") {
		t.Error("a page shows anybody's words")
	}
	a := v.get(back.Path + "?" + q.Encode()).want(http.StatusUnprocessableEntity)
	if text := a.text(".note.bad"); !strings.Contains(text, "access_denied: <script>alert(1)</script> not today") ||
		strings.Contains(a.body, "<script>alert") || len(text) > 500 {
		t.Errorf("%s", text)
	}
	if !strings.Contains(log.String(), "access_denied: <script>alert(1)</script> not today") ||
		len(log.String()) > 2000 {
		t.Errorf("the log: %s", log.String())
	}
}

func TestSignIn_AProviderThatIsDownIsToldAndLogged(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	w := newWorld(t, openDemo(t, storetest.SQLite),
		func(c *web.Config) { c.App.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	var err error
	w.app.Identity, err = identity.New(identity.Config{Issuer: gone.URL, ClientID: "x", ClientSecret: "hush"})
	w.must(err)
	if a := w.as("").get("/signin").want(http.StatusOK); a.has(".note.bad") {
		t.Errorf("nothing was tried yet: %s", a.text("main"))
	}
	a := w.as("").get("/signin/start").want(http.StatusServiceUnavailable)
	if strings.Contains(a.body, gone.URL) || !strings.Contains(log.String(), "discovery at "+gone.URL) ||
		!strings.Contains(log.String(), "path=/signin/start") {
		t.Errorf("the log: %s", log.String())
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.app.Accounts.WatchIdentity(w.Context())
	}()
	for w.app.Identity.Trouble() == nil && w.Context().Err() == nil {
		w.app.DB.Read()
	}
	if a := w.as("").get("/signin").want(http.StatusOK); !strings.Contains(a.text(".note.bad"),
		"not available at the moment") || strings.Contains(a.body, gone.URL) {
		t.Errorf("%s", a.text("main"))
	}
	w.Cleanup(func() { <-ended })
}

package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"aliquot/internal/app"
	"aliquot/internal/exchange"
	"aliquot/internal/identity"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"

	"golang.org/x/oauth2"
)

// loginWorld is a world whose people sign in at the built-in provider.
func loginWorld(t *testing.T, db *store.DB, change func(*app.Config)) *world {
	t.Helper()
	return newWorldWith(t, db, func(c *app.Config) {
		c.Identity = demo(t).client
		if change != nil {
			change(c)
		}
	})
}

// login signs the person with that number in.
func (w *world) login(n int) answer {
	w.t.Helper()
	return w.anonymous().want(200, "POST", "/login", obj{"code": demo(w.t).code(w.t, n), "origin_url": origin})
}

func (w *world) holder(a answer) *testPerson {
	return &testPerson{w: w, Token: a.Body["token"].(string)}
}

func TestLogin_RegistersOnlyTheFirstTime(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := loginWorld(t, db, nil)
		first := w.login(1)
		if first.Header.Get("Cache-Control") != "no-store" ||
			!strings.HasPrefix(first.Body["token"].(string), "alq_") || len(first.Body["token"].(string)) < 50 {
			t.Errorf("%s %v", first.Raw, first.Header)
		}
		expires, err := time.Parse("2006-01-02T15:04:05.000Z", first.Body["expires"].(string))
		if left := time.Until(expires); err != nil || left < 59*time.Minute || left > time.Hour {
			t.Errorf("expires %v, %v", first.Body["expires"], err)
		}
		before := w.rows()
		second := w.login(1)
		if second.Body["user_id"] != first.Body["user_id"] || second.Body["token"] == first.Body["token"] ||
			grew(before, w.rows()) != "tokens+1 audit_events+1" {
			t.Errorf("%s, then %s: %s", first.Raw, second.Raw, grew(before, w.rows()))
		}
		// Both tokens work, and the secret itself is kept nowhere.
		path := "/users/" + first.Body["user_id"].(string)
		for _, a := range []answer{first, second} {
			me := w.holder(a).want(200, "GET", path, nil)
			if me.Body["registry_id"] != orcid(1) || me.Body["username"] != orcid(1) ||
				me.Body["first_name"] != "Josiah" || me.Body["last_name"] != "Carberry 1" ||
				me.Body["email"] != "josiah1@brown.example" {
				t.Errorf("%s", me.Raw)
			}
			labs := me.Body["owned_organizations"].([]any)
			if len(labs) != 1 || labs[0].(map[string]any)["name"] != "Josiah Carberry 1 lab" {
				t.Errorf("personal organization: %v", labs)
			}
			settings := w.holder(a).want(200, "GET", "/organization-user-settings", nil).List
			if len(settings) != 1 || settings[0].(map[string]any)["reminder_notif"] != true {
				t.Errorf("settings: %v", settings)
			}
			var n int
			if err := w.sql.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM tokens WHERE hash = $1",
				a.Body["token"]).Scan(&n); err != nil || n != 0 {
				t.Errorf("the token itself is kept: %d, %v", n, err)
			}
		}
	})
}

func TestLogin_Answers201OnceAnd200Afterwards(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := loginWorld(t, db, nil)
		body := func() obj {
			return obj{"code": demo(t).code(t, 2), "origin_url": origin, "first_name": " Jo ", "last_name": "C.",
				"email": "jo@example.org"}
		}
		made := w.anonymous().want(201, "POST", "/users/", body())
		again := body()
		again["first_name"] = "Other"
		had := w.anonymous().want(200, "POST", "/users/", again)
		if made.Body["user_id"] != had.Body["user_id"] || made.Header.Get("Cache-Control") != "no-store" ||
			had.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s, then %s", made.Raw, had.Raw)
		}
		me := w.holder(had).want(200, "GET", "/users/"+had.Body["user_id"].(string), nil)
		if me.Body["first_name"] != "Jo" || me.Body["last_name"] != "C." || me.Body["email"] != "jo@example.org" {
			t.Errorf("%s", me.Raw)
		}
		// The same new person at ten doors at once is one person.
		codes := make([]string, 10)
		for i := range codes {
			codes[i] = demo(t).code(t, 3)
		}
		before, created := w.rows(), 0
		for _, a := range atOnce(func(i int) answer {
			return w.anonymous().call("POST", "/users", obj{"code": codes[i], "origin_url": origin})
		}) {
			if a.Status == 201 {
				created++
			} else if a.Status != 200 {
				t.Errorf("%d %s", a.Status, a.Raw)
			}
		}
		if diff := grew(before, w.rows()); created != 1 || diff != "users+1 tokens+10 organizations+1 memberships+1 "+
			"audit_events+11 organization_index+1 user_index+1" {
			t.Errorf("%d created: %s", created, diff)
		}
	})
}

func TestLogin_RefusesAnInvalidCode(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := loginWorld(t, db, nil)
		used := demo(t).code(t, 4)
		w.anonymous().want(200, "POST", "/login", obj{"code": used, "origin_url": origin})
		w.unchanged("a bad login", func() {
			for _, path := range []string{"/login", "/users/"} {
				w.anonymous().refused(400, "INVALID_CODE", "POST", path, obj{"code": used, "origin_url": origin})
				w.anonymous().refused(400, "INVALID_CODE", "POST", path, obj{"code": "made-up", "origin_url": origin})
				w.anonymous().refused(400, "INVALID_CODE", "POST", path,
					obj{"code": strings.Repeat("x", 8_000), "origin_url": origin})
				w.anonymous().refused(400, "INVALID_CODE", "POST", path,
					obj{"code": demo(t).code(t, 4), "origin_url": "https://thief.example"})
				a := w.anonymous().refused(400, "INVALID_INPUT", "POST", path, obj{})
				if a.at("fields.code") == nil || a.at("fields.origin_url") == nil {
					t.Errorf("%s", a.Raw)
				}
			}
			a := w.anonymous().refused(400, "INVALID_INPUT", "POST", "/users",
				obj{"first_name": strings.Repeat("x", 256), "email": "x"})
			for _, name := range []string{"first_name", "email", "code", "origin_url"} {
				if a.at("fields."+name) == nil {
					t.Errorf("%s is not named: %s", name, a.Raw)
				}
			}
		})
	})
}

func TestLogin_TakesTheVerifierOfACodeThatHasAChallenge(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := loginWorld(t, db, nil)
		verifier := oauth2.GenerateVerifier()
		code := func() string {
			return demo(t).codeWith(t,
				url.Values{"login_hint": {orcid(5)}, "code_challenge": {oauth2.S256ChallengeFromVerifier(verifier)},
					"code_challenge_method": {"S256"}})
		}
		for path, status := range map[string]int{"/users/": 201, "/login": 200} {
			w.anonymous().refused(400, "INVALID_CODE", "POST", path, obj{"code": code(), "origin_url": origin})
			w.anonymous().refused(400, "INVALID_CODE", "POST", path,
				obj{"code": code(), "origin_url": origin, "code_verifier": oauth2.GenerateVerifier()})
			for _, wrong := range []any{"short", strings.Repeat("x", 129), verifier + "=", verifier + "\n", 7} {
				a := w.anonymous().refused(400, "INVALID_INPUT", "POST", path,
					obj{"code": code(), "origin_url": origin, "code_verifier": wrong})
				if a.at("fields.code_verifier") == nil {
					t.Errorf("%v: %s", wrong, a.Raw)
				}
			}
			if a := w.anonymous().call("POST", path,
				obj{"code": code(), "origin_url": origin, "code_verifier": verifier}); a.Status != 200 &&
				a.Status != status {
				t.Errorf("%s: %d %s", path, a.Status, a.Raw)
			}
		}
	})
}

func TestLogin_RefusesACodeOfThePagesOwnCallback(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := loginWorld(t, db, nil)
		w.unchanged("a code of the pages", func() {
			for _, path := range []string{"/login", "/users/"} {
				for _, address := range []string{publicURL + "/signin/callback", publicURL + "/signin/callback/",
					publicURL + ":443/signin/callback",
					"HTTPS://Aliquot.Example.ORG/signin/callback", "http://aliquot.example.org/signin/callback",
					publicURL + "//signin/./callback",
					publicURL + "/sign%69n/callback", publicURL + "/x/../signin/callback?a=b#c", publicURL +
						"/signin%2Fcallback", " " + publicURL + "/signin/callback ",
					"https://aliquot.example.org./signin/callback", "https://me@aliquot.example.org/SignIn/Callback",
					`https://aliquot.example.org/signin\callback`} {
					code := demo(t).codeWith(t,
						url.Values{"login_hint": {orcid(6)}, "redirect_uri": {publicURL + "/signin/callback"}})
					a := w.anonymous().refused(400, "INVALID_CODE", "POST", path,
						obj{"code": code, "origin_url": address})
					if !strings.Contains(a.Body["error"].(string), "sign-in page") {
						t.Errorf("%q is refused by the provider alone: %s", address, a.Raw)
					}
				}
			}
		})
	})
}

func TestLogin_UnavailableProviderIs503(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
			_ *http.Request) {
			w.WriteHeader(http.StatusBadGateway)
		}))
		defer broken.Close()
		gone := httptest.NewServer(http.NotFoundHandler())
		gone.Close()
		for name, issuer := range map[string]string{"broken": broken.URL, "gone": gone.URL, "none": ""} {
			w := newWorldWith(t, db, func(c *app.Config) {
				if issuer == "" {
					return
				}
				var err error
				if c.Identity, err = identity.New(identity.Config{Issuer: issuer, ClientID: "x"}); err != nil {
					t.Fatal(err)
				}
			})
			w.unchanged(name, func() {
				for _, path := range []string{"/login", "/users"} {
					a := w.anonymous().refused(503, "UNAVAILABLE", "POST", path, obj{"code": "x", "origin_url": origin})
					if a.Header.Get("Retry-After") == "" || strings.Contains(string(a.Raw), "127.0.0.1") {
						t.Errorf("%s: %v %s", name, a.Header, a.Raw)
					}
				}
			})
		}
	})
}

func TestLogin_RegistrationSetting(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		for _, test := range []struct {
			rules []string
			email string
			may   bool
		}{
			{[]string{"open"}, "", true},
			{[]string{"closed"}, "a@brown.example", false},
			{nil, "a@brown.example", false},
			{[]string{orcid(50)}, "", true},
			{[]string{orcid(51), "brown.example"}, "a@BROWN.example", true},
			{[]string{"brown.example"}, "a@notbrown.example", false},
			{[]string{"brown.example"}, "a@brown.example.org", false},
			{[]string{"brown.example"}, "", false},
			{[]string{"a@brown.example"}, "a@brown.example", false},
		} {
			w := loginWorld(t, db, func(c *app.Config) { c.Registration = test.rules })
			for _, path := range []string{"/login", "/users"} {
				// everyone is new again
				if _, err := w.sql.ExecContext(t.Context(), "UPDATE users SET registry_id = CAST(id AS TEXT), "+
					"username = CAST(id AS TEXT)"); err != nil {
					t.Fatal(err)
				}
				q := url.Values{"login_hint": {orcid(50)}, "given_name": {"A"}}
				if test.email != "" {
					q.Set("email", test.email)
				}
				body := obj{"code": demo(t).codeWith(t, q), "origin_url": origin}
				if test.may {
					w.anonymous().want(map[string]int{"/login": 200, "/users": 201}[path], "POST", path, body)
				} else {
					w.unchanged("a refused registration",
						func() { w.anonymous().refused(403, "REGISTRATION_CLOSED", "POST", path, body) })
				}
			}
		}
		// Who is registered already comes in, whatever the rule is.
		open := loginWorld(t, db, nil)
		open.login(60)
		loginWorld(t, db, func(c *app.Config) { c.Registration = []string{"closed"} }).login(60)
	})
}

func TestToken_ExpiryAndRevocation(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := loginWorld(t, db, nil)
		first, second, other := w.login(70), w.login(70), w.login(71)
		path := "/users/" + first.Body["user_id"].(string)
		w.holder(first).want(204, "POST", "/logout", nil)
		w.holder(first).refused(401, "NOT_AUTHENTICATED", "GET", path, nil)
		w.holder(first).refused(401, "NOT_AUTHENTICATED", "POST", "/logout", nil)
		for _, a := range []answer{second, other} {
			w.holder(a).want(200, "GET", path, nil)
		}
		short := loginWorld(t, db, func(c *app.Config) { c.TokenLifetime = time.Microsecond })
		past := short.login(70)
		short.holder(past).refused(401, "NOT_AUTHENTICATED", "GET", path, nil)
		before := w.rows()
		if w.sweep(); grew(before, w.rows()) != "tokens-1 jobs+1" {
			t.Errorf("the sweep: %s", grew(before, w.rows()))
		}
		w.holder(second).want(200, "GET", path, nil)
	})
}

func TestLogin_AdminsOfTheSettingAreAdminsAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := loginWorld(t, db, func(c *app.Config) { c.Admins = []string{orcid(80)} })
		admin, other := w.login(80), w.login(81)
		w.holder(admin).want(200, "GET", "/attachments", nil)
		w.holder(other).refused(403, "FORBIDDEN", "GET", "/attachments", nil)
		later := loginWorld(t, db, func(c *app.Config) { c.Admins = []string{orcid(81), orcid(82)} })
		if err := later.app.Accounts.GrantAdmins(t.Context()); err != nil {
			t.Fatal(err)
		}
		later.holder(other).want(200, "GET", "/attachments", nil)
		if got := later.audits(fmt.Sprintf("user %s", other.Body["user_id"])); len(got) != 2 ||
			got[1] != "admin:anonymous "+string(exchange.UserUpdate) {
			t.Errorf("%v", got)
		}
	})
}

package identity

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"aliquot/internal/exchange"
)

const (
	josiahID = "0000-0002-1825-0097" // the fictitious researcher of ORCID's own examples
	otherID  = "0000-0002-1694-233X"
	origin   = "https://lab.example/back"
)

var josiah = Person{RegistryID: josiahID, GivenName: "Josiah", FamilyName: "Carberry", Name: "Josiah Carberry",
	Email: "josiah@brown.example", Role: "Leads the psychoceramics group"}

// demo is a Demo that answers over HTTP, with a clock that a test can move.
type demo struct {
	issuer string
	ahead  atomic.Int64 // how far its clock is ahead
}

func startDemo(t *testing.T) *demo {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	d := &demo{issuer: "http://" + server.Listener.Addr().String() + "/demo/identity"}
	handler, err := NewDemo(d.issuer, []Person{josiah})
	if err != nil {
		t.Fatal(err)
	}
	handler.Now = func() time.Time { return time.Now().Add(time.Duration(d.ahead.Load())) }
	server.Config.Handler = handler
	server.Start()
	t.Cleanup(server.Close)
	return d
}

// authorize asks for a code for origin with these further parameters, and returns the status and
// the address that the answer leads to.
func (d *demo) authorize(t require, params url.Values) (status int, location string) {
	t.Helper()
	q := url.Values{"client_id": {DemoClientID}, "response_type": {"code"}, "scope": {"openid"},
		"redirect_uri": {origin}, "state": {"s t&/"}}
	for name, values := range params {
		q[name] = values
	}
	noFollow := &http.Client{CheckRedirect: func(*http.Request,
		[]*http.Request) error {
		return http.ErrUseLastResponse
	}}
	resp, err := noFollow.Get(d.issuer + "/authorize?" + q.Encode())
	if err != nil {
		t.Fatalf("authorize: %v", err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode, resp.Header.Get("Location")
}

func (d *demo) code(t require, params url.Values) string {
	t.Helper()
	status, location := d.authorize(t, params)
	back, err := url.Parse(location)
	if err != nil || status != http.StatusFound {
		t.Fatalf("authorize answers %d and leads to %q", status, location)
	}
	if state := back.Query().Get("state"); state != "s t&/" {
		t.Fatalf("state = %q", state)
	}
	return back.Query().Get("code")
}

// require is what a test and a property have in common.
type require interface {
	Helper()
	Fatalf(format string, args ...any)
}

func newClient(t *testing.T, cfg Config) *Client {
	t.Helper()
	if cfg.ClientID == "" {
		cfg.ClientID = DemoClientID
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func wantCode(t *testing.T, err error, want exchange.Code) {
	t.Helper()
	if got := exchange.CodeOf(err); err == nil || got != want {
		t.Fatalf("error = %v, want code %s", err, want)
	}
}

func TestClient_SignInGivesThePersonOfTheDemo(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		params url.Values
		want   Person
	}{
		{"sample person", url.Values{"login_hint": {josiahID}},
			Person{RegistryID: josiahID, GivenName: "Josiah", FamilyName: "Carberry", Name: "Josiah Carberry",
				Email: "josiah@brown.example"}},
		{"names of the hint come first", url.Values{"login_hint": {josiahID}, "given_name": {"Joe"}},
			Person{RegistryID: josiahID, GivenName: "Joe", Name: "Joe", Email: "josiah@brown.example"}},
		{"unknown person with everything",
			url.Values{"login_hint": {otherID}, "given_name": {"Ludwig"}, "family_name": {"van Beethoven"},
				"email": {"l@b.example"}},
			Person{RegistryID: otherID, GivenName: "Ludwig", FamilyName: "van Beethoven", Name: "Ludwig van Beethoven",
				Email: "l@b.example"}},
		{"unknown person without a name", url.Values{"login_hint": {otherID}}, Person{RegistryID: otherID}},
		{"iD as an address", url.Values{"login_hint": {"https://orcid.org/" + otherID}}, Person{RegistryID: otherID}},
		{"hostile names are cleaned",
			url.Values{"login_hint": {otherID}, "given_name": {" A\x00\n\u202eda\xff "},
				"family_name": {strings.Repeat("ü", 300)}},
			Person{RegistryID: otherID, GivenName: "A da", FamilyName: strings.Repeat("ü", 255), Name: "A da " +
				strings.Repeat("ü", 250)}},
	}
	d := startDemo(t)
	c := newClient(t, Config{Issuer: d.issuer, ClientSecret: "any"})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := c.Exchange(t.Context(), d.code(t, tt.params), origin, Proof{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestClient_RefusedCodeIsInvalidCode(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	c := newClient(t, Config{Issuer: d.issuer})
	hint := url.Values{"login_hint": {josiahID}}

	t.Run("reused", func(t *testing.T) {
		code := d.code(t, hint)
		if _, err := c.Exchange(t.Context(), code, origin, Proof{}); err != nil {
			t.Fatal(err)
		}
		_, err := c.Exchange(t.Context(), code, origin, Proof{})
		wantCode(t, err, exchange.InvalidCode)
	})
	t.Run("for another redirect address", func(t *testing.T) {
		_, err := c.Exchange(t.Context(), d.code(t, hint), origin+"/", Proof{})
		wantCode(t, err, exchange.InvalidCode)
	})
	t.Run("for another client", func(t *testing.T) {
		_, err := newClient(t, Config{Issuer: d.issuer, ClientID: "other"}).Exchange(t.Context(), d.code(t, hint),
			origin, Proof{})
		wantCode(t, err, exchange.InvalidCode)
	})
	for name, code := range map[string]string{"made up": "abcdef", "empty": "", "endless": strings.Repeat("a", 1<<20),
		"binary": "\x00\xff&code="} {
		t.Run(name, func(t *testing.T) {
			_, err := c.Exchange(t.Context(), code, origin, Proof{})
			wantCode(t, err, exchange.InvalidCode)
		})
	}
	t.Run("older than five minutes", func(t *testing.T) { // last: it moves the clock
		code, late := d.code(t, hint), d.code(t, hint)
		d.ahead.Store(int64(codeLifetime - 30*time.Second))
		if _, err := c.Exchange(t.Context(), code, origin, Proof{}); err != nil {
			t.Fatal(err)
		}
		d.ahead.Store(int64(codeLifetime + time.Second))
		_, err := c.Exchange(t.Context(), late, origin, Proof{})
		wantCode(t, err, exchange.InvalidCode)
	})
}

func TestAuthURL_LeadsThroughTheDemoAndBack(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	c := newClient(t, Config{Issuer: d.issuer})
	address, err := c.AuthURL(t.Context(), origin, "s t&/", Proof{})
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := u.Query().Get("scope"), "openid profile email"; got != want {
		t.Errorf("scope = %q, want %q", got, want)
	}
	q := u.Query()
	q.Set("login_hint", josiahID)
	if _, err := c.Exchange(t.Context(), d.code(t, q), origin, Proof{}); err != nil {
		t.Fatal(err)
	}
}

func TestDemo_AnyValidORCIDSignsIn(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	c := newClient(t, Config{Issuer: d.issuer})
	rapid.Check(t, func(t *rapid.T) {
		id := wellFormedID(rapid.StringMatching(`[0-9]{15}`).Draw(t, "digits"))
		person, err := c.Exchange(context.Background(), d.code(t, url.Values{"login_hint": {id}}), origin, Proof{})
		if err != nil || person.RegistryID != id {
			t.Fatalf("login as %s gives %+v, %v", id, person, err)
		}
	})
}

// wellFormedID adds the check digit to 15 digits: ISO 7064 MOD 11-2, as ORCID's "Structure of the
// ORCID Identifier" writes it down.
func wellFormedID(digits string) string {
	total := 0
	for _, digit := range digits {
		total = (total + int(digit-'0')) * 2
	}
	s := digits + string("0123456789X"[(12-total%11)%11])
	return s[:4] + "-" + s[4:8] + "-" + s[8:12] + "-" + s[12:]
}

func TestDiscovery_IsRetriedAfterFailureAndCachedAfterSuccess(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	p := startProvider(t, func(p *provider) {
		p.discovery = func(w http.ResponseWriter, r *http.Request) {
			if calls.Add(1) == 1 {
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			p.describe(w, r)
		}
	})
	c := newClient(t, Config{Issuer: p.issuer})
	_, err := c.Exchange(t.Context(), "code", origin, Proof{})
	wantCode(t, err, exchange.Unavailable)
	for range 2 {
		if _, err := c.Exchange(t.Context(), "code", origin, Proof{}); err != nil {
			t.Fatal(err)
		}
	}
	if n := calls.Load(); n != 2 {
		t.Errorf("discovery was asked %d times, want 2", n)
	}
}

func TestNew_RefusesAnInvalidProvider(t *testing.T) {
	t.Parallel()
	for _, cfg := range []Config{
		{Issuer: "", ClientID: "a"}, {Issuer: "demo", ClientID: "a"}, {Issuer: "ftp://orcid.org", ClientID: "a"},
		{Issuer: "https://", ClientID: "a"}, {Issuer: "https://orcid.org"},
	} {
		if _, err := New(cfg); err == nil {
			t.Errorf("New(%+v) is accepted", cfg)
		}
	}
}

func TestEndSessionURL_IsThePageThatTheProviderAnnounces(t *testing.T) {
	t.Parallel()
	const back = "https://lab.example/signed-out"
	query := "client_id=" + DemoClientID + "&post_logout_redirect_uri=" + url.QueryEscape(back)
	for announced, want := range map[any]string{
		nil:                                 "",
		"http://id.example/out":             "http://id.example/out?" + query,
		"https://id.example/out?b=1&realm=": "https://id.example/out?b=1&" + query + "&realm=",
		"/out":                              "",
		"javascript:alert(1)":               "",
		"http://":                           "",
	} {
		p := startProvider(t, func(p *provider) { p.said = map[string]any{"end_session_endpoint": announced} })
		c, err := New(Config{Issuer: p.issuer, ClientID: DemoClientID})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.EndSessionURL(back); got != "" {
			t.Errorf("%v, before the provider was reached: %s", announced, got)
		}
		if _, err := c.AuthURL(t.Context(), origin, "s", Proof{}); err != nil {
			t.Fatal(err)
		}
		if got := c.EndSessionURL(back); got != want {
			t.Errorf("%v: %s, not %s", announced, got, want)
		}
	}
}

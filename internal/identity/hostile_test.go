package identity

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/oauth2"

	"aliquot/internal/exchange"
)

func TestSignIn_ORCIDNeedsNoIDToken(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		said map[string]any
		want Person
	}{
		{"name", map[string]any{"orcid": josiahID, "name": "Josiah Carberry"},
			Person{RegistryID: josiahID, GivenName: "Josiah", FamilyName: "Carberry", Name: "Josiah Carberry"}},
		{"private name", map[string]any{"orcid": josiahID, "name": nil}, Person{RegistryID: josiahID}},
		{"no name", map[string]any{"orcid": josiahID}, Person{RegistryID: josiahID}},
		{"iD as an address", map[string]any{"orcid": "https://orcid.org/" + otherID, "id_token": nil},
			Person{RegistryID: otherID}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := startProvider(t, func(p *provider) {
				p.claims = nil
				for name, value := range tt.said {
					p.answer[name] = value
				}
			})
			got, err := newClient(t, Config{Issuer: p.issuer}).Exchange(t.Context(), "code", origin, Proof{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestIDToken_DecidesWhoSomebodyIs(t *testing.T) {
	t.Parallel()
	josiahOnly := Person{RegistryID: josiahID}
	tests := []struct {
		name   string
		change func(*provider)
		want   Person // zero: refused
	}{
		{"as it should be", func(*provider) {}, josiahOnly},
		{"subject of any other provider", func(p *provider) { p.claims["sub"], p.info["sub"] = "auth0|5", "auth0|5" },
			Person{RegistryID: "auth0|5"}},
		{"the same iD in both", func(p *provider) { p.answer["orcid"] = josiahID }, josiahOnly},
		{"the same iD in two forms", func(p *provider) { p.answer["orcid"] = "https://orcid.org/" + josiahID },
			josiahOnly},
		{"another iD in both", func(p *provider) { p.answer["orcid"] = otherID }, Person{}},
		{"wrong check digit", func(p *provider) {
			p.answer["orcid"], p.claims["sub"] = "0000-0002-1825-0098",
				"0000-0002-1825-0098"
		}, Person{}},
		{"orcid is a number", func(p *provider) { p.answer["orcid"] = 5 }, Person{}},
		{"wrong audience", func(p *provider) { p.claims["aud"] = "another-service" }, Person{}},
		{"wrong issuer", func(p *provider) { p.claims["iss"] = "https://orcid.org" }, Person{}},
		{"expired", func(p *provider) { p.claims["exp"] = time.Now().Add(-time.Minute).Unix() }, Person{}},
		{"wrong signature", func(p *provider) { p.signer, _ = rsa.GenerateKey(rand.Reader, 2048) }, Person{}},
		{"not a token", func(p *provider) { p.claims, p.answer["id_token"] = nil, "a.b.c" }, Person{}},
		{"unsigned", func(p *provider) {
			p.claims, p.answer["id_token"] = nil, "eyJhbGciOiJub25lIn0.eyJzdWIiOiIwMDAwLTAwMDItMTgyNS0wMDk3In0."
		}, Person{}},
		{"no subject", func(p *provider) { delete(p.claims, "sub") }, Person{}},
		{"no subject beside an iD", func(p *provider) { delete(p.claims, "sub"); p.answer["orcid"] = josiahID },
			Person{}},
		{"nobody named", func(p *provider) { p.claims = nil }, Person{}},
		{"subject with a line break", func(p *provider) { p.claims["sub"] = "a\nb" }, Person{}},
		{"endless subject", func(p *provider) { p.claims["sub"] = strings.Repeat("a", 256) }, Person{}},
		{"name is an object", func(p *provider) { p.claims["given_name"] = map[string]any{} }, Person{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := startProvider(t, tt.change)
			got, err := newClient(t, Config{Issuer: p.issuer}).Exchange(t.Context(), "code", origin, Proof{})
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if tt.want.RegistryID == "" {
				wantCode(t, err, exchange.Unavailable)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestProvider_OfORCIDMustSendValidORCIDs(t *testing.T) {
	t.Parallel()
	for subject, good := range map[string]bool{josiahID: true, "0000-0002-1825-0098": false, "josiah": false} {
		for _, issuer := range []string{"http://orcid.org", "http://sandbox.orcid.org", "http://ORCID.org"} {
			p := startProvider(t, func(p *provider) {
				p.issuer, p.claims["iss"], p.claims["sub"] = issuer, issuer,
					subject
			})
			_, err := newClient(t, Config{Issuer: issuer, HTTP: p.dialed()}).Exchange(t.Context(), "code", origin,
				Proof{})
			if (err == nil) != good {
				t.Errorf("%s says %s: %v", issuer, subject, err)
			}
		}
	}
}

func TestClaims_NamesAndAddressMustBeVerified(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name                 string
		answer, claims, info map[string]any
		want                 Person
	}{
		{name: "id_token first", answer: map[string]any{"name": "J. C."},
			claims: map[string]any{"given_name": "Josiah", "family_name": "Carberry", "email": "j@c.example",
				"email_verified": true},
			info: map[string]any{"given_name": "Not", "family_name": "Asked"},
			want: Person{GivenName: "Josiah", FamilyName: "Carberry", Name: "J. C.", Email: "j@c.example"}},
		{name: "then userinfo", answer: map[string]any{"name": "J. C."},
			info: map[string]any{"given_name": "Josiah", "family_name": "Carberry", "email": "j@c.example",
				"email_verified": "true"},
			want: Person{GivenName: "Josiah", FamilyName: "Carberry", Name: "J. C.", Email: "j@c.example"}},
		{name: "then name", claims: map[string]any{"name": "Carberry, Josiah"},
			want: Person{GivenName: "Josiah", FamilyName: "Carberry", Name: "Carberry, Josiah"}},
		{name: "userinfo about somebody else is not used",
			info: map[string]any{"sub": otherID, "given_name": "Eve", "email": "e@e.example", "email_verified": true},
			want: Person{}},
		{name: "unverified address", claims: map[string]any{"email": "admin@lab.example"}, want: Person{}},
		{name: "address denied", claims: map[string]any{"email": "admin@lab.example", "email_verified": false},
			want: Person{}},
		{name: "one answer verifies not the other's address", claims: map[string]any{"email": "admin@lab.example"},
			info: map[string]any{"email_verified": true}, want: Person{}},
		{name: "address of the id_token stays", claims: map[string]any{"email": "j@c.example", "email_verified": true},
			info: map[string]any{"given_name": "Josiah", "email": "x@c.example"},
			want: Person{GivenName: "Josiah", Name: "Josiah", Email: "j@c.example"}},
		{name: "not an address",
			claims: map[string]any{"email": "J <j@c.example>\r\nBcc: x@y.example", "email_verified": true},
			want:   Person{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := startProvider(t, func(p *provider) {
				for _, add := range []struct{ to, from map[string]any }{{p.answer, tt.answer}, {p.claims, tt.claims},
					{p.info, tt.info}} {
					for name, value := range add.from {
						add.to[name] = value
					}
				}
			})
			tt.want.RegistryID = josiahID
			got, err := newClient(t, Config{Issuer: p.issuer}).Exchange(t.Context(), "code", origin, Proof{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestProvider_BrokenEndpointIsUnavailableBrokenUserinfoCostsTheName(t *testing.T) {
	t.Parallel()
	var visits atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visits.Add(1) }))
	t.Cleanup(elsewhere.Close)
	faults := map[string]http.HandlerFunc{
		"500": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"500 with code": func(w http.ResponseWriter, _ *http.Request) {
			answer(w, 503, map[string]string{"error": "invalid_grant"})
		},
		"429": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) },
		"HTML": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<html>We are down for maintenance</html>"))
		},
		"null":  func(w http.ResponseWriter, _ *http.Request) { answer(w, 200, nil) },
		"array": func(w http.ResponseWriter, _ *http.Request) { answer(w, 200, []int{1}) },
		"50 MB": func(w http.ResponseWriter, _ *http.Request) {
			for chunk := make([]byte, 1<<20); ; {
				if _, err := w.Write(chunk); err != nil { // ends because the client disconnects
					return
				}
			}
		},
		"cut off": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte(`{"access_token":`))
		},
		"redirect elsewhere": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		},
		"redirect in a ring": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path, http.StatusTemporaryRedirect)
		},
		"slow": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	}
	endpoints := map[string]func(*provider) *http.HandlerFunc{
		"discovery": func(p *provider) *http.HandlerFunc { return &p.discovery },
		"token":     func(p *provider) *http.HandlerFunc { return &p.token },
		"keys":      func(p *provider) *http.HandlerFunc { return &p.keys },
		"userinfo":  func(p *provider) *http.HandlerFunc { return &p.userinfo },
	}
	for endpoint, of := range endpoints {
		for fault, handler := range faults {
			t.Run(endpoint+" "+fault, func(t *testing.T) {
				t.Parallel()
				p := startProvider(t, func(p *provider) {
					*of(p) = func(w http.ResponseWriter, r *http.Request) {
						_ = r.ParseForm() // reads the body, so that the server notices a client that leaves
						handler(w, r)
					}
				})
				c := newClient(t, Config{Issuer: p.issuer, HTTP: &http.Client{Timeout: time.Second}})
				person, err := c.Exchange(t.Context(), "code", origin, Proof{})
				if endpoint == "userinfo" {
					if err != nil || !cmp.Equal(person, Person{RegistryID: josiahID}) {
						t.Fatalf("login gives %+v, %v", person, err)
					}
					return
				}
				wantCode(t, err, exchange.Unavailable)
				e, _ := errors.AsType[*exchange.Error](err)
				if e.Cause == nil || len(e.Cause.Error()) > 2000 || strings.Contains(e.Cause.Error(), "\n") {
					t.Errorf("cause is not one short line: %v", e.Cause)
				}
			})
		}
	}
	t.Cleanup(func() {
		if n := visits.Load(); n != 0 {
			t.Errorf("the client followed %d redirects to another host", n)
		}
	})
}

func TestSignIn_RefusalNamesWhoCanSolveIt(t *testing.T) {
	t.Parallel()
	tests := []struct {
		status int
		code   string
		want   exchange.Code
		cause  string
	}{
		{400, "invalid_grant", exchange.InvalidCode, "invalid_grant"},
		{401, "invalid_grant", exchange.InvalidCode, "invalid_grant"},
		{200, "invalid_grant", exchange.InvalidCode, "invalid_grant"},
		{400, "invalid_request", exchange.InvalidCode, "invalid_request"},
		{401, "invalid_client", exchange.Unavailable, "identity-client-secret"},
		{400, "unauthorized_client", exchange.Unavailable, "identity-client-secret"},
		{400, "temporarily_unavailable", exchange.Unavailable, "temporarily_unavailable"},
		{400, "", exchange.Unavailable, "400"},
	}
	for _, tt := range tests {
		t.Run(http.StatusText(tt.status)+" "+tt.code, func(t *testing.T) {
			t.Parallel()
			p := startProvider(t, func(p *provider) {
				p.token = func(w http.ResponseWriter, _ *http.Request) {
					answer(w, tt.status, map[string]string{"error": tt.code})
				}
			})
			_, err := newClient(t, Config{Issuer: p.issuer}).Exchange(t.Context(), "code", origin, Proof{})
			wantCode(t, err, tt.want)
			e, _ := errors.AsType[*exchange.Error](err)
			if !strings.Contains(e.Cause.Error(), tt.cause) {
				t.Errorf("cause %q does not name %q", e.Cause, tt.cause)
			}
			if _, ok := errors.AsType[*oauth2.RetrieveError](err); !ok {
				t.Errorf("cause %v has lost the provider's answer", e.Cause)
			}
		})
	}
}

func TestProvider_ThatIsDownIsUnavailable(t *testing.T) {
	t.Parallel()
	down := httptest.NewServer(nil)
	down.Close()
	c := newClient(t, Config{Issuer: down.URL})
	_, err := c.Exchange(t.Context(), "code", origin, Proof{})
	wantCode(t, err, exchange.Unavailable)
	_, err = c.AuthURL(t.Context(), origin, "state", Proof{})
	wantCode(t, err, exchange.Unavailable)
}

func TestSignIn_CancelledEndsAtOnce(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 1)
	for _, of := range []func(*provider) *http.HandlerFunc{
		func(p *provider) *http.HandlerFunc { return &p.discovery },
		func(p *provider) *http.HandlerFunc { return &p.token },
	} {
		p := startProvider(t, func(p *provider) {
			*of(p) = func(_ http.ResponseWriter, r *http.Request) {
				_ = r.ParseForm()
				asked <- struct{}{}
				<-r.Context().Done()
			}
		})
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-asked; cancel() }()
		_, err := newClient(t, Config{Issuer: p.issuer}).Exchange(ctx, "code", origin, Proof{})
		wantCode(t, err, exchange.Unavailable)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v does not say that it was cancelled", err)
		}
	}
}

func TestDiscovery_MustMatchTheIssuerAndUseTLS(t *testing.T) {
	t.Parallel()
	good := map[string]string{"authorization_endpoint": "/a", "token_endpoint": "/t", "jwks_uri": "/k",
		"userinfo_endpoint": "/u"}
	serve := func(t *testing.T, change func(map[string]string)) *Client {
		server := httptest.NewUnstartedServer(nil)
		server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			said := map[string]string{"issuer": server.URL}
			for name, path := range good {
				said[name] = server.URL + path
			}
			change(said)
			answer(w, http.StatusOK, said)
		})
		server.StartTLS()
		t.Cleanup(server.Close)
		return newClient(t, Config{Issuer: server.URL, HTTP: server.Client()})
	}
	if _, err := serve(t, func(map[string]string) {}).AuthURL(t.Context(), origin, "s", Proof{}); err != nil {
		t.Fatal(err)
	}
	if _, err := serve(t, func(said map[string]string) { delete(said, "userinfo_endpoint") }).AuthURL(t.Context(),
		origin, "s", Proof{}); err != nil {
		t.Fatal(err)
	}
	for name, wrong := range map[string]string{
		"issuer": "https://orcid.org", "authorization_endpoint": "javascript:alert(1)",
		"token_endpoint": "http://127.0.0.1/token",
		"jwks_uri":       "", "userinfo_endpoint": "//orcid.org",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := serve(t, func(said map[string]string) { said[name] = wrong }).AuthURL(t.Context(), origin, "s",
				Proof{})
			wantCode(t, err, exchange.Unavailable)
		})
	}
}

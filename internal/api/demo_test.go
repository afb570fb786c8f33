package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"

	"aliquot/internal/identity"
)

// origin is the address that people come back to from the identity provider.
const origin = "http://127.0.0.1:8080/login"

// provider is the built-in identity provider on a listener, with a client of it.
type provider struct {
	*identity.Demo
	issuer string
	client *identity.Client
}

// demo is the one provider of all tests. Every test brings its own database, so that people of
// the same id do not meet. It listens until the process ends.
func demo(t testing.TB) *provider {
	t.Helper()
	p, err := theDemo()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var theDemo = sync.OnceValues(func() (*provider, error) {
	mux := http.NewServeMux()
	issuer := httptest.NewServer(mux).URL + "/identity"
	d, err := identity.NewDemo(issuer, nil)
	if err != nil {
		return nil, err
	}
	mux.Handle("/identity/", d)
	client, err := identity.New(identity.Config{Issuer: issuer, ClientID: identity.DemoClientID})
	return &provider{d, issuer, client}, err
})

// orcid is a well-formed iD made of a number (ISO 7064 MOD 11-2).
func orcid(n int) string {
	digits := fmt.Sprintf("%015d", n)
	total := 0
	for _, d := range digits {
		total = (total + int(d-'0')) * 2
	}
	check := fmt.Sprint((12 - total%11) % 11)
	if check == "10" {
		check = "X"
	}
	digits += check
	return digits[:4] + "-" + digits[4:8] + "-" + digits[8:12] + "-" + digits[12:]
}

// code is an authorization code for the person with that number.
func (p *provider) code(t testing.TB, n int) string {
	t.Helper()
	return p.codeWith(t, url.Values{"login_hint": {orcid(n)}, "given_name": {"Josiah"},
		"family_name": {fmt.Sprint("Carberry ", n)},
		"email":       {fmt.Sprintf("josiah%d@brown.example", n)}})
}

func (p *provider) codeWith(t testing.TB, q url.Values) string {
	t.Helper()
	if q.Get("redirect_uri") == "" {
		q.Set("redirect_uri", origin)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.issuer+"/authorize?"+q.Encode(), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	target, err := response.Location()
	if err != nil {
		t.Fatalf("authorize: %d, %v", response.StatusCode, err)
	}
	return target.Query().Get("code")
}

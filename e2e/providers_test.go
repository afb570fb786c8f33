package e2e

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/oauth2"
)

// providersFile writes a file of the setting identity-providers.
func providersFile(t *testing.T, rows ...map[string]any) string {
	t.Helper()
	text, err := json.Marshal(rows)
	path := filepath.Join(t.TempDir(), "providers.json")
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// university describes a provider as the setting identity-providers does.
func university(t *testing.T, issuer string) map[string]any {
	t.Helper()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(odd+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return map[string]any{"name": "uni", "label": "University of Example", "issuer": issuer, "client_id": "aliquot",
		"client_secret_file": secret, "scopes": []string{"profile"}}
}

// TestProviders_SeveralAtOnce has a person link their sign-in at a second provider, and sign in there, by the pages and
// by the API; both are not ours. Then the second one goes away.
func TestProviders_SeveralAtOnce(t *testing.T) {
	t.Parallel()
	for _, second := range []string{"zitadel", "ory"} {
		t.Run(second, func(t *testing.T) {
			t.Parallel()
			eachKind(t, func(t *testing.T, in installation) {
				address := freeAddress(t)
				issuer, away := startProvider(t, second, address)
				server := in.serve(t, "--addr", address, "--identity", provider(t, "zitadel", address),
					"--identity-client-id", "aliquot", "--identity-client-secret", odd, "--identity-providers",
					providersFile(t, university(t, issuer)))
				s := &surfer{t, map[string]map[string]string{}}
				link := s.signIn(s.visit(http.MethodGet, server.base+"/signin/start?provider=uni", nil, ""), "")
				if link.at.Path != "/signin/link" || link.doc.Find("form[action='/signin/link']").Length() > 0 {
					t.Fatalf("%d at %s: %s", link.status, link.at, link.doc.Find("main").Text())
				}
				loginAt(t, server.base, issuer, http.StatusForbidden, "REGISTRATION_CLOSED")
				s.signIn(s.visit(http.MethodGet, server.base+"/signin/start?next=/signin/link", nil, ""), "")
				linked := s.visit(http.MethodPost, server.base+"/signin/link", url.Values{}, "")
				if text := linked.doc.Find("main").Text(); linked.at.Path != "/account/sessions" ||
					!strings.Contains(text, "University of Example") {
					t.Fatalf("%d at %s: %s", linked.status, linked.at, text)
				}
				other := &surfer{t, map[string]map[string]string{}}
				landed := other.signIn(other.visit(http.MethodGet,
					server.base+"/signin/start?provider=uni&next=/account/sessions", nil, ""), "")
				if text := landed.doc.Find("main").Text(); landed.at.Path != "/account/sessions" ||
					!strings.Contains(text, "signed in at University of Example") {
					t.Errorf("%d at %s: %s", landed.status, landed.at, text)
				}
				loginAt(t, server.base, issuer, http.StatusOK, "")

				away()
				third := &surfer{t, map[string]map[string]string{}}
				begun := third.visit(http.MethodGet, server.base+"/signin/start?provider=uni", nil, issuer)
				back := third.visit(http.MethodGet, server.base+"/signin/callback/uni?code=x&state="+
					begun.at.Query().Get("state")+"&iss="+url.QueryEscape(issuer), nil, "")
				if text := back.doc.Find("main").Text(); back.status != http.StatusServiceUnavailable {
					t.Errorf("a provider that is away: %d: %s", back.status, text)
				}
				form := third.visit(http.MethodGet, server.base+"/signin/start?next=/account", nil, "")
				landed = third.signIn(form, "")
				if landed.status != http.StatusOK || landed.at.Path != "/account" {
					t.Errorf("the other provider: %d at %s", landed.status, landed.at)
				}
			})
		})
	}
}

// loginAt signs in at the second provider for a program, and expects an answer of POST /login.
func loginAt(t *testing.T, base, issuer string, status int, code string) {
	t.Helper()
	s := &surfer{t, map[string]map[string]string{}}
	verifier := oauth2.GenerateVerifier()
	body, err := json.Marshal(map[string]string{"code": s.code(issuer, elsewhere, verifier), "origin_url": elsewhere,
		"code_verifier": verifier, "provider": "uni"})
	if err != nil {
		t.Fatal(err)
	}
	a, err := client{base: base}.call(http.MethodPost, "/login", string(body))
	if err != nil || a.status != status || !strings.Contains(string(a.body), code) {
		t.Errorf("%d %s, %v", a.status, a.body, err)
	}
}

func TestProviders_AWrongFileIsToldAtTheStart(t *testing.T) {
	t.Parallel()
	with := func(name string, value any) map[string]any {
		row := university(t, "https://id.uni.example")
		row[name] = value
		return row
	}
	for want, rows := range map[string][]map[string]any{
		`provider 1 ("Uni"): name: must be`:                  {with("name", "Uni")},
		`provider 1 ("../x"): name: must be`:                 {with("name", "../x")},
		`provider 1 ("uni"): label: must be`:                 {with("label", "a\nb")},
		`provider 1 ("uni"): issuer: the identity provider`:  {with("issuer", "id.uni.example")},
		`provider 1 ("uni"): client_id: must be`:             {with("client_id", "")},
		`provider 1 ("uni"): client_secret_file: open /none`: {with("client_secret_file", "/none")},
		`provider 1 ("uni"): scopes: "a b" is no scope`:      {with("scopes", []string{"a b"})},
		`json: unknown field "secret"`:                       {with("secret", "hush")},
		`Go struct field fileProvider.label of type string`:  {with("label", 7)},
		`provider 2 ("uni"): name: another provider has it already`: {with("name", "uni"),
			with("issuer", "https://b.example")},
		`provider 2 ("b"): issuer: another provider has it already`: {with("name", "a"), with("name", "b")},
		`provider "uni": issuer: is the main provider`:              {with("issuer", "https://orcid.org")},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			cmd := (installation{folder: t.TempDir()}).command("serve", "--addr", "127.0.0.1:0", "--identity",
				"https://orcid.org", "--identity-client-id", "x", "--identity-providers", providersFile(t, rows...))
			said, err := cmd.CombinedOutput()
			if text := string(said); err == nil || !strings.Contains(text, "identity-providers: ") ||
				!strings.Contains(text, want) {
				t.Errorf("%v: %s", err, said)
			}
		})
	}
}

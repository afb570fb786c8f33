package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
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

// TestSignOut_AtTheProvider signs out here and then at zitadel's provider, which sends the person back. Ory's announces
// no page for it, so none is offered.
func TestSignOut_AtTheProvider(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, in installation) {
		address := freeAddress(t)
		issuer, _ := startProvider(t, "ory", address)
		server := in.serve(t, "--addr", address, "--identity", provider(t, "zitadel", address), "--identity-client-id",
			"aliquot", "--identity-client-secret", odd, "--identity-providers", providersFile(t, university(t, issuer)))
		s := &surfer{t, map[string]map[string]string{}}
		s.signIn(s.visit(http.MethodGet, server.base+"/signin/start", nil, ""), "")
		out := s.visit(http.MethodPost, server.base+"/signout", url.Values{}, "")
		link := out.doc.Find("main a.main").AttrOr("href", "")
		if out.at.Path != "/signed-out" || !strings.HasPrefix(link, "http://") {
			t.Fatalf("%d at %s: %s", out.status, out.at, out.doc.Find("main").Text())
		}
		back := s.visit(http.MethodGet, link, nil, "")
		if text := back.doc.Find("main").Text(); back.at.String() != server.base+"/signed-out" ||
			!strings.Contains(text, "no longer opens your account") {
			t.Errorf("%d at %s: %s", back.status, back.at, text)
		}
		if page := s.visit(http.MethodGet, server.base+"/account", nil, ""); page.at.Path != "/signin" {
			t.Errorf("after signing out: %d at %s", page.status, page.at)
		}
		for _, from := range []string{issuer, "uni", "https://evil.example"} {
			page := s.visit(http.MethodGet, server.base+"/signed-out?from="+url.QueryEscape(from), nil, "")
			if page.status != http.StatusOK || page.doc.Find("main a.main").Length() > 0 {
				t.Errorf("from %s: %d: %s", from, page.status, page.doc.Find("main").Text())
			}
		}
	})
}

// TestProviders_AnIDTokenSaysWhereSomebodyIs has ory's provider assert affiliations. Only that of the domain which the
// provider may assert counts, and a sign-in without it ends it.
func TestProviders_AnIDTokenSaysWhereSomebodyIs(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, in installation) {
		number := in.newInstitution(t)
		s, address, atUniversity := &surfer{t, map[string]map[string]string{}}, freeAddress(t), freeAddress(t)
		// sees signs in at the university, whose id tokens have claims, and gives the one who is at the institution.
		sees := func(claims, landing string) affiliation {
			t.Helper()
			issuer, end := startProvider(t, "ory", address, "-claims", claims, "-addr", atUniversity)
			defer end()
			row := university(t, issuer)
			row["identity_domains"] = map[string]int{"uni.example": number}
			server := in.serve(t, "--addr", address, "--identity-providers", providersFile(t, row))
			at := s.signIn(s.visit(http.MethodGet, server.base+"/signin/start?provider=uni", nil, ""), "")
			if at.at.Path != landing {
				t.Fatalf("%d at %s: %s", at.status, at.at, at.doc.Find("main").Text())
			}
			if landing == "/signin/link" {
				s.link(server.base)
				s.signIn(s.visit(http.MethodGet, server.base+"/signin/start?provider=uni", nil, ""), "")
			}
			list := affiliationsAt(t, server.base, number)
			if err := server.stop(); err != nil || len(list) != 1 {
				t.Fatalf("%+v: %v", list, err)
			}
			return list[0]
		}
		f := sees(`{"eduperson_scoped_affiliation": ["faculty@uni.example", "member@evil.example"]}`, "/signin/link")
		if f.Source != "IDENTITY_PROVIDER" || f.Expires <= f.From {
			t.Errorf("asserted: %+v", f)
		}
		if f := sees(`{"eduperson_scoped_affiliation": ["member@evil.example"]}`, "/"); f.Expires > f.From {
			t.Errorf("asserted no longer: %+v", f)
		}
	})
}

// newInstitution has a server of the installation make an institution that nobody has confirmed, and gives its id.
func (in installation) newInstitution(t *testing.T) int {
	t.Helper()
	server := in.serve(t)
	owner, err := signIn(server.base, josiah)
	if err != nil {
		t.Fatal(err)
	}
	text, err := id(did(owner.call("POST", "/institutions/", `{"legal_name": "University of Example", "country": "DE"}`)))
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(text)
	if err := errors.Join(err, server.stop()); err != nil {
		t.Fatal(err)
	}
	return number
}

// link links the sign-in that has no account yet to Josiah's.
func (s *surfer) link(base string) {
	s.Helper()
	demo := s.visit(http.MethodGet, base+"/signin/start?next=/signin/link", nil, base+"/demo/")
	s.visit(http.MethodGet, demo.at.String()+"&login_hint="+josiah, nil, "")
	s.visit(http.MethodPost, base+"/signin/link", url.Values{}, "")
}

// affiliation is one as the API has it.
type affiliation struct{ Source, From, Expires string }

// affiliationsAt are the affiliations with an institution, as Josiah sees them.
func affiliationsAt(t *testing.T, base string, institution int) (list []affiliation) {
	t.Helper()
	owner, err := signIn(base, josiah)
	if err != nil {
		t.Fatal(err)
	}
	a, err := did(owner.call("GET", fmt.Sprintf("/institutions/%d/affiliations", institution), ""))
	if err == nil {
		err = json.Unmarshal(a.body, &list)
	}
	if err != nil {
		t.Fatal(err)
	}
	return list
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

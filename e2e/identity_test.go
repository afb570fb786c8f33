package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/oauth2"
)

// providers is the program of the module e2e/providers: OpenID providers that are not ours.
var providers = sync.OnceValues(func() (string, error) {
	program := filepath.Join(filepath.Dir(aliquot), "providers")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir = "providers"
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return program, nil
})

// odd is a client secret that is another text in a header, in a form, and in the form within the header.
const odd = "s/e c+r%t:&é"

// elsewhere is the redirect address of a program that uses the API.
const elsewhere = "http://127.0.0.1:9/app/callback"

// provider starts one of them for a server that will listen on an address; it gives its issuer.
func provider(t *testing.T, kind, address string) string {
	t.Helper()
	issuer, _ := startProvider(t, kind, address)
	return issuer
}

// startProvider is provider, with what ends it.
func startProvider(t *testing.T, kind, address string, args ...string) (issuer string, end func()) {
	t.Helper()
	program, err := providers()
	if err != nil {
		t.Fatal(err)
	}
	callback := "http://" + address + "/signin/callback"
	cmd := exec.CommandContext(t.Context(), program, append([]string{"-kind", kind, "-secret", odd, "-redirects",
		strings.Join([]string{callback, callback + "/uni", elsewhere}, ","), "-after", "http://" + address +
			"/signed-out"}, args...)...)
	cmd.Stderr = t.Output()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	end = sync.OnceFunc(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	})
	t.Cleanup(end)
	issuer, err = bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("the provider says %q: %v", issuer, err)
	}
	return strings.TrimSpace(issuer), end
}

// freeAddress is a loopback address that nobody listens on.
func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// surfer is a browser: it keeps the cookies of each host and port, secure ones of this machine too.
type surfer struct {
	*testing.T
	cookies map[string]map[string]string
}

// seen is a page, or an address that a redirect leads to which the surfer was told not to follow.
type seen struct {
	at     *url.URL
	status int
	doc    *goquery.Document
}

// visit asks for an address and follows redirects, up to one that begins with stop ("": to the end).
func (s *surfer) visit(method, address string, form url.Values, stop string) seen {
	s.Helper()
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for range 20 {
		r, err := http.NewRequestWithContext(s.Context(), method, address, strings.NewReader(form.Encode()))
		if err != nil {
			s.Fatal(err)
		}
		if form != nil {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		for name, value := range s.cookies[r.URL.Host] {
			r.AddCookie(&http.Cookie{Name: name, Value: value})
		}
		response, err := client.Do(r)
		if err != nil {
			s.Fatal(err)
		}
		for _, c := range response.Cookies() {
			if s.cookies[r.URL.Host] == nil {
				s.cookies[r.URL.Host] = map[string]string{}
			}
			s.cookies[r.URL.Host][c.Name] = c.Value
		}
		doc, err := goquery.NewDocumentFromReader(response.Body)
		_ = response.Body.Close()
		if err != nil {
			s.Fatal(err)
		}
		next, err := response.Location()
		if err != nil {
			return seen{r.URL, response.StatusCode, doc}
		}
		if stop != "" && strings.HasPrefix(next.String(), stop) {
			return seen{next, response.StatusCode, doc}
		}
		method, address, form = http.MethodGet, next.String(), nil
	}
	s.Fatal("redirects without an end")
	return seen{}
}

// signIn fills in the form of a provider.
func (s *surfer) signIn(page seen, stop string) seen {
	s.Helper()
	form := page.doc.Find("form")
	if form.Length() != 1 {
		text, _ := page.doc.Html()
		s.Fatalf("%d at %s has no form: %s", page.status, page.at, text)
	}
	fields := url.Values{}
	form.Find("input[name]").Each(func(_ int, input *goquery.Selection) {
		fields.Set(input.AttrOr("name", ""), input.AttrOr("value", ""))
	})
	fields.Set("username", "test-user@127.0.0.1")
	fields.Set("password", "verysecure")
	action, err := page.at.Parse(form.AttrOr("action", page.at.String()))
	if err != nil {
		s.Fatal(err)
	}
	return s.visit(http.MethodPost, action.String(), fields, stop)
}

// code has somebody sign in for a program that uses the API, and gives the authorization code.
func (s *surfer) code(issuer, redirect, verifier string) string {
	s.Helper()
	response, err := http.Get(issuer + "/.well-known/openid-configuration") //nolint:noctx // a test
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	var said struct {
		Authorize string `json:"authorization_endpoint"`
	}
	if err := json.NewDecoder(response.Body).Decode(&said); err != nil {
		s.Fatal(err)
	}
	conf := oauth2.Config{ClientID: "aliquot", RedirectURL: redirect, Scopes: []string{"openid"},
		Endpoint: oauth2.Endpoint{AuthURL: said.Authorize}}
	page := s.visit(http.MethodGet, conf.AuthCodeURL("a-state-of-its-own", oauth2.S256ChallengeOption(verifier)), nil,
		redirect)
	return s.signIn(page, redirect).at.Query().Get("code")
}

// TestSignIn_ByProvidersThatAreNotOurs holds the way of the pages and that of the API, the client's secret and what is
// said where something is wrong, against zitadel's provider (client_secret_basic) and ory's (client_secret_post).
func TestSignIn_ByProvidersThatAreNotOurs(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"zitadel", "ory"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			eachKind(t, func(t *testing.T, in installation) {
				address := freeAddress(t)
				issuer := provider(t, kind, address)
				server := in.serve(t, "--addr", address, "--identity", issuer, "--identity-client-id", "aliquot",
					"--identity-client-secret", odd)
				signInByPages(t, server.base)
				signInByAPI(t, server.base, issuer)
				if text := server.logged(); strings.Contains(text, odd) ||
					!strings.Contains(text, "the identity provider is ready") {
					t.Errorf("the log: %s", text)
				}
			})
		})
	}
}

func signInByPages(t *testing.T, base string) {
	t.Helper()
	s := &surfer{t, map[string]map[string]string{}}
	landed := s.signIn(s.visit(http.MethodGet, base+"/signin/start?next=/account/sessions", nil, ""), "")
	if landed.status != http.StatusOK || landed.at.Path != "/welcome" {
		t.Fatalf("%d at %s: %s", landed.status, landed.at, landed.doc.Find("main").Text())
	}
	first := s.cookies[landed.at.Host]["__Host-session"]
	if page := s.visit(http.MethodGet, base+"/account/sessions", nil, ""); page.status != http.StatusOK ||
		page.doc.Find("main ul.lines li").Length() != 1 {
		t.Errorf("%d at %s: %s", page.status, page.at, page.doc.Find("main").Text())
	}
	again := s.visit(http.MethodGet, base+"/signin/start?next=/account/sessions", nil, "")
	if again.doc.Find("form input[name=password]").Length() > 0 {
		again = s.signIn(again, "")
	}
	if again.status != http.StatusOK || again.doc.Find("main ul.lines li").Length() != 1 ||
		s.cookies[landed.at.Host]["__Host-session"] == first {
		t.Errorf("a second sign-in of the browser: %d at %s: %s", again.status, again.at, again.doc.Find("main").Text())
	}

	other := &surfer{t, map[string]map[string]string{}} // a provider that refuses says why
	away := other.visit(http.MethodGet, base+"/signin/start", nil, "http://")
	back := other.visit(http.MethodGet, away.at.String()+"&prompt=none", nil, "")
	if text := back.doc.Find(".note.bad").Text(); back.status != http.StatusUnprocessableEntity ||
		!strings.Contains(text, "login_required") {
		t.Errorf("%d at %s: %s", back.status, back.at, back.doc.Find("main").Text())
	}
}

func signInByAPI(t *testing.T, base, issuer string) {
	t.Helper()
	s := &surfer{t, map[string]map[string]string{}}
	verifier := oauth2.GenerateVerifier()
	login := func(code, origin, verifier string) (int, map[string]any) {
		body := map[string]any{"code": code, "origin_url": origin}
		if verifier != "" {
			body["code_verifier"] = verifier
		}
		raw, _ := json.Marshal(body)
		a, err := client{base: base}.call(http.MethodPost, "/login", string(raw))
		if err != nil {
			t.Fatal(err)
		}
		var said map[string]any
		if err := json.Unmarshal(a.body, &said); err != nil {
			t.Fatalf("%s: %v", a.body, err)
		}
		return a.status, said
	}
	for name, wrong := range map[string]string{"without a verifier": "",
		"with another verifier": oauth2.GenerateVerifier()} {
		if status, said := login(s.code(issuer, elsewhere, verifier), elsewhere, wrong); status != 400 ||
			said["error_code"] != "INVALID_CODE" {
			t.Errorf("%s: %d %v", name, status, said)
		}
	}
	if status, said := login(s.code(issuer, base+"/signin/callback", verifier), base+"/signin/callback",
		verifier); status != 400 || said["error_code"] != "INVALID_CODE" {
		t.Errorf("a code of the pages: %d %v", status, said)
	}
	status, said := login(s.code(issuer, elsewhere, verifier), elsewhere, verifier)
	if status != 200 || said["token"] == nil {
		t.Fatalf("%d %v", status, said)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/users/me", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+said["token"].(string))
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if me, err := io.ReadAll(response.Body); err != nil || !strings.Contains(string(me), said["user_id"].(string)) {
		t.Errorf("%s, %v", me, err)
	}
}

func TestSignIn_AWrongSecretOrIssuerIsToldAtTheStart(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"zitadel", "ory"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			address := freeAddress(t)
			issuer := provider(t, kind, address)
			for name, c := range map[string]struct{ issuer, secret, cause string }{
				"secret": {issuer, "hush-hush", "check identity-client-id and identity-client-secret"},
				"issuer": {issuer + "/other", odd, "discovery at " + issuer + "/other"},
			} {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					server, err := installation{folder: t.TempDir()}.start("--identity", c.issuer,
						"--identity-client-id", "aliquot", "--identity-client-secret", c.secret)
					if err != nil {
						t.Fatal(err)
					}
					server.endWith(t)
					err = poll(func() error {
						if text := server.logged(); !strings.Contains(text, c.cause) {
							return fmt.Errorf("the log does not say %q: %s", c.cause, text)
						}
						return nil
					})
					if err != nil {
						t.Fatal(err)
					}
					response, err := http.Get(server.base + "/readyz") //nolint:noctx // a test
					if err != nil {
						t.Fatal(err)
					}
					defer func() { _ = response.Body.Close() }()
					text, err := io.ReadAll(response.Body)
					if err != nil || response.StatusCode != http.StatusServiceUnavailable ||
						!strings.Contains(string(text), `"waits_for":"identity provider"`) ||
						strings.Contains(string(text), issuer) {
						t.Errorf("%d %s, %v", response.StatusCode, text, err)
					}
					page := (&surfer{t, map[string]map[string]string{}}).visit(http.MethodGet, server.base+"/signin",
						nil, "")
					if !strings.Contains(page.doc.Find(".note.bad").Text(), "not available at the moment") {
						t.Errorf("%s", page.doc.Find("main").Text())
					}
					if log, err := os.ReadFile(server.log); err != nil || strings.Contains(string(log), "hush-hush") {
						t.Errorf("the secret is in the log, %v", err)
					}
				})
			}
		})
	}
}

package identity

import (
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// post sends a form to the token endpoint and returns the status and the members of the answer.
func (d *demo) post(t *testing.T, form url.Values) (int, map[string]any) {
	t.Helper()
	resp, err := http.PostForm(d.issuer+"/token", form)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var said map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&said); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, said
}

func (d *demo) spend(t *testing.T, code string, more url.Values) (int, map[string]any) {
	t.Helper()
	form := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {origin},
		"client_id": {DemoClientID}}
	for name, values := range more {
		form[name] = values
	}
	return d.post(t, form)
}

func TestTokenEndpoint_AnswersLikeORCID(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	_, named := d.spend(t, d.code(t, url.Values{"login_hint": {josiahID}, "scope": {"openid email"}}), nil)
	for name, want := range map[string]any{"token_type": "bearer", "expires_in": 3600.0, "scope": "openid email",
		"orcid": josiahID, "name": "Josiah Carberry"} {
		if named[name] != want {
			t.Errorf("%s = %v, want %v", name, named[name], want)
		}
	}
	_, private := d.spend(t, d.code(t, url.Values{"login_hint": {otherID}}), nil)
	if name, ok := private["name"]; !ok || name != nil {
		t.Errorf("name of somebody without one = %v, want null", name)
	}
}

func TestIDToken_EchoesTheNonce(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	p, err := oidc.NewProvider(t.Context(), d.issuer)
	if err != nil {
		t.Fatal(err)
	}
	_, said := d.spend(t, d.code(t, url.Values{"login_hint": {josiahID}, "nonce": {"n-1"}}), nil)
	token, err := p.Verifier(&oidc.Config{ClientID: DemoClientID}).Verify(t.Context(), said["id_token"].(string))
	if err != nil || token.Nonce != "n-1" {
		t.Errorf("id_token = %+v, %v", token, err)
	}
}

func TestUserinfo_NamesThePersonUntilTheTokenExpires(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	p, err := oidc.NewProvider(t.Context(), d.issuer)
	if err != nil {
		t.Fatal(err)
	}
	_, said := d.spend(t, d.code(t, url.Values{"login_hint": {josiahID}}), nil)
	ask := func(token string) (*oidc.UserInfo, error) {
		return p.UserInfo(t.Context(), oauth2.StaticTokenSource(&oauth2.Token{AccessToken: token}))
	}
	info, err := ask(said["access_token"].(string))
	if err != nil || info.Subject != josiahID || info.Email != josiah.Email || !info.EmailVerified {
		t.Errorf("userinfo = %+v, %v", info, err)
	}
	if _, err := ask("made-up"); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("made-up token: %v, want 401", err)
	}
	d.ahead.Store(int64(2 * tokenLifetime))
	if _, err := ask(said["access_token"].(string)); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("expired token: %v, want 401", err)
	}
}

func TestTokenEndpoint_RefusesWithTheCodesOfRFC6749(t *testing.T) {
	t.Parallel()
	verifier := oauth2.GenerateVerifier()
	challenge := url.Values{"code_challenge": {oauth2.S256ChallengeFromVerifier(verifier)},
		"code_challenge_method": {"S256"}}
	tests := []struct {
		name  string
		asked url.Values
		spent url.Values
		want  any // the error; nil: granted
	}{
		{"right", nil, nil, nil},
		{"right verifier", challenge, url.Values{"code_verifier": {verifier}}, nil},
		{"no verifier", challenge, nil, "invalid_grant"},
		{"wrong verifier", challenge, url.Values{"code_verifier": {verifier + "x"}}, "invalid_grant"},
		{"verifier without a challenge", nil, url.Values{"code_verifier": {verifier}}, "invalid_grant"},
		{"other redirect", nil, url.Values{"redirect_uri": {"https://lab.example/"}}, "invalid_grant"},
		{"no redirect", nil, url.Values{"redirect_uri": nil}, "invalid_grant"},
		{"other client", nil, url.Values{"client_id": {"other"}}, "invalid_grant"},
		{"no client", nil, url.Values{"client_id": nil}, "invalid_grant"},
		{"no code", nil, url.Values{"code": nil}, "invalid_grant"},
		{"other grant", nil, url.Values{"grant_type": {"password"}}, "unsupported_grant_type"},
		{"endless form", nil, url.Values{"state": {strings.Repeat("a", 1<<20)}}, "invalid_request"},
		{"client left to the default", url.Values{"client_id": nil, "response_type": nil, "scope": nil}, nil, nil},
	}
	d := startDemo(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			asked := url.Values{"login_hint": {josiahID}}
			for name, values := range tt.asked {
				asked[name] = values
			}
			code := d.code(t, asked)
			status, said := d.spend(t, code, tt.spent)
			if granted := tt.want == nil; said["error"] != tt.want || (status == http.StatusOK) != granted {
				t.Fatalf("%d %v, want %v", status, said, tt.want)
			}
			if status != http.StatusOK && (status != http.StatusBadRequest || said["error_description"] == "") {
				t.Errorf("%d %v does not say what is wrong", status, said)
			}
		})
	}
}

func TestDemo_WrongAttemptSpendsTheCode(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	code := d.code(t, url.Values{"login_hint": {josiahID}})
	d.spend(t, code, url.Values{"redirect_uri": {"https://thief.example"}})
	if status, said := d.spend(t, code, nil); said["error"] != "invalid_grant" {
		t.Errorf("second attempt: %d %v", status, said)
	}
}

func TestDemo_ClientMayAuthenticateByHeader(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	p, err := oidc.NewProvider(t.Context(), d.issuer)
	if err != nil {
		t.Fatal(err)
	}
	endpoint := p.Endpoint()
	endpoint.AuthStyle = oauth2.AuthStyleInHeader
	conf := oauth2.Config{ClientID: DemoClientID, ClientSecret: "any", Endpoint: endpoint, RedirectURL: origin}
	if _, err := conf.Exchange(t.Context(), d.code(t, url.Values{"login_hint": {josiahID}})); err != nil {
		t.Error(err)
	}
}

func TestAuthorize_NeverRedirectsToADangerousAddress(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	for _, address := range []string{
		"", "/back", "//lab.example", "javascript:alert(1)", "data:text/html,x", "ftp://lab.example",
		"file:///etc/passwd",
		"https:lab.example", "https://", "https://:443", "https://lab.example#x", "https://lab.example/#",
		"https://me@lab.example",
		"https://lab.example;script-src", "https://lab.example'", "https://läb.example", "https://lab.example\n",
		"HTTPS:\\\\lab.example",
		"https://lab.example/" + strings.Repeat("a", maxParameter),
	} {
		status, location := d.authorize(t, url.Values{"login_hint": {josiahID}, "redirect_uri": {address}})
		if status != http.StatusBadRequest || location != "" {
			t.Errorf("redirect_uri %q: %d %s", address, status, location)
		}
	}
	for address, want := range map[string]string{
		"http://127.0.0.1:8080":        "http://127.0.0.1:8080?code=",
		"http://[::1]:8080/x":          "http://[::1]:8080/x?code=",
		"https://lab.example/b?a=1&b;": "https://lab.example/b?a=1&b;&code=",
	} {
		_, got := d.authorize(t, url.Values{"login_hint": {josiahID}, "redirect_uri": {address}})
		if !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "&state=s+t%26%2F") {
			t.Errorf("redirect_uri %q leads to %q", address, got)
		}
	}
}

func TestAuthorize_RefusesWhatItDoesNotSupport(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	for _, params := range []url.Values{
		{"response_type": {"token"}},
		{"code_challenge": {"abc"}},
		{"code_challenge": {"abc"}, "code_challenge_method": {"plain"}},
		{"state": {strings.Repeat("a", maxParameter+1)}},
		{"login_hint": {"0000-0002-1825-0098"}},
		{"login_hint": {"josiah"}},
	} {
		if params.Get("login_hint") == "" {
			params.Set("login_hint", josiahID)
		}
		if status, location := d.authorize(t, params); status != http.StatusBadRequest || location != "" {
			t.Errorf("%.60v: %d %s", params, status, location)
		}
	}
}

// browse gets a page of the demo.
func (d *demo) browse(t *testing.T, address string) (status int, header http.Header, page string) {
	t.Helper()
	resp, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(body)
}

func TestDemo_PageHasTheSamplePeopleAndAForm(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	q := url.Values{"redirect_uri": {origin}, "state": {`"><script>alert(1)</script>`}, "nonce": {"n"},
		"code_challenge": {"c"}, "code_challenge_method": {"S256"}}
	status, header, page := d.browse(t, d.issuer+"/authorize?"+q.Encode())
	if status != http.StatusOK || header.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("%d %s", status, header.Get("Content-Type"))
	}
	for _, want := range []string{
		`<html lang="en">`, "<h1>Choose a sample user</h1>", "Josiah Carberry", "Leads the psychoceramics group",
		josiahID,
		`<label for="login_hint">`, `name="nonce" value="n"`, `name="code_challenge" value="c"`,
		`name="state" value="&#34;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("page lacks %q", want)
		}
	}
	if strings.Contains(page, "<script") || strings.Contains(page, "ZgotmplZ") {
		t.Errorf("page is not escaped as it should be:\n%s", page)
	}
	policy := header.Get("Content-Security-Policy")
	want := "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; style-src " + pageStyle +
		"; form-action 'self' https://lab.example"
	if policy != want {
		t.Errorf("policy = %q, want %q", policy, want)
	}
	if !strings.Contains(page, "<style>"+pageCSS+"</style>") {
		t.Error("the style is not the one that the policy allows")
	}
}

func TestDemo_LinkOfASamplePersonSignsIn(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	q := url.Values{"redirect_uri": {origin}, "state": {"s t&/"}}
	_, _, page := d.browse(t, d.issuer+"/authorize?"+q.Encode())
	_, link, _ := strings.Cut(page, `<a href="authorize?`)
	link, _, _ = strings.Cut(link, `"`)
	params, err := url.ParseQuery(html.UnescapeString(link))
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(t, Config{Issuer: d.issuer})
	person, err := c.Exchange(t.Context(), d.code(t, params), origin, Proof{})
	if err != nil || person.RegistryID != josiahID {
		t.Errorf("login gives %+v, %v", person, err)
	}
}

func TestDemo_MalformedORCIDIsExplained(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	q := url.Values{"redirect_uri": {origin}, "login_hint": {"<b>0000"}}
	status, _, page := d.browse(t, d.issuer+"/authorize?"+q.Encode())
	if status != http.StatusBadRequest {
		t.Errorf("status %d", status)
	}
	for _, want := range []string{`role="alert"`, "is not a well-formed ORCID iD", `value="&lt;b&gt;0000"`,
		`aria-invalid="true"`} {
		if !strings.Contains(page, want) {
			t.Errorf("page lacks %q:\n%s", want, page)
		}
	}
}

func TestNewDemo_RefusesInvalidIssuersAndPeople(t *testing.T) {
	t.Parallel()
	for _, issuer := range []string{"", "/demo/identity", "ftp://localhost/demo", "http://localhost/demo/",
		"http://localhost/demo?a"} {
		if _, err := NewDemo(issuer, nil); err == nil {
			t.Errorf("issuer %q is accepted", issuer)
		}
	}
	if _, err := NewDemo("http://localhost/demo", []Person{{RegistryID: "0000"}}); err == nil {
		t.Error("a malformed iD is accepted")
	}
}

func TestDemo_KeepsOnlyTheNewestCodes(t *testing.T) {
	t.Parallel()
	s := newExpiringStore[int](2)
	first, second, third := s.put(1), s.put(2), s.put(3)
	if _, ok := s.get(first); ok {
		t.Error("the oldest is still there")
	}
	if v, ok := s.take(second); !ok || v != 2 {
		t.Errorf("second = %d, %v", v, ok)
	}
	if _, ok := s.take(second); ok {
		t.Error("taken twice")
	}
	if v, ok := s.get(third); !ok || v != 3 {
		t.Errorf("third = %d, %v", v, ok)
	}
}

func FuzzAuthorize(f *testing.F) {
	f.Add(origin, "state", josiahID, "Josiah", "code", "S256")
	f.Add("http://[::1]:80/?a=b;c", "\r\nSet-Cookie: a=b", "", "<script>", "", "")
	f.Add("javascript:alert(1)", "", "0000", "\xff", "token", "plain")
	f.Add("https://a;script-src *", "\u2028", "https://orcid.org/"+otherID, "", "", "")
	handler, err := NewDemo("http://localhost/demo/identity", []Person{josiah})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, redirect, state, hint, given, kind, method string) {
		q := url.Values{"redirect_uri": {redirect}, "state": {state}, "login_hint": {hint}, "given_name": {given},
			"response_type": {kind}, "code_challenge": {state}, "code_challenge_method": {method}}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/demo/identity/authorize?"+q.Encode(), nil))
		if strings.Count(w.Header().Get("Content-Security-Policy"), ";") > 4 {
			t.Errorf("policy %q has foreign parts", w.Header().Get("Content-Security-Policy"))
		}
		switch w.Code {
		case http.StatusFound:
			asked, err1 := url.Parse(redirect)
			back, err2 := url.Parse(w.Header().Get("Location"))
			if err1 != nil || err2 != nil || back.Host != asked.Host || back.Scheme != asked.Scheme ||
				!strings.HasPrefix(back.Scheme, "http") {
				t.Fatalf("redirect_uri %q leads to %q", redirect, w.Header().Get("Location"))
			}
		case http.StatusOK, http.StatusBadRequest:
			if strings.Contains(w.Body.String(), "<script") {
				t.Errorf("script on the page: %s", w.Body)
			}
		default:
			t.Errorf("status %d", w.Code)
		}
	})
}

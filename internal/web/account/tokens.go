package account

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/person"
	"aliquot/internal/web/ui"
)

// tokensPage lists a person's tokens of one kind.
type tokensPage struct {
	accountPage
	Tokens []person.Token
	Made   *person.Token      // the token just created
	Secret string             // its secret, which is shown only this once
	Labs   []lab.Organization // to which a token can be bound
	Lives  []int              // the validity periods to choose from, in days
	Max    int
}

// This reports whether the visitor is signed in with this token.
func (p *tokensPage) This(t person.Token) bool { return t.ID == p.Who.TokenID }

// Used returns when a token was last used, which is recorded to the hour.
func (p *tokensPage) Used(t person.Token) string {
	switch since := p.Now.Sub(t.UsedAt); {
	case p.This(t):
		return "used now"
	case since < time.Hour:
		return "used within the last hour"
	default:
		return "last used " + ui.Ago(-since)
	}
}

// Reach describes what a token may do, and in which lab.
func (p *tokensPage) Reach(t person.Token) string {
	text := map[exchange.Scope]string{exchange.ScopeRead: "Read", exchange.ScopeWrite: "Read and write",
		"": "Everything"}[t.Scope]
	if t.Organization == nil {
		return text
	}
	name := "a lab you left"
	for _, lab := range p.Labs {
		if lab.ID == *t.Organization {
			name = lab.Name
		}
	}
	return text + ", " + name + " only"
}

func (v *pageRequest) tokensPage(tab, title string, kind person.TokenKind) (*tokensPage, error) {
	p := &tokensPage{accountPage: v.accountPage(tab, title), Lives: []int{7, 30, 90, 365}, Max: person.MaxTokens}
	list, err := v.App.Accounts.Tokens(v.Context(), v.Who.Actor, v.Who.ID, exchange.Page{})
	p.Tokens = slices.DeleteFunc(list.Items, func(t person.Token) bool { return t.Kind != kind })
	return p, err
}

func (v *pageRequest) apiTokensPage() (p *tokensPage, err error) {
	if p, err = v.tokensPage("tokens", "API tokens", person.APIToken); err == nil {
		p.Labs, err = v.App.Accounts.Labs(v.Context(), v.Who.Actor)
	}
	return p, err
}

func (v *pageRequest) tokens() (ui.Response, error) {
	p, err := v.apiTokensPage()
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Show("account-tokens", p)
}

// newToken returns the token that the form describes; by default it may only read.
func (v *pageRequest) newToken() (n person.TokenNew, err error) {
	n = person.TokenNew{Name: exchange.Some(v.PostFormValue("name")),
		Scopes: exchange.Some([]exchange.Scope{exchange.ScopeRead})}
	if scope := v.PostFormValue("scopes"); scope != "" {
		n.Scopes.Value[0] = exchange.Scope(scope)
	}
	if lab := v.PostFormValue("organization"); lab != "" {
		id, err := strconv.ParseInt(lab, 10, 64)
		if err != nil {
			return n, exchange.FieldErrors{"organization": {"must be one of your labs"}}.Err()
		}
		n.Organization = exchange.NullOf(exchange.Ref(id))
	}
	if days := v.PostFormValue("expires"); days != "" {
		count, err := strconv.Atoi(days)
		if err != nil || count < 1 || count > 366 {
			return n, exchange.FieldErrors{"expires": {"must be from 1 to 366 days"}}.Err()
		}
		n.Expires = exchange.NullOf(exchange.Until(v.App.DB.Read().Now.AddDate(0, 0, count)))
	}
	return n, nil
}

// createToken creates a token and shows its secret. It does not redirect, since the secret is not shown again.
func (v *pageRequest) createToken() (ui.Response, error) {
	var made person.Token
	var secret string
	asked, err := v.newToken()
	if err == nil {
		made, secret, err = v.App.Accounts.CreateToken(v.Context(), v.Who.Actor, v.Who.ID, asked)
	}
	fields, wrong := ui.FieldErrorsIn(err)
	if exchange.CodeOf(err) == exchange.Conflict {
		fields, wrong = map[string][]string{"name": {"You have reached the limit of tokens; revoke one that you do " +
			"not need"}}, true
	}
	if err != nil && !wrong {
		return ui.Response{}, err
	}
	p, err := v.apiTokensPage()
	if err != nil {
		return ui.Response{}, err
	}
	if wrong {
		p.Errors = ui.SentencesOf(fields,
			map[string]string{"name": "a name for the token", "scopes": "what the token may do",
				"organization": "the lab", "expires": "how long it is valid"})
		return ui.Invalid("account-tokens", p)
	}
	p.Made, p.Secret, p.Form = &made, secret, nil
	r, err := ui.Show("account-tokens", p)
	r.Private = true
	return r, err
}

// revokeToken ends a token or a session, perhaps the present one.
func (v *pageRequest) revokeToken(id int64) (ui.Response, error) {
	if err := v.App.Accounts.RevokeToken(v.Context(), v.Who.Actor, v.Who.ID, id, nil); err != nil {
		return ui.Response{}, err
	}
	switch {
	case id == v.Who.TokenID:
		v.ForgetCookie(ui.SessionCookie)
		return ui.SeeOther("/").Saying("You are signed out."), nil
	case v.PostForm.Has("session"):
		return ui.SeeOther("/account/sessions").Saying("Signed out of that browser."), nil
	}
	return ui.SeeOther("/account/tokens").Saying("Token revoked. Programs can no longer use it."),
		nil
}

// sessionsPage lists what opens a person's account: sessions, and sign-ins at other identity providers.
type sessionsPage struct {
	*tokensPage
	SignIns  []person.SignIn
	Provider string // the main one, as people know it
	Further  []furtherProvider
	Label    func(issuer string) string
}

func (v *pageRequest) sessions() (ui.Response, error) {
	p, err := v.tokensPage("sessions", "Sessions", person.SessionToken)
	if err != nil {
		return ui.Response{}, err
	}
	in := (*signInRequest)(v)
	signIns, err := v.App.SignIns.Of(v.Context(), v.Who.Actor, v.Who.ID)
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Show("account-sessions", &sessionsPage{p, signIns, in.provider(), in.further(),
		v.App.Accounts.ProviderLabel})
}

func (v *pageRequest) endOtherSessions() (ui.Response, error) {
	return ui.SeeOther("/account/sessions").Saying("You are signed out everywhere else."),
		v.App.Accounts.RevokeOtherSessions(v.Context(), v.Who.Actor)
}

// endEverything revokes all tokens and sessions, the present one too.
func (v *pageRequest) endEverything() (ui.Response, error) {
	if err := v.App.Accounts.RevokeTokens(v.Context(), v.Who.Actor, v.Who.ID, nil); err != nil {
		return ui.Response{}, err
	}
	v.ForgetCookie(ui.SessionCookie)
	return ui.SeeOther("/").Saying("You are signed out everywhere, and all tokens are revoked."), nil
}

// User-Agent substrings and the names they stand for. The first match of each list counts.
var (
	browsers = []struct{ name, mark string }{{"Edge", "Edg"}, {"Opera", "OPR/"}, {"Samsung Internet", "SamsungBrowser"},
		{"Firefox", "Firefox/"}, {"Firefox", "FxiOS/"},
		{"Chrome", "Chrome/"}, {"Chrome", "CriOS/"}, {"Safari", "Safari/"}}
	systems = []struct{ name, mark string }{{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"},
		{"Windows", "Windows"}, {"ChromeOS", "CrOS"}, {"Mac", "Macintosh"}, {"Linux", "Linux"}}
	oddRunes = regexp.MustCompile(`[^ -~]`)
)

// device names a session by its browser and device, as "Firefox on Linux".
func device(agent string) string {
	find := func(list []struct{ name, mark string }) string {
		for _, x := range list {
			if strings.Contains(agent, x.mark) {
				return x.name
			}
		}
		return ""
	}
	browser, system := find(browsers), find(systems)
	switch {
	case browser != "" && system != "":
		return browser + " on " + system
	case browser+system != "":
		return browser + system
	}
	const most = 60
	first, _, _ := strings.Cut(oddRunes.ReplaceAllString(agent, ""), " ")
	return first[:min(len(first), most)]
}

package web

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"aliquot/internal/exchange"
)

// tokensPage lists a person's tokens of one kind.
type tokensPage struct {
	accountPage
	Tokens []exchange.Token
	Made   *exchange.Token // just now
	Secret string          // of it, which is shown this once
	Lives  string          // how long a new one does
}

// This says whether a token is the one of this very visit.
func (p *tokensPage) This(t exchange.Token) bool { return t.ID == p.Who.TokenID }

// Used says when a session was used, which is noted to the hour.
func (p *tokensPage) Used(t exchange.Token) string {
	switch since := p.Now.Sub(t.UsedAt); {
	case p.This(t):
		return "used now"
	case since < time.Hour:
		return "used within the last hour"
	default:
		return "last used " + ago(-since)
	}
}

func (v *visit) tokensPage(tab, title string, kind exchange.TokenKind) (*tokensPage, error) {
	p := &tokensPage{accountPage: v.accountPage(tab, title), Lives: span(v.app.TokenLifetime)}
	list, err := v.app.Tokens(v.Context(), v.who.Actor, v.who.ID, exchange.Page{})
	p.Tokens = slices.DeleteFunc(list.Items, func(t exchange.Token) bool { return t.Kind != kind })
	return p, err
}

func (v *visit) tokens() (reply, error) {
	p, err := v.tokensPage("tokens", "API tokens", exchange.APIToken)
	if err != nil {
		return reply{}, err
	}
	return show("account-tokens", p)
}

// createToken makes a token and shows its secret, which nothing shows again: so it does not redirect.
func (v *visit) createToken() (reply, error) {
	made, secret, err := v.app.CreateToken(v.Context(), v.who.Actor, v.PostFormValue("name"))
	fields, wrong := faults(err)
	if err != nil && !wrong {
		return reply{}, err
	}
	p, err := v.tokensPage("tokens", "API tokens", exchange.APIToken)
	if err != nil {
		return reply{}, err
	}
	if wrong {
		p.Errors = sentencesOf(fields, map[string]string{"name": "a name for the token"})
		return invalid("account-tokens", p)
	}
	p.Made, p.Secret, p.Form = &made, secret, nil
	return show("account-tokens", p)
}

// revokeToken ends a token or a session, maybe this one.
func (v *visit) revokeToken() (reply, error) {
	id, err := v.id("id")
	if err != nil {
		return reply{}, err
	}
	if err := v.app.RevokeToken(v.Context(), v.who.Actor, v.who.ID, id); err != nil {
		return reply{}, err
	}
	switch {
	case id == v.who.TokenID:
		v.forget(sessionCookie)
		return seeOther("/").saying("You are signed out."), nil
	case v.PostForm.Has("session"):
		return seeOther("/account/sessions").saying("That browser is signed out."), nil
	}
	return seeOther("/account/tokens").saying("The token is revoked. Programs that use it are refused from now on."), nil
}

func (v *visit) sessions() (reply, error) {
	p, err := v.tokensPage("sessions", "Sessions", exchange.SessionToken)
	if err != nil {
		return reply{}, err
	}
	return show("account-sessions", p)
}

func (v *visit) endOtherSessions() (reply, error) {
	return seeOther("/account/sessions").saying("You are signed out everywhere else."), v.app.RevokeOtherSessions(v.Context(), v.who.Actor)
}

// endEverything revokes all tokens and sessions, this one too.
func (v *visit) endEverything() (reply, error) {
	if err := v.app.RevokeTokens(v.Context(), v.who.Actor, v.who.ID); err != nil {
		return reply{}, err
	}
	v.forget(sessionCookie)
	return seeOther("/").saying("You are signed out everywhere, and all tokens are revoked."), nil
}

// What a browser says that it is: of each list the first that is found.
var (
	browsers = []struct{ name, mark string }{{"Edge", "Edg"}, {"Opera", "OPR/"}, {"Samsung Internet", "SamsungBrowser"}, {"Firefox", "Firefox/"}, {"Firefox", "FxiOS/"},
		{"Chrome", "Chrome/"}, {"Chrome", "CriOS/"}, {"Safari", "Safari/"}}
	systems  = []struct{ name, mark string }{{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Windows", "Windows"}, {"ChromeOS", "CrOS"}, {"Mac", "Macintosh"}, {"Linux", "Linux"}}
	oddRunes = regexp.MustCompile(`[^ -~]`)
)

// device is what a session is called: the browser and the device, as "Firefox on Linux".
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

package web

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"aliquot/internal/app"
	"aliquot/internal/server"
)

// The cookies. Because of their prefix browsers accept them only from this host, over TLS or on the same machine.
const (
	sessionCookie = "__Host-session" // the session's token, of which the database has a revocable row with the hash
	signInCookie  = "__Host-signin"  // while the visitor is at the identity provider
	noteCookie    = "__Host-note"    // the message on the next page
	themeCookie   = "__Host-theme"   // light or dark
	keysOff       = "__Host-nokeys"  // no keyboard shortcuts
)

// note is the message on the next page: what was done, or what is pending and can be undone.
type flash struct {
	Text string `json:"t"`
	Undo int64  `json:"u,omitempty"` // the pending action
}

func (v *pageRequest) setCookie(name, value string, lives time.Duration) {
	http.SetCookie(v.w, &http.Cookie{Name: name, Value: value, Path: "/", Secure: true, HttpOnly: true,
		SameSite: http.SameSiteLaxMode, MaxAge: int(lives.Seconds())})
}

func (v *pageRequest) forget(name string) { v.setCookie(name, "", -time.Second) }

// cookie returns the value of a cookie, "" if there is none.
func (v *pageRequest) cookie(name string) string {
	c, err := v.Cookie(name)
	if err != nil {
		return ""
	}
	return c.Value
}

func (v *pageRequest) has(name string) bool { return v.cookie(name) != "" }

// recognize identifies the visitor. An ended session counts as none.
func (v *pageRequest) recognize() error {
	token := v.cookie(sessionCookie)
	if token == "" {
		return nil
	}
	who, err := v.app.Visitor(v.Context(), token)
	if err != nil {
		return err
	}
	if who.Anonymous() {
		v.forget(sessionCookie)
		if v.limits != nil {
			v.limits.Refused(app.Hash(token), v.RemoteAddr)
		}
		return nil
	}
	v.who = who
	server.SetUser(v.w, who.ID.String())
	if v.limits != nil {
		v.limits.Proved(app.Hash(token), who.ID)
	}
	return nil
}

func (v *pageRequest) theme() string {
	if theme := v.cookie(themeCookie); theme == "light" || theme == "dark" {
		return theme
	}
	return ""
}

// noteLives is long enough for a redirect.
const noteLives = 15 * time.Second

func (v *pageRequest) remember(n flash) {
	text, _ := json.Marshal(n) // such a struct always marshals
	v.setCookie(noteCookie, base64.RawURLEncoding.EncodeToString(text), noteLives)
}

// recall returns the message for this page and removes it.
func (v *pageRequest) recall() *flash {
	text, err := base64.RawURLEncoding.DecodeString(v.cookie(noteCookie))
	var n flash
	if err != nil || json.Unmarshal(text, &n) != nil || n.Text == "" {
		return nil
	}
	v.forget(noteCookie)
	return &n
}

// toSignIn sends the visitor to sign in, and back here afterwards; after a form, to the form's page.
func (v *pageRequest) toSignIn() response {
	next := v.URL.RequestURI()
	if v.Method != http.MethodGet {
		next = "/"
		if from, err := url.Parse(v.Referer()); err == nil && from.Host == v.Host {
			next = from.RequestURI()
		}
	}
	return seeOther("/signin?next=" + url.QueryEscape(next))
}

// ours returns next if it is an address on this host, "/" otherwise.
func ours(next string) string {
	u, err := url.Parse(next)
	if err != nil || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") ||
		strings.ContainsAny(next, "\\\r\n\t") || u.Host != "" || u.Scheme != "" {
		return "/"
	}
	return next
}

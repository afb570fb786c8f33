package ui

import (
	"net/http"
	"time"
)

// SignInLives is how long a visitor may take at the identity provider.
const SignInLives = 15 * time.Minute

// The cookies. Because of their prefix browsers accept them only from this host, over TLS or on the same machine.
const (
	SessionCookie = "__Host-session" // the session's token, of which the database has a revocable row with the hash
	SignInCookie  = "__Host-signin"  // while the visitor is at the identity provider
	LinkCookie    = "__Host-link"    // a sign-in at another provider that is linked to no account yet, sealed
	NoteCookie    = "__Host-note"    // the message on the next page
	ThemeCookie   = "__Host-theme"   // light or dark
	KeysOffCookie = "__Host-nokeys"  // no keyboard shortcuts
)

// maxCookie is the most characters of a cookie: together with the other headers they are less than the 4 KiB that
// proxies read of the head of an answer.
const maxCookie = 3000

// SetCookie sets a cookie of ours. A value that is too long to be one of ours is not kept.
func (v *PageRequest) SetCookie(name, value string, lives time.Duration) {
	if len(value) > maxCookie {
		return
	}
	http.SetCookie(v.W, &http.Cookie{Name: name, Value: value, Path: "/", Secure: true, HttpOnly: true,
		SameSite: http.SameSiteLaxMode, MaxAge: int(lives.Seconds())})
}

// ForgetCookie removes a cookie.
func (v *PageRequest) ForgetCookie(name string) { v.SetCookie(name, "", -time.Second) }

// CookieValue returns the value of a cookie, "" if there is none.
func (v *PageRequest) CookieValue(name string) string {
	c, err := v.Cookie(name)
	if err != nil {
		return ""
	}
	return c.Value
}

// HasCookie reports whether the browser sent a cookie.
func (v *PageRequest) HasCookie(name string) bool { return v.CookieValue(name) != "" }

// Theme returns the theme that the visitor chose, "" for that of the device.
func (v *PageRequest) Theme() string {
	if theme := v.CookieValue(ThemeCookie); theme == "light" || theme == "dark" {
		return theme
	}
	return ""
}

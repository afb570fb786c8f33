package rest

import (
	"net/http"
	"slices"
	"strings"

	"aliquot/internal/exchange"
)

// What a page of another origin may read and send in addition to the safelisted headers (Fetch standard, "CORS
// protocol"). Credentials are never allowed: a token is a header, not a cookie.
const (
	ExposedHeaders = "Link, X-Total-Count, X-Total-Count-At-Least, X-Unread-Count, ETag, Location, RateLimit, " +
		"RateLimit-Policy, Retry-After, X-Request-Id"
	sentHeaders   = "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Range"
	preflightTime = "7200" // seconds that a browser may cache a preflight answer
)

// allowOrigin lets pages of the configured origins read an answer.
func (a *API) allowOrigin(w http.ResponseWriter, r *http.Request) {
	if len(a.Origins) == 0 {
		return
	}
	h, origin := w.Header(), r.Header.Get("Origin")
	if slices.Contains(a.Origins, "*") {
		origin = "*"
	} else {
		h.Add("Vary", "Origin")
		if !slices.Contains(a.Origins, origin) {
			return
		}
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", ExposedHeaders)
}

// sameSite refuses a write that a page of another site sends, unless its origin is configured. If any origin is, the
// call has to bear a token, which no browser adds by itself, or be a sign-in.
func (a *API) sameSite(c *Call, action exchange.Action) error {
	if !a.site.FromElsewhere(c.Request) {
		return nil
	}
	shows := c.Header.Get("Authorization") != "" || action == exchange.Login || action == exchange.Register
	if slices.Contains(a.Origins, c.Header.Get("Origin")) || shows && slices.Contains(a.Origins, "*") {
		return nil
	}
	return exchange.Errorf(exchange.CrossSite, "A page of another site sent this, so nothing was changed. The "+
		"operator can allow its origin by the setting cors-origins.")
}

// options answers OPTIONS and CORS preflights.
func options(w http.ResponseWriter, r *http.Request, allowed []string) {
	h := w.Header()
	if h.Get("Access-Control-Allow-Origin") != "" && r.Header.Get("Access-Control-Request-Method") != "" {
		h.Set("Access-Control-Allow-Methods", strings.Join(allowed, ", "))
		h.Set("Access-Control-Allow-Headers", sentHeaders)
		h.Set("Access-Control-Max-Age", preflightTime)
	}
	w.WriteHeader(http.StatusNoContent)
}

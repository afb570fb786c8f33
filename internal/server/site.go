package server

import (
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
)

// Site is the address at which people reach a server. The API and the pages refuse requests for another host, which is
// how DNS rebinding works, and writes sent by the pages of another site.
type Site struct {
	host       string // of the public URL, in lower case
	name, port string // of the host; an empty port means that of the scheme
	ownPort    string // the default port of the scheme
	https      bool
	origins    *http.CrossOriginProtection
}

// NewSite returns the site of a public URL, which the settings have checked. Without one it only has loopback names.
func NewSite(publicURL string) *Site {
	s := &Site{origins: http.NewCrossOriginProtection()}
	u, err := url.Parse(publicURL)
	if err != nil || u.Host == "" {
		return s
	}
	s.host = strings.ToLower(u.Host)
	s.name, s.port, s.ownPort = strings.ToLower(u.Hostname()), u.Port(), "80"
	if u.Scheme == "https" {
		s.ownPort, s.https = "443", true
	}
	_ = s.origins.AddTrustedOrigin(u.Scheme + "://" + u.Host) // a proxy may have replaced Host
	return s
}

// Answers reports whether a Host header names this site, or this machine as seen from itself. The port of the scheme
// may be left out or named, and so may another port of the public URL, which proxies leave out.
func (s *Site) Answers(host string) bool {
	if host == s.host && host != "" {
		return true
	}
	u := url.URL{Host: host}
	name, port := u.Hostname(), u.Port()
	if name == "" {
		return false
	}
	if strings.EqualFold(name, s.name) && (port == "" || port == s.port || port == s.ownPort) {
		return true
	}
	return strings.EqualFold(name, "localhost") || net.ParseIP(name).IsLoopback()
}

// Only passes requests for this site to next and others to refuse.
func (s *Site) Only(next, refuse http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.Answers(r.Host) {
			refuse.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// hstsHeader makes browsers use https for a year (RFC 6797). It does not include subdomains, which are not ours to
// bind.
var hstsHeader = []string{"max-age=31536000"}

// Secure makes browsers use only https from now on, if that is how the site is reached.
func (s *Site) Secure(next http.Handler) http.Handler {
	if !s.https {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Strict-Transport-Security"] = hstsHeader
		next.ServeHTTP(w, r)
	})
}

// Clean reports whether a path has neither empty segments nor any of dots. http.ServeMux redirects other paths to a
// clean one, which loses the body of a POST and repeats whatever the client sent in a header.
func Clean(p string) bool {
	clean := path.Clean(p)
	return strings.HasPrefix(p, "/") && (p == clean || p == clean+"/" && clean != "/")
}

// OnlyClean passes requests with a clean path to next; there is nothing at any other.
func OnlyClean(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !Clean(r.URL.Path) {
			fail(w, http.StatusNotFound, "NOT_FOUND", "There is no such path.")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// FromElsewhere reports whether a request is a browser's write for a page of another site.
func (s *Site) FromElsewhere(r *http.Request) bool { return s.origins.Check(r) != nil }

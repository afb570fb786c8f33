package identity

import (
	"fmt"
	"net/http"
	"time"
)

const (
	timeout      = 10 * time.Second // for one sign-in, whatever number of calls it needs
	maxAnswer    = 1 << 20          // bytes of one answer of a provider, uncompressed
	maxRedirects = 3
)

// limitedClient returns a copy of base that asks for JSON, reads at most maxAnswer bytes, waits at most timeout, and
// follows a redirect only within the same host.
func limitedClient(base *http.Client) *http.Client {
	var c http.Client
	if base != nil {
		c = *base
	}
	if c.Transport == nil {
		c.Transport = http.DefaultTransport
	}
	c.Transport = bounded{c.Transport}
	c.CheckRedirect = sameHost
	if c.Timeout == 0 || c.Timeout > timeout {
		c.Timeout = timeout
	}
	return &c
}

type bounded struct{ next http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Accept", "application/json")
	resp, err := b.next.RoundTrip(r)
	if err == nil {
		resp.Body = http.MaxBytesReader(nil, resp.Body, maxAnswer)
	}
	return resp, err
}

func sameHost(r *http.Request, via []*http.Request) error {
	first := via[0].URL
	if r.URL.Scheme != first.Scheme || r.URL.Host != first.Host {
		return fmt.Errorf("refused a redirect from %s to %s", first.Host, r.URL.Host)
	}
	if len(via) > maxRedirects {
		return fmt.Errorf("more than %d redirects", maxRedirects)
	}
	return nil
}

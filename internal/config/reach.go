package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// loopback reports whether only this machine can reach a host.
func loopback(host string) bool {
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}

// checkReach checks what depends on who can reach the server. A proxy on this machine makes a loopback
// listener public, so public-url counts as much as the listening address.
func (s *Server) checkReach(host string) error {
	local := loopback(host)
	if s.PublicURL != "" {
		u, err := url.Parse(s.PublicURL)
		if err != nil || u.Hostname() == "" || u.User != nil || (u.Scheme != "http" && u.Scheme != "https") {
			return errors.New("public-url: must be a web address, such as https://aliquot.example.org")
		}
		if u.Scheme == "http" && !loopback(u.Hostname()) {
			return errors.New("public-url: must begin with https:// unless its host is a loopback address, because " +
				"browsers keep the session cookie only over https; " +
				"put a proxy with a certificate in front, and set it to the https address of that")
		}
		local = local && loopback(u.Hostname())
		s.PublicURL = strings.TrimRight(s.PublicURL, "/")
	}
	if s.Identity == "demo" && !local {
		return errors.New("identity: the built-in provider lets anyone sign in as anyone, so it works only where " +
			"addr and public-url are both loopback addresses; " +
			"set identity to an OpenID Connect provider, such as https://orcid.org")
	}
	if s.Access == "" && !local {
		return errors.New("access: set it to members (or open), because addr or public-url is not a loopback address")
	}
	if s.PublicURL == "" && !loopback(host) {
		return errors.New("public-url: set it to the https address at which people reach this server, such as " +
			"https://aliquot.example.org, because addr is not a loopback address")
	}
	if s.Access == "" {
		s.Access = "open"
	}
	return nil
}

// Proxies returns the networks of the setting trusted-proxies.
func (s *Server) Proxies() ([]netip.Prefix, error) {
	var list []netip.Prefix
	for _, text := range s.TrustedProxies {
		p, err := netip.ParsePrefix(text)
		if a, addrErr := netip.ParseAddr(text); addrErr == nil && a.Zone() == "" {
			p, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		if err != nil || p.Addr().Is4In6() {
			return nil, fmt.Errorf("trusted-proxies: %q must be an address or a network, such as 10.0.0.7, "+
				"10.0.0.0/8 or fd00::/8", text)
		}
		if p.Bits() == 0 {
			return nil, fmt.Errorf("trusted-proxies: %s is every address there is, so anyone could choose the "+
				"address they come from; name those of your proxies", text)
		}
		list = append(list, p.Masked())
	}
	return list, nil
}

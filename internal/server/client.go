package server

import (
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
)

// Clients sets RemoteAddr of each request to the address of its client. Forwarded (RFC 7239) and X-Forwarded-For count
// only if the connection comes from a trusted proxy, and are read from the right: the first address that is not a
// trusted proxy is the client, since everything left of it may be made up. If the header cannot be read, or if both
// headers are present and disagree (a proxy sets one of them and passes the other on as the client sent it), the client
// is the proxy itself.
func Clients(next http.Handler, trusted []netip.Prefix, log *slog.Logger) http.Handler {
	var unset, disagree sync.Once
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		standard, common := r.Header["Forwarded"], r.Header["X-Forwarded-For"]
		if standard == nil && common == nil {
			next.ServeHTTP(w, r)
			return
		}
		if len(trusted) == 0 {
			unset.Do(func() {
				log.WarnContext(r.Context(), "a proxy forwards addresses of clients, which are ignored: all users "+
					"behind it share one limit; if the proxy is yours, name its address in the setting "+
					"trusted-proxies", "proxy", r.RemoteAddr)
			})
			next.ServeHTTP(w, r)
			return
		}
		isProxy := func(a netip.Addr) bool {
			return slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(a) })
		}
		peer, err := netip.ParseAddrPort(r.RemoteAddr)
		if err != nil || !isProxy(peer.Addr().Unmap()) {
			next.ServeHTTP(w, r)
			return
		}
		client, ok := lastUntrusted(standard, forwarded, isProxy)
		if common != nil {
			other, otherOK := lastUntrusted(common, forwardedFor, isProxy)
			if standard == nil {
				client, ok = other, otherOK
			} else if ok = ok && otherOK && client == other; !ok {
				disagree.Do(func() {
					log.WarnContext(r.Context(), "a proxy sends Forwarded and X-Forwarded-For that disagree, so "+
						"neither is believed; have it remove the one that it does not set",
						"proxy", r.RemoteAddr)
				})
			}
		}
		if ok {
			r.RemoteAddr = net.JoinHostPort(client.String(), "0")
		}
		next.ServeHTTP(w, r)
	})
}

// lastUntrusted returns the last address in the lines of a header that is not a proxy; the first address if all are.
func lastUntrusted(lines []string, read func(line string) (nodes []string, ok bool),
	isProxy func(netip.Addr) bool) (client netip.Addr, ok bool) {
	for _, line := range slices.Backward(lines) {
		nodes, whole := read(line)
		if !whole {
			return client, false
		}
		for _, node := range slices.Backward(nodes) {
			if client, ok = address(node); !ok || !isProxy(client) {
				return client, ok
			}
		}
	}
	return client, ok
}

// forwardedFor returns the nodes of a line of X-Forwarded-For.
func forwardedFor(line string) (nodes []string, ok bool) {
	for node := range strings.SplitSeq(line, ",") {
		nodes = append(nodes, strings.TrimSpace(node))
	}
	return nodes, true
}

// forwarded returns the values of "for" in a line of Forwarded, "" for an element without one; ok is false for a line
// that does not conform to RFC 7239 section 4.
func forwarded(line string) (nodes []string, ok bool) {
	node, named := "", false
	for rest := line; ; {
		name, after, assigns := strings.Cut(rest, "=")
		value, after, whole := tokenOrQuoted(after)
		name = strings.TrimLeft(name, " \t")
		if !assigns || !whole || name == "" || strings.ContainsAny(name, " \t\",;") {
			return nil, false
		}
		if strings.EqualFold(name, "for") {
			if named {
				return nil, false
			}
			node, named = value, true
		}
		after = strings.TrimLeft(after, " \t")
		if after == "" {
			return append(nodes, node), true
		}
		switch after[0] {
		case ',':
			nodes, node, named = append(nodes, node), "", false
		case ';':
		default:
			return nil, false
		}
		rest = after[1:]
	}
}

// tokenOrQuoted parses a value and removes its quotes.
func tokenOrQuoted(s string) (value, after string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		end := strings.IndexAny(s, " \t,;\"")
		if end < 0 {
			end = len(s)
		}
		return s[:end], s[end:], end > 0
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), s[i+1:], true
		case s[i] == '\\' && i+1 < len(s):
			i++
		}
		b.WriteByte(s[i])
	}
	return "", "", false
}

// address parses a node: an address with or without a port; ok is false for "unknown" and for obfuscated names.
func address(node string) (a netip.Addr, ok bool) {
	host := node
	if inside, isBracketed := strings.CutPrefix(node, "["); isBracketed {
		var port string
		if host, port, ok = strings.Cut(inside, "]"); !ok || !strings.Contains(host, ":") || port != "" &&
			!strings.HasPrefix(port, ":") {
			return a, false
		}
	} else if strings.Count(node, ":") == 1 {
		host, _, _ = strings.Cut(node, ":")
	}
	a, err := netip.ParseAddr(host)
	return a.Unmap(), err == nil && a.Zone() == ""
}

// shortened returns an address as it is logged: the network of a household or a company, not a person's machine.
func shortened(remoteAddr string) string {
	at, err := netip.ParseAddrPort(remoteAddr)
	if err != nil {
		return ""
	}
	a, bits := at.Addr().Unmap().WithZone(""), 24
	if a.Is6() {
		bits = 48
	}
	network, _ := a.Prefix(bits) // cannot fail: both lengths are valid
	return network.String()
}

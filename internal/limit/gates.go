package limit

import (
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/maypok86/otter/v2"
)

// Gates are the limits that every call passes, of the API and of the pages (contract.md section 9).
type Gates struct {
	user, address, login *Gate
	users                *otter.Cache[string, string] // by the hash of a token that proved good
}

// knownFor is how long an unused token stays known.
const knownFor = 10 * time.Minute

// NewGates returns the gates of three rules.
func NewGates(user, address, login Rule) (*Gates, error) {
	var g Gates
	var err error
	for gate, rule := range map[**Gate]Rule{&g.user: user, &g.address: address, &g.login: login} {
		if *gate, err = NewGate(rule); err != nil {
			return nil, err
		}
	}
	g.users, err = otter.New(&otter.Options[string, string]{MaximumSize: user.Callers,
		ExpiryCalculator: otter.ExpiryAccessing[string, string](knownFor)})
	return &g, err
}

// Divide has each gate allow the part of one of so many processes.
func (g *Gates) Divide(processes int) {
	for _, gate := range []*Gate{g.user, g.address, g.login} {
		gate.Divide(processes)
	}
}

// Pass counts a call of whoever shows the token with a hash ("": none) from an address. It counts for the token's
// user, however many tokens they have, once the token proved good; until then it counts as its address, so that nobody
// tries tokens without a limit. What signs in counts besides.
func (g *Gates) Pass(hash, remoteAddr string, signsIn bool) []Decision {
	now := time.Now()
	var verdicts []Decision
	if user, ok := g.known(hash); ok {
		verdicts = append(verdicts, g.user.Pass(user, now))
	} else {
		verdicts = append(verdicts, g.address.Pass(Network(remoteAddr), now))
	}
	if signsIn {
		verdicts = append(verdicts, g.login.Pass(Network(remoteAddr), now))
	}
	return verdicts
}

func (g *Gates) known(hash string) (user string, ok bool) {
	if hash == "" {
		return "", false
	}
	return g.users.GetIfPresent(hash)
}

// Proved records that a token, whose call passed, belongs to a user.
func (g *Gates) Proved(hash string, user uuid.UUID) {
	if _, ok := g.known(hash); !ok {
		id := user.String()
		g.users.Set(hash, id)
		g.user.Pass(id, time.Now())
	}
}

// Refused records that a token is invalid, or no longer valid: its calls count for their address.
func (g *Gates) Refused(hash, remoteAddr string) {
	if _, ok := g.known(hash); ok {
		g.users.Invalidate(hash)
		g.address.Pass(Network(remoteAddr), time.Now())
	}
}

// Network returns the part of an address that calls are counted by: with IPv6 a household or a machine has a /64 to
// choose from.
func Network(remoteAddr string) string {
	at, err := netip.ParseAddrPort(remoteAddr)
	if err != nil {
		return ""
	}
	a := at.Addr().Unmap().WithZone("")
	if a.Is4() {
		return a.String()
	}
	p, _ := a.Prefix(64) // which every such address has
	return p.String()
}

// WriteHeader writes a decision as headers (draft-ietf-httpapi-ratelimit-headers).
func (v Decision) WriteHeader(h http.Header) {
	h["Ratelimit-Policy"] = []string{v.Rule.Policy()}
	h["Ratelimit"] = []string{`"` + v.Rule.Name + `";r=` + strconv.Itoa(v.Left) + `;t=` + strconv.Itoa(v.Seconds())}
	if !v.OK {
		h.Set("Retry-After", strconv.Itoa(v.Seconds()))
	}
}

// Seconds returns the number of seconds until the next call is allowed.
func (v Decision) Seconds() int { return int(v.Retry.Seconds()) }

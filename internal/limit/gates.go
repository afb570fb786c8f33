package limit

import (
	"net"
	"net/http"
	"strconv"
	"time"
)

// Gates are those that every call passes, at whichever door it comes in (contract.md section 9).
type Gates struct{ token, address, login *Gate }

// NewGates makes the gates of three rules.
func NewGates(token, address, login Rule) (*Gates, error) {
	var g Gates
	for gate, rule := range map[**Gate]Rule{&g.token: token, &g.address: address, &g.login: login} {
		var err error
		if *gate, err = NewGate(rule); err != nil {
			return nil, err
		}
	}
	return &g, nil
}

// Pass counts a call of whoever shows the token with a hash ("": none) from an address. A token has a gate
// of its own once it proved good; until then it counts as its address, so that nobody tries tokens without
// a limit. What signs in counts besides.
func (g *Gates) Pass(hash, remoteAddr string, signsIn bool) []Verdict {
	now := time.Now()
	address, _, _ := net.SplitHostPort(remoteAddr)
	var verdicts []Verdict
	if hash != "" && g.token.Knows(hash) {
		verdicts = append(verdicts, g.token.Pass(hash, now))
	} else {
		verdicts = append(verdicts, g.address.Pass(address, now))
	}
	if signsIn {
		verdicts = append(verdicts, g.login.Pass(address, now))
	}
	return verdicts
}

// Proved says that a token, whose call passed, is good.
func (g *Gates) Proved(hash string) {
	if !g.token.Knows(hash) {
		g.token.Pass(hash, time.Now())
	}
}

// Tell writes a verdict as headers (draft-ietf-httpapi-ratelimit-headers).
func (v Verdict) Tell(h http.Header) {
	h["Ratelimit-Policy"] = []string{v.Rule.Policy()}
	h["Ratelimit"] = []string{`"` + v.Rule.Name + `";r=` + strconv.Itoa(v.Left) + `;t=` + strconv.Itoa(v.Seconds())}
	if !v.OK {
		h.Set("Retry-After", strconv.Itoa(v.Seconds()))
	}
}

// Seconds are those until the next call may come.
func (v Verdict) Seconds() int { return int(v.Retry.Seconds()) }

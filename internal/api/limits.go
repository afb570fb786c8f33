package api

import (
	"net"
	"strconv"
	"strings"
	"time"

	"aliquot/internal/app"
	"aliquot/internal/exchange"
	"aliquot/internal/limit"
)

// Limits are the gates that every call passes (contract.md section 9).
type Limits struct{ token, address, login *limit.Gate }

// NewLimits makes the gates of three rules.
func NewLimits(token, address, login limit.Rule) (*Limits, error) {
	var l Limits
	for gate, rule := range map[**limit.Gate]limit.Rule{&l.token: token, &l.address: address, &l.login: login} {
		var err error
		if *gate, err = limit.NewGate(rule); err != nil {
			return nil, err
		}
	}
	return &l, nil
}

// authenticate says who calls and counts the call. A token has a gate of its own once it proved
// good; until then it counts as its address, so that nobody tries tokens without a limit.
func (a *API) authenticate(c *Call, action exchange.Action) error {
	token, ok, err := presented(c.Header.Get("Authorization"))
	if err != nil {
		return err
	}
	now := time.Now()
	hash := ""
	if ok {
		hash = app.Hash(token)
	}
	if l := a.Limits; l != nil {
		address, _, _ := net.SplitHostPort(c.RemoteAddr)
		verdicts := []limit.Verdict{}
		if ok && l.token.Knows(hash) {
			verdicts = append(verdicts, l.token.Pass(hash, now))
		} else {
			verdicts = append(verdicts, l.address.Pass(address, now))
		}
		if action == exchange.Login || action == exchange.Register {
			verdicts = append(verdicts, l.login.Pass(address, now))
		}
		for _, v := range verdicts {
			if err := c.tell(v); err != nil {
				return err
			}
		}
	}
	if ok {
		if c.Actor, err = a.App.Actor(c.Context(), token); err != nil {
			return err
		}
		if l := a.Limits; l != nil && !l.token.Knows(hash) {
			l.token.Pass(hash, now)
		}
	}
	return nil
}

// presented is the token of an Authorization header (specification, "Authentication", 1); ok is
// false where there is no header.
func presented(header string) (token string, ok bool, err error) {
	if header == "" {
		return "", false, nil
	}
	words := strings.Fields(header)
	if len(words) != 2 || !strings.EqualFold(words[0], "Token") || len(words[1]) > 200 {
		return "", false, exchange.Fail(exchange.NotAuthenticated, "The Authorization header must read \"Token <API_TOKEN>\".")
	}
	return words[1], true, nil
}

// tell writes the RateLimit headers of a verdict (draft-ietf-httpapi-ratelimit-headers), and
// refuses what does not pass.
func (c *Call) tell(v limit.Verdict) error {
	h := c.w.Header()
	h["Ratelimit-Policy"] = []string{v.Rule.Policy()}
	h["Ratelimit"] = []string{`"` + v.Rule.Name + `";r=` + strconv.Itoa(v.Left) + `;t=` + strconv.Itoa(int(v.Retry.Seconds()))}
	if v.OK {
		return nil
	}
	seconds := int(v.Retry.Seconds())
	h.Set("Retry-After", strconv.Itoa(seconds))
	return exchange.Fail(exchange.RateLimited, "Too many calls: %d at once, then %g a second. Try again in %d s.", v.Rule.Burst, v.Rule.Rate, seconds).
		With("limit", v.Rule.Burst).With("per_second", v.Rule.Rate)
}

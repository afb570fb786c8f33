package rest

import (
	"strings"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/limit"
	"aliquot/internal/server"
)

// authenticate finds out who calls, and counts the call against their limits.
func (a *API) authenticate(c *Call, action exchange.Action) error {
	token, ok, err := bearerToken(c.Header.Get("Authorization"))
	if err != nil {
		return err
	}
	if ok {
		c.NoStore() // the answer is for one person
	}
	hash := ""
	if a.Limits != nil {
		if ok {
			hash = core.Hash(token)
		}
		for _, v := range a.Limits.Pass(hash, c.RemoteAddr, action == exchange.Login || action == exchange.Register) {
			if err := c.applyLimit(v); err != nil {
				return err
			}
		}
	}
	if !ok {
		return nil
	}
	c.Actor, err = a.App.Accounts.Actor(c.Context(), token)
	switch {
	case err == nil:
		server.SetUser(c.Writer, c.Actor.ID.String())
		if a.Limits != nil {
			a.Limits.Proved(hash, c.Actor.ID)
		}
	case a.Limits != nil && exchange.CodeOf(err) == exchange.NotAuthenticated:
		a.Limits.Refused(hash, c.RemoteAddr)
	}
	return err
}

// Caller returns whose limit counts: a user or an address.
func (c *Call) Caller() string {
	if !c.Actor.Anonymous() {
		return c.Actor.ID.String()
	}
	return limit.Network(c.RemoteAddr)
}

// bearerToken returns the token of an Authorization header (specification, "Authentication", 1); ok is false if there
// is no header.
func bearerToken(header string) (token string, ok bool, err error) {
	if header == "" {
		return "", false, nil
	}
	words := strings.Fields(header)
	if len(words) != 2 || !strings.EqualFold(words[0], "Token") && !strings.EqualFold(words[0], "Bearer") ||
		len(words[1]) > 200 {
		return "", false, exchange.Errorf(exchange.NotAuthenticated,
			"The Authorization header must read \"Token <API_TOKEN>\" or \"Bearer <API_TOKEN>\".")
	}
	return words[1], true, nil
}

// applyLimit writes the decision of the limiter into the headers, and refuses what exceeds the limit.
func (c *Call) applyLimit(v limit.Decision) error {
	v.WriteHeader(c.Writer.Header())
	if v.OK {
		return nil
	}
	return exchange.Errorf(exchange.RateLimited,
		"Too many calls: the limit is %d at once, then %g per second. Try again in %d s.",
		v.Rule.Burst, v.Rule.Rate, v.Seconds()).
		With("limit", v.Rule.Burst).With("per_second", v.Rule.Rate)
}

package limit_test

import (
	"testing"

	"aliquot/internal/limit"

	"github.com/google/uuid"
)

// slow are gates that hardly fill up again while a test runs.
func slow(t *testing.T) *limit.Gates {
	t.Helper()
	rule := func(name string, burst int) limit.Rule {
		return limit.Rule{Name: name, Rate: 0.001, Burst: burst, Callers: 100}
	}
	g, err := limit.NewGates(rule("user", 5), rule("address", 3), rule("login", 2))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// passes reports whether all gates let a call through.
func passes(g *limit.Gates, hash, remoteAddr string) bool {
	for _, v := range g.Pass(hash, remoteAddr, false) {
		if !v.OK {
			return false
		}
	}
	return true
}

func TestGates_AUserHasOneLimitHoweverManyTokensTheyHave(t *testing.T) {
	t.Parallel()
	g, ada := slow(t), uuid.New()
	for _, hash := range []string{"first", "second", "third"} {
		if !passes(g, hash, "203.0.113.1:1") {
			t.Fatalf("%s is refused at first", hash)
		}
		g.Proved(hash, ada) // each counts for ada too
	}
	g.Proved("first", ada) // known: counts once
	for i, hash := range []string{"first", "second"} {
		if !passes(g, hash, "203.0.113.1:1") {
			t.Fatalf("call %d is refused", i)
		}
	}
	for _, hash := range []string{"first", "second", "third"} {
		if passes(g, hash, "198.51.100.9:1") {
			t.Errorf("%s passes over the limit of its user", hash)
		}
	}
	g.Proved("bob's", uuid.New())
	if !passes(g, "bob's", "203.0.113.1:1") {
		t.Error("another user is refused")
	}
}

func TestGates_ATokenThatIsRefusedCountsAsItsAddress(t *testing.T) {
	t.Parallel()
	g, ada := slow(t), uuid.New()
	g.Proved("stolen", ada)
	if v := g.Pass("stolen", "203.0.113.1:1", false); v[0].Rule.Name != "user" {
		t.Fatalf("got %+v", v)
	}
	g.Refused("stolen", "203.0.113.1:1") // it was revoked
	for range 2 {                        // the call that showed it counts for the address already
		if v := g.Pass("stolen", "203.0.113.1:1", false); !v[0].OK || v[0].Rule.Name != "address" {
			t.Fatalf("got %+v", v)
		}
	}
	if passes(g, "stolen", "203.0.113.1:1") || passes(g, "guess", "203.0.113.1:1") || passes(g, "", "203.0.113.1:1") {
		t.Error("the address passes over its limit")
	}
	g.Refused("never seen", "198.51.100.9:1") // was counted when it came
	for range 3 {
		if !passes(g, "", "198.51.100.9:1") {
			t.Error("a refusal counts twice")
		}
	}
}

func TestGates_AnIPv6NetworkIsOneAddress(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		first, second string
		same          bool
	}{
		{"[2001:db8:1:2::1]:1", "[2001:db8:1:2:ffff:ffff:ffff:ffff]:2", true},
		{"[2001:db8:1:2::1]:1", "[2001:db8:1:3::1]:1", false},
		{"203.0.113.1:1", "203.0.113.1:2", true}, {"203.0.113.1:1", "203.0.113.2:1", false},
		{"[::ffff:203.0.113.1]:1", "203.0.113.1:1", true},
		{"[::ffff:203.0.113.1]:1", "[::ffff:203.0.113.2]:1", false}, {"[fe80::1%eth0]:1", "[fe80::2%eth1]:1", true},
	} {
		g := slow(t)
		for range 3 {
			passes(g, "", c.first)
		}
		if got := !passes(g, "", c.second); got != c.same {
			t.Errorf("%s and %s: one %v", c.first, c.second, got)
		}
		for range 2 {
			g.Pass("", c.first, true)
		}
		if got := !g.Pass("", c.second, true)[1].OK; got != c.same {
			t.Errorf("%s and %s sign in: one %v", c.first, c.second, got)
		}
	}
}

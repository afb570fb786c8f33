package app_test

import (
	"regexp"
	"strings"
	"testing"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/party"
	"aliquot/internal/app/letters"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/mail"
	"aliquot/internal/mail/mailtest"
)

// linked is a letter that two officials without an account are to sign, and both scientists have signed.
type linked struct {
	*mailWorld
	letters.View
}

// newLinked sends such a letter.
func newLinked(m *mailWorld) *linked {
	m.Helper()
	keepFiles(m.T, m.app)
	m.app.Admins = []string{"admin"}
	admin := m.person("admin")
	l := &linked{mailWorld: m}
	l.View = propose(m.T, m.app, m.lab, admin, m.ada, m.rosa, exchange.Opt[string]{}, func(provider, recipient int64) {
		for name, i := range map[string]int64{"dana": provider, "otto": recipient} {
			position, err := m.app.Institutions.Positions.Create(m.Context(), admin, i,
				patchOf[party.Position](m.T, map[string]any{"title": "Director", "from": "2020-01-01"}))
			m.must(err)
			_, err = m.app.Institutions.Authorities.Create(m.Context(), admin, i, patchOf[party.Authority](m.T,
				map[string]any{"position": position.ID, "name": name, "mail": name + "@example.org",
					"direction": "BOTH", "largest_bsl": 2, "from": "2020-01-01"}))
			m.must(err)
		}
	})
	l.View = signIn(m.T, m.app, m.rosa, l.View, "RECIPIENT_SCIENTIST")
	l.View = signIn(m.T, m.app, m.ada, l.View, "PROVIDER_SCIENTIST")
	m.work()
	return l
}

// last returns the newest mail to somebody.
func (l *linked) last(name string) (last mailtest.Letter) {
	l.Helper()
	for _, one := range l.server.Messages() {
		if one.To == name+"@example.org" {
			last = one
		}
	}
	return last
}

// token returns the token of the newest mail with a link to somebody.
func (l *linked) token(name string) string {
	l.Helper()
	_, rest, ok := strings.Cut(l.last(name).Text, "https://aliquot.example.org/sign?token=")
	if !ok {
		l.Fatalf("no link for %s in %q", name, l.last(name).Text)
	}
	return strings.Fields(rest)[0]
}

// code asks for a code and returns the one of the newest mail.
func (l *linked) code(name, token string) string {
	l.Helper()
	l.must(l.app.Letters.AskCode(l.Context(), exchange.Actor{}, token))
	l.work()
	return regexp.MustCompile(`[0-9]{6}`).FindString(l.last(name).Subject)
}

func (l *linked) use(code string) letter.LinkUse { return letter.LinkUse{Code: code, SHA256: l.SHA256} }

// TestLinks_TwoOfficialsWithoutAnAccountExecuteALetter, each by a link and a code that were mailed to them.
func TestLinks_TwoOfficialsWithoutAnAccountExecuteALetter(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		l := newLinked(m)
		var token string
		for _, name := range []string{"dana", "otto"} {
			token = l.token(name)
			seen, err := m.app.Letters.Linked(m.Context(), exchange.Actor{}, token)
			m.must(err)
			if seen.WhyNot != nil || seen.Link.Signer.Name != name || seen.Letter.Number != l.Letter.Number {
				m.Errorf("%s sees %+v", name, seen.Link)
			}
			m.must(m.app.Letters.SignByLink(m.Context(), exchange.Actor{}, token, l.use(l.code(name, token))))
			after, err := m.app.Letters.Linked(m.Context(), exchange.Actor{}, token)
			m.must(err)
			if after.WhyNot == nil || (after.State == letter.Executed) != (name == "otto") {
				m.Errorf("after %s: %v, %s", name, after.WhyNot, after.State)
			}
		}
		v, err := m.app.Letters.Letter(m.Context(), m.rosa, l.ID)
		m.must(err)
		if v.State != letter.Executed || len(v.Signatures) != 4 || v.Signatures[3].Level != party.MailedLink {
			m.Errorf("the letter is %s, signed %+v", v.State, v.Signatures)
		}
		pdf, _, err := m.app.Letters.LinkedDocument(m.Context(), exchange.Actor{}, token)
		m.must(err)
		if !strings.HasPrefix(string(pdf), "%PDF") {
			m.Error("no PDF for who signed last")
		}
	})
}

// TestLinks_RefuseWhatDoesNotCount and change nothing but the count of wrong codes.
func TestLinks_RefuseWhatDoesNotCount(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		l := newLinked(m)
		token := l.token("dana")
		refused := func(what string, code exchange.Code, err error) {
			m.Helper()
			if err == nil || exchange.CodeOf(err) != code {
				m.Errorf("%s: %v, not %s", what, err, code)
			}
		}
		sign := func(token string, n letter.LinkUse) error {
			return m.app.Letters.SignByLink(m.Context(), exchange.Actor{}, token, n)
		}
		refused("another token", exchange.NotFound, sign(token+"x", l.use("1")))
		refused("no token", exchange.NotFound, sign("", l.use("1")))
		refused("before a code was asked for", exchange.InvalidInput, sign(token, l.use("")))
		code := l.code("dana", token)
		refused("a second code at once", exchange.RateLimited,
			m.app.Letters.AskCode(m.Context(), exchange.Actor{}, token))
		refused("another page", exchange.StaleVersion, sign(token, letter.LinkUse{Code: code, SHA256: "other"}))
		refused("a code of another link", exchange.InvalidInput, sign(l.token("otto"), l.use(code)))
		for range 5 {
			refused("a wrong code", exchange.InvalidInput, sign(token, l.use("x")))
		}
		refused("after five wrong codes", exchange.InvalidInput, sign(token, l.use(code)))
		m.set("2026-03-02T09:02:00Z")
		code = l.code("dana", token)
		m.set("2026-03-02T09:18:00Z")
		refused("a code after 15 minutes", exchange.InvalidInput, sign(token, l.use(code)))
		code = l.code("dana", token)

		_, err := m.app.Letters.Invite(m.Context(), m.rosa, l.ID,
			letter.LinkNew{Role: exchange.Some("PROVIDER_OFFICIAL")})
		m.must(err)
		m.work()
		newer := l.token("dana")
		refused("a link with a successor", exchange.Conflict, sign(token, l.use(code)))
		m.set("2026-03-02T10:00:00Z")
		code = l.code("dana", newer)
		_, err = m.app.Letters.Change(m.Context(), m.rosa, l.ID, letter.VersionNew{Version: exchange.Some(int64(1)),
			Terms: letter.Terms{Fields: exchange.Some(map[string]string{"recipient_name": "Rosa Institute of Biology"})}})
		m.must(err)
		refused("an earlier version", exchange.StaleVersion, sign(newer, l.use(code)))
		v, err := m.app.Letters.Letter(m.Context(), m.rosa, l.ID)
		m.must(err)
		if v.State != letter.Draft || len(v.Signatures) != 0 {
			m.Errorf("the letter is %s, signed %+v", v.State, v.Signatures)
		}
	})
}

// TestLinks_DeclineWithAReasonAndACode.
func TestLinks_DeclineWithAReasonAndACode(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		l := newLinked(m)
		token := l.token("otto")
		decline := func(code, reason string) error {
			return m.app.Letters.DeclineByLink(m.Context(), exchange.Actor{}, token, l.use(code), reason)
		}
		if err := decline("123456", "Wrong name"); exchange.CodeOf(err) != exchange.InvalidInput {
			m.Errorf("without a code: %v", err)
		}
		m.must(decline(l.code("otto", token), "Wrong name"))
		v, err := m.app.Letters.Letter(m.Context(), m.rosa, l.ID)
		m.must(err)
		if v.State != letter.Declined || v.Reason != "Wrong name" {
			m.Errorf("the letter is %s: %q", v.State, v.Reason)
		}
	})
}

// TestLinks_AnAddressThatRefusesMailIsShown to those who sent the letter.
func TestLinks_AnAddressThatRefusesMailIsShown(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		l := newLinked(m)
		page, err := m.app.Letters.Links(m.Context(), m.rosa, l.ID, exchange.Page{})
		m.must(err)
		if len(page.Items) != 2 || page.Items[0].Mail != mailing.Sent {
			m.Fatalf("links: %+v", page.Items)
		}
		refused, err := m.app.Notifications.Bounce(m.Context(), mail.Bounce{Permanent: true,
			Recipient: "dana@example.org", MessageID: strings.Trim(l.last("dana").Header.Get("Message-Id"), "<>")})
		m.must(err)
		page, err = m.app.Letters.Links(m.Context(), m.rosa, l.ID, exchange.Page{})
		m.must(err)
		states := map[string]mailing.State{}
		for _, one := range page.Items {
			states[one.Signer.Name] = one.Mail
		}
		if refused == "" || states["dana"] != mailing.Refused || states["otto"] != mailing.Sent {
			m.Errorf("%q, %v", refused, states)
		}
	})
}

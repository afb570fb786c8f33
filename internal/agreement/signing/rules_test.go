package signing_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"aliquot/internal/agreement/letter/lettertest"
	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/signing"
	"aliquot/internal/exchange"
)

const today = exchange.Date("2026-06-15")

var (
	director  = party.Person{Name: "Ana Director", Mail: "director@example.edu"}
	deputy    = party.Person{Name: "Bo Deputy", Mail: "deputy@example.edu"}
	scientist = party.Person{Name: "Cy Scientist", Mail: "cy@example.edu"}
)

// agreement returns a letter that nobody has signed: the director signs for both sides until July, the deputy this week.
func agreement(t testing.TB) signing.Agreement {
	t.Helper()
	side := signing.Side{
		Institution: party.Institution{ID: 1, LegalName: "Aarlund", Confirmed: true, LeastLevel: party.SignedIn},
		Register: party.Register{
			Positions: []party.Position{{ID: 1, Title: "Director"}},
			Authorities: []party.Authority{{ID: 5, Position: 1, Holder: director, Direction: party.Both, LargestBSL: 2,
				Period: party.Period{From: "2026-01-01", Until: "2026-07-01"}}},
			StandIns: []party.StandIn{{Authority: 5, Person: deputy, Period: party.Period{From: "2026-06-14", Until: "2026-06-20"}}},
		},
		Scientist: scientist,
	}
	i := lettertest.Instrument(t, "UBMTA_LETTER")
	return signing.Agreement{Document: document, Instrument: i, Provider: side, Recipient: side,
		Acts: []party.Act{{Family: i.Family, Category: "PLASMID", BSL: 1}, {Family: i.Family, Category: "CELL_LINE", BSL: 2}}}
}

func TestCheck_RefusesEachSignatureThatDoesNotCount(t *testing.T) {
	t.Parallel()
	older := document
	older.Version--
	for name, c := range map[string]struct {
		change   func(*signing.Agreement)
		document signing.Document
		role     string
		person   party.Person
		level    party.Level
		day      exchange.Date
		want     error
	}{
		"as it should be":        {nil, document, "PROVIDER_OFFICIAL", director, party.Passkey, today, nil},
		"the stand-in":           {nil, document, "RECIPIENT_OFFICIAL", deputy, party.SignedIn, today, nil},
		"the scientist":          {nil, document, "RECIPIENT_SCIENTIST", scientist, party.Qualified, today, nil},
		"an older version":       {nil, older, "PROVIDER_OFFICIAL", director, party.Passkey, today, signing.ErrStale},
		"no role":                {nil, document, "WITNESS", director, party.Passkey, today, signing.ErrNoRole},
		"a level too low":        {nil, document, "PROVIDER_OFFICIAL", director, party.MailedLink, today, signing.ErrLevel},
		"no level":               {nil, document, "PROVIDER_OFFICIAL", director, "", today, signing.ErrLevel},
		"a lapsed stand-in":      {nil, document, "PROVIDER_OFFICIAL", deputy, party.Passkey, "2026-06-20", signing.ErrNoAuthority},
		"an authority too early": {nil, document, "PROVIDER_OFFICIAL", director, party.Passkey, "2025-12-31", signing.ErrNoAuthority},
		"an authority too late":  {nil, document, "PROVIDER_OFFICIAL", director, party.Passkey, "2026-07-01", signing.ErrNoAuthority},
		"somebody":               {nil, document, "PROVIDER_OFFICIAL", scientist, party.Passkey, today, signing.ErrNoAuthority},
		"another scientist":      {nil, document, "PROVIDER_SCIENTIST", director, party.Passkey, today, signing.ErrNoAuthority},
		"one material too many": {func(a *signing.Agreement) { a.Acts[1].BSL = 3 }, document, "PROVIDER_OFFICIAL", director, party.Passkey,
			today, signing.ErrNoAuthority},
		"a superseded authority": {func(a *signing.Agreement) {
			old, r := int64(5), &a.Provider.Register
			r.Authorities = append(slices.Clone(r.Authorities), party.Authority{ID: 6, Position: 1, Holder: scientist, Direction: party.Both,
				Supersedes: &old, Period: party.Period{From: today}})
		}, document, "PROVIDER_OFFICIAL", director, party.Passkey, today, signing.ErrNoAuthority},
		"the institution asks for more": {func(a *signing.Agreement) { a.Provider.Institution.LeastLevel = party.Qualified }, document,
			"PROVIDER_OFFICIAL", director, party.Passkey, today, signing.ErrLevel},
		"the institution has withdrawn": {func(a *signing.Agreement) { a.Provider.Institution.Withdrawn = today }, document,
			"PROVIDER_OFFICIAL", director, party.Passkey, today, signing.ErrInstitution},
		"nobody confirmed the institution": {func(a *signing.Agreement) { a.Provider.Institution.Confirmed = false }, document,
			"PROVIDER_SCIENTIST", scientist, party.Passkey, today, signing.ErrInstitution},
		"twice": {func(a *signing.Agreement) {
			a.Signatures = []signing.Signature{{Document: document, Role: "PROVIDER_OFFICIAL"}}
		}, document, "PROVIDER_OFFICIAL", director, party.Passkey, today, signing.ErrTwice},
		"after a signature of an earlier version": {func(a *signing.Agreement) {
			a.Signatures = []signing.Signature{{Document: older, Role: "PROVIDER_OFFICIAL"}}
		}, document, "PROVIDER_OFFICIAL", director, party.Passkey, today, nil},
	} {
		a := agreement(t)
		if c.change != nil {
			c.change(&a)
		}
		signer, err := a.Check(c.document, c.role, c.person, c.level, c.day)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, not %v", name, err, c.want)
		}
		if err == nil && signer.Person != c.person {
			t.Errorf("%s: signed as %+v", name, signer)
		}
		if err == nil && c.person == deputy && (signer.For == nil || *signer.For != director) {
			t.Errorf("%s: for %+v", name, signer.For)
		}
	}
}

func TestUnsigned_IsEmptyOnceEveryRoleHasSignedTheNewestVersion(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := signing.Agreement{Document: document}
		a.Instrument.Signers = []string{"PROVIDER_SCIENTIST", "RECIPIENT_SCIENTIST", "PROVIDER_OFFICIAL", "RECIPIENT_OFFICIAL"}
		signed := map[string]bool{}
		for range rapid.IntRange(0, 12).Draw(t, "signatures") {
			s := signing.Signature{Document: document, Role: rapid.SampledFrom(a.Instrument.Signers).Draw(t, "role"), At: time.Unix(1, 0)}
			if rapid.Bool().Draw(t, "older") {
				s.Document.Version--
			} else {
				signed[s.Role] = true
			}
			a.Signatures = append(a.Signatures, s)
		}
		if got := len(a.Unsigned()); got != len(a.Instrument.Signers)-len(signed) {
			t.Fatalf("%d roles have not signed, of %d", got, len(signed))
		}
	})
}

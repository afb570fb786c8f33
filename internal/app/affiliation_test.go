package app_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"aliquot/internal/agreement/party"
	"aliquot/internal/app"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
	"aliquot/internal/identity"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// TestAffiliations_HoldWhileTheProviderAssertsThem signs an officer of a university in at its identity provider, and
// follows what is asserted: outside of its domains, renewed, lapsed, asserted again, and withdrawn.
func TestAffiliations_HoldWhileTheProviderAssertsThem(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		const issuer = "https://id.uni.example"
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		db.Clock = func() time.Time { return now }
		client, err := identity.New(identity.Config{Issuer: issuer, ClientID: "x", Further: true})
		must(err)
		domains := map[string]int64{"uni.example": 1}
		a := app.New(app.Config{DB: db, Registration: []string{"open"}, TokenLifetime: time.Hour, AffiliationDays: 90,
			Providers: []identity.Provider{{Name: "uni", Label: "Uni", Domains: domains, Client: client}},
			Log:       slog.New(slog.DiscardHandler)})
		if err := a.Accounts.CheckProviders(t.Context()); err == nil {
			t.Error("an institution that does not exist is accepted")
		}
		me, err := a.Accounts.SignIn(t.Context(), identity.Person{RegistryID: "0000-0002-1825-0097", GivenName: "Josiah",
			FamilyName: "Carberry"}, person.Registration{})
		must(err)
		var other int64
		must(db.Tx(t.Context(), func(ctx context.Context, tx store.Conn) error {
			i := party.NewInstitution(me.User)
			i.LegalName, i.Country, i.CreatedAt, i.UpdatedAt = "University", "DE", tx.Now, tx.Now
			if domains["uni.example"], err = tx.Institutions.Insert(ctx, i); err != nil {
				return err
			}
			i.LegalName = "Elsewhere"
			if other, err = tx.Institutions.Insert(ctx, i); err != nil {
				return err
			}
			for _, id := range []int64{domains["uni.example"], other} {
				p := party.Position{Institution: id, Title: "Director", Period: party.Period{From: "2026-01-01"}}
				if p.ID, err = tx.Institutions.Positions.Insert(ctx, p); err != nil {
					return err
				}
				if _, err := tx.Institutions.Authorities.Insert(ctx, party.Authority{Institution: id, Position: p.ID,
					Holder: party.Person{User: me.User}, Direction: party.Both, LargestBSL: 1,
					Period: party.Period{From: "2026-01-01"}}); err != nil {
					return err
				}
			}
			return tx.SignIns.Insert(ctx, me.User, issuer, "staff-7")
		}))
		must(a.Accounts.CheckProviders(t.Context()))

		expects := func(what string, until exchange.Date, rows int, held ...int64) {
			t.Helper()
			c := db.Read()
			all, err := c.Institutions.OfPerson(t.Context(), me.User)
			must(err)
			today := exchange.DayOf(now)
			_, is := party.Affiliated(all, me.User, domains["uni.example"], today)
			last := party.Affiliation{}
			if len(all) > 0 {
				last = all[len(all)-1]
			}
			if len(all) != rows || is != (until != "" && today < until) || last.Until != until {
				t.Errorf("%s: %+v", what, all)
			}
			r, err := c.Institutions.RegistersOf(t.Context(), me.User)
			must(err)
			if got := r.Offices(me.User, today); len(got) != len(held) || len(got) > 0 && got[0] != held[0] {
				t.Errorf("%s: may sign for %v, want %v", what, got, held)
			}
		}
		signIn := func(asserted ...string) {
			t.Helper()
			_, err := a.Accounts.SignIn(t.Context(), identity.Person{Issuer: issuer, RegistryID: "staff-7",
				Affiliations: asserted}, person.Registration{})
			must(err)
		}
		uni := domains["uni.example"]
		signIn("member@other.example", "affiliate@uni.example", "member@sub.uni.example", "member", "@uni.example")
		expects("outside of its domains", "", 0, uni, other)
		signIn("Staff@UNI.example")
		expects("asserted", "2026-05-30", 1, uni, other)
		now = now.AddDate(0, 0, 60)
		signIn("member@uni.example")
		expects("renewed", "2026-07-29", 1, uni, other)
		now = now.AddDate(0, 0, 89)
		must(db.Tx(t.Context(), func(ctx context.Context, tx store.Conn) error { return tx.Institutions.EndLeft(ctx) }))
		expects("just before it lapses", "2026-07-29", 1, uni, other)
		now = now.AddDate(0, 0, 1)
		must(db.Tx(t.Context(), func(ctx context.Context, tx store.Conn) error { return tx.Institutions.EndLeft(ctx) }))
		expects("lapsed", "2026-07-29", 1, other)
		signIn("faculty@uni.example")
		expects("asserted again", "2026-10-27", 2, other)
		now = now.AddDate(0, 0, 1)
		signIn()
		expects("withdrawn", exchange.DayOf(now), 2, other)
	})
}

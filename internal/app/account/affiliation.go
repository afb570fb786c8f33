package account

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"aliquot/internal/agreement/party"
	"aliquot/internal/exchange"
	"aliquot/internal/identity"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// CheckProviders checks that the institutions exist whose people identity providers may assert.
func (a Accounts) CheckProviders(ctx context.Context) error {
	for _, p := range a.Providers {
		for _, domain := range slices.Sorted(maps.Keys(p.Domains)) {
			if _, err := a.DB.Read().Institutions.Get(ctx, p.Domains[domain]); err != nil {
				return fmt.Errorf("provider %q: identity_domains: %q: institution %d: %w", p.Name, domain,
					p.Domains[domain], err)
			}
		}
	}
	return nil
}

// affiliate makes the affiliations of a user with the institutions that a provider speaks for those that it asserts at
// this sign-in, and ends the others that it asserted before, with what the user may sign there. What it asserts lapses
// after Config.AffiliationDays.
func (a Accounts) affiliate(ctx context.Context, tx store.Conn, user uuid.UUID, p identity.Person) error {
	i := slices.IndexFunc(a.Providers, func(other identity.Provider) bool { return other.Issuer() == p.Issuer })
	if i < 0 {
		return nil
	}
	asserted := map[int64]bool{}
	for domain, institution := range a.Providers[i].Domains {
		asserted[institution] = asserted[institution] || p.At(domain)
	}
	if len(asserted) == 0 {
		return nil
	}
	tx.ActAs(user)
	ids := slices.Sorted(maps.Keys(asserted))
	for _, id := range ids {
		if _, err := tx.Institutions.ForUpdate(ctx, id); err != nil {
			return err
		}
	}
	known, err := tx.Institutions.OfPerson(ctx, user)
	if err != nil {
		return err
	}
	today := exchange.DayOf(tx.Now)
	for _, id := range ids {
		j := slices.IndexFunc(known, func(f party.Affiliation) bool {
			return f.Institution == id && f.Source == party.IdentityProvider && f.Holds(today)
		})
		switch {
		case j >= 0:
			f := known[j]
			f.Until = today
			if asserted[id] {
				f.Until = a.lapses(tx)
			}
			if f != known[j] {
				err = tx.Institutions.Affiliations.Update(ctx, f.ID, f)
			}
		case asserted[id]:
			_, err = tx.Institutions.Affiliations.Insert(ctx, party.Affiliation{Person: user, Institution: id,
				Period: party.Period{From: today, Until: a.lapses(tx)}}.By(party.IdentityProvider))
		}
		if err != nil {
			return err
		}
	}
	return tx.Institutions.EndLeft(ctx)
}

// lapses returns the day on which an affiliation that is asserted now holds no longer, without another sign-in.
func (a Accounts) lapses(tx store.Conn) exchange.Date {
	if a.AffiliationDays == 0 {
		return ""
	}
	return exchange.DayOf(tx.Now.AddDate(0, 0, a.AffiliationDays))
}

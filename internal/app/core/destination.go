package core

import (
	"context"
	"strings"

	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/identifier"
	"aliquot/internal/exchange/person"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// DestinationOf reads where something for a requester would go today: to the country of the address or, without one
// that is known, to that of their institution, whose id it returns; 0: none is known.
func DestinationOf(ctx context.Context, c store.Conn, requester uuid.UUID,
	address *person.Address) (to requirement.Destination, institution int64, err error) {
	affiliations, err := c.Institutions.OfPerson(ctx, requester)
	if err != nil {
		return to, 0, err
	}
	if address != nil {
		to.Country, _ = identifier.Country(address.Country) // one that is not known is decided by the institution
		to.Parties = append(to.Parties, address.Name, address.Institution)
	}
	if institution = party.Home(affiliations, exchange.DayOf(c.Now)); institution == 0 {
		return to, 0, nil
	}
	i, err := c.Institutions.Get(ctx, institution)
	if to.Country == "" {
		to.Country = i.Country
	}
	to.Parties = append(append(to.Parties, i.LegalName), i.Aliases...)
	return to, institution, err
}

// MayGo returns Conflict, naming the list and its day, if a list of destinations forbids to send something to a
// requester today.
func (a *Core) MayGo(ctx context.Context, c store.Conn, requester uuid.UUID, address *person.Address) error {
	if len(a.Destinations) == 0 {
		return nil
	}
	to, _, err := DestinationOf(ctx, c, requester, address)
	if err != nil {
		return err
	}
	if reasons := requirement.Blocked(a.Destinations, to, exchange.DayOf(c.Now)); len(reasons) > 0 {
		return exchange.Errorf(exchange.Conflict, "Nothing can be sent there: %s.", strings.Join(reasons, "; "))
	}
	return nil
}

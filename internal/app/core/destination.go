package core

import (
	"cmp"
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

// Home is the institution of somebody; the zero value if none is known.
type Home struct {
	party.Institution
	Vouched bool // the institution is confirmed, and others than the person confirm that they are there
}

// DestinationOf reads where something for a requester would go today, and their institution.
func DestinationOf(ctx context.Context, c store.Conn, requester uuid.UUID,
	address *person.Address) (to requirement.Destination, home Home, err error) {
	home, err = homeOf(ctx, c, requester)
	return destination(home.Institution, address), home, err
}

// homeOf reads the institution of somebody today.
func homeOf(ctx context.Context, c store.Conn, who uuid.UUID) (h Home, err error) {
	today := exchange.DayOf(c.Now)
	affiliations, err := c.Institutions.OfPerson(ctx, who)
	id := party.Home(affiliations, today)
	if err != nil || id == 0 {
		return h, err
	}
	h.Institution, err = c.Institutions.Get(ctx, id)
	_, confirmed := party.Affiliated(affiliations, who, id, today)
	h.Vouched = confirmed && h.MayExecute(today)
	return h, err
}

// destination returns where something goes: to the country of the address or, without one that is known, to that of the
// institution of who gets it.
func destination(home party.Institution, address *person.Address) (to requirement.Destination) {
	if address != nil {
		to.Country, _ = identifier.Country(address.Country) // one that is not known is decided by the institution
		to.Parties = append(to.Parties, address.Name, address.Institution)
	}
	to.Country = cmp.Or(to.Country, home.Country)
	to.Parties = append(append(to.Parties, home.LegalName), home.Aliases...)
	return to
}

// MayGo returns Conflict, naming the list and its day, if a list of destinations forbids to send something to a
// requester today, at one of some addresses.
func (a *Core) MayGo(ctx context.Context, c store.Conn, requester uuid.UUID, addresses ...*person.Address) error {
	if len(a.Destinations) == 0 {
		return nil
	}
	home, err := homeOf(ctx, c, requester)
	if err != nil {
		return err
	}
	for _, address := range addresses {
		reasons := requirement.Blocked(a.Destinations, destination(home.Institution, address), exchange.DayOf(c.Now))
		if len(reasons) > 0 {
			return exchange.Errorf(exchange.Conflict, "Nothing can be sent there: %s.", strings.Join(reasons, "; "))
		}
	}
	return nil
}

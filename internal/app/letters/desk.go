package letters

import (
	"context"
	"slices"

	"aliquot/internal/agreement/instrument"
	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/party"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/person"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Inbox lists the letters that wait for the caller's signature, newest first.
func (a Letters) Inbox(ctx context.Context, who exchange.Actor,
	p exchange.Page) (exchange.ListPage[letter.Agreement], error) {
	page, _, err := a.inbox(ctx, a.DB.Read(), who, p)
	return page, err
}

// inbox is Inbox, with where the caller may sign for institutions.
func (a Letters) inbox(ctx context.Context, c store.Conn, who exchange.Actor,
	p exchange.Page) (page exchange.ListPage[letter.Agreement], seats []party.Seat, err error) {
	if err := a.MayRead(ctx, who, exchange.AgreementList, who.Relations(), "agreements"); err != nil {
		return page, nil, err
	}
	if !who.Is(who.ID) { // a program for one lab signs nothing
		return page, nil, nil
	}
	own, err := registersOf(ctx, c, who)
	if err != nil {
		return page, nil, err
	}
	seats = own.Seats(who.ID, exchange.DayOf(c.Now))
	page, err = c.Agreements.Waiting(ctx, who.ID, seats, p)
	return page, seats, err
}

// Desks are the use cases of the offices of institutions: what they see of agreements, and of requests that need one.
type Desks struct{ Letters }

// Desk is what the office of an institution sees of its letters.
type Desk struct {
	Letters []letter.Agreement
	Total   int64 // how many there are
	Counts  letter.DeskCounts

	Labs           []lab.Organization // those that letters are of
	Counterparties map[int64]string   // names, by id
	Instruments    []instrument.Instrument
	Requesters     map[uuid.UUID]person.User
}

// Desk reads one page of the letters of an institution, for those who sign for it. Pages count from 1.
func (a Desks) Desk(ctx context.Context, who exchange.Actor, institution int64, by letter.DeskFilter, page,
	size int) (d Desk, err error) {
	c := a.DB.Read()
	if err := a.mayDesk(ctx, c, who, institution, exchange.AgreementRead); err != nil {
		return d, err
	}
	if d.Letters, d.Total, err = c.Agreements.Desk(ctx, institution, by, size, (page-1)*size); err != nil {
		return d, err
	}
	if d.Counts, err = c.Agreements.DeskCounts(ctx, institution); err != nil {
		return d, err
	}
	return d, a.readDealings(ctx, c, institution, &d)
}

// mayDesk checks that who may do something because they sign for an institution.
func (a Desks) mayDesk(ctx context.Context, c store.Conn, who exchange.Actor, institution int64,
	action exchange.Action) error {
	offices, err := officesOf(ctx, c, who)
	if err != nil {
		return err
	}
	return a.MayRead(ctx, who, action, who.ToInstitution(slices.Contains(offices, institution)), "agreements")
}

// readDealings reads the names on a desk, and what its letters can be filtered by.
func (a Desks) readDealings(ctx context.Context, c store.Conn, institution int64, d *Desk) error {
	dealings, err := c.Agreements.Dealings(ctx, institution)
	if err != nil {
		return err
	}
	library, err := a.Library(ctx, c)
	if err != nil {
		return err
	}
	var labs, others []int64
	seen := map[string]bool{}
	for _, one := range dealings {
		labs, others = append(labs, one.Organization), append(others, one.Counterparty)
		if i, known := library.Newest(one.Instrument, exchange.DayOf(c.Now)); known && !seen[i.ID] {
			d.Instruments = append(d.Instruments, i)
			seen[i.ID] = true
		}
	}
	if d.Labs, err = c.Organizations.ByIDs(ctx, unique(labs)); err != nil {
		return err
	}
	if d.Counterparties, err = c.Institutions.Names(ctx, unique(others)); err != nil {
		return err
	}
	ids := make([]uuid.UUID, len(d.Letters))
	for i, l := range d.Letters {
		ids[i] = l.Requester
	}
	d.Requesters, err = usersOf(ctx, c, ids)
	return err
}

func unique(ids []int64) []int64 { return slices.Compact(slices.Sorted(slices.Values(ids))) }

// OnDesk reads those of some letters that an institution is a party of, for those who sign for it.
func (a Desks) OnDesk(ctx context.Context, who exchange.Actor, institution int64,
	ids []int64) ([]letter.Agreement, error) {
	c := a.DB.Read()
	if err := a.mayDesk(ctx, c, who, institution, exchange.AgreementRead); err != nil || len(ids) == 0 {
		return nil, err
	}
	return c.Agreements.OfInstitution(ctx, institution, ids)
}

// OfficialOf is the role in which the official of an institution signs a letter.
func OfficialOf(institution int64, l letter.Letter) string {
	if l.Provider == institution {
		return party.ProviderOfficial
	}
	return party.RecipientOfficial
}

package letters

import (
	"context"
	"slices"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/party"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Needs are requests that need an agreement and have none, as the office of an institution sees them.
type Needs struct {
	Items      []Need
	Total      exchange.Count
	Next       *exchange.Position
	Labs       map[int64]string
	Requesters map[uuid.UUID]person.User
}

// Need is such a request, with the other institution, as far as one is known today.
type Need struct {
	letter.Need
	Others []string // names; several: the requester is at each of them; none: no letter can be drafted yet
}

// Needs reads the requests that need an agreement and have none, from the oldest on: those to the labs of an
// institution (party.Provide), or those of its people (party.Receive). It is for those who sign for the institution.
func (a Desks) Needs(ctx context.Context, who exchange.Actor, institution int64, side party.Direction,
	p exchange.Page) (n Needs, err error) {
	c := a.DB.Read()
	if err := a.mayDesk(ctx, c, who, institution, exchange.AgreementNeeds); err != nil {
		return n, err
	}
	p.Order = exchange.Order{Ascending: true}
	found, err := c.Agreements.Needs(ctx, institution, side, exchange.DayOf(c.Now), p)
	if err != nil || len(found.Items) == 0 {
		return n, err
	}
	n.Total, n.Next = found.Total, found.Next
	var labs []int64
	var people []uuid.UUID
	for _, one := range found.Items {
		n.Items = append(n.Items, Need{Need: one})
		labs, people = append(labs, one.Organization), append(people, one.Requester)
	}
	if n.Labs, err = labNames(ctx, c, labs); err != nil {
		return n, err
	}
	if n.Requesters, err = usersOf(ctx, c, people); err != nil {
		return n, err
	}
	return n, n.readOthers(ctx, c, side, labs, people)
}

// readOthers reads the other institution of each request: that of the lab, or those of the requester.
func (n *Needs) readOthers(ctx context.Context, c store.Conn, side party.Direction, labs []int64,
	people []uuid.UUID) error {
	day, others := exchange.DayOf(c.Now), make([][]int64, len(n.Items))
	if side == party.Receive {
		rows, err := c.Institutions.LabsOf(ctx, unique(labs)...)
		if err != nil {
			return err
		}
		for i, one := range n.Items {
			if at := party.InstitutionOf(rows, one.Organization, day); at != 0 {
				others[i] = []int64{at}
			}
		}
	} else {
		rows, err := c.Institutions.OfPerson(ctx, people...)
		if err != nil {
			return err
		}
		for i, one := range n.Items {
			others[i] = party.InstitutionsOf(rows, one.Requester, day)
		}
	}
	names, err := c.Institutions.Names(ctx, unique(slices.Concat(others...)))
	for i := range n.Items {
		for _, id := range others[i] {
			n.Items[i].Others = append(n.Items[i].Others, names[id])
		}
	}
	return err
}

// labNames reads the names of labs.
func labNames(ctx context.Context, c store.Conn, ids []int64) (map[int64]string, error) {
	labs, err := c.Organizations.ByIDs(ctx, unique(ids))
	names := map[int64]string{}
	for _, o := range labs {
		names[o.ID] = o.Name
	}
	return names, err
}

// DraftNeeded drafts a letter for requests that the office of an institution sees. Of several institutions of the
// requester, the office that receives takes its own.
func (a Desks) DraftNeeded(ctx context.Context, who exchange.Actor, institution int64, side party.Direction,
	requests []int64) (View, error) {
	if err := a.mayDesk(ctx, a.DB.Read(), who, institution, exchange.AgreementNeeds); err != nil {
		return View{}, err
	}
	refs := make([]exchange.Ref, len(requests))
	for i, id := range requests {
		refs[i] = exchange.Ref(id)
	}
	n := letter.DraftNew{Terms: letter.Terms{Requests: exchange.Some(refs)}}
	if side == party.Receive {
		n.Recipient = exchange.NullOf(exchange.Ref(institution))
	}
	return a.Draft(ctx, who, n)
}

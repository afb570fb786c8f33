package letters

import (
	"context"
	"slices"

	"aliquot/internal/agreement/duty"
	"aliquot/internal/agreement/instrument"
	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/party"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"
)

// Card is what the page of a request shows of its agreement.
type Card struct {
	Letter *View       // nil: there is none
	Duties []duty.Duty // what is owed after its execution
	// For which other requests, that were sent together with this one, a letter can be drafted too.
	Together   []request.Detail
	Provider   party.Institution
	Recipients []party.Institution // of the requester, other than the lab's
	Lack       Lack
	NotNow     error // why none can be drafted today, if the requester is at one institution
}

// Lack is why no letter can be drafted yet.
type Lack string

// The lacks.
const (
	LabAtNone       Lack = "LAB"       // the lab is of no confirmed institution
	RequesterAtNone Lack = "REQUESTER" // the requester is at no institution
	OneInstitution  Lack = "SAME"      // both are of the same institution, which needs no agreement
)

// OfRequest reads the agreement of a request that who may see, or what one can be drafted from; nil if the request
// needs none. together are the requests that were sent with it.
func (a Letters) OfRequest(ctx context.Context, who exchange.Actor, q request.Detail,
	together []request.Detail) (*Card, error) {
	c := a.DB.Read()
	switch {
	case q.Letter != 0:
		l, err := c.Agreements.Get(ctx, q.Letter)
		if err != nil {
			return nil, err
		}
		if ok, _ := a.Policy().Can(exchange.AgreementRead, relationsOf(who, nil, l)); !ok {
			return nil, nil //nolint:nilnil // there is none for them
		}
		v, err := a.brief(ctx, c, l)
		if err != nil || l.State != letter.Executed {
			return &Card{Letter: &v}, err
		}
		owed, err := c.Duties.Of(ctx, l.ID)
		return &Card{Letter: &v, Duties: owed}, err
	case !q.TakesAgreement(q.Terms):
		return nil, nil //nolint:nilnil // it needs none
	}
	card := &Card{}
	for _, other := range together {
		if other.ID != q.ID && other.Organization == q.Organization && other.Letter == 0 &&
			other.TakesAgreement(other.Terms) {
			card.Together = append(card.Together, other)
		}
	}
	if err := card.readParties(ctx, c, q); err != nil || len(card.Recipients) != 1 {
		return card, err
	}
	l := letter.Agreement{Requester: q.Requester, Organization: q.Organization,
		Letter: letter.Letter{Provider: card.Provider.ID, Recipient: card.Recipients[0].ID}}
	m, err := a.drafting(ctx, c, l, []request.Detail{q})
	if err != nil {
		return nil, err
	}
	if _, _, card.NotNow = m.resolve(instrument.UsualPurpose, "", exchange.DayOf(c.Now)); !isRefusal(card.NotNow) {
		return nil, card.NotNow
	}
	return card, nil
}

// readParties reads between which institutions a letter would be.
func (card *Card) readParties(ctx context.Context, c store.Conn, q request.Detail) error {
	lab, err := core.ProviderOf(ctx, c, q.Organization)
	if err != nil {
		return err
	}
	own, err := institutionsOf(ctx, c, q.Requester)
	switch {
	case err != nil:
		return err
	case lab == 0:
		card.Lack = LabAtNone
		return nil
	case len(own) == 0:
		card.Lack = RequesterAtNone
		return nil
	}
	others := slices.DeleteFunc(own, func(i int64) bool { return i == lab })
	if len(others) == 0 {
		card.Lack = OneInstitution
		return nil
	}
	names, err := c.Institutions.Names(ctx, append(others, lab))
	card.Provider = party.Institution{ID: lab, LegalName: names[lab]}
	for _, id := range others {
		card.Recipients = append(card.Recipients, party.Institution{ID: id, LegalName: names[id]})
	}
	return err
}

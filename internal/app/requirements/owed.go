package requirements

import (
	"context"

	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/identifier"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"
)

// Owed is what the transfer of a request needs, and what its lab has to answer first.
type Owed struct {
	Requirements []Requirement
	Questions    []requirement.Question
}

// Requirement is one thing that the transfer of a request needs, and how far it is.
type Requirement struct {
	requirement.Requirement
	State requirement.State
}

// Requirements reads what a request needs today. The three flags of its material are rules like the rest.
func (a Requirements) Requirements(ctx context.Context, who exchange.Actor, id int64) (owed Owed, err error) {
	c := a.DB.Read()
	q, err := c.Requests.Get(ctx, id)
	if err != nil {
		return owed, err
	}
	if err := a.MayRead(ctx, who, exchange.RequestRead, q.RelationsOf(who, q.Organization),
		core.Object("request", id)); err != nil {
		return owed, err
	}
	t, err := transferOf(ctx, c, q)
	if err != nil {
		return owed, err
	}
	list, questions := requirement.Owed(t, exchange.DayOf(c.Now))
	owed.Questions = questions
	for _, r := range list {
		owed.Requirements = append(owed.Requirements, follow(r, q))
	}
	return owed, nil
}

// transferOf reads what the rules look at in a request.
func transferOf(ctx context.Context, c store.Conn, q request.Detail) (t requirement.Transfer, err error) {
	m, err := c.Materials.Get(ctx, q.MaterialID)
	if err != nil {
		return t, err
	}
	facts, err := core.FactsOf(ctx, c, m)
	if err != nil {
		return t, err
	}
	t = requirement.Transfer{Facts: facts[m.ID],
		Flags: requirement.Flags{MTA: q.Terms.MTA, IRB: q.Terms.IRB, Abstract: q.Terms.Abstract}}
	provider, err := core.ProviderOf(ctx, c, q.Organization)
	if err != nil {
		return t, err
	}
	if t.From, err = countryOf(ctx, c, provider); err != nil {
		return t, err
	}
	if q.Address != nil {
		t.To, _ = identifier.Country(q.Address.Country) // one that is not known is decided by the institution
	}
	if t.To != "" {
		return t, nil
	}
	affiliations, err := c.Institutions.OfPerson(ctx, q.Requester)
	if err != nil {
		return t, err
	}
	t.To, err = countryOf(ctx, c, party.Home(affiliations, exchange.DayOf(c.Now)))
	return t, err
}

// countryOf reads the country of an institution; 0 is none, whose country is unknown: "".
func countryOf(ctx context.Context, c store.Conn, institution int64) (string, error) {
	if institution == 0 {
		return "", nil
	}
	i, err := c.Institutions.Get(ctx, institution)
	return i.Country, err
}

// follow says how far a requirement is, as the documents and texts of the request have it.
func follow(r requirement.Requirement, q request.Detail) Requirement {
	out := Requirement{r, requirement.Owing}
	handedIn := func(s document.Slot) bool {
		d := q.Current(s)
		return d != nil && d.State != document.Returned
	}
	done := r.Permit != nil
	switch r.Kind {
	case "MTA":
		signed := handedIn(document.SignedMTA)
		if out.OwedBy = "REQUESTER"; signed {
			out.OwedBy = "LAB"
		}
		done = signed && handedIn(document.ExecutedMTA)
	case "ABSTRACT":
		done = q.Abstract != ""
	case "IRB":
		done = done || handedIn(document.IRB)
	}
	switch {
	case r.Blocks:
		out.State = requirement.Barred
	case done:
		out.State = requirement.Done
	}
	return out
}

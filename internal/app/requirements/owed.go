package requirements

import (
	"context"

	"aliquot/internal/agreement/requirement"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
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
	t, err := a.transferOf(ctx, c, q)
	if err != nil {
		return owed, err
	}
	return owedBy(t, q, exchange.DayOf(c.Now)), nil
}

// owedBy returns what a request, whose transfer was read, needs on a day.
func owedBy(t requirement.Transfer, q request.Detail, day exchange.Date) (owed Owed) {
	list, questions := requirement.Owed(t, day)
	owed.Questions = questions
	for _, r := range list {
		owed.Requirements = append(owed.Requirements, follow(r, q))
	}
	return owed
}

// transferOf reads what the rules look at in a request.
func (a Requirements) transferOf(ctx context.Context, c store.Conn, q request.Detail) (t requirement.Transfer,
	err error) {
	m, err := c.Materials.Get(ctx, q.MaterialID)
	if err != nil {
		return t, err
	}
	facts, err := core.FactsOf(ctx, c, m)
	if err != nil {
		return t, err
	}
	t = requirement.Transfer{Facts: facts[m.ID], Material: m.ID, Category: m.Category, Lists: a.Destinations,
		Flags: requirement.Flags{MTA: q.Terms.MTA, IRB: q.Terms.IRB, Abstract: q.Terms.Abstract}}
	used, err := c.Permits.UsedFor(ctx, q.ID, core.Everything)
	if err != nil {
		return t, err
	}
	t.Permits = used.Items
	if len(t.Facts.Uses) > 0 {
		purposes, err := c.Purposes.OfRequests(ctx, q.ID)
		if err != nil {
			return t, err
		}
		t.Purpose = purposes[q.ID]
	}
	if t.Provider, err = core.ProviderOf(ctx, c, q.Organization); err != nil {
		return t, err
	}
	if t.Provider != 0 {
		i, err := c.Institutions.Get(ctx, t.Provider)
		if err != nil {
			return t, err
		}
		t.From = i.Country
	}
	to, home, err := core.DestinationOf(ctx, c, q.Requester, q.Address)
	if t.To, t.Recipient = to, home.ID; home.Vouched {
		t.Purpose = t.Purpose.By(home.Institution)
	}
	if handedIn(q, document.IRB) {
		t.Purpose.Ethics = requirement.Yes
	}
	return t, err
}

// handedIn reports whether a document of a request is there, and was not returned.
func handedIn(q request.Detail, s document.Slot) bool {
	d := q.Current(s)
	return d != nil && d.State != document.Returned
}

// follow says how far a requirement is, as the documents and texts of the request have it.
func follow(r requirement.Requirement, q request.Detail) Requirement {
	out := Requirement{r, requirement.Owing}
	done := r.Permit != nil || r.Met
	switch r.Kind {
	case "MTA":
		signed := handedIn(q, document.SignedMTA)
		if out.OwedBy = "REQUESTER"; signed {
			out.OwedBy = "LAB"
		}
		done = signed && handedIn(q, document.ExecutedMTA)
	case "ABSTRACT":
		done = q.Abstract != ""
	case "IRB":
		done = done || handedIn(q, document.IRB)
	}
	switch {
	case r.Blocks:
		out.State = requirement.Barred
	case done:
		out.State = requirement.Done
	}
	return out
}

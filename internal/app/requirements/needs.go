package requirements

import (
	"context"
	"slices"

	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/app/core"
	"aliquot/internal/app/documents"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"
)

// Needs is what the page of a request shows of what its transfer needs.
type Needs struct {
	Owed
	Used    []PermitLine         // for the request
	Choices []requirement.Permit // of the visitor's side, that could be used for it
	More    bool                 // there are more, older ones, which were not looked at
	Purpose requirement.Purpose  // what the requester stated
	Asked   []string             // the fields of the purpose that terms of data use ask about
}

// OfRequest reads what a request needs that who may see.
func (a Requirements) OfRequest(ctx context.Context, who exchange.Actor, q request.Detail) (n Needs, err error) {
	c := a.DB.Read()
	t, err := a.transferOf(ctx, c, q)
	if err != nil {
		return n, err
	}
	today := exchange.DayOf(c.Now)
	n.Owed, n.Purpose, n.Asked = owedBy(t, q, today), t.Purpose, requirement.AskedBy(t.Facts.Uses)
	for _, p := range t.Permits {
		n.Used = append(n.Used, lineOf(p, today))
	}
	if !q.Active || !slices.ContainsFunc(n.Requirements, Requirement.TakesPermit) {
		return n, nil
	}
	own, err := core.PlacesOf(ctx, c, who)
	if err != nil {
		return n, err
	}
	h := own.Holders(who)
	h.All = false
	page, err := c.Permits.List(ctx, h, exchange.Page{Limit: permitsOfPage})
	n.More = page.Next != nil
	for _, p := range page.Items {
		used := slices.ContainsFunc(t.Permits, func(other requirement.Permit) bool { return other.ID == p.ID })
		if !used && p.Outside(t) == "" && !p.Expired(today) {
			n.Choices = append(n.Choices, p)
		}
	}
	return n, err
}

// TakesPermit reports whether a permit fulfils the requirement, and none does.
func (r Requirement) TakesPermit() bool {
	return r.Permit == nil && slices.Contains(requirement.Regimes(), r.Kind)
}

// PermitPage is what the page of permits shows.
type PermitPage struct {
	Permits []PermitLine
	Labs    []lab.Organization  // of the visitor, who adds permits of them
	Offices []party.Institution // of which they are an officer, likewise
	More    bool                // there are more permits than the page shows
}

// PermitLine is a permit as pages show it.
type PermitLine struct {
	requirement.Permit
	Expired  bool
	EndsSoon bool
	Holder   string // on its own page: the name of the lab or institution; "": the visitor, or whoever added it
	Keeps    bool   // likewise: the visitor may change it
}

// lineOf returns a permit as pages show it on a day.
func lineOf(p requirement.Permit, day exchange.Date) PermitLine {
	return PermitLine{Permit: p, Expired: p.Expired(day), EndsSoon: p.EndsSoon(day)}
}

// permitsOfPage is how many permits a page shows or lets choose from: the newest.
const permitsOfPage = 200

// PermitPage reads the permits of the visitor, of their labs and of their institutions, newest first.
func (a Requirements) PermitPage(ctx context.Context, who exchange.Actor) (page PermitPage, err error) {
	if err := a.MayRead(ctx, who, exchange.PermitList, who.Relations(), "permits"); err != nil {
		return page, err
	}
	c := a.DB.Read()
	own, err := core.PlacesOf(ctx, c, who)
	if err != nil {
		return page, err
	}
	h := own.Holders(who)
	h.All = false
	list, err := c.Permits.List(ctx, h, exchange.Page{Limit: permitsOfPage})
	if err != nil {
		return page, err
	}
	page.More = list.Next != nil
	if page.Labs, err = c.Organizations.ByIDs(ctx, who.Organizations); err != nil {
		return page, err
	}
	names, err := c.Institutions.Names(ctx, h.Institutions)
	for _, id := range own.Officer {
		page.Offices = append(page.Offices, party.Institution{ID: id, LegalName: names[id]})
	}
	for _, p := range list.Items {
		line := lineOf(p, exchange.DayOf(c.Now))
		line.Keeps, _ = a.Policy().Can(exchange.PermitWrite, own.RelationsTo(who, p))
		if p.Institution != nil {
			line.Holder = names[*p.Institution]
		}
		for _, o := range page.Labs {
			if p.Organization != nil && *p.Organization == o.ID {
				line.Holder = o.Name
			}
		}
		page.Permits = append(page.Permits, line)
	}
	return page, err
}

// PermitForm is a form of a permit, whose document is stored.
type PermitForm struct {
	Body     requirement.PermitPatch
	Request  int64 // that a new one is used for; 0: none
	Filename string
	Document *document.Content // nil: none was sent
}

// SavePermit adds a permit, or changes the one with an id, with its document and its use, all in one transaction. If it
// is refused, nothing is kept.
func (a Requirements) SavePermit(ctx context.Context, who exchange.Actor, id int64,
	form PermitForm) (p requirement.Permit, err error) {
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		body := form.Body
		if form.Document != nil {
			t, err := documents.NewAttachment(who, document.AttachmentPatch{Filename: exchange.Some(form.Filename)},
				form.Document)
			if err == nil {
				err = documents.New(a.Core).AddAttachment(ctx, tx, who, &t)
			}
			if err == nil {
				err = body.Set("document", t.ID)
			}
			if err != nil {
				return err
			}
		}
		inside := Requirements{a.Inside(tx)}
		if id != 0 {
			p, err = inside.ChangePermit(ctx, who, id, body, nil)
			return err
		}
		if p, err = inside.AddPermit(ctx, who, body); err != nil || form.Request == 0 {
			return err
		}
		_, _, err = inside.UsePermit(ctx, who, form.Request,
			requirement.PermitUse{Permit: exchange.Some(exchange.Ref(p.ID))})
		return err
	})
	if err != nil && form.Document != nil {
		documents.New(a.Core).Discard(ctx, *form.Document, err)
	}
	return p, err
}

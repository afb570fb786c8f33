package transfer

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"aliquot/internal/app/core"
	"aliquot/internal/app/notifier"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"
)

// BasketItem is a material in a basket, with what it asks for.
type BasketItem struct {
	material.Shown
	Shipping *lab.Shipping
	Refused  *Unavailable // why it cannot be requested now; nil if it can
}

// Asked returns the material with its shipping requirements.
func (i BasketItem) Asked() request.Asked {
	return request.Asked{Material: i.Material, Shipping: i.Shipping}
}

// BasketLab is the part of a basket that one lab shares; it is requested in one step.
type BasketLab struct {
	lab.Organization
	Items []BasketItem
}

// Ready returns how many of the materials can be requested now.
func (l BasketLab) Ready() (n int) {
	for _, i := range l.Items {
		if i.Refused == nil {
			n++
		}
	}
	return n
}

// Basket reads the caller's basket, lab by lab, in the order in which materials were added.
func (a Groups) Basket(ctx context.Context, who exchange.Actor) ([]BasketLab, error) {
	if err := a.MayRead(ctx, who, exchange.BasketRead, who.ToUser(who.ID), "basket"); err != nil {
		return nil, err
	}
	c := a.DB.Read()
	ids, err := c.Baskets.List(ctx, who.ID)
	if err != nil {
		return nil, err
	}
	items, err := a.basketItems(ctx, c, who, ids)
	if err != nil {
		return nil, err
	}
	var of []int64
	for _, i := range items {
		of = append(of, i.OrganizationID)
	}
	known, err := c.Organizations.ByIDs(ctx, of)
	var labs []BasketLab
	for _, i := range items {
		at := slices.IndexFunc(labs, func(l BasketLab) bool { return l.ID == i.OrganizationID })
		if at < 0 {
			o := slices.IndexFunc(known, func(o lab.Organization) bool { return o.ID == i.OrganizationID })
			at, labs = len(labs), append(labs, BasketLab{Organization: known[o]})
		}
		labs[at].Items = append(labs[at].Items, i)
	}
	return labs, err
}

// basketItems reads materials in the given order; ids that do not exist are left out.
func (a Groups) basketItems(ctx context.Context, c store.Conn, who exchange.Actor, ids []int64) ([]BasketItem,
	error) {
	shown, err := c.Materials.ShownByIDs(ctx, ids)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(shown, func(m, n material.Shown) int { return slices.Index(ids, m.ID) - slices.Index(ids, n.ID) })
	list, terms := make([]material.Material, len(shown)), []int64{}
	for i, m := range shown {
		list[i] = m.Material
		if m.ShippingID != nil {
			terms = append(terms, *m.ShippingID)
		}
	}
	shipping, err := c.Shippings.ByIDs(ctx, terms)
	if err != nil {
		return nil, err
	}
	refused, err := a.unavailable(ctx, c, who, list)
	items := make([]BasketItem, len(shown))
	for i, m := range shown {
		items[i].Shown = m
		if m.ShippingID != nil {
			items[i].Shipping = new(shipping[*m.ShippingID])
		}
		if u, is := refused[m.ID]; is {
			items[i].Refused = &u
		}
	}
	return items, err
}

// AddToBasket puts a material into the caller's basket. Conflict if the basket is full, or the material belongs to a
// lab of the caller.
func (a Groups) AddToBasket(ctx context.Context, who exchange.Actor, id int64) (m material.Material, err error) {
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.May(ctx, tx, who, exchange.BasketWrite, who.ToUser(who.ID), "basket"); err != nil {
			return err
		}
		if _, err := tx.Users.ForUpdate(ctx, who.ID); err != nil { // or there could be one too many
			return err
		}
		if m, err = tx.Materials.Get(ctx, id); err != nil {
			return err
		}
		switch {
		case a.Hides(who, m, tx.Now):
			return core.NoMaterial()
		case who.MemberOf(m.OrganizationID):
			return ownMaterial()
		}
		if err := offered(m, tx.Now); err != nil {
			return err
		}
		ids, err := tx.Baskets.List(ctx, who.ID)
		if err == nil && len(ids) >= request.MaxGroup && !slices.Contains(ids, id) {
			err = exchange.Errorf(exchange.Conflict, "Your basket is full: it holds up to %d materials. Send it, or "+
				"remove some.", request.MaxGroup)
		}
		if err != nil {
			return err
		}
		return tx.Baskets.Add(ctx, who.ID, id)
	})
	return m, err
}

// RemoveFromBasket takes materials out of the caller's basket.
func (a Groups) RemoveFromBasket(ctx context.Context, who exchange.Actor, materials ...int64) error {
	return a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.May(ctx, tx, who, exchange.BasketWrite, who.ToUser(who.ID), "basket"); err != nil {
			return err
		}
		return tx.Baskets.Remove(ctx, who.ID, materials...)
	})
}

// GroupFormView reads what the form shows that requests several materials of a lab: the given ones, or without any
// those in the caller's basket.
func (a Groups) GroupFormView(ctx context.Context, who exchange.Actor, organization int64,
	materials []int64) (f RequestFormView, err error) {
	if err := a.MayRead(ctx, who, exchange.RequestCreate, who.ToUser(who.ID), "request group"); err != nil {
		return f, err
	}
	c := a.DB.Read()
	if f.Organization, err = c.Organizations.Get(ctx, organization); err != nil {
		return f, err
	}
	if len(materials) == 0 {
		if materials, err = c.Baskets.List(ctx, who.ID); err != nil {
			return f, err
		}
	}
	items, err := a.basketItems(ctx, c, who, materials)
	if err != nil {
		return f, err
	}
	var asked []request.Asked
	for _, i := range items {
		switch {
		case i.OrganizationID != organization:
		case i.Refused != nil:
			f.Refused = append(f.Refused, *i.Refused)
		default:
			f.Items, asked = append(f.Items, i), append(asked, i.Asked())
		}
	}
	f.Terms, f.Shipping, f.Closed = request.TermsOfAll(asked)
	switch blanks := request.BlankMTAs(asked); {
	case len(blanks) > 1:
		f.EachMTA = true
	case len(blanks) == 1:
		if f.MTA, err = blankMTA(ctx, c, blanks[0]); err != nil {
			return f, err
		}
	}
	return f, readOwn(ctx, a.Requests, c, who, &f, GroupDraftKey(organization))
}

// GroupDraftKey returns the key of the draft of a group of requests to a lab.
func GroupDraftKey(organization int64) string { return "basket " + strconv.FormatInt(organization, 10) }

// SubmitRequestGroup creates a group of requests with their address and documents, all or nothing, and only once
// however often the form is submitted. It takes the materials out of the basket and deletes the draft of the form, and
// the requester gets one receipt by mail.
func (a Groups) SubmitRequestGroup(ctx context.Context, who exchange.Actor, n NewRequest,
	group request.NewGroup) (GroupView, error) {
	id, err := a.submitOnce(ctx, who, n.Key, n.Documents,
		func(ctx context.Context, tx store.Conn, who exchange.Actor) (int64, error) {
			v, err := a.createGroup(ctx, tx, who, group,
				func(asked []request.Asked, group *request.NewGroup) error {
					return a.completeGroup(ctx, tx, who, n, asked, group)
				})
			if err != nil {
				return 0, err
			}
			var sent []int64
			for _, q := range v.Requests {
				sent = append(sent, q.MaterialID)
			}
			return v.ID, errors.Join(tx.Baskets.Remove(ctx, who.ID, sent...),
				tx.Drafts.Delete(ctx, who.ID, GroupDraftKey(v.Requests[0].Organization)),
				notifier.New(a.Core).EnqueueReceipt(ctx, tx, v.Requests[0]))
		})
	if err != nil {
		return GroupView{}, err
	}
	return a.RequestGroup(ctx, who, id)
}

// completeGroup checks a form against what the materials ask for, saves its address and documents, and completes the
// group with them.
func (a Groups) completeGroup(ctx context.Context, tx store.Conn, who exchange.Actor, n NewRequest,
	asked []request.Asked, group *request.NewGroup) error {
	terms, shipping, err := request.TermsOfAll(asked)
	if err != nil {
		return err
	}
	n.Request.Material = exchange.Some(exchange.Ref(asked[0].ID))
	if n.Form, err = n.Check(terms, shipping); err != nil {
		return err
	}
	if err := a.storeWith(ctx, tx, who, &n); err != nil {
		return err
	}
	group.Submission = n.Request.Submission
	return nil
}

package transfer

import (
	"context"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/request"
)

// ShippingDesk is what leaves the labs of a person.
type ShippingDesk struct {
	Ready    exchange.ListPage[InboxItem] // requests that are ready to ship, those due first
	OnTheWay []InboxItem                  // the requests shipped last whose receipt is not confirmed
}

const maxOnTheWay = 10

// ShippingDesk reads one page of what is ready to ship in the caller's labs, and what they shipped last. Admins see
// only their own labs, too.
func (a Requests) ShippingDesk(ctx context.Context, who exchange.Actor, p exchange.Page) (d ShippingDesk, err error) {
	if _, err := a.Can(who, exchange.RequestList, who.ToUser(who.ID)); err != nil {
		return d, err
	}
	who.Admin = false // what admin rights allow is not one of their tasks
	c := a.DB.Read()
	ready, next, err := c.Inbox.List(ctx, p, request.InboxFilter{Whose: new(request.ToShip)}, who)
	if err != nil {
		return d, err
	}
	newest := exchange.Page{Limit: maxOnTheWay, Order: exchange.Order{Field: request.ByWaiting}}
	sent, _, err := c.Inbox.List(ctx, newest, request.InboxFilter{Whose: new(request.OnTheWay)}, who)
	if err != nil {
		return d, err
	}
	d.Ready.Next = next
	if d.Ready.Items, err = a.InboxItems(ctx, who, ready); err != nil {
		return d, err
	}
	d.OnTheWay, err = a.InboxItems(ctx, who, sent)
	return d, err
}

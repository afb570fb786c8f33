package transfer

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"aliquot/internal/app/core"
	"aliquot/internal/app/letters"
	"aliquot/internal/app/notifier"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Groups are the use cases of baskets and of requests that are sent together.
type Groups struct{ Requests }

// GroupView is a group of requests, as far as the caller may see them.
type GroupView struct {
	ID        int64
	Requester uuid.UUID
	CreatedAt time.Time
	Requests  []request.Detail // the first one first
	Skipped   []Unavailable    // materials that were left out when the group was made
}

// Unavailable is a material that the caller cannot request now, with the reason.
type Unavailable struct {
	Material int64
	Title    string // "" if the material is hidden from the caller
	Why      error
}

// Name returns what the material is called.
func (u Unavailable) Name() string {
	if u.Title == "" {
		return "Listing " + strconv.FormatInt(u.Material, 10)
	}
	return u.Title
}

// Reason returns in words for people why it cannot be requested.
func (u Unavailable) Reason() string {
	if e, is := errors.AsType[*exchange.Error](u.Why); is {
		return e.Message
	}
	return u.Why.Error()
}

// RequestGroup reads a group of requests. Those that the caller may not see are left out: a material may have moved to
// another lab since.
func (a Groups) RequestGroup(ctx context.Context, who exchange.Actor, id int64) (GroupView, error) {
	v, rel, err := a.groupOf(ctx, a.DB.Read(), who, id)
	if err != nil {
		return v, err
	}
	return v, a.MayRead(ctx, who, exchange.RequestRead, rel, core.Object("request group", id))
}

// groupOf reads a group, with the requests that who may see, and how who is related to it.
func (a Groups) groupOf(ctx context.Context, c store.Conn, who exchange.Actor, id int64) (v GroupView,
	rel exchange.Relation, err error) {
	list, err := c.Requests.OfGroup(ctx, id)
	if err != nil {
		return v, rel, err
	}
	if len(list) == 0 {
		return v, rel, exchange.Errorf(exchange.NotFound, "There is no such group of requests.")
	}
	for _, q := range list {
		rel |= q.RelationsOf(who, q.Organization)
	}
	v = GroupView{ID: id, Requester: list[0].Requester, CreatedAt: list[0].CreatedAt}
	v.Requests = visible(a.Requests, who, list)
	return v, rel, nil
}

// visible returns those of the requests that who may see.
func visible(a Requests, who exchange.Actor, list []request.Detail) []request.Detail {
	return slices.DeleteFunc(list, func(q request.Detail) bool {
		ok, _ := a.Policy().Can(exchange.RequestRead, q.RelationsOf(who, q.Organization))
		return !ok
	})
}

// together returns the requests of the group of q, among them q, that who may see; nil if q was sent alone.
func together(ctx context.Context, a Requests, c store.Conn, who exchange.Actor, q request.Detail) ([]request.Detail,
	error) {
	if q.Group == 0 {
		return nil, nil
	}
	list, err := c.Requests.OfGroup(ctx, q.Group)
	return visible(a, who, list), err
}

// CreateRequestGroup requests several materials of one lab in one step: all of them or none. Materials that cannot be
// requested are an error, or are left out if the body says so.
func (a Groups) CreateRequestGroup(ctx context.Context, who exchange.Actor, n request.NewGroup) (v GroupView,
	err error) {
	if _, err := n.Each(); err != nil {
		return v, err
	}
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		v, err = a.createGroup(ctx, tx, who, n, nil)
		return err
	})
	return v, err
}

// createGroup is CreateRequestGroup inside a transaction. check, if any, completes the request for each of the
// materials, or says what is wrong with them.
func (a Groups) createGroup(ctx context.Context, tx store.Conn, who exchange.Actor, n request.NewGroup,
	check func([]request.Asked, *request.NewGroup) error) (v GroupView, err error) {
	if err := a.May(ctx, tx, who, exchange.RequestCreate, who.ToUser(who.ID), "request group"); err != nil {
		return v, err
	}
	asked, skipped, err := a.requestable(ctx, tx, who, n)
	if err != nil {
		return v, err
	}
	if check != nil {
		if err := check(asked, &n); err != nil {
			return v, err
		}
	}
	if n.SignedMTA.Value != nil && len(request.BlankMTAs(asked)) > 1 {
		return v, core.FieldError("requester_signed_mta_attachment",
			"cannot be one document for materials with different MTAs; submit each with its own request")
	}
	list, err := n.Each()
	if err != nil {
		return v, err
	}
	v = GroupView{Requester: who.ID, CreatedAt: tx.Now, Skipped: skipped}
	if v.ID, err = tx.Requests.InsertGroup(ctx, who.ID); err != nil {
		return v, err
	}
	detail, needed := request.EventDetail{Group: v.ID, Together: len(asked)}, request.TermsOfAny(asked)
	var made []request.Event
	for _, one := range list {
		i := slices.IndexFunc(asked, func(m request.Asked) bool { return m.ID == int64(one.Material.Value) })
		if i < 0 { // it is left out
			continue
		}
		one = one.Only(asked[i].Terms(), needed)
		r, err := one.Create(who)
		if err != nil {
			return v, err
		}
		r.Group = v.ID
		q, events, err := a.insertRequest(ctx, tx, who, one, r, detail)
		if err != nil {
			return v, err
		}
		v.Requests, made = append(v.Requests, q), append(made, events...)
	}
	if err := notifier.NotifyAboutGroup(ctx, tx, v.Requests, rolesIn(v.Requests[0], who), made); err != nil ||
		!n.SignAgreement.Value {
		return v, err
	}
	return v, letters.New(a.Core).AskAndSign(ctx, tx, who, v.Requests)
}

// requestable returns those materials of n that who can request, locked so that none is archived meanwhile, and the
// others. The error names each material that is wrong, and each of the others unless n leaves them out.
func (a Groups) requestable(ctx context.Context, tx store.Conn, who exchange.Actor, n request.NewGroup) (
	asked []request.Asked, others []Unavailable, err error) {
	var f exchange.FieldErrors
	at := map[int64]int{} // the places of the materials in n
	for i, id := range n.Materials.Value {
		at[int64(id)] = i
	}
	var list []material.Material
	for _, id := range slices.Sorted(slices.Values(n.Materials.Value)) { // two groups lock them in the same order
		m, err := tx.Materials.ForShare(ctx, int64(id))
		switch {
		case exchange.CodeOf(err) == exchange.NotFound:
			f.Add("materials", "[%d] there is no object with the id %d", at[int64(id)], id)
		case err != nil:
			return nil, nil, err
		default:
			list = append(list, m)
		}
	}
	slices.SortFunc(list, func(m, n material.Material) int { return at[m.ID] - at[n.ID] })
	refused, err := a.unavailable(ctx, tx, who, list)
	if err != nil {
		return nil, nil, err
	}
	for _, m := range list {
		if u, is := refused[m.ID]; is {
			others = append(others, u)
			continue
		}
		s, err := shippingOf(ctx, tx, m)
		if err != nil {
			return nil, nil, err
		}
		if len(asked) > 0 && m.OrganizationID != asked[0].OrganizationID {
			f.Add("materials", "[%d] %s is of another lab than %s; send a group to each lab", at[m.ID], m.Title,
				asked[0].Title)
		}
		asked = append(asked, request.Asked{Material: m, Shipping: s})
	}
	for _, u := range others {
		if !n.Skip.Value || len(asked) == 0 {
			f.Add("materials", "[%d] %s: %s", at[u.Material], u.Name(), u.Reason())
		}
	}
	return asked, others, f.Err()
}

// unavailable returns those of the materials that who cannot request now, by their ids.
func (a Groups) unavailable(ctx context.Context, c store.Conn, who exchange.Actor, list []material.Material) (
	map[int64]Unavailable, error) {
	ids := make([]int64, len(list))
	for i, m := range list {
		ids[i] = m.ID
	}
	open, err := c.Baskets.OpenRequests(ctx, who.ID, ids)
	refused := map[int64]Unavailable{}
	for _, m := range list {
		why := offered(m, c.Now)
		if id, is := open[m.ID]; is && why == nil {
			why = exchange.Errorf(exchange.Conflict, "You already have an open request for it, request %d.", id).
				With("request", id)
		}
		if who.MemberOf(m.OrganizationID) {
			why = ownMaterial()
		}
		if why == nil {
			continue
		}
		u := Unavailable{Material: m.ID, Title: m.Title, Why: why}
		if a.Hides(who, m, c.Now) {
			u.Title = ""
		}
		refused[m.ID] = u
	}
	return refused, err
}

func ownMaterial() error {
	return exchange.Errorf(exchange.Conflict,
		"This material belongs to your own lab, so you do not need to request it.")
}

// GroupOutcome is what an action on a group did with one of its requests.
type GroupOutcome struct {
	Request request.Detail
	Why     error // why it was left unchanged; nil: it was changed
}

// AcceptRequestGroup accepts those requests of a group that are open, and states of each other why it is unchanged.
func (a Groups) AcceptRequestGroup(ctx context.Context, who exchange.Actor, id int64) (list []GroupOutcome,
	err error) {
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		group, rel, err := a.groupOf(ctx, tx, who, id)
		if err != nil {
			return err
		}
		if err := a.May(ctx, tx, who, exchange.RequestRead, rel, core.Object("request group", id)); err != nil {
			return err
		}
		list = nil
		for _, q := range group.Requests {
			o, err := a.acceptOne(ctx, tx, who, q.ID)
			if err != nil {
				return err
			}
			list = append(list, o)
		}
		return nil
	})
	return list, err
}

// acceptOne accepts a request unless a rule refuses that.
func (a Groups) acceptOne(ctx context.Context, tx store.Conn, who exchange.Actor, id int64) (o GroupOutcome,
	err error) {
	if o.Request, err = tx.Requests.ForUpdate(ctx, id); err != nil {
		return o, err
	}
	q, rel := o.Request, o.Request.RelationsOf(who, o.Request.Organization)
	if err := a.May(ctx, tx, who, exchange.RequestUpdate, rel, core.Object("request", id)); err != nil {
		return o, err
	}
	roles := request.RolesOf(rel)
	after, events, err := a.Patch(ctx, tx, who, q, roles, request.Patch{Status: exchange.Some(request.Approved)})
	switch code := exchange.CodeOf(err); {
	case code == exchange.FieldForbidden:
		return o, exchange.Errorf(exchange.Forbidden, "Only the lab that shares the materials can accept the requests "+
			"of a group.")
	case code == exchange.Internal && err != nil:
		return o, err
	case err != nil:
		o.Why = err
	case q.Status != request.Open: // accepting must not put it back
		o.Why = exchange.Errorf(exchange.InvalidTransition, "Only new requests can be accepted together; the status "+
			"of this one is %s.", q.Status).With("status", q.Status)
	default:
		o.Why = a.RefuseOver(ctx, tx, who, q)
	}
	if o.Why != nil {
		return o, nil
	}
	return o, a.CommitRequest(ctx, tx, &o.Request, after, roles, events)
}

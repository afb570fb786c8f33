package transfer

import (
	"context"
	"slices"
	"time"

	"aliquot/internal/app/core"
	"aliquot/internal/app/letters"
	"aliquot/internal/app/notifier"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Request reads one request.
func (a Requests) Request(ctx context.Context, who exchange.Actor, id int64) (request.Detail, error) {
	q, err := a.DB.Read().Requests.Get(ctx, id)
	if err != nil {
		return q, err
	}
	return q, a.MayRead(ctx, who, exchange.RequestRead, q.RelationsOf(who, q.Organization),
		core.Object("request", id))
}

// Requests lists the requests for materials of the caller's organizations and the caller's own requests, or those of
// them that a search finds. An admin sees all requests.
func (a Requests) Requests(ctx context.Context, who exchange.Actor, p exchange.Page,
	f request.Filter) (exchange.ListPage[request.Detail], error) {
	if who.Admin {
		if err := a.MayRead(ctx, who, exchange.RequestRead, exchange.AdminOf, "every request"); err != nil {
			return exchange.ListPage[request.Detail]{}, err
		}
	}
	return a.DB.Read().Requests.List(ctx, p, f, who)
}

// CreateRequest requests a material. The request is assigned to the material's contact if the contact is a member of
// the lab, else to the lab's owner.
func (a Requests) CreateRequest(ctx context.Context, who exchange.Actor, n request.New) (request.Detail, error) {
	r, err := n.Create(who)
	if err != nil {
		return request.Detail{}, err
	}
	var q request.Detail
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.May(ctx, tx, who, exchange.RequestCreate, who.ToUser(who.ID), "request"); err != nil {
			return err
		}
		q, err = a.createRequest(ctx, tx, who, n, r)
		return err
	})
	return q, err
}

// createRequest is CreateRequest inside a transaction; r is the request made from n.
func (a Requests) createRequest(ctx context.Context, tx store.Conn, who exchange.Actor, n request.New,
	r request.Request) (request.Detail, error) {
	q, events, err := a.insertRequest(ctx, tx, who, n, r, request.EventDetail{})
	if err != nil {
		return q, err
	}
	if err := notifier.NotifyAbout(ctx, tx, q, rolesIn(q, who), events); err != nil || !n.SignAgreement.Value {
		return q, err
	}
	if err := letters.New(a.Core).AskAndSign(ctx, tx, who, []request.Detail{q}); err != nil {
		return q, err
	}
	return tx.Requests.ForUpdate(ctx, q.ID) // with the letter
}

func rolesIn(q request.Detail, who exchange.Actor) request.Roles {
	return request.RolesOf(q.RelationsOf(who, q.Organization))
}

// insertRequest adds a request and its first event, which has the given detail and the assignee. Nobody is notified of
// it yet.
func (a Requests) insertRequest(ctx context.Context, tx store.Conn, who exchange.Actor, n request.New,
	r request.Request, detail request.EventDetail) (q request.Detail, events []request.Event, err error) {
	m, err := tx.Materials.ForShare(ctx, r.MaterialID) // locked, so that it is not archived meanwhile
	if err != nil {
		return q, nil, core.Refer(err, "material", r.MaterialID)
	}
	if err := offered(m, tx.Now); err != nil {
		return q, nil, err
	}
	if r.AssignedTo, err = assignee(ctx, tx, m); err != nil {
		return q, nil, err
	}
	if r.Address, err = a.address(ctx, tx, who.ID, n.Address); err != nil {
		return q, nil, err
	}
	if err := a.MayGo(ctx, tx, who.ID, r.Address); err != nil {
		return q, nil, err
	}
	for slot, ref := range map[document.Slot]exchange.Null[exchange.Ref]{document.SignedMTA: n.SignedMTA,
		document.IRB: n.IRB} {
		if ref.Value == nil {
			continue
		}
		if err := a.link(ctx, tx, who, slot, int64(*ref.Value),
			request.Detail{Request: r, Organization: m.OrganizationID}); err != nil {
			return q, nil, err
		}
		r.Documents = append(r.Documents, document.Document{
			Slot: slot, AttachmentID: int64(*ref.Value), State: document.Delivered, AddedBy: who.ID, AddedAt: tx.Now,
		})
	}
	slices.SortFunc(r.Documents, func(a, b document.Document) int {
		return slices.Index(document.Slots, a.Slot) - slices.Index(document.Slots, b.Slot)
	})
	id, err := tx.Requests.Insert(ctx, r)
	if err != nil {
		return q, nil, err
	}
	if err := tx.Requests.SaveDocuments(ctx, id, nil, r.Documents); err != nil {
		return q, nil, err
	}
	for _, d := range r.Documents {
		if err := core.ExpectPaper(ctx, tx, who, id, d.Slot, d.AttachmentID); err != nil {
			return q, nil, err
		}
	}
	if r.ID = id; n.Inquiry.Value != nil {
		if err := resolveInquiry(ctx, tx, int64(*n.Inquiry.Value), r); err != nil {
			return q, nil, err
		}
	}
	if q, err = tx.Requests.ForUpdate(ctx, id); err != nil {
		return q, nil, err
	}
	detail.AssignedTo = &r.AssignedTo
	events, err = a.SaveRequest(ctx, tx, &q, q.Begin(q.Terms, tx.Now),
		[]request.Event{{Kind: request.Made, Actor: who.ID, Detail: detail}})
	return q, events, err
}

// offered returns an error that says why a material cannot be requested, or nil if it can.
func offered(m material.Material, now time.Time) error {
	if m.Archived {
		return exchange.Errorf(exchange.MaterialArchived, "This material is archived and no longer available.")
	}
	if m.Embargoed(now) {
		return exchange.Errorf(exchange.MaterialEmbargoed, "This material is under embargo until %s.",
			*m.EmbargoDate).With("embargo_date", *m.EmbargoDate)
	}
	return nil
}

func assignee(ctx context.Context, tx store.Conn, m material.Material) (uuid.UUID, error) {
	member, err := tx.Organizations.IsMember(ctx, m.OrganizationID, m.ContactID)
	if err != nil || member {
		return m.ContactID, err
	}
	o, err := tx.Organizations.Get(ctx, m.OrganizationID)
	return o.Owner, err
}

// address returns the address that a body names. It must be one of the requester's own.
func (a Requests) address(ctx context.Context, tx store.Conn, requester uuid.UUID,
	ref exchange.Null[exchange.Ref]) (*person.Address, error) {
	if ref.Value == nil {
		return nil, nil
	}
	address, err := tx.Addresses.Get(ctx, requester, int64(*ref.Value))
	if err != nil {
		return nil, core.Refer(err, "address", *ref.Value)
	}
	return &address, nil
}

// UpdateRequest applies a patch to a request; the rules are in request.Request.Apply.
func (a Requests) UpdateRequest(ctx context.Context, who exchange.Actor, id int64,
	p request.Patch, match core.IfMatch[request.Detail]) (request.Detail, error) {
	return a.Act(ctx, who, exchange.RequestUpdate, id, match,
		func(ctx context.Context, tx store.Conn, who exchange.Actor, q request.Detail,
			roles request.Roles) (request.Request, []request.Event, error) {
			return a.Patch(ctx, tx, who, q, roles, p)
		})
}

// Patch applies a patch to a request whose row is locked.
func (a Requests) Patch(ctx context.Context, tx store.Conn, who exchange.Actor, q request.Detail,
	roles request.Roles, p request.Patch) (request.Request, []request.Event, error) {
	address, err := a.newAddress(ctx, tx, q, roles, p.Address)
	if err != nil {
		return q.Request, nil, err
	}
	after, events, err := q.Apply(roles, who.ID, p, address, q.Terms, tx.Now)
	if err != nil {
		return after, nil, err
	}
	if party := (request.Roles{Requester: roles.Requester, Member: roles.Member}); roles.Admin &&
		party != (request.Roles{}) {
		if _, _, err := q.Apply(party, who.ID, p, address, q.Terms, tx.Now); err != nil { // only an admin may do this
			if err := tx.Audit.Insert(ctx, &who.ID, exchange.RequestUpdate, core.Object("request", q.ID), true,
				nil); err != nil {
				return after, nil, err
			}
		}
	}
	for _, e := range events {
		if e.Kind == request.DocumentAdded {
			if err := a.link(ctx, tx, who, e.Detail.Slot, e.Detail.Attachment, q); err != nil {
				return after, nil, err
			}
			if err := core.ExpectPaper(ctx, tx, who, q.ID, e.Detail.Slot, e.Detail.Attachment); err != nil {
				return after, nil, err
			}
		}
	}
	if after.AssignedTo == q.AssignedTo && (q.Active || !after.Active) {
		return after, events, nil
	}
	member, err := tx.Organizations.IsMember(ctx, q.Organization, after.AssignedTo)
	switch {
	case err != nil || member:
		return after, events, err
	case after.AssignedTo != q.AssignedTo:
		return after, nil, core.FieldError("assigned_to", "must be a member of the organization %d", q.Organization)
	}
	// The request is open again, and its assignee has left the lab meanwhile.
	o, err := tx.Organizations.Get(ctx, q.Organization)
	if err != nil {
		return after, nil, err
	}
	after, more, err := after.Apply(request.Roles{Member: true}, who.ID, HandTo(o.Owner), nil, q.Terms, tx.Now)
	return after, append(events, more...), err
}

// HandTo returns the patch that assigns a request to a user.
func HandTo(user uuid.UUID) request.Patch {
	return request.Patch{AssignedTo: exchange.Some(exchange.UserRef(user))}
}

// newAddress returns the address of a request after a patch. It looks the address up only if the caller may set it;
// otherwise Apply refuses the change.
func (a Requests) newAddress(ctx context.Context, tx store.Conn, q request.Detail, roles request.Roles,
	ref exchange.Null[exchange.Ref]) (*person.Address, error) {
	switch {
	case !ref.Set:
		return q.Address, nil
	case ref.Value == nil:
		return nil, nil
	case q.Address != nil && q.Address.ID == int64(*ref.Value), !roles.Requester && !roles.Admin:
		return q.Address, nil
	}
	address, err := a.address(ctx, tx, q.Requester, ref)
	if err == nil {
		err = a.MayGo(ctx, tx, q.Requester, address)
	}
	return address, err
}

// link attaches a document of the caller to a request and shares it with the other side, so that both can read every
// document of the transfer (contract.md section 5).
func (a Requests) link(ctx context.Context, tx store.Conn, who exchange.Actor, slot document.Slot, id int64,
	q request.Detail) error {
	field := string(slot) + "_attachment"
	t, err := tx.Attachments.ForUpdate(ctx, id)
	if err != nil {
		return core.Refer(err, field, id)
	}
	earlier := slices.ContainsFunc(q.Documents, func(d document.Document) bool { return d.AttachmentID == id })
	rel := t.RelationsOf(who, false, false)
	ok, asAdmin := a.Policy().Can(exchange.AttachmentUpdate, rel)
	filed := t.OwnedByUser != nil && who.Is(*t.OwnedByUser)
	// Being in the lab does not suffice for a document that another request uses.
	if ok && rel&(exchange.OwnerOf|exchange.AdminOf) == 0 && !filed {
		ties, err := tx.Attachments.Ties(ctx, t, who.ID)
		if err != nil {
			return err
		}
		ok = !ties.Requests
	}
	if !ok && !earlier {
		return exchange.Errorf(exchange.FieldForbidden, "You may not submit attachment %d (%s): it is not yours.", id,
			field).With("field", field)
	} else if asAdmin {
		if err := tx.Audit.Insert(ctx, &who.ID, exchange.AttachmentUpdate, core.Object("attachment", id), true,
			nil); err != nil {
			return err
		}
	}
	shared := t
	if t.OwnedByOrg == nil {
		shared.OwnedByOrg, shared.OfLab = &q.Organization, !who.Is(q.Requester)
	}
	if slot == document.ExecutedMTA {
		shared.OwnedByUser, shared.OfLab = &q.Requester, true
	}
	if core.Same(shared, t) {
		return nil
	}
	return a.MoveAttachment(ctx, tx, t, shared)
}

// change applies one action to a request and returns the changed request and the events.
type change func(ctx context.Context, tx store.Conn, who exchange.Actor, q request.Detail,
	roles request.Roles) (request.Request, []request.Event, error)

// Act changes a request in one transaction: it locks the row, applies the rule, and saves the request, its events and
// its notifications together.
func (a Requests) Act(ctx context.Context, who exchange.Actor, action exchange.Action, id int64,
	match core.IfMatch[request.Detail], do change) (request.Detail, error) {
	var q request.Detail
	err := a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		var err error
		if q, err = tx.Requests.ForUpdate(ctx, id); err != nil {
			return err
		}
		rel := q.RelationsOf(who, q.Organization)
		if err := a.May(ctx, tx, who, action, rel, core.Object("request", id)); err != nil {
			return err
		}
		if err := match.Check(q); err != nil {
			return err
		}
		roles := request.RolesOf(rel)
		after, events, err := do(ctx, tx, who, q, roles)
		if err != nil || len(events) == 0 {
			return err
		}
		return a.CommitRequest(ctx, tx, &q, after, roles, events)
	})
	return q, err
}

// CommitRequest saves a changed request and its events, and notifies the people concerned; q becomes the new state.
func (a Requests) CommitRequest(ctx context.Context, tx store.Conn, q *request.Detail, after request.Request,
	roles request.Roles, events []request.Event) error {
	opened := q.Status == request.Open
	events, err := a.SaveRequest(ctx, tx, q, after, events)
	if err != nil {
		return err
	}
	if err := notifier.NotifyAbout(ctx, tx, *q, roles, events); err != nil || q.Letter == 0 || !opened ||
		q.Status != request.Approved {
		return err
	}
	if err := letters.New(a.Core).SignAhead(ctx, tx, q.Letter); err != nil {
		return err
	}
	*q, err = tx.Requests.ForUpdate(ctx, q.ID) // with the agreement, if it was executed
	return err
}

// ShipRequest sets how the parcel is shipped.
func (a Requests) ShipRequest(ctx context.Context, who exchange.Actor, id int64,
	p request.ShipmentPatch, match core.IfMatch[request.Detail]) (request.Detail, error) {
	return a.Act(ctx, who, exchange.RequestShip, id, match,
		func(_ context.Context, tx store.Conn, who exchange.Actor, q request.Detail,
			roles request.Roles) (request.Request, []request.Event, error) {
			return q.Ship(roles, who.ID, p, q.Terms, tx.Now)
		})
}

// ReviewDocument accepts or returns a document of a request.
func (a Requests) ReviewDocument(ctx context.Context, who exchange.Actor, id int64, slot document.Slot, accept bool,
	reason string, match core.IfMatch[request.Detail]) (request.Detail, error) {
	if !accept {
		var err error
		if reason, err = (request.ReasonBody{Reason: exchange.Some(reason)}).Check(); err != nil {
			return request.Detail{}, err
		}
	}
	return a.Act(ctx, who, exchange.RequestUpdate, id, match,
		func(ctx context.Context, tx store.Conn, who exchange.Actor, q request.Detail,
			roles request.Roles) (request.Request, []request.Event, error) {
			if accept {
				if err := readable(ctx, tx, q.AttachmentIn(slot)); err != nil {
					return q.Request, nil, err
				}
			}
			after, events, err := q.ReviewDocument(roles, who.ID, slot, accept, reason, q.Terms, tx.Now)
			if err == nil && len(events) > 0 {
				err = tx.Audit.Insert(ctx, &who.ID, exchange.RequestUpdate, core.Object("request", id), false,
					map[string]any{"document": slot, "accepted": accept})
			}
			return after, events, err
		})
}

// DeleteRequest hides a request from everyone; its events are kept.
func (a Requests) DeleteRequest(ctx context.Context, who exchange.Actor, id int64,
	match core.IfMatch[request.Detail]) error {
	_, err := a.Act(ctx, who, exchange.RequestDelete, id, match,
		func(_ context.Context, tx store.Conn, who exchange.Actor, q request.Detail,
			roles request.Roles) (request.Request, []request.Event, error) {
			return q.Delete(roles, who.ID, q.Terms, tx.Now)
		})
	return err
}

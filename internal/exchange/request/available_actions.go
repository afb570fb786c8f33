package request

import (
	"slices"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/person"
)

// AvailableActions are the actions that an actor can take on a request in its current state. Each was tried with the
// rule that decides it, so no page offers an action that would be refused.
type AvailableActions struct {
	Roles    Roles
	Moves    []Status // statuses that can be set at once
	Waivable []Status // statuses that need a reason for continuing without what is missing
	Missing  []Need
	Review   map[document.Slot]bool // slots whose current version can be reviewed
	Upload   map[document.Slot]bool
	Withdraw map[document.Slot]bool

	Abstract, Address, Payment, Assign, Ship, Close, Reopen, Issue, Snooze, Unsnooze, Remind, Delete, Question bool
}

// Can reports whether the actor can set a status, with or without giving a reason.
func (o AvailableActions) Can(to Status) bool { return o.Now(to) || o.Waives(to) }

// Now reports whether the actor can set a status at once.
func (o AvailableActions) Now(to Status) bool { return slices.Contains(o.Moves, to) }

// Waives reports whether setting a status needs a reason for continuing without what is missing.
func (o AvailableActions) Waives(to Status) bool { return slices.Contains(o.Waivable, to) }

// AvailableActions tries every action that who might take and returns those that are allowed.
func (q Detail) AvailableActions(who exchange.Actor, now time.Time) AvailableActions {
	roles := RolesOf(q.RelationsOf(who, q.Organization))
	o := AvailableActions{Roles: roles, Missing: Missing(Requirements(q.Terms, q.Request)),
		Review: map[document.Slot]bool{}, Upload: map[document.Slot]bool{}, Withdraw: map[document.Slot]bool{}}
	patch := func(p Patch) error {
		_, _, err := q.Apply(roles, who.ID, p, &person.Address{}, q.Terms, now)
		return err
	}
	for _, to := range Statuses {
		if to == q.Status {
			continue
		}
		err := patch(Patch{Status: exchange.Some(to)})
		if err == nil {
			o.Moves = append(o.Moves, to)
		} else if exchange.CodeOf(err) == exchange.MissingRequirements &&
			patch(Patch{Status: exchange.Some(to), Override: exchange.Some(otherText(q.Override))}) == nil {
			o.Waivable = append(o.Waivable, to)
		}
	}
	other := exchange.NullOf(exchange.Ref(-1)) // an id that no document and no address has
	for slot, set := range map[document.Slot]func(*Patch) *exchange.Null[exchange.Ref]{
		document.SignedMTA:   func(p *Patch) *exchange.Null[exchange.Ref] { return &p.SignedMTA },
		document.IRB:         func(p *Patch) *exchange.Null[exchange.Ref] { return &p.IRB },
		document.ExecutedMTA: func(p *Patch) *exchange.Null[exchange.Ref] { return &p.ExecutedMTA },
	} {
		var hand, take Patch
		*set(&hand), *set(&take) = other, exchange.Cleared[exchange.Ref]()
		o.Upload[slot] = patch(hand) == nil
		o.Withdraw[slot] = q.Current(slot) != nil && patch(take) == nil
		_, _, err := q.ReviewDocument(roles, who.ID, slot, true, "", q.Terms, now)
		o.Review[slot] = err == nil
	}
	o.Abstract = patch(Patch{Abstract: exchange.Some(otherText(q.Abstract))}) == nil
	o.Address = patch(Patch{Address: other}) == nil
	o.Payment = patch(Patch{Notes: exchange.Some(otherText(q.PaymentNotes))}) == nil
	o.Assign = patch(Patch{AssignedTo: exchange.Some(exchange.UserRef{})}) == nil
	o.Close = q.Active && patch(Patch{Active: exchange.Some(false)}) == nil
	o.Reopen = !q.Active && q.Status.Active() && patch(Patch{Active: exchange.Some(true)}) == nil
	o.Delete = roles.Admin
	carrier := ""
	if q.Shipment != nil {
		carrier = q.Shipment.Carrier
	}
	for done, err := range map[*bool]error{
		&o.Ship: failure(q.Ship(roles, who.ID, ShipmentPatch{Carrier: exchange.Some(otherText(carrier))}, q.Terms,
			now)),
		&o.Question: failure(q.Request.Question(roles, who.ID, "x", q.Terms, now)),
		&o.Issue:    failure(q.OpenIssue(roles, who.ID, "x", q.Terms, now)),
		&o.Snooze: failure(q.Snooze(roles, who.ID,
			SnoozeNew{Until: exchange.Some(exchange.Until(now.AddDate(0, 0, 1)))}, q.Terms, now)),
		&o.Remind: failure(q.RemindNow(roles, who.ID, q.Terms, now)),
	} {
		*done = err == nil
	}
	o.Unsnooze = o.Snooze && q.Snoozing(now)
	return o
}

// MayClose reports whether who may close an open issue of the request.
func (q Detail) MayClose(who exchange.Actor, i Issue, now time.Time) bool {
	roles := RolesOf(q.RelationsOf(who, q.Organization))
	return i.ClosedAt == nil && failure(q.CloseIssue(roles, who.ID, i, q.Terms, now)) == nil
}

func failure(_ Request, _ []Event, err error) error { return err }

// otherText returns a short text that differs from s.
func otherText(s string) string {
	if s == "x" {
		return "y"
	}
	return "x"
}

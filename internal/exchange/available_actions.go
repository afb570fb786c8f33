package exchange

import (
	"slices"
	"time"
)

// AvailableActions are the actions that an actor can take on a request in its current state. Each was tried with the
// rule that decides it, so no page offers an action that would be refused.
type AvailableActions struct {
	Roles    Roles
	Moves    []Status // statuses that can be set at once
	Waivable []Status // statuses that need a reason for continuing without what is missing
	Missing  []Need
	Review   map[Slot]bool // slots whose current version can be reviewed
	Upload   map[Slot]bool
	Withdraw map[Slot]bool

	Abstract, Address, Payment, Assign, Ship, Close, Reopen, Issue, Snooze, Unsnooze, Remind, Delete bool
}

// Can reports whether the actor can set a status, with or without giving a reason.
func (o AvailableActions) Can(to Status) bool { return o.Now(to) || o.Waives(to) }

// Now reports whether the actor can set a status at once.
func (o AvailableActions) Now(to Status) bool { return slices.Contains(o.Moves, to) }

// Waives reports whether setting a status needs a reason for continuing without what is missing.
func (o AvailableActions) Waives(to Status) bool { return slices.Contains(o.Waivable, to) }

// AvailableActions tries every action that who might take and returns those that are allowed.
func (q RequestDetail) AvailableActions(who Actor, now time.Time) AvailableActions {
	roles := RolesOf(who.ToRequest(q.Request, q.Organization))
	o := AvailableActions{Roles: roles, Missing: Missing(Requirements(q.Terms, q.Request)),
		Review: map[Slot]bool{}, Upload: map[Slot]bool{}, Withdraw: map[Slot]bool{}}
	patch := func(p RequestPatch) error {
		_, _, err := q.Apply(roles, who.ID, p, &Address{}, q.Terms, now)
		return err
	}
	for _, to := range Statuses {
		if to == q.Status {
			continue
		}
		err := patch(RequestPatch{Status: Some(to)})
		if err == nil {
			o.Moves = append(o.Moves, to)
		} else if CodeOf(err) == MissingRequirements &&
			patch(RequestPatch{Status: Some(to), Override: Some(otherText(q.Override))}) == nil {
			o.Waivable = append(o.Waivable, to)
		}
	}
	other := NullOf(Ref(-1)) // an id that no document and no address has
	for slot, set := range map[Slot]func(*RequestPatch) *Null[Ref]{
		SignedMTA:   func(p *RequestPatch) *Null[Ref] { return &p.SignedMTA },
		IRB:         func(p *RequestPatch) *Null[Ref] { return &p.IRB },
		ExecutedMTA: func(p *RequestPatch) *Null[Ref] { return &p.ExecutedMTA },
	} {
		var hand, take RequestPatch
		*set(&hand), *set(&take) = other, Cleared[Ref]()
		o.Upload[slot] = patch(hand) == nil
		o.Withdraw[slot] = q.Current(slot) != nil && patch(take) == nil
		_, _, err := q.ReviewDocument(roles, who.ID, slot, true, "", q.Terms, now)
		o.Review[slot] = err == nil
	}
	o.Abstract = patch(RequestPatch{Abstract: Some(otherText(q.Abstract))}) == nil
	o.Address = patch(RequestPatch{Address: other}) == nil
	o.Payment = patch(RequestPatch{Notes: Some(otherText(q.PaymentNotes))}) == nil
	o.Assign = patch(RequestPatch{AssignedTo: Some(UserRef{})}) == nil
	o.Close = q.Active && patch(RequestPatch{Active: Some(false)}) == nil
	o.Reopen = !q.Active && q.Status.Active() && patch(RequestPatch{Active: Some(true)}) == nil
	o.Delete = roles.Admin
	carrier := ""
	if q.Shipment != nil {
		carrier = q.Shipment.Carrier
	}
	for done, err := range map[*bool]error{
		&o.Ship:   failure(q.Ship(roles, who.ID, ShipmentPatch{Carrier: Some(otherText(carrier))}, q.Terms, now)),
		&o.Issue:  failure(q.OpenIssue(roles, who.ID, "x", q.Terms, now)),
		&o.Snooze: failure(q.Snooze(roles, who.ID, SnoozeNew{Until: Some(Until(now.AddDate(0, 0, 1)))}, q.Terms, now)),
		&o.Remind: failure(q.RemindNow(roles, who.ID, q.Terms, now)),
	} {
		*done = err == nil
	}
	o.Unsnooze = o.Snooze && q.Snoozing(now)
	return o
}

// MayClose reports whether who may close an open issue of the request.
func (q RequestDetail) MayClose(who Actor, i Issue, now time.Time) bool {
	roles := RolesOf(who.ToRequest(q.Request, q.Organization))
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

package exchange

import (
	"slices"
	"time"

	"aliquot/internal/exchange/category"

	"github.com/google/uuid"
)

// Organization is a lab: its people, what they share, and the days in which it means to take its steps.
type Organization struct {
	ID          int64
	Name        string
	Description string
	Owner       uuid.UUID
	Targets     Targets
	// public_metadata_keys: custom fields of additional_metadata that everybody may see
	PublicKeys []string `json:",omitempty"`
	CreatedAt  time.Time
	UpdatedAt  time.Time
}

// Targets are the days in which a lab means to take its steps (contract.md section 6, "Due dates").
type Targets struct {
	Decide, Countersign, Ship int
}

// DefaultTargets are the targets of a new organization.
var DefaultTargets = Targets{Decide: 7, Countersign: 14, Ship: 14}

// OrganizationPatch is the body of POST, PUT and PATCH of organizations.
type OrganizationPatch struct {
	Name            Opt[string]    `json:"name"`
	Description     Opt[string]    `json:"description"`
	Owner           Opt[UserRef]   `json:"owner"`
	Members         Opt[[]UserRef] `json:"members"`
	DecideDays      Opt[int]       `json:"decide_days"`
	CountersignDays Opt[int]       `json:"countersign_days"`
	ShipDays        Opt[int]       `json:"ship_days"`
	PublicKeys      Opt[Names]     `json:"public_metadata_keys"`
}

// maxPublicKeys is how many custom fields an organization can publish.
const maxPublicKeys = 100

// publicKeys checks the keys that an organization publishes. A field that a category marks as private stays private.
func (f *FieldErrors) publicKeys(o Opt[Names], dst *[]string) {
	if !o.Set {
		return
	}
	keys := []string{}
	for _, key := range o.Value {
		if key = tidy(key); key == "" || !f.Short("public_metadata_keys", key) {
			continue
		}
		if slices.Contains(category.PrivateKeys(), key) {
			f.Add("public_metadata_keys", "%s could identify patients or donors and stays private", key)
		}
		keys = append(keys, key)
	}
	slices.Sort(keys)
	if keys = slices.Compact(keys); len(keys) > maxPublicKeys {
		f.Add("public_metadata_keys", "must be at most %d keys", maxPublicKeys)
	}
	*dst = keys
}

// maxMembers limits one list of members; larger labs use invitations.
const maxMembers = 10_000

// maxDays is the maximum target of a lab, in days.
const maxDays = 365

// Create makes a new organization from p. If p names no owner, founder is the owner; if founder is uuid.Nil, p must
// name one. The specification requires owner and members; the name defaults to "<owner's name> lab", which the caller
// fills in afterwards.
func (p OrganizationPatch) Create(founder uuid.UUID) (Organization, []uuid.UUID, error) {
	var f FieldErrors
	if founder == uuid.Nil {
		f.must("owner", p.Owner.Set, "is required: the id of a user")
	}
	f.must("members", p.Members.Set, "is required: a list of user ids, which may be empty")
	o, members, _ := p.apply(&f, Organization{Owner: founder, Targets: DefaultTargets}, nil)
	return o, members, f.Err()
}

// Patch applies p to o and its current members.
func (p OrganizationPatch) Patch(o Organization, members []uuid.UUID) (Organization, []uuid.UUID, error) {
	var f FieldErrors
	name := o.Name
	o, members, named := p.apply(&f, o, slices.Clone(members))
	f.needed("name")
	if named && o.Name == "" {
		f.Add("name", "must not be empty; leave it out to keep %q", name)
	}
	return o, members, f.Err()
}

// Validate implements Body.
func (p OrganizationPatch) Validate(create bool) FieldErrors {
	var err error
	if create {
		_, _, err = p.Create(uuid.Max) // owner is required with open access only
	} else {
		_, _, err = p.Patch(Organization{}, nil)
	}
	return fieldsOf(err)
}

func (p OrganizationPatch) apply(f *FieldErrors, o Organization, members []uuid.UUID) (Organization, []uuid.UUID,
	bool) {
	f.line("name", p.Name, lineLength, &o.Name)
	f.long("description", p.Description, &o.Description)
	f.days("decide_days", p.DecideDays, &o.Targets.Decide)
	f.days("countersign_days", p.CountersignDays, &o.Targets.Countersign)
	f.days("ship_days", p.ShipDays, &o.Targets.Ship)
	f.publicKeys(p.PublicKeys, &o.PublicKeys)
	o.Owner = uuid.UUID(p.Owner.Or(UserRef(o.Owner)))
	f.rule("members", Rule{Most: maxMembers})
	if p.Members.Set {
		if len(p.Members.Value) > maxMembers {
			f.Add("members", "must be at most %d people", maxMembers)
			return o, nil, p.Name.Set
		}
		members = nil
		for _, m := range p.Members.Value {
			members = append(members, uuid.UUID(m))
		}
	}
	if o.Owner != uuid.Nil {
		members = append(members, o.Owner) // the owner is always a member
	}
	slices.SortFunc(members, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	return o, slices.Compact(members), p.Name.Set
}

func (f *FieldErrors) days(field string, o Opt[int], dst *int) {
	f.rule(field, Rule{From: 1, To: maxDays})
	if !o.Set {
		return
	}
	if o.Value < 1 || o.Value > maxDays {
		f.Add(field, "must be a number of days from 1 to %d", maxDays)
		return
	}
	*dst = o.Value
}

// Membership is a person's membership in an organization and also the specification's organization user settings: the
// five switches of that person there.
type Membership struct {
	ID             int64
	OrganizationID int64
	UserID         uuid.UUID
	Switches       Switches
	CreatedAt      time.Time
	UpdatedAt      time.Time
	LeftAt         *time.Time // set when the person left; the record is kept but hidden
}

// Switches are the five categories of notification a member may turn off.
type Switches struct {
	NewRequest, StatusChange, Decision, Assigned, Reminder bool
}

// AllOn is the initial state of a membership's switches.
var AllOn = Switches{true, true, true, true, true}

// On reports whether the switch of a category is on.
func (s Switches) On(c Category) bool {
	switch c {
	case NewRequestNotif:
		return s.NewRequest
	case StatusNotif:
		return s.StatusChange
	case DecisionNotif:
		return s.Decision
	case AssignedNotif:
		return s.Assigned
	case ReminderNotif:
		return s.Reminder
	}
	return false
}

// SwitchesPatch is the body of PUT and PATCH /organization-user-settings/:id.
type SwitchesPatch struct {
	NewRequest   Opt[bool] `json:"new_request_notif"`
	StatusChange Opt[bool] `json:"change_in_request_status_notif"`
	Decision     Opt[bool] `json:"request_approval_determined_notif"`
	Assigned     Opt[bool] `json:"request_assigned_notif"`
	Reminder     Opt[bool] `json:"reminder_notif"`
}

// Validate implements Body: every value is allowed.
func (SwitchesPatch) Validate(bool) FieldErrors { return nil }

// Patch applies p to s.
func (p SwitchesPatch) Patch(s Switches) Switches {
	return Switches{
		NewRequest:   p.NewRequest.Or(s.NewRequest),
		StatusChange: p.StatusChange.Or(s.StatusChange),
		Decision:     p.Decision.Or(s.Decision),
		Assigned:     p.Assigned.Or(s.Assigned),
		Reminder:     p.Reminder.Or(s.Reminder),
	}
}

// Package lab holds the rules of organizations, of who belongs to them, and of what they ask of those who order.
package lab

import (
	"slices"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/field"
	"aliquot/internal/exchange/fulltext"

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
	SignsAhead Ahead    `json:",omitzero"`
	CreatedAt  time.Time
	UpdatedAt  time.Time
}

// Ahead is how the owner of a lab signs agreements in advance, as the scientist who provides: those that a standing
// approval of the institution covers. The days are from Since until the day before Until; empty: never.
type Ahead struct {
	By    uuid.UUID
	Since exchange.Date
	Until *exchange.Date
}

// maxAhead is for how many days an owner signs in advance at most.
const maxAhead = 366

// SignedAhead reports whether its owner has signed in advance what the lab provides on the day.
func (o Organization) SignedAhead(day exchange.Date) bool {
	a := o.SignsAhead
	return a.By == o.Owner && a.Until != nil && a.Since <= day && day < *a.Until
}

// SignAhead returns the organization as signed in advance by its owner on a day, until the day that it has now.
func (o Organization) SignAhead(today exchange.Date) (Organization, error) {
	var f exchange.FieldErrors
	if o.SignsAhead.Until == nil {
		o.SignsAhead = Ahead{}
		return o, nil
	}
	o.SignsAhead.By, o.SignsAhead.Since = o.Owner, today
	until, _ := o.SignsAhead.Until.Begin()
	now, _ := today.Begin()
	if !until.After(now) || until.After(now.AddDate(0, 0, maxAhead)) {
		f.Add("signs_ahead_until", "must be after today, by at most a year")
	}
	return o, f.Err()
}

// Targets are the days in which a lab means to take its steps (contract.md section 6, "Due dates").
type Targets struct {
	Decide, Countersign, Ship int
}

// Fields are the fields of organizations, in the order of answers.
var Fields = []field.Descriptor[Organization]{
	{Name: "id", At: func(o *Organization) any { return &o.ID }, ReadOnly: true},
	{Name: "name", At: func(o *Organization) any { return &o.Name }, Max: exchange.LineLength,
		Found: new(fulltext.Title),
		Label: "Name", Help: "The name people know the lab by."},
	{Name: "description", At: func(o *Organization) any { return &o.Description }, Found: new(fulltext.Body),
		Label: "Description", Help: "What you share and where you are. Everyone can see it."},
	{Name: "owner", Column: "owner_id", At: func(o *Organization) any { return &o.Owner }, HistoryLabel: "owner"},
	{Name: "members"},
	{Name: "decide_days", At: func(o *Organization) any { return &o.Targets.Decide }, From: 1, To: maxDays,
		Unit: "days", Label: "Accept or decline", HistoryLabel: "target for decisions",
		Doc: "In how many days the lab aims to decide on a request."},
	{Name: "countersign_days", At: func(o *Organization) any { return &o.Targets.Countersign }, From: 1, To: maxDays,
		Unit: "days", Label: "Countersign the MTA", HistoryLabel: "target for countersigning",
		Doc: "In how many days the lab aims to countersign an MTA."},
	{Name: "ship_days", At: func(o *Organization) any { return &o.Targets.Ship }, From: 1, To: maxDays,
		Unit: "days", Label: "Pack and ship", HistoryLabel: "target for shipping",
		Doc: "In how many days the lab aims to ship."},
	{Name: "public_metadata_keys", At: func(o *Organization) any { return &o.PublicKeys }, Set: setPublicKeys,
		Doc: "Keys of its own in additional_metadata that the lab shows to everybody; " +
			"the others are private. Its owner alone changes them."},
	{Name: "signs_ahead_until", At: func(o *Organization) any { return &o.SignsAhead.Until },
		Label: "Sign agreements in advance until", HistoryLabel: "signature in advance",
		Help: "The owner’s signature as provider scientist, on each agreement that a standing approval of your " +
			"institution covers: it is executed as soon as the requester asks. At most a year; empty: you sign each.",
		Doc: "The first day on which the owner no longer signs agreements in advance. Its owner alone changes it."},
	{Name: "signs_ahead_since", At: func(o *Organization) any { return &o.SignsAhead.Since }, ReadOnly: true,
		Hidden: true},
	{Name: "signs_ahead_by", At: func(o *Organization) any { return &o.SignsAhead.By }, ReadOnly: true, Hidden: true,
		OrNobody: true},
	{Name: "created_at", At: func(o *Organization) any { return &o.CreatedAt }, ReadOnly: true},
	{Name: "updated_at", At: func(o *Organization) any { return &o.UpdatedAt }, ReadOnly: true},
}

// DefaultTargets are the targets of a new organization.
var DefaultTargets = Targets{Decide: 7, Countersign: 14, Ship: 14}

// OrganizationPatch is the body of POST, PUT and PATCH of organizations.
type OrganizationPatch struct {
	Name        exchange.Opt[string]             `json:"name"`
	Description exchange.Opt[string]             `json:"description"`
	Owner       exchange.Opt[exchange.UserRef]   `json:"owner"`
	Members     exchange.Opt[[]exchange.UserRef] `json:"members"`
	PublicKeys  exchange.Opt[exchange.Names]     `json:"public_metadata_keys"`

	others map[string]any // the slots of the fields that have no member above, by name
}

// Others implements field.Body.
func (p *OrganizationPatch) Others() map[string]any {
	if p.others == nil {
		p.others = field.Others[OrganizationPatch](Fields)
	}
	return p.others
}

// maxPublicKeys is how many custom fields an organization can publish.
const maxPublicKeys = 100

// setPublicKeys checks the keys that an organization publishes. A field that a category marks as private stays private.
func setPublicKeys(f *exchange.FieldErrors, slot any, o *Organization) {
	said := *slot.(*exchange.Opt[exchange.Names])
	if !said.Set {
		return
	}
	keys := []string{}
	for _, key := range said.Value {
		if key = exchange.Tidy(key); key == "" || !f.Short("public_metadata_keys", key) {
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
	o.PublicKeys = keys
}

// maxMembers limits one list of members; larger labs use invitations.
const maxMembers = 10_000

// maxDays is the maximum target of a lab, in days.
const maxDays = 365

// Create makes a new organization from p. If p names no owner, founder is the owner; if founder is uuid.Nil, p must
// name one. The specification requires owner and members; the name defaults to "<owner's name> lab", which the caller
// fills in afterwards.
func (p OrganizationPatch) Create(founder uuid.UUID) (Organization, []uuid.UUID, error) {
	var f exchange.FieldErrors
	if founder == uuid.Nil {
		f.Must("owner", p.Owner.Set, "is required: the id of a user")
	}
	f.Must("members", p.Members.Set, "is required: a list of user ids, which may be empty")
	o, members, _ := p.apply(&f, Organization{Owner: founder, Targets: DefaultTargets}, nil)
	return o, members, f.Err()
}

// Patch applies p to o and its current members.
func (p OrganizationPatch) Patch(o Organization, members []uuid.UUID) (Organization, []uuid.UUID, error) {
	var f exchange.FieldErrors
	name := o.Name
	o, members, named := p.apply(&f, o, slices.Clone(members))
	f.Needed("name")
	if named && o.Name == "" {
		f.Add("name", "must not be empty; leave it out to keep %q", name)
	}
	return o, members, f.Err()
}

// Validate implements Body.
func (p OrganizationPatch) Validate(create bool) exchange.FieldErrors {
	var err error
	if create {
		_, _, err = p.Create(uuid.Max) // owner is required with open access only
	} else {
		_, _, err = p.Patch(Organization{}, nil)
	}
	return exchange.FieldsOf(err)
}

func (p OrganizationPatch) apply(f *exchange.FieldErrors, o Organization, members []uuid.UUID) (Organization,
	[]uuid.UUID,
	bool) {
	field.Apply(f, Fields, &p, &o)
	f.OneAlphabet("name", p.Name.Value)
	f.Rule("members", exchange.Rule{Max: maxMembers})
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

// SearchDocument returns the document of o.
func (o Organization) SearchDocument() exchange.SearchDocument {
	var x exchange.DocumentBuilder
	for _, d := range Fields {
		if d.Found != nil {
			x.Text(*d.Found, d.Text(&o))
		}
	}
	return x.Document()
}

// Texts returns the texts that search looks at.
func (o Organization) Texts() (list []exchange.NamedText) {
	for _, d := range Fields {
		if d.Found != nil {
			list = append(list, exchange.NamedText{Name: d.Name, Text: d.Text(&o)})
		}
	}
	return list
}

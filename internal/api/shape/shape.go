// Package shape has the JSON of what the API answers: a type for each object, and Show functions that make it of what
// the use cases return.
package shape

import (
	"time"

	"aliquot/internal/app"
	"aliquot/internal/app/core"
	"aliquot/internal/app/documents"
	"aliquot/internal/app/labs"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"

	"github.com/google/uuid"
)

// Time is a timestamp as the contract writes it: 2020-05-11T14:13:39+0000, always UTC.
type Time time.Time

// MarshalText writes the contract's form. It is not MarshalJSON, because encoding/json validates the result of that
// again.
func (t Time) MarshalText() ([]byte, error) {
	return time.Time(t).UTC().AppendFormat(make([]byte, 0, len(exchange.TimeLayout)), exchange.TimeLayout), nil
}

// timeOf returns a timestamp that may be absent.
func timeOf(t *time.Time) *Time { return (*Time)(t) }

// Expiry is the time at which a token expires, in the form of /login: 2021-02-22T17:09:15.513Z.
type Expiry time.Time

// MarshalText writes milliseconds and Z.
func (t Expiry) MarshalText() ([]byte, error) {
	return []byte(time.Time(t).UTC().Format("2006-01-02T15:04:05.000Z")), nil
}

// Signed is the answer to POST /login and POST /users/.
type Signed struct {
	UserID  uuid.UUID `json:"user_id"`
	Token   string    `json:"token"`
	Expires Expiry    `json:"expires"`
}

// Person is the short user object that other objects embed.
type Person struct {
	ID        uuid.UUID `json:"id"`
	Username  string    `json:"username"`
	FirstName string    `json:"first_name"`
	LastName  string    `json:"last_name"`
	CreatedAt Time      `json:"created_at"`
	UpdatedAt Time      `json:"updated_at"`
}

// ShowPerson returns the JSON form of its argument.
func ShowPerson(u person.User) Person {
	return Person{u.ID, u.Username, u.FirstName, u.LastName, Time(u.CreatedAt), Time(u.UpdatedAt)}
}

// Lab is an organization inside another object.
type Lab struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// OpenRequest is a request inside an error.
type OpenRequest struct {
	ID     int64          `json:"id"`
	Title  string         `json:"title"`
	Status request.Status `json:"status"`
}

// User is a user as others see them; only the user and admins get Private.
type User struct {
	Person
	RegistryID    string `json:"registry_id"`
	Organizations []Lab  `json:"organizations"`
	*Private
}

// Private is what only the user and admins see.
type Private struct {
	Email              string       `json:"email"`
	Addresses          []Address    `json:"addresses"`
	Assignments        []Request    `json:"assignments"`
	Grants             []Award      `json:"grants"`
	Invitations        []Invitation `json:"invitations"`
	MaterialRequests   []Request    `json:"material_requests"`
	OwnedAttachments   []Attachment `json:"owned_attachments"`
	OwnedOrganizations []Lab        `json:"owned_organizations"`
}

// Award is a grant inside a user.
type Award struct {
	ID       int64  `json:"id"`
	Title    string `json:"title"`
	FunderID string `json:"funder_id"`
}

// ShowLabAward is the JSON form of a grant for the members of an organization.
func ShowLabAward(g person.Grant) LabAward { return LabAward{showAward(g), g.UserID} }

func showAward(g person.Grant) Award { return Award{g.ID, g.Title, g.FunderID} }

// LabAward is a grant as the members of an organization see it if it paid for materials of theirs; only its owner sees
// the whole grant.
type LabAward struct {
	Award
	User uuid.UUID `json:"user"`
}

// ShowUser returns what makes a user's JSON form of what a's use cases answer.
func ShowUser(a *app.App) func(core.UserView) User {
	return func(v core.UserView) User { return userOf(a, v) }
}

func userOf(a *app.App, v core.UserView) User {
	u := User{Person: ShowPerson(v.User), RegistryID: v.RegistryID, Organizations: []Lab{}}
	owned := []Lab{}
	for _, o := range v.Organizations {
		u.Organizations = append(u.Organizations, Lab{o.ID, o.Name})
		if o.Owner == v.ID {
			owned = append(owned, Lab{o.ID, o.Name})
		}
	}
	if v.Private {
		u.Private = &Private{
			Email:              v.Email,
			Addresses:          List(v.Addresses, ShowAddress),
			Assignments:        List(v.Assignments, ShowRequest(a)),
			Grants:             List(v.Grants, showAward),
			Invitations:        List(v.Invitations, ShowInvitation),
			MaterialRequests:   List(v.Requests, ShowRequest(a)),
			OwnedAttachments:   List(v.Attachments, ShowAttachment),
			OwnedOrganizations: owned,
		}
	}
	return u
}

// List returns every item as shown; it is never null in JSON.
func List[T, Out any](items []T, show func(T) Out) []Out {
	out := make([]Out, len(items))
	for i, item := range items {
		out[i] = show(item)
	}
	return out
}

// Organization is an organization. Its JSON has the fields of lab.Fields.
type Organization struct{ shown core.OrganizationView }

// ShowOrganization returns the JSON form of its argument.
func ShowOrganization(v core.OrganizationView) Organization { return Organization{v} }

// MarshalJSON writes the object of o.
func (o Organization) MarshalJSON() ([]byte, error) { return o.with("", nil) }

// with writes the object of o but for one member, and a last one; nil: none.
func (o Organization) with(name string, last any) ([]byte, error) {
	return appendObject(lab.Fields, &o.shown.Organization, o.instead, name, last)
}

// instead returns what a field shows in place of its value; nil: its value.
func (o Organization) instead(field string) any {
	switch field {
	case "owner":
		return ShowPerson(o.shown.OwnerUser)
	case "members":
		return List(o.shown.Members, ShowPerson)
	case "public_metadata_keys":
		return append([]string{}, o.shown.PublicKeys...)
	}
	return nil
}

func (o Organization) members() []member {
	return membersOfTable(lab.Fields, &o.shown.Organization, o.instead)
}

// OrganizationChange is an organization after a change, with the open invitations of the people that the change named,
// if there are any.
type OrganizationChange struct {
	Organization
	Invitations []Invitation `json:"invitations,omitzero"`
}

// MarshalJSON writes the organization with its invitations.
func (c OrganizationChange) MarshalJSON() ([]byte, error) {
	if c.Invitations == nil {
		return c.with("", nil)
	}
	return c.with("invitations", c.Invitations)
}

// ShowOrganizationChange returns the JSON form of its argument.
func ShowOrganizationChange(c labs.OrganizationChange) OrganizationChange {
	out := OrganizationChange{Organization: ShowOrganization(c.OrganizationView)}
	if len(c.Invitations) > 0 {
		out.Invitations = List(c.Invitations, ShowInvitation)
	}
	return out
}

// Settings is a record of organization user settings.
type Settings struct {
	ID           int64     `json:"id"`
	NewRequest   bool      `json:"new_request_notif"`
	StatusChange bool      `json:"change_in_request_status_notif"`
	Decision     bool      `json:"request_approval_determined_notif"`
	Assigned     bool      `json:"request_assigned_notif"`
	Reminder     bool      `json:"reminder_notif"`
	User         uuid.UUID `json:"user"`
	Organization int64     `json:"organization"`
	CreatedAt    Time      `json:"created_at"`
	UpdatedAt    Time      `json:"updated_at"`
}

// ShowSettings returns the JSON form of its argument.
func ShowSettings(m lab.Membership) Settings {
	s := m.Switches
	return Settings{m.ID, s.NewRequest, s.StatusChange, s.Decision, s.Assigned, s.Reminder, m.UserID, m.OrganizationID,
		Time(m.CreatedAt), Time(m.UpdatedAt)}
}

// Shipping is a record of shipping requirements. Its JSON has the fields of lab.ShippingFields.
type Shipping struct{ shown lab.Shipping }

// ShowShipping returns the JSON form of its argument.
func ShowShipping(s lab.Shipping) Shipping { return Shipping{s} }

// MarshalJSON writes the object of s.
func (s Shipping) MarshalJSON() ([]byte, error) {
	return appendObject(lab.ShippingFields, &s.shown, asItIs, "", nil)
}

// Address is an address on create and in lists, where its user is a UUID. Its JSON has the fields of
// person.AddressFields.
type Address struct{ shown person.Address }

// ShowAddress returns the JSON form of its argument.
func ShowAddress(a person.Address) Address { return Address{a} }

// MarshalJSON writes the object of a.
func (a Address) MarshalJSON() ([]byte, error) {
	return appendObject(person.AddressFields, &a.shown, asItIs, "", nil)
}

// OwnAddress is an address on get and update, where its user is an object.
type OwnAddress struct {
	Address
	User Person `json:"user"`
}

// MarshalJSON writes the address with its other user.
func (a OwnAddress) MarshalJSON() ([]byte, error) {
	return appendObject(person.AddressFields, &a.shown, asItIs, "user", a.User)
}

// ShowOwnAddress returns the JSON form of its argument.
func ShowOwnAddress(v documents.AddressView) OwnAddress {
	return OwnAddress{ShowAddress(v.Address), ShowPerson(v.Owner)}
}

// Duplicate answers the creation of a material that was imported already.
type Duplicate struct {
	Error    string    `json:"error"`
	Code     string    `json:"error_code"`
	Material *Material `json:"material"` // null: it is under embargo
}

// Attachment is the record of an attachment.
type Attachment struct {
	ID             int64               `json:"id"`
	Filename       string              `json:"filename"`
	Description    string              `json:"description"`
	DownloadURL    string              `json:"download_url"`
	ContentDeleted bool                `json:"storage_resource_deleted"`
	CreatedAt      Time                `json:"created_at"`
	UpdatedAt      Time                `json:"updated_at"`
	SequenceMapFor *Material           `json:"sequence_map_for"`
	OwnedByOrg     *int64              `json:"owned_by_org"`
	OwnedByUser    *uuid.UUID          `json:"owned_by_user"`
	Size           *int64              `json:"size"`
	SHA256         *string             `json:"sha256"`
	MediaType      *string             `json:"media_type"`
	Version        int64               `json:"version"`
	Scan           *document.ScanState `json:"scan"` // null: not scanned, and not withheld
}

// ShowAttachment returns the JSON form of its argument.
func ShowAttachment(t core.AttachmentView) Attachment {
	out := Attachment{ID: t.ID, Filename: t.Filename, Description: t.Description, DownloadURL: t.DownloadPath(),
		ContentDeleted: t.ContentDeleted, CreatedAt: Time(t.CreatedAt), UpdatedAt: Time(t.UpdatedAt),
		OwnedByOrg: t.OwnedByOrg, OwnedByUser: t.OwnedByUser, Version: t.Version}
	if t.MapOf != nil {
		out.SequenceMapFor = new(ShowMaterial(*t.MapOf))
	}
	if c := t.Content; c != nil {
		out.Size, out.SHA256, out.MediaType = &c.Size, &c.SHA256, &c.MediaType
		if c.Scan.State != document.NotScanned {
			out.Scan = &c.Scan.State
		}
	}
	return out
}

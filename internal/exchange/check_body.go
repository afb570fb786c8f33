package exchange

import (
	"errors"
	"time"

	"github.com/google/uuid"
)

// CheckBody reports what is wrong with the values of a body, independent of the object that it changes; made means that
// the body creates an object. It completes the answer to a body some of whose fields have a wrong type, so that one
// answer names all errors.
func CheckBody(body any, made bool) FieldErrors {
	var err error
	switch p := body.(type) {
	case Credentials:
		_, _, err = p.Registration().Check()
	case Registration:
		_, _, err = p.Check()
	case UserPatch:
		_, err = p.Patch(User{})
	case TokenNew:
		p.Expires = Null[Until]{} // it depends on the time
		_, err = p.Token(time.Time{}, 0)
	case OrganizationPatch:
		if made {
			_, _, err = p.Create(uuid.Max) // owner is required with open access only
		} else {
			_, _, err = p.Patch(Organization{}, nil)
		}
	case ShippingPatch:
		if made {
			_, err = p.Create()
		} else {
			_, err = p.Patch(Shipping{})
		}
	case AddressPatch:
		_, err = p.Patch(Address{})
	case GrantPatch:
		if made {
			_, err = p.Patch(Grant{})
		} else {
			_, err = p.Patch(Grant{Title: "-", FunderID: "-"})
		}
	case InvitationNew:
		_, err = p.Create(time.Time{}, false) // this package does not know which registry is in use
	case InvitationToken:
		_, err = p.Check()
	case JoinNew:
		_, err = p.Create()
	case JoinDecline:
		_, err = p.Check()
	case WebhookPatch:
		if made {
			_, err = p.Create(anyURL)
		} else {
			_, err = p.Patch(Webhook{URL: "-"}, anyURL, time.Time{})
		}
	case SavedSearchPatch:
		_, err = p.Create(uuid.Nil)
	case FundingBody:
		_, err = p.Check()
	case ImportName:
		_, err = p.Check()
	case ImportNew:
		_, err = p.Check()
	case BatchImportBody:
		_, err = p.Check()
	case MaterialPatch:
		if made {
			_, err = p.Create()
		} else {
			_, err = p.Patch(Material{Category: p.Category.Value})
		}
	case AttachmentPatch:
		if made {
			_, err = p.Create(Actor{})
		} else {
			_, err = p.Patch(Attachment{OwnedByUser: &uuid.Nil}, Actor{})
		}
	case RequestNew:
		_, err = p.Create(Actor{})
	case RequestPatch:
		_, _, err = Request{Status: Open, Active: true}.Apply(Roles{Admin: true}, uuid.Nil, p, nil, Terms{},
			time.Time{})
	case ShipmentPatch:
		_, err = p.Patch(Shipment{})
	case TextBody:
		_, err = p.Check()
	case ReasonBody:
		_, err = p.Check()
	case SnoozeNew:
		err = p.faults(new(string)).Err()
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Fields
	}
	return nil
}

// anyURL accepts every address: this package does not decide which addresses a webhook may have.
func anyURL(string) error { return nil }

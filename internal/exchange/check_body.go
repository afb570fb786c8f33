package exchange

import (
	"errors"
	"time"

	"github.com/google/uuid"
)

// CheckBody says what is wrong with the values of a body by themselves, whatever they are laid
// over; made: the body is to make an object. It completes the answer to a body of which some
// fields have a wrong type already, so that one answer names them all.
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
		p.Expires = Null[Until]{} // which depends on the time
		_, err = p.Token(time.Time{}, 0)
	case OrganizationPatch:
		if made {
			_, _, err = p.Create(uuid.Max) // owner is required where access is open alone
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
		_, err = p.Create(time.Time{}, false) // which registry there is is not for this room to say
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

// anyURL takes every address: which ones a webhook may have is not for this room to say.
func anyURL(string) error { return nil }

package catalog

import (
	"context"
	"errors"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Reference is a field of a body that names an object by its id.
type Reference struct {
	Field string
	ID    int64     // unless the object is a user
	User  uuid.UUID // if the object is a user
}

// lookUps read the object to which a field refers, as far as the caller may know of it, by the name of the field.
var lookUps = map[string]func(context.Context, store.Conn, exchange.Actor, Reference) error{
	"organization_id": lookUpOrganization, "organization": lookUpOrganization, "owned_by_org": lookUpOrganization,
	"material": lookUpAsked, "material_id": lookUpMaterial, "sequence_map_for": lookUpMaterial,
	"mta_attachment_id": lookUpAttachment, "mta_attachment": lookUpAttachment,
	"requester_signed_mta_attachment": lookUpAttachment, "irb_attachment": lookUpAttachment,
	"executed_mta_attachment": lookUpAttachment, "document": lookUpAttachment,
	"shipping_requirements_id": func(ctx context.Context, c store.Conn, _ exchange.Actor, r Reference) error {
		_, err := c.Shippings.Get(ctx, r.ID)
		return err
	},
	"grant_id": func(ctx context.Context, c store.Conn, _ exchange.Actor, r Reference) error {
		_, err := c.Grants.Get(ctx, r.ID)
		return err
	},
	"inquiry": func(ctx context.Context, c store.Conn, who exchange.Actor, r Reference) error {
		i, err := c.Inquiries.Get(ctx, r.ID)
		if err == nil && i.UserID != who.ID {
			err = core.NoMaterial()
		}
		return err
	},
	"address": func(ctx context.Context, c store.Conn, who exchange.Actor, r Reference) error {
		_, err := c.Addresses.Get(ctx, who.ID, r.ID)
		return err
	},
	"contact_user_id": lookUpUser, "owner": lookUpUser, "members": lookUpUser, "owned_by_user": lookUpUser,
	"assigned_to": lookUpUser, "person": lookUpUser, "holder": lookUpUser,
	"counterparty": lookUpInstitution, "provider": lookUpInstitution, "recipient": lookUpInstitution,
	"institution": lookUpInstitution,
	"permit": func(ctx context.Context, c store.Conn, _ exchange.Actor, r Reference) error {
		_, err := c.Permits.Get(ctx, r.ID)
		return err
	},
	"position": func(ctx context.Context, c store.Conn, _ exchange.Actor, r Reference) error {
		return c.Institutions.Positions.Known(ctx, r.ID)
	},
	"authority": lookUpAuthority, "supersedes": lookUpAuthority,
}

func lookUpInstitution(ctx context.Context, c store.Conn, _ exchange.Actor, r Reference) error {
	_, err := c.Institutions.Get(ctx, r.ID)
	return err
}

func lookUpAuthority(ctx context.Context, c store.Conn, _ exchange.Actor, r Reference) error {
	return c.Institutions.Authorities.Known(ctx, r.ID)
}

func lookUpOrganization(ctx context.Context, c store.Conn, _ exchange.Actor, r Reference) error {
	_, err := c.Organizations.Get(ctx, r.ID)
	return err
}

func lookUpAttachment(ctx context.Context, c store.Conn, _ exchange.Actor, r Reference) error {
	_, err := c.Attachments.Get(ctx, r.ID)
	return err
}

func lookUpUser(ctx context.Context, c store.Conn, _ exchange.Actor, r Reference) error {
	_, err := c.Users.Get(ctx, r.User)
	return err
}

// lookUpAsked reads a material that is requested; a material under embargo has an error of its own.
func lookUpAsked(ctx context.Context, c store.Conn, _ exchange.Actor, r Reference) error {
	_, err := c.Materials.Get(ctx, r.ID)
	return err
}

func lookUpMaterial(ctx context.Context, c store.Conn, who exchange.Actor, r Reference) error {
	m, err := c.Materials.Get(ctx, r.ID)
	if err == nil && m.Embargoed(c.Now) && !who.Admin && !who.MemberOf(m.OrganizationID) {
		return exchange.Errorf(exchange.NotFound, "There is no such object.")
	}
	return err
}

// AlsoMissing adds to the validation errors of a body those of its references that do not exist, so that one response
// names all errors. Any other error is returned unchanged.
func (a Materials) AlsoMissing(ctx context.Context, who exchange.Actor, err error, references []Reference) error {
	e, is := errors.AsType[*exchange.Error](err)
	if !is || e.Code != exchange.InvalidInput {
		return err
	}
	f, read := exchange.FieldErrors(e.Fields), a.DB.Read()
	for _, r := range references {
		if len(f[r.Field]) > 0 {
			continue
		}
		missing := lookUps[r.Field](ctx, read, who, r)
		switch {
		case missing == nil:
		case exchange.CodeOf(missing) != exchange.NotFound:
			return missing
		case r.User != uuid.Nil:
			f.Add(r.Field, "there is no object with the id %s", r.User)
		default:
			f.Add(r.Field, "there is no object with the id %d", r.ID)
		}
	}
	return f.Err()
}

// Refers reports whether a field is known to refer to an object.
func Refers(field string) bool { return lookUps[field] != nil }

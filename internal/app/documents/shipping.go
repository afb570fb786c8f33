package documents

import (
	"context"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/person"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Shipping reads one record of shipping requirements.
func (a Documents) Shipping(ctx context.Context, id int64) (lab.Shipping, error) {
	return a.DB.Read().Shippings.Get(ctx, id)
}

// Shippings lists shipping requirements.
func (a Documents) Shippings(ctx context.Context, organization *int64,
	p exchange.Page) (exchange.ListPage[lab.Shipping], error) {
	return a.DB.Read().Shippings.List(ctx, organization, p)
}

// CreateShipping creates shipping requirements for an organization of the caller.
func (a Documents) CreateShipping(ctx context.Context, who exchange.Actor, p lab.ShippingPatch) (lab.Shipping, error) {
	s, err := p.Create()
	if err != nil {
		return s, err
	}
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if _, err := tx.Organizations.Get(ctx, s.OrganizationID); err != nil {
			return core.Refer(err, "organization", s.OrganizationID)
		}
		if err := a.May(ctx, tx, who, exchange.ShippingWrite, who.ToOrganization(s.OrganizationID),
			"shipping requirements"); err != nil {
			return err
		}
		s.CreatedAt, s.UpdatedAt = tx.Now, tx.Now
		s.ID, err = tx.Shippings.Insert(ctx, s)
		return err
	})
	return s, err
}

// UpdateShipping changes shipping requirements.
func (a Documents) UpdateShipping(ctx context.Context, who exchange.Actor, id int64,
	p lab.ShippingPatch, match core.IfMatch[lab.Shipping]) (lab.Shipping, error) {
	var s lab.Shipping
	err := a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		old, err := tx.Shippings.ForUpdate(ctx, id)
		if err != nil {
			return err
		}
		if err := a.May(ctx, tx, who, exchange.ShippingWrite, who.ToOrganization(old.OrganizationID),
			core.Object("shipping requirements", id)); err != nil {
			return err
		}
		if err := match.Check(old); err != nil {
			return err
		}
		if s, err = p.Patch(old); err != nil || s == old {
			return err
		}
		s.UpdatedAt = tx.Now
		save := func() error { return tx.Shippings.Update(ctx, s) }
		if s.NeedsAddress == old.NeedsAddress && s.NeedsPayment == old.NeedsPayment {
			return save()
		}
		return core.Asking(ctx, tx, s.OrganizationID, nil, &id, save)
	})
	return s, err
}

// AddressView is an address with its owner.
type AddressView struct {
	person.Address
	Owner person.User
}

// Address reads one address of a user.
func (a Documents) Address(ctx context.Context, who exchange.Actor, user uuid.UUID, id int64) (AddressView, error) {
	if err := a.MayRead(ctx, who, exchange.AddressRead, who.ToUser(user), core.Object("address", id)); err != nil {
		return AddressView{}, err
	}
	return viewAddress(ctx, a.DB.Read(), store.Addresses.Get, user, id)
}

// readAddress is Addresses.Get or Addresses.ForUpdate.
type readAddress func(store.Addresses, context.Context, uuid.UUID, int64) (person.Address, error)

func viewAddress(ctx context.Context, c store.Conn, read readAddress, user uuid.UUID, id int64) (v AddressView,
	err error) {
	if v.Address, err = read(c.Addresses, ctx, user, id); err != nil {
		return v, err
	}
	v.Owner, err = c.Users.Get(ctx, user)
	return v, err
}

// Addresses lists a user's addresses.
func (a Documents) Addresses(ctx context.Context, who exchange.Actor, user uuid.UUID,
	p exchange.Page) (exchange.ListPage[person.Address], error) {
	if err := a.MayRead(ctx, who, exchange.AddressRead, who.ToUser(user),
		core.Object("addresses of", user)); err != nil {
		return exchange.ListPage[person.Address]{}, err
	}
	return a.DB.Read().Addresses.List(ctx, user, p)
}

// CreateAddress adds an address to a user.
func (a Documents) CreateAddress(ctx context.Context, who exchange.Actor, user uuid.UUID,
	p person.AddressPatch) (person.Address, error) {
	address, err := p.Patch(person.Address{UserID: user})
	if err != nil {
		return address, err
	}
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		return a.AddAddress(ctx, tx, who, &address)
	})
	return address, err
}

// AddAddress saves a new address and sets its id.
func (a Documents) AddAddress(ctx context.Context, tx store.Conn, who exchange.Actor, address *person.Address) error {
	if err := a.May(ctx, tx, who, exchange.AddressWrite, who.ToUser(address.UserID),
		core.Object("addresses of", address.UserID)); err != nil {
		return err
	}
	u, err := tx.Users.Get(ctx, address.UserID)
	if err == nil {
		err = u.Present()
	}
	if err != nil {
		return err
	}
	address.CreatedAt, address.UpdatedAt = tx.Now, tx.Now
	address.ID, err = tx.Addresses.Insert(ctx, *address)
	return err
}

// UpdateAddress changes an address; existing requests keep it as it was.
func (a Documents) UpdateAddress(ctx context.Context, who exchange.Actor, user uuid.UUID, id int64,
	p person.AddressPatch, match core.IfMatch[AddressView]) (AddressView, error) {
	var v AddressView
	err := a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.May(ctx, tx, who, exchange.AddressWrite, who.ToUser(user), core.Object("address", id)); err != nil {
			return err
		}
		old, err := viewAddress(ctx, tx, store.Addresses.ForUpdate, user, id)
		if err != nil {
			return err
		}
		if err := match.Check(old); err != nil {
			return err
		}
		v.Owner = old.Owner
		if v.Address, err = p.Patch(old.Address); err != nil || v == old {
			return err
		}
		v.UpdatedAt = tx.Now
		return tx.Addresses.Update(ctx, v.Address)
	})
	return v, err
}

// DeleteAddress deletes an address of a user.
func (a Documents) DeleteAddress(ctx context.Context, who exchange.Actor, user uuid.UUID, id int64,
	match core.IfMatch[AddressView]) error {
	return a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.May(ctx, tx, who, exchange.AddressWrite, who.ToUser(user), core.Object("address", id)); err != nil {
			return err
		}
		if err := match.CheckRead(func() (AddressView, error) {
			return viewAddress(ctx, tx, store.Addresses.ForUpdate, user, id)
		}); err != nil {
			return err
		}
		return tx.Addresses.Delete(ctx, user, id)
	})
}

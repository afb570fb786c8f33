package app

import (
	"context"

	"aliquot/internal/exchange"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Shipping reads one record of shipping requirements.
func (a *App) Shipping(ctx context.Context, id int64) (exchange.Shipping, error) {
	return a.DB.Read().Shipping(ctx, id)
}

// Shippings lists shipping requirements, newest first.
func (a *App) Shippings(ctx context.Context, organization *int64, p exchange.Page) (exchange.Part[exchange.Shipping], error) {
	return a.DB.Read().Shippings(ctx, organization, p)
}

// CreateShipping makes shipping requirements for an organization of the caller.
func (a *App) CreateShipping(ctx context.Context, who exchange.Actor, p exchange.ShippingPatch) (exchange.Shipping, error) {
	s, err := p.Create()
	if err != nil {
		return s, err
	}
	err = a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
		if _, err := tx.Organization(ctx, s.OrganizationID); err != nil {
			return refer(err, "organization", s.OrganizationID)
		}
		if err := a.may(ctx, tx, who, exchange.ShippingWrite, who.ToOrganization(s.OrganizationID), "shipping requirements"); err != nil {
			return err
		}
		s.CreatedAt, s.UpdatedAt = tx.Now, tx.Now
		s.ID, err = tx.InsertShipping(ctx, s)
		return err
	})
	return s, err
}

// UpdateShipping changes shipping requirements.
func (a *App) UpdateShipping(ctx context.Context, who exchange.Actor, id int64, p exchange.ShippingPatch) (exchange.Shipping, error) {
	var s exchange.Shipping
	err := a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
		old, err := tx.ShippingForUpdate(ctx, id)
		if err != nil {
			return err
		}
		if err := a.may(ctx, tx, who, exchange.ShippingWrite, who.ToOrganization(old.OrganizationID), object("shipping requirements", id)); err != nil {
			return err
		}
		if s, err = p.Patch(old); err != nil || s == old {
			return err
		}
		s.UpdatedAt = tx.Now
		return tx.UpdateShipping(ctx, s)
	})
	return s, err
}

// Address reads one address of a user.
func (a *App) Address(ctx context.Context, who exchange.Actor, user uuid.UUID, id int64) (exchange.Address, exchange.User, error) {
	c := a.DB.Read()
	if err := a.mayRead(ctx, who, exchange.AddressRead, who.ToUser(user), object("address", id)); err != nil {
		return exchange.Address{}, exchange.User{}, err
	}
	address, err := c.Address(ctx, user, id)
	if err != nil {
		return address, exchange.User{}, err
	}
	owner, err := c.User(ctx, user)
	return address, owner, err
}

// Addresses lists a user's addresses, newest first.
func (a *App) Addresses(ctx context.Context, who exchange.Actor, user uuid.UUID, p exchange.Page) (exchange.Part[exchange.Address], error) {
	if err := a.mayRead(ctx, who, exchange.AddressRead, who.ToUser(user), object("addresses of", user)); err != nil {
		return exchange.Part[exchange.Address]{}, err
	}
	return a.DB.Read().Addresses(ctx, user, p)
}

// CreateAddress adds an address to a user.
func (a *App) CreateAddress(ctx context.Context, who exchange.Actor, user uuid.UUID, p exchange.AddressPatch) (exchange.Address, error) {
	address, err := p.Patch(exchange.Address{UserID: user})
	if err != nil {
		return address, err
	}
	err = a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
		if err := a.may(ctx, tx, who, exchange.AddressWrite, who.ToUser(user), object("addresses of", user)); err != nil {
			return err
		}
		if _, err := tx.User(ctx, user); err != nil {
			return err
		}
		address.CreatedAt, address.UpdatedAt = tx.Now, tx.Now
		address.ID, err = tx.InsertAddress(ctx, address)
		return err
	})
	return address, err
}

// UpdateAddress changes an address; requests that were sent keep it as it was.
func (a *App) UpdateAddress(ctx context.Context, who exchange.Actor, user uuid.UUID, id int64, p exchange.AddressPatch) (exchange.Address, exchange.User, error) {
	var address exchange.Address
	var owner exchange.User
	err := a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
		if err := a.may(ctx, tx, who, exchange.AddressWrite, who.ToUser(user), object("address", id)); err != nil {
			return err
		}
		old, err := tx.Address(ctx, user, id)
		if err != nil {
			return err
		}
		if owner, err = tx.User(ctx, user); err != nil {
			return err
		}
		if address, err = p.Patch(old); err != nil || address == old {
			return err
		}
		address.UpdatedAt = tx.Now
		return tx.UpdateAddress(ctx, address)
	})
	return address, owner, err
}

// DeleteAddress forgets an address of a user.
func (a *App) DeleteAddress(ctx context.Context, who exchange.Actor, user uuid.UUID, id int64) error {
	return a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
		if err := a.may(ctx, tx, who, exchange.AddressWrite, who.ToUser(user), object("address", id)); err != nil {
			return err
		}
		return tx.DeleteAddress(ctx, user, id)
	})
}

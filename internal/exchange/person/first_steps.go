package person

import (
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/mailing"
)

// FirstSteps is what people enter about themselves when they first sign in.
type FirstSteps struct {
	User    UserPatch
	Mail    mailing.Patch
	Address *AddressPatch // nil: they enter one with their first request
}

// Apply applies s to a user and their mail settings and returns their address. Field errors name every wrong field.
func (s FirstSteps) Apply(u User, m mailing.Settings) (User, mailing.Settings, *Address, error) {
	var f exchange.FieldErrors
	u, err := s.User.Patch(u)
	f.Merge(err)
	m, err = s.Mail.Patch(m)
	f.Merge(err)
	if s.Address == nil {
		return u, m, nil, f.Err()
	}
	a, err := s.Address.Patch(Address{UserID: u.ID})
	f.Merge(err)
	return u, m, &a, f.Err()
}

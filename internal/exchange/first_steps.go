package exchange

// FirstSteps is what people enter about themselves when they first sign in.
type FirstSteps struct {
	User    UserPatch
	Mail    MailSettingsPatch
	Address *AddressPatch // nil: they enter one with their first request
}

// Apply applies s to a user and their mail settings and returns their address. Field errors name every wrong field.
func (s FirstSteps) Apply(u User, m MailSettings) (User, MailSettings, *Address, error) {
	var f FieldErrors
	u, err := s.User.Patch(u)
	f.merge(err)
	m, err = s.Mail.Patch(m)
	f.merge(err)
	if s.Address == nil {
		return u, m, nil, f.Err()
	}
	a, err := s.Address.Patch(Address{UserID: u.ID})
	f.merge(err)
	return u, m, &a, f.Err()
}

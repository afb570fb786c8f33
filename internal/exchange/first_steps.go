package exchange

// FirstSteps are what somebody says about themselves when they first come.
type FirstSteps struct {
	User    UserPatch
	Mail    MailSettingsPatch
	Address *AddressPatch // nil: they give one when they ask for something
}

// Lay applies s to a user and how they want mail, and gives their address. Faults name every wrong field.
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

package exchange

// FirstSteps are what somebody says about themselves when they first come.
type FirstSteps struct {
	User    UserPatch
	Mail    MailSettingsPatch
	Address *AddressPatch // nil: they give one when they ask for something
}

// Lay lays s over a user and how they want mail, and gives their address. Faults name every wrong field.
func (s FirstSteps) Lay(u User, m MailSettings) (User, MailSettings, *Address, error) {
	var f Faults
	u, err := s.User.Patch(u)
	f.take(err)
	m, err = s.Mail.Patch(m)
	f.take(err)
	if s.Address == nil {
		return u, m, nil, f.Err()
	}
	a, err := s.Address.Patch(Address{UserID: u.ID})
	f.take(err)
	return u, m, &a, f.Err()
}

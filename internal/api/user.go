package api

import (
	"math"
	"strconv"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/person"
)

func (a *API) login(c *Call, in person.Credentials) (Signed, error) {
	return a.signed(c, in.Registration(), 200)
}

// register answers 201 for a new user and 200 for one who is already registered.
func (a *API) register(c *Call, in person.Registration) (Signed, error) {
	return a.signed(c, in, 201)
}

func (a *API) signed(c *Call, in person.Registration, made int) (Signed, error) {
	s, err := a.App.Accounts.Login(c.Context(), in)
	c.noStore()
	if c.status = 200; s.New {
		c.status = made
	}
	return Signed{s.User, s.Token, Expiry(s.Expires)}, err
}

func (a *API) logout(c *Call, _ None) (None, error) {
	return None{}, a.App.Accounts.Logout(c.Context(), c.Actor)
}

func (a *API) getUser(c *Call, _ None) (User, error) {
	v, err := a.App.Accounts.User(c.Context(), c.Actor, c.user)
	return a.showUser(v), err
}

func (a *API) updateUser(c *Call, in person.UserPatch) (User, error) {
	v, err := a.App.Accounts.UpdateUser(c.Context(), c.Actor, c.user, in, ifMatch(c, a.showUser))
	return a.showUser(v), err
}

func (a *API) closeUser(c *Call, _ None) (None, error) {
	return None{}, a.App.Accounts.CloseAccount(c.Context(), c.Actor, c.user, ifMatch(c, a.showUser))
}

func (a *API) listNotifications(c *Call, f notify.NotificationFilter) ([]Notification, error) {
	part, count, err := a.App.Notifications.Notifications(c.Context(), c.Actor, c.user, f, c.list.page)
	if err == nil {
		c.w.Header().Set("X-Unread-Count", strconv.FormatInt(count, 10))
	}
	return answerList(c, part, err, showNotification)
}

// Until is the body of POST that marks notifications as read.
type Until struct {
	Until exchange.Opt[int64] `json:"until" least:"1"`
}

func (a *API) readNotifications(c *Call, in Until) (None, error) {
	return None{}, a.App.Notifications.MarkAllRead(c.Context(), c.Actor, c.user, in.Until.Or(math.MaxInt64))
}

// ReadMark is the body of PUT and PATCH of a notification.
type ReadMark struct {
	Read exchange.Opt[bool] `json:"read"`
}

func (a *API) updateNotification(c *Call, in ReadMark) (None, error) {
	return None{}, a.App.Notifications.MarkRead(c.Context(), c.Actor, c.user, c.id("notification"), in.Read, ifNoTag(c))
}

func (a *API) createAddress(c *Call, in person.AddressPatch) (Address, error) {
	address, err := a.App.Documents.CreateAddress(c.Context(), c.Actor, c.user, in)
	c.location(err, "/users/%s/addresses/%d", c.user, address.ID)
	return showAddress(address), err
}

func (a *API) listAddresses(c *Call, _ None) ([]Address, error) {
	part, err := a.App.Documents.Addresses(c.Context(), c.Actor, c.user, c.list.page)
	return answerList(c, part, err, showAddress)
}

func (a *API) getAddress(c *Call, _ None) (OwnAddress, error) {
	v, err := a.App.Documents.Address(c.Context(), c.Actor, c.user, c.id("address"))
	return showOwnAddress(v), err
}

func (a *API) updateAddress(c *Call, in person.AddressPatch) (OwnAddress, error) {
	v, err := a.App.Documents.UpdateAddress(c.Context(), c.Actor, c.user, c.id("address"), in,
		ifMatch(c, showOwnAddress))
	return showOwnAddress(v), err
}

func (a *API) deleteAddress(c *Call, _ None) (None, error) {
	return None{}, a.App.Documents.DeleteAddress(c.Context(), c.Actor, c.user, c.id("address"),
		ifMatch(c, showOwnAddress))
}

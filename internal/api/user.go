package api

import (
	"math"
	"strconv"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/person"
)

func login(c *Call, in person.Credentials) (Signed, error) {
	return signed(c, in.Registration(), 200)
}

// register answers 201 for a new user and 200 for one who is already registered.
func register(c *Call, in person.Registration) (Signed, error) {
	return signed(c, in, 201)
}

func signed(c *Call, in person.Registration, made int) (Signed, error) {
	s, err := c.App.Accounts.Login(c.Context(), in)
	c.noStore()
	if c.status = 200; s.New {
		c.status = made
	}
	return Signed{s.User, s.Token, Expiry(s.Expires)}, err
}

func logout(c *Call, _ None) (None, error) {
	return None{}, c.App.Accounts.Logout(c.Context(), c.Actor)
}

func getUser(c *Call, _ None) (User, error) {
	v, err := c.App.Accounts.User(c.Context(), c.Actor, c.user)
	return showUser(c.App)(v), err
}

func updateUser(c *Call, in person.UserPatch) (User, error) {
	v, err := c.App.Accounts.UpdateUser(c.Context(), c.Actor, c.user, in, ifMatch(c, showUser(c.App)))
	return showUser(c.App)(v), err
}

func closeUser(c *Call, _ None) (None, error) {
	return None{}, c.App.Accounts.CloseAccount(c.Context(), c.Actor, c.user, ifMatch(c, showUser(c.App)))
}

func listNotifications(c *Call, f notify.NotificationFilter) ([]Notification, error) {
	part, count, err := c.App.Notifications.Notifications(c.Context(), c.Actor, c.user, f, c.list.page)
	if err == nil {
		c.w.Header().Set("X-Unread-Count", strconv.FormatInt(count, 10))
	}
	return answerList(c, part, err, showNotification)
}

// Until is the body of POST that marks notifications as read.
type Until struct {
	Until exchange.Opt[int64] `json:"until" least:"1"`
}

func readNotifications(c *Call, in Until) (None, error) {
	return None{}, c.App.Notifications.MarkAllRead(c.Context(), c.Actor, c.user, in.Until.Or(math.MaxInt64))
}

// ReadMark is the body of PUT and PATCH of a notification.
type ReadMark struct {
	Read exchange.Opt[bool] `json:"read"`
}

func updateNotification(c *Call, in ReadMark) (None, error) {
	return None{}, c.App.Notifications.MarkRead(c.Context(), c.Actor, c.user, c.id("notification"), in.Read, ifNoTag(c))
}

func createAddress(c *Call, in person.AddressPatch) (Address, error) {
	address, err := c.App.Documents.CreateAddress(c.Context(), c.Actor, c.user, in)
	c.location(err, "/users/%s/addresses/%d", c.user, address.ID)
	return showAddress(address), err
}

func listAddresses(c *Call, _ None) ([]Address, error) {
	part, err := c.App.Documents.Addresses(c.Context(), c.Actor, c.user, c.list.page)
	return answerList(c, part, err, showAddress)
}

func getAddress(c *Call, _ None) (OwnAddress, error) {
	v, err := c.App.Documents.Address(c.Context(), c.Actor, c.user, c.id("address"))
	return showOwnAddress(v), err
}

func updateAddress(c *Call, in person.AddressPatch) (OwnAddress, error) {
	v, err := c.App.Documents.UpdateAddress(c.Context(), c.Actor, c.user, c.id("address"), in,
		ifMatch(c, showOwnAddress))
	return showOwnAddress(v), err
}

func deleteAddress(c *Call, _ None) (None, error) {
	return None{}, c.App.Documents.DeleteAddress(c.Context(), c.Actor, c.user, c.id("address"),
		ifMatch(c, showOwnAddress))
}

// Package account has the handlers of a person's own account: sign-in, addresses, tokens, notifications and mail.
package account

import (
	"io"
	"math"
	"strconv"

	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/person"
)

// StorageOfUser serves GET /users/{id}/storage.
func StorageOfUser(c *rest.Call, _ rest.None) (shape.Storage, error) {
	v, err := c.App.StorageOfUser(c.Context(), c.Actor, c.User)
	return shape.ShowStorage(v), err
}

// Login serves POST /login.
func Login(c *rest.Call, in person.Credentials) (shape.Signed, error) {
	return signed(c, in.Registration(), 200)
}

// Register answers 201 for a new user and 200 for one who is already registered.
func Register(c *rest.Call, in person.Registration) (shape.Signed, error) {
	return signed(c, in, 201)
}

func signed(c *rest.Call, in person.Registration, made int) (shape.Signed, error) {
	s, err := c.App.Accounts.Login(c.Context(), in)
	c.NoStore()
	if c.Status = 200; s.New {
		c.Status = made
	}
	return shape.Signed{UserID: s.User, Token: s.Token, Expires: shape.Expiry(s.Expires)}, err
}

// Logout serves POST /logout.
func Logout(c *rest.Call, _ rest.None) (rest.None, error) {
	return rest.None{}, c.App.Accounts.Logout(c.Context(), c.Actor)
}

// GetUser serves GET /users/{id}.
func GetUser(c *rest.Call, _ rest.None) (shape.User, error) {
	v, err := c.App.Accounts.User(c.Context(), c.Actor, c.User)
	return shape.ShowUser(c.App)(v), err
}

// UpdateUser serves PUT and PATCH /users/{id}.
func UpdateUser(c *rest.Call, in person.UserPatch) (shape.User, error) {
	v, err := c.App.Accounts.UpdateUser(c.Context(), c.Actor, c.User, in, rest.IfMatch(c, shape.ShowUser(c.App)))
	return shape.ShowUser(c.App)(v), err
}

// CloseUser serves DELETE /users/{id}.
func CloseUser(c *rest.Call, _ rest.None) (rest.None, error) {
	return rest.None{}, c.App.Accounts.CloseAccount(c.Context(), c.Actor, c.User,
		rest.IfMatch(c, shape.ShowUser(c.App)))
}

// GetErasure serves GET /users/{id}/erasure.
func GetErasure(c *rest.Call, _ rest.None) (shape.Erasure, error) {
	v, err := c.App.Accounts.Erasure(c.Context(), c.Actor, c.User)
	return shape.ShowErasure(v), err
}

// AskErasure serves POST /users/{id}/erasure.
func AskErasure(c *rest.Call, in person.ErasureNew) (shape.Erasure, error) {
	v, err := c.App.Accounts.AskErasure(c.Context(), c.Actor, c.User, in)
	return shape.ShowErasure(v), err
}

// TakeBackErasure serves DELETE /users/{id}/erasure.
func TakeBackErasure(c *rest.Call, _ rest.None) (rest.None, error) {
	return rest.None{}, c.App.Accounts.TakeBackErasure(c.Context(), c.Actor, c.User,
		rest.IfMatch(c, shape.ShowErasure))
}

// ExportAccount serves GET /users/{id}/export.
func ExportAccount(c *rest.Call, _ rest.None) (rest.None, error) {
	write, err := c.App.Accounts.ExportAccount(c.Context(), c.Actor, c.User)
	if err != nil {
		return rest.None{}, err
	}
	return rest.None{}, c.SendFile("account.zip", func(begin func() io.Writer) error { return write(begin()) })
}

// ListNotifications serves GET /users/{id}/notifications.
func ListNotifications(c *rest.Call, f notify.NotificationFilter) ([]shape.Notification, error) {
	part, count, err := c.App.Notifications.Notifications(c.Context(), c.Actor, c.User, f, c.List.Page)
	if err == nil {
		c.Writer.Header().Set("X-Unread-Count", strconv.FormatInt(count, 10))
	}
	return rest.AnswerList(c, part, err, shape.ShowNotification)
}

// Until is the body of POST that marks notifications as read.
type Until struct {
	Until exchange.Opt[int64] `json:"until" least:"1"`
}

// ReadNotifications serves POST /users/{id}/notifications/read.
func ReadNotifications(c *rest.Call, in Until) (rest.None, error) {
	return rest.None{}, c.App.Notifications.MarkAllRead(c.Context(), c.Actor, c.User, in.Until.Or(math.MaxInt64))
}

// ReadMark is the body of PUT and PATCH of a notification.
type ReadMark struct {
	Read exchange.Opt[bool] `json:"read"`
}

// UpdateNotification serves PUT and PATCH /users/{id}/notifications/{notification}.
func UpdateNotification(c *rest.Call, in ReadMark) (rest.None, error) {
	return rest.None{}, c.App.Notifications.MarkRead(c.Context(), c.Actor, c.User, c.ID("notification"), in.Read,
		rest.IfNoTag(c))
}

// CreateAddress serves POST /users/{id}/addresses.
func CreateAddress(c *rest.Call, in person.AddressPatch) (shape.Address, error) {
	address, err := c.App.Documents.CreateAddress(c.Context(), c.Actor, c.User, in)
	c.Location(err, "/users/%s/addresses/%d", c.User, address.ID)
	return shape.ShowAddress(address), err
}

// ListAddresses serves GET /users/{id}/addresses.
func ListAddresses(c *rest.Call, _ rest.None) ([]shape.Address, error) {
	part, err := c.App.Documents.Addresses(c.Context(), c.Actor, c.User, c.List.Page)
	return rest.AnswerList(c, part, err, shape.ShowAddress)
}

// GetAddress serves GET /users/{id}/addresses/{address}.
func GetAddress(c *rest.Call, _ rest.None) (shape.OwnAddress, error) {
	v, err := c.App.Documents.Address(c.Context(), c.Actor, c.User, c.ID("address"))
	return shape.ShowOwnAddress(v), err
}

// UpdateAddress serves PUT and PATCH /users/{id}/addresses/{address}.
func UpdateAddress(c *rest.Call, in person.AddressPatch) (shape.OwnAddress, error) {
	v, err := c.App.Documents.UpdateAddress(c.Context(), c.Actor, c.User, c.ID("address"), in,
		rest.IfMatch(c, shape.ShowOwnAddress))
	return shape.ShowOwnAddress(v), err
}

// DeleteAddress serves DELETE /users/{id}/addresses/{address}.
func DeleteAddress(c *rest.Call, _ rest.None) (rest.None, error) {
	return rest.None{}, c.App.Documents.DeleteAddress(c.Context(), c.Actor, c.User, c.ID("address"),
		rest.IfMatch(c, shape.ShowOwnAddress))
}

package account

import (
	"context"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// takenProfile is a user's profile.
type takenProfile struct {
	User        person.User
	Mail        mailing.Settings
	Memberships []lab.Membership
	Erasure     person.Erasure
}

// takenRequest is a request with its events.
type takenRequest struct {
	request.Detail
	Events []request.Event
}

// takenNotification is a notification of the user, without data of other people.
type takenNotification struct {
	ID       int64
	Category mailing.Category
	Text     string
	Request  int64 `json:",omitzero"`
	At       string
	Read     bool
	Mail     mailing.State
}

func takenRequests(ctx context.Context, c store.Conn, user uuid.UUID, p exchange.Page) (exchange.ListPage[takenRequest],
	error) {
	made, err := c.Requests.List(ctx, p, request.Filter{Requester: &user}, exchange.Actor{ID: user})
	if err != nil {
		return exchange.ListPage[takenRequest]{}, err
	}
	ids := make([]int64, len(made.Items))
	for i, q := range made.Items {
		ids[i] = q.ID
	}
	events, err := c.Events.OfRequests(ctx, ids)
	if err != nil {
		return exchange.ListPage[takenRequest]{}, err
	}
	list := make([]takenRequest, len(ids))
	for i, q := range made.Items {
		list[i] = takenRequest{q, events[q.ID]}
	}
	return exchange.ListPage[takenRequest]{Items: list, Next: made.Next}, nil
}

// takenInquiry is an inquiry of the user, without data of other people.
type takenInquiry struct {
	request.Inquiry
	Material, Organization string
}

func takenInquiries(ctx context.Context, c store.Conn, user uuid.UUID,
	p exchange.Page) (exchange.ListPage[takenInquiry], error) {
	page, err := c.Inquiries.OfUser(ctx, user, request.InquiryFilter{}, p)
	list := make([]takenInquiry, len(page.Items))
	for i, q := range page.Items {
		list[i] = takenInquiry{q.Inquiry, q.Material, q.Organization}
	}
	return exchange.ListPage[takenInquiry]{Items: list, Next: page.Next}, err
}

func takenNotifications(ctx context.Context, c store.Conn, user uuid.UUID,
	p exchange.Page) (exchange.ListPage[takenNotification], error) {
	page, err := c.Notifications.List(ctx, user, notify.NotificationFilter{}, p)
	if err != nil {
		return exchange.ListPage[takenNotification]{}, err
	}
	list := make([]takenNotification, len(page.Items))
	for i, n := range page.Items {
		list[i] = takenNotification{n.ID, n.Category, n.Text(), n.Event.RequestID,
			n.CreatedAt.Format("2006-01-02T15:04:05Z"), n.ReadAt != nil, n.Mail}
	}
	return exchange.ListPage[takenNotification]{Items: list, Next: page.Next}, nil
}

// takenAttachments returns a user's attachments, without where their content is stored.
func takenAttachments(ctx context.Context, c store.Conn, user uuid.UUID) ([]document.Attachment, error) {
	list, err := c.Attachments.OfUser(ctx, user)
	for i, t := range list {
		if t.Content != nil {
			content := *t.Content
			content.Key = ""
			list[i].Content = &content
		}
	}
	return list, err
}

// takenInvitations returns the invitations to a user and the join requests that they sent.
func takenInvitations(ctx context.Context, c store.Conn, u person.User) (list []any, err error) {
	invited, err := c.Invitations.For(ctx, u, core.Everything)
	if err != nil {
		return nil, err
	}
	for _, v := range invited.Items {
		list = append(list, v.Invitation)
	}
	asked, err := c.JoinRequests.OfUser(ctx, u.ID, lab.JoinFilter{}, core.Everything)
	for _, j := range asked.Items {
		list = append(list, j.JoinRequest)
	}
	return list, err
}

package notifier

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/request"
	"aliquot/internal/notice"
	"aliquot/internal/store"
)

// InvitationLink returns the URL of the page where an invitation is answered. Its token proves that the visitor reads
// the addressee's mail. The token stays the same when the invitation is sent again, and opens it in its current state.
func (a Notifications) InvitationLink(ctx context.Context, tx store.Conn, i lab.Invitation) (string, error) {
	token, err := core.Seal(ctx, tx, OfInvitation, fmt.Sprint(i.ID, " ", i.Addressee()))
	return a.PublicURL + "/join?token=" + url.QueryEscape(token), err
}

// InvitationThread returns the thread id for all mail about an invitation.
func (a Notifications) InvitationThread(id int64) string {
	return fmt.Sprintf("invitation.%d@%s", id, a.Host())
}

// searchThread returns the thread id for all mail about a saved search.
func (a Notifications) searchThread(id int64) string {
	return fmt.Sprintf("search.%d@%s", id, a.Host())
}

// InvitationWords returns what the mail of an invitation says; link is the address that accepts it.
func InvitationWords(v lab.ShownInvitation, link string) notice.Invitation {
	return notice.Invitation{Organization: v.Organization, Inviter: v.Inviter.Name(),
		Role: strings.ToLower(string(v.Role)), Expires: v.ExpiresAt, Link: link}
}

// content is what mail about a notification says, written when it is sent.
type content struct {
	thread string // the conversation to which it belongs
	write  func(ctx context.Context, unsubscribe string) (notice.Text, error)
}

// content returns what mail about a notification says. visible reports whether the person may still see it.
func (a Notifications) content(ctx context.Context, c store.Conn, n notify.Notification,
	reader store.Reader) (l content, visible bool, err error) {
	if n.Announcement == nil {
		facts, visible, err := a.facts(ctx, c, n, reader)
		if err == nil && visible {
			var kept map[int64]request.Detail
			kept, err = c.Events.Facts(ctx, []int64{n.Event.ID})
			facts = then(facts, kept)
		}
		return content{a.thread(facts.Request), func(_ context.Context, unsubscribe string) (notice.Text, error) {
			facts.Unsubscribe = unsubscribe
			return a.Notice.Event(facts)
		}}, visible, err
	}
	switch n.Announcement.Kind {
	case notify.Invited:
		return a.invitationContent(ctx, c, n, reader)
	case notify.SearchMatched:
		m, visible, err := match(ctx, c, n, reader)
		return content{a.searchThread(n.Announcement.Detail.SavedSearch),
			func(_ context.Context, unsubscribe string) (notice.Text, error) {
				m.Unsubscribe = unsubscribe
				return a.Notice.Match(m)
			}}, visible, err
	}
	d := n.Announcement.Detail
	if d.Agreement != 0 {
		return a.agreementContent(ctx, c, n)
	}
	m := notice.Membership{Kind: notice.MembershipKind(n.Announcement.Kind), Organization: n.OrganizationName,
		Person: "Aliquot", Note: d.Text,
		Link: fmt.Sprintf("%s/labs/%d/people", a.PublicURL, n.Organization)}
	if n.Actor != nil {
		m.Person = n.Actor.Name()
	}
	l = content{a.InvitationThread(d.Invitation),
		func(context.Context, string) (notice.Text, error) { return a.Notice.Membership(m) }}
	if d.Permit != 0 {
		return a.permitContent(ctx, c, n, m)
	}
	if d.Attachment != 0 {
		return a.fileContent(ctx, c, n, m)
	}
	if n.Announcement.Kind == notify.WebhookOff {
		l.thread = fmt.Sprintf("webhook.%d@%s", d.Webhook, a.Host())
		m.Note, m.Link = d.Reason, fmt.Sprintf("%s/labs/%d/webhooks", a.PublicURL, n.Organization)
	}
	if n.Announcement.Kind == notify.RecordFaulty {
		l.thread = "record.faults@" + a.Host()
		m.Note, m.Link = d.Reason, a.PublicURL+"/admin/jobs"
		u, err := c.Users.Get(ctx, n.User)
		return l, u.Admin, err
	}
	if d.Inquiry != 0 {
		l.thread = fmt.Sprintf("inquiry.%d@%s", d.Inquiry, a.Host())
		m.Organization, m.Link = d.Name, fmt.Sprintf("%s/inquiry/%d", a.PublicURL, d.Inquiry)
		visible, err = inquiryVisible(ctx, c, n)
		return l, visible, err
	}
	switch n.Announcement.Kind {
	case notify.PasskeyAdded, notify.PasskeyRemoved:
		l.thread = fmt.Sprintf("passkeys.%s@%s", n.User, a.Host())
		m.Organization, m.Link = d.Name, a.PublicURL+"/account/passkeys"
		if n.Actor == nil {
			m.Person = "You"
		}
		return l, true, nil
	case notify.SignInLinked, notify.SignInUnlinked:
		l.thread = fmt.Sprintf("sign-ins.%s@%s", n.User, a.Host())
		m.Organization, m.Link = d.Name, a.PublicURL+"/account/sessions"
		if n.Actor == nil {
			m.Person = "You"
		}
		return l, true, nil
	case notify.ErasureAsked:
		l.thread = fmt.Sprintf("erasure.%s@%s", n.User, a.Host())
		m.Note, m.Link = d.Reason, a.PublicURL+"/account/erasure"
		if n.Actor == nil {
			m.Person = "You"
		}
		e, err := c.Closing.Erasure(ctx, n.User, false)
		return l, e.Pending(), err
	}
	if d.JoinRequest == 0 {
		visible, err = c.Organizations.IsMember(ctx, n.Organization, n.User)
		return l, visible, err
	}
	l.thread = fmt.Sprintf("join.%d@%s", d.JoinRequest, a.Host())
	if n.Announcement.Kind != notify.JoinAsked {
		m.Note = d.Reason
		return l, true, nil
	}
	j, err := c.JoinRequests.Get(ctx, n.Organization, d.JoinRequest)
	if err != nil {
		return l, false, err
	}
	o, err := c.Organizations.Get(ctx, n.Organization)
	return l, j.Status == lab.JoinPending && o.Owner == n.User, err
}

// fileContent returns the content of mail about a virus in a file, unless that was deleted or replaced.
func (a Notifications) fileContent(ctx context.Context, c store.Conn, n notify.Notification,
	m notice.Membership) (says content, visible bool, err error) {
	d := n.Announcement.Detail
	m.Organization, m.Note, m.Link = d.Name, d.Reason, a.PublicURL+"/account/storage"
	says = content{fmt.Sprintf("file.%d@%s", d.Attachment, a.Host()),
		func(context.Context, string) (notice.Text, error) { return a.Notice.Membership(m) }}
	t, err := c.Attachments.Get(ctx, d.Attachment)
	return says, t.Content != nil && t.Content.Scan.State == document.Infected, err
}

// inquiryVisible reports whether somebody may still read an inquiry that they are notified of, and has to answer it
// unless it is their own.
func inquiryVisible(ctx context.Context, c store.Conn, n notify.Notification) (bool, error) {
	i, err := c.Inquiries.Get(ctx, n.Announcement.Detail.Inquiry)
	switch {
	case exchange.CodeOf(err) == exchange.NotFound: // who asked closed their account
		return false, nil
	case err != nil || i.UserID == n.User:
		return true, err
	case i.AnsweredAt != nil:
		return false, nil
	}
	return c.Organizations.IsMember(ctx, i.OrganizationID, n.User)
}

// invitationContent returns that of an invitation to someone who has signed in before.
func (a Notifications) invitationContent(ctx context.Context, c store.Conn, n notify.Notification,
	reader store.Reader) (l content, visible bool, err error) {
	v, err := c.Invitations.Get(ctx, n.Announcement.Detail.Invitation)
	write := func(ctx context.Context, _ string) (words notice.Text, err error) {
		link := ""
		err = a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
			link, err = a.InvitationLink(ctx, tx, v.Invitation)
			return err
		})
		if err != nil {
			return words, err
		}
		i := InvitationWords(v, link)
		i.Location = reader.Mail.Location()
		return a.Notice.Invitation(i)
	}
	return content{a.InvitationThread(v.ID), write}, v.Status == lab.InvitationPending, err
}

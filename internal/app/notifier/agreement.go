package notifier

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"aliquot/internal/agreement/duty"
	"aliquot/internal/agreement/letter"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/notice"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// agreementContent returns the content of mail about an agreement.
func (a Notifications) agreementContent(ctx context.Context, c store.Conn, n notify.Notification) (says content,
	visible bool, err error) {
	d := n.Announcement.Detail
	m := notice.Membership{Kind: notice.MembershipKind(n.Announcement.Kind), Note: d.Text,
		Organization: d.Name + " about materials of " + n.OrganizationName, Person: cmp.Or(d.Person, "Aliquot"),
		Link: fmt.Sprintf("%s/letters/%d", a.PublicURL, d.Agreement)}
	if n.Actor != nil {
		m.Person = n.Actor.Name()
	}
	if n.Announcement.Kind == notify.DutyDue {
		m.Organization, m.Note, m.Link = n.OrganizationName, d.Reason, m.Link+"#duties"
	}
	says = content{a.AgreementThread(d.Agreement), func(_ context.Context, unsubscribe string) (notice.Text, error) {
		m.Unsubscribe = unsubscribe
		return a.Notice.Membership(m)
	}}
	if d.Duty != 0 {
		owed, err := c.Duties.Get(ctx, d.Duty)
		return says, owed.State == duty.Owed, err
	}
	visible, err = agreementVisible(ctx, c, n)
	return says, visible, err
}

// permitContent returns the content of mail about a permit that ends soon, unless it no longer does, or the person may
// no longer read it.
func (a Notifications) permitContent(ctx context.Context, c store.Conn, n notify.Notification,
	m notice.Membership) (says content, visible bool, err error) {
	d := n.Announcement.Detail
	m.Organization, m.Note, m.Link = d.Name, d.Reason, fmt.Sprintf("%s/permit#permit-%d", a.PublicURL, d.Permit)
	says = content{fmt.Sprintf("permit.%d@%s", d.Permit, a.Host()),
		func(_ context.Context, unsubscribe string) (notice.Text, error) {
			m.Unsubscribe = unsubscribe
			return a.Notice.Membership(m)
		}}
	p, err := c.Permits.Get(ctx, d.Permit)
	if err != nil || !p.EndsSoon(exchange.DayOf(c.Now)) {
		return says, false, err
	}
	who, err := c.Actors.Current(ctx, exchange.Actor{ID: n.User})
	if err != nil {
		return says, false, err
	}
	rel, err := core.PermitRelations(ctx, c, who, p)
	visible, _ = a.Policy().Can(exchange.PermitRead, rel)
	return says, visible, err
}

// AgreementThread returns the thread id for all mail about an agreement.
func (a Notifications) AgreementThread(id int64) string {
	return fmt.Sprintf("agreement.%d@%s", id, a.Host())
}

// agreementVisible reports whether somebody may still read an agreement that they are notified of: the requester,
// members of the lab, and who may sign something for one of the institutions today. That they are asked to sign it is
// of interest only while it waits for signatures.
func agreementVisible(ctx context.Context, c store.Conn, n notify.Notification) (bool, error) {
	l, err := c.Agreements.Get(ctx, n.Announcement.Detail.Agreement)
	switch {
	case err != nil || n.Announcement.Kind == notify.AgreementSent && l.State != letter.Sent:
		return false, err
	case l.Requester == n.User:
		return true, nil
	}
	if member, err := c.Organizations.IsMember(ctx, l.Organization, n.User); err != nil || member {
		return member, err
	}
	r, err := c.Institutions.RegistersOf(ctx, n.User)
	return slices.ContainsFunc(r.Offices(n.User, exchange.DayOf(c.Now)), func(institution int64) bool {
		return institution == l.Letter.Provider || institution == l.Letter.Recipient
	}), err
}

// hookAnnouncement sends an announcement about an agreement to the webhooks of its organization; other ones are not
// sent. It describes the current state of the agreement.
func (a Webhooks) hookAnnouncement(ctx context.Context, tx store.Conn, id int64) error {
	n, err := tx.Notifications.Announcement(ctx, id)
	types := notify.TypesOf(n)
	if err != nil || len(types) == 0 {
		return err
	}
	list, err := tx.Webhooks.On(ctx, n.Organization)
	if err != nil || len(list) == 0 {
		return err
	}
	l, err := tx.Agreements.Get(ctx, n.Detail.Agreement)
	if err != nil {
		return err
	}
	m := notify.AgreementMessage{Timestamp: n.At, Data: notify.AgreementData{Organization: n.Organization,
		Agreement: notify.AgreementPayload{ID: l.ID, Number: l.Letter.Number,
			URL:   fmt.Sprintf("%s/letters/%d", a.PublicURL, l.ID),
			API:   fmt.Sprintf("%s/v1/agreements/%d", a.PublicURL, l.ID),
			State: string(l.State), Version: l.Letter.Version, SHA256: l.SHA256, Instrument: l.Letter.Instrument,
			Provider: l.Letter.Provider, Recipient: l.Letter.Recipient, Requests: l.Letter.RequestIDs(),
			Unsigned: append([]string{}, l.Waits...)},
		Event: notify.AgreementEvent{External: n.Detail.Person, Role: n.Detail.As, Reason: n.Detail.Text}}}
	if n.Actor != uuid.Nil {
		u, err := tx.Users.Get(ctx, n.Actor)
		if err != nil {
			return err
		}
		m.Data.Event.Actor = &notify.PersonPayload{ID: u.ID, Name: u.Name()}
	}
	for _, t := range types {
		for _, w := range list {
			if m.Type = t; !w.Wants(t) {
				continue
			}
			if _, err := send(ctx, tx, w, notify.WebhookDelivery{Announcement: &id, Type: t}, m); err != nil {
				return err
			}
		}
	}
	return nil
}

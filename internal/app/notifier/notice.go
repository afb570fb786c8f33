package notifier

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/notice"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// facts returns the content of mail about a notification, except for the state of the request at that time. visible
// reports whether the person may still see the request.
func (a Notifications) facts(ctx context.Context, c store.Conn, n notify.Notification,
	reader store.Reader) (f notice.Event, visible bool, err error) {
	f = notice.Event{Event: n.Event, Category: n.Category, Reader: n.User, Location: reader.Mail.Location()}
	if n.Actor != nil {
		f.Actor = n.Actor.Name()
	}
	if f.Request, err = c.Requests.Get(ctx, n.Event.RequestID); exchange.CodeOf(err) == exchange.NotFound &&
		n.Event.Kind == request.Deleted {
		f.Request, err = c.Requests.Deleted(ctx, n.Event.RequestID)
	}
	if exchange.CodeOf(err) == exchange.NotFound {
		return f, false, nil
	} else if err != nil {
		return f, false, err
	}
	if visible = f.Request.Requester == n.User; !visible {
		if visible, err = c.Organizations.IsMember(ctx, f.Request.Organization, n.User); err != nil || !visible {
			return f, false, err
		}
	}
	lab, err := c.Organizations.Get(ctx, f.Request.Organization)
	if err != nil {
		return f, false, err
	}
	requester, err := c.Users.Get(ctx, f.Request.Requester)
	if err != nil {
		return f, false, err
	}
	f.Organization, f.Owner, f.Requester = lab.Name, lab.Owner, requester.Name()
	if n.Event.Kind == request.Made && f.Request.Group != 0 {
		if f.Group, err = c.Requests.OfGroup(ctx, f.Request.Group); err != nil {
			return f, false, err
		}
	}
	f.Title, err = c.Events.FirstTitle(ctx, f.Request.ID)
	return f, true, err
}

// then returns f with the request as it was after its event, if that is stored. For a deleted request it says that
// nothing is open any more.
func then(f notice.Event, kept map[int64]request.Detail) notice.Event {
	was, known := kept[f.Event.ID]
	if !known || f.Event.Kind == request.Deleted {
		return f
	}
	is, before := f.Request.PresentTurn(f.Request.Terms), was.PresentTurn(was.Terms)
	f.Over = is.Status != before.Status || is.Side != before.Side || !slices.Equal(is.What, before.What)
	f.Request = was
	return f
}

// thread returns the id of the message to which all mail about a request refers, so that mail programs show it as one
// conversation; requests that were sent in one step are one. That message is never sent.
func (a Notifications) thread(q request.Detail) string {
	if q.Group != 0 {
		return fmt.Sprintf("request.group-%d@%s", q.Group, a.Host())
	}
	return fmt.Sprintf("request.%d@%s", q.ID, a.Host())
}

// Host returns the host name of the installation for the ids of its mail, if it is allowed there.
func (a Notifications) Host() string {
	u, err := url.Parse(a.PublicURL)
	odd := func(r rune) bool { return r > '~' || strings.ContainsRune(" :[]%", r) } // as in [::1]
	if err != nil || u.Hostname() == "" || strings.ContainsFunc(u.Hostname(), odd) {
		return "localhost"
	}
	return u.Hostname()
}

// List returns the List-Id of a kind of mail.
func (a Notifications) List(kind string) string { return kind + "." + a.Host() }

// The purposes of the tokens that mail carries.
const (
	OfMessage     = "message"
	ofUnsubscribe = "unsubscribe"
	OfInvitation  = "invitation"
	// of the mail of a link by which somebody without an account signs an agreement
	OfAgreementLink = "agreement-link"
)

// messageID returns the id of mail to a person about one of their notifications; 0 means a digest of several. Nobody
// else can make one, so a bounce that names it is about our mail.
func (a Notifications) messageID(ctx context.Context, tx store.Conn, user uuid.UUID, notification int64) (string,
	error) {
	token, err := core.Seal(ctx, tx, OfMessage, fmt.Sprintf("%s %d %d", user, notification, tx.Now.Unix()))
	return token + "@" + a.Host(), err
}

// unsubscribeURL returns the URL where a person stops mail of a category with one click; "" means the digest.
func (a Notifications) unsubscribeURL(ctx context.Context, tx store.Conn, user uuid.UUID, c mailing.Category) (string,
	error) {
	token, err := core.Seal(ctx, tx, ofUnsubscribe, user.String()+" "+string(c))
	return a.PublicURL + "/unsubscribe?token=" + token, err
}

// Subscription is what the unsubscribe link of a mail is about.
type Subscription struct {
	User     person.User
	Category mailing.Category // "" means digests; it ends those of all categories
	On       bool
}

// Subscription reads what the token of a link is about. Whoever has the mail may do this, signed in or not.
func (a Notifications) Subscription(ctx context.Context, token string) (Subscription, error) {
	c := a.DB.Read()
	s, reader, err := subscription(ctx, c, token, c.Mail.Reader)
	if err != nil {
		return s, err
	}
	s.On = reader.Mail.MailFor(s.Category, reader.Email) != mailing.NotWanted
	return s, nil
}

func subscription(ctx context.Context, c store.Conn, token string,
	read func(context.Context, uuid.UUID) (store.Reader, error)) (s Subscription, reader store.Reader, err error) {
	text, err := core.Unseal(ctx, c, ofUnsubscribe, token)
	if err != nil {
		return s, reader, err
	}
	user, category, _ := strings.Cut(text, " ")
	id, err := uuid.Parse(user)
	if err != nil {
		return s, reader, err
	}
	reader, err = read(ctx, id)
	return Subscription{User: reader.User, Category: mailing.Category(category)}, reader, err
}

// Subscribe stops the mail that the token of a link is about, or turns it on again.
func (a Notifications) Subscribe(ctx context.Context, token string, on bool) (s Subscription, err error) {
	err = a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
		var reader store.Reader
		if s, reader, err = subscription(ctx, tx, token, tx.Mail.ReaderForUpdate); err != nil {
			return err
		}
		who := exchange.Actor{ID: s.User.ID} // the token is this user's
		if err := a.May(ctx, tx, who, exchange.MailSettingsWrite, who.ToUser(s.User.ID),
			core.Object("mail settings of", s.User.ID)); err != nil {
			return err
		}
		s.On = on
		after := reader.Mail.Subscribe(s.Category, on)
		if core.Same(after, reader.Mail) {
			return nil
		}
		after.UpdatedAt = tx.Now
		return SaveMailSettings(ctx, tx, after)
	})
	return s, err
}

package notifier

import (
	"context"
	"slices"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/request"
	"aliquot/internal/job"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// NotifyPeople notifies people of what happened outside of requests. Actors are not notified of their own actions.
func NotifyPeople(ctx context.Context, tx store.Conn, n notify.Announcement, people ...uuid.UUID) error {
	var err error
	if n.ID, err = tx.Notifications.InsertAnnouncement(ctx, n); err != nil {
		return err
	}
	if err := tx.Notifications.Announce(ctx, n, people...); err != nil {
		return err
	}
	_, err = RestJob.Enqueue(ctx, tx, NotifyArgs{Organization: n.Organization, Announcement: n.ID},
		job.EnqueueOptions{Turn: n.Actor})
	return err
}

// RestJob is the job that sends the notifications that the transaction of an action leaves out: to members of a large
// lab, to everybody who wants mail about it, and to webhooks.
var RestJob = job.Kind[NotifyArgs]{Name: "tell"}

// NotifyArgs names the events of one action and the roles of its actor; or an announcement whose notifications exist
// already, so that only mail and webhooks are left.
type NotifyArgs struct {
	Organization int64         `json:"organization"`
	Events       []int64       `json:"events"`
	By           request.Roles `json:"by"`
	Announcement int64         `json:"news,omitempty"`
	Included     []int64       `json:"included,omitempty"` // of Events, those that only webhooks receive
}

// NotifyAbout notifies the people concerned of events; roles are those of the actor. It takes a few statements however
// many people there are, and leaves the rest to RestJob.
func NotifyAbout(ctx context.Context, tx store.Conn, q request.Detail, roles request.Roles,
	events []request.Event) error {
	args := NotifyArgs{Organization: q.Organization, By: roles}
	var turn uuid.UUID
	for _, e := range events {
		turn = e.Actor
		args.Events = append(args.Events, e.ID)
		if notify.Included(e, events) {
			args.Included = append(args.Included, e.ID)
			continue
		}
		for _, audience := range notify.Audiences(e, roles) {
			person := q.Requester
			if audience.To == notify.ToAssignee {
				person = q.AssignedTo
			}
			if err := tx.Notifications.Notify(ctx, audience, e, q.Organization, person); err != nil {
				return err
			}
		}
	}
	_, err := RestJob.Enqueue(ctx, tx, args, job.EnqueueOptions{Turn: turn})
	return err
}

// NotifyAboutGroup notifies a lab of requests that were sent to it in one step, as of one thing: of their first events,
// given in the same order, only the first one causes notifications and mail. Webhooks receive all.
func NotifyAboutGroup(ctx context.Context, tx store.Conn, list []request.Detail, roles request.Roles,
	events []request.Event) error {
	first := events[0]
	args := NotifyArgs{Organization: list[0].Organization, By: roles}
	for i, e := range events {
		if args.Events = append(args.Events, e.ID); i > 0 {
			args.Included = append(args.Included, e.ID)
		}
	}
	for _, audience := range notify.Audiences(first, roles) {
		for i, q := range list {
			if i > 0 && audience.To != notify.ToAssignee {
				break
			}
			if err := tx.Notifications.Notify(ctx, audience, first, args.Organization, q.AssignedTo); err != nil {
				return err
			}
		}
	}
	_, err := RestJob.Enqueue(ctx, tx, args, job.EnqueueOptions{Turn: first.Actor})
	return err
}

// tellAtOnce is how many members are notified in one transaction; SQLite has no other writer meanwhile.
const tellAtOnce = 500

// notifyProgress is how far a job has got: the index of the event, the member after whom to go on, and in the end the
// notification that it is sending mail about.
type notifyProgress struct {
	Event   int       `json:"event"`
	After   uuid.UUID `json:"after"`
	Sending int64     `json:"sending,omitempty"`
}

// NotifyRest notifies the members, some hundreds in each step, and enqueues mail for everyone notified, but for the
// first mail about the last event, which it sends itself: another job would take longer than the act.
func (a Notifications) NotifyRest(ctx context.Context, r *job.Run, args NotifyArgs) error {
	if args.Announcement != 0 {
		return r.Finish(ctx, func(ctx context.Context, tx store.Conn) (any, error) {
			if err := NewWebhooks(a.Core).hookAnnouncement(ctx, tx, args.Announcement); err != nil {
				return nil, err
			}
			list, err := tx.Mail.OfAnnouncement(ctx, args.Announcement, 2*tellAtOnce)
			if err != nil {
				return nil, err
			}
			_, err = a.mailOf(ctx, tx, list, r.Turn(), false)
			return nil, err
		})
	}
	var at notifyProgress
	if err := r.Resume(&at); err != nil {
		return err
	}
	if at.Sending != 0 { // the process that sent it died
		return r.Finish(ctx, func(ctx context.Context, tx store.Conn) (any, error) {
			return nil, tx.Mail.SetState(ctx, mailing.Sending, mailing.InDoubt, at.Sending)
		})
	}
	var own *ownMail
	for at.Event < len(args.Events) {
		var next notifyProgress
		err := r.Part(ctx, func(ctx context.Context, tx store.Conn) (p exchange.Progress, _ any, more bool, err error) {
			next, own, err = a.notifySome(ctx, tx, args, at, r.Turn())
			return exchange.Progress{Done: int64(next.Event), Total: int64(len(args.Events)), Note: "telling"}, next,
				next.Event < len(args.Events) || own != nil, err
		})
		if err != nil {
			return err
		}
		at = next
	}
	if own == nil {
		return nil
	}
	return a.sendOwn(ctx, r, own)
}

// notifySome notifies some members of an event; own is the mail that the job sends itself when this is committed.
func (a Notifications) notifySome(ctx context.Context, tx store.Conn, args NotifyArgs, at notifyProgress,
	turn uuid.UUID) (next notifyProgress, own *ownMail, err error) {
	e, err := tx.Events.Get(ctx, args.Events[at.Event])
	if err != nil {
		return at, nil, err
	}
	next = notifyProgress{Event: at.Event + 1}
	for _, audience := range notify.Audiences(e, args.By) {
		if audience.To != notify.ToMembers || slices.Contains(args.Included, e.ID) {
			continue // notified in the transaction of the action, or with another event
		}
		members, err := tx.Organizations.MembersAfter(ctx, args.Organization, at.After, tellAtOnce)
		if err != nil {
			return at, nil, err
		}
		if len(members) == 0 {
			break
		}
		last := members[len(members)-1]
		if err := tx.Notifications.NotifyMembers(ctx, audience.Category, e, args.Organization, at.After,
			last); err != nil {
			return at, nil, err
		}
		if len(members) == tellAtOnce {
			next = notifyProgress{Event: at.Event, After: last}
		}
	}
	if next.Event > at.Event {
		if err := NewWebhooks(a.Core).hook(ctx, tx, e, args.Organization); err != nil {
			return at, nil, err
		}
	}
	list, err := tx.Mail.OfEvent(ctx, e.ID, 2*tellAtOnce)
	if err != nil {
		return at, nil, err
	}
	if own, err = a.mailOf(ctx, tx, list, turn, next.Event == len(args.Events)); own != nil {
		next.Sending = own.notification
	}
	return next, own, err
}

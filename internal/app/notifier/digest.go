package notifier

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/request"
	"aliquot/internal/job"
	"aliquot/internal/mail"
	"aliquot/internal/notice"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// MailDigest is the job that sends a person their digest when it is due, or the mail that was held back for them.
var MailDigest = job.Kind[DigestArgs]{Name: "mail.digest", MaxAttempts: MailTries}

// DigestArgs names the person whose digest it is.
type DigestArgs struct {
	User uuid.UUID `json:"user"`
	Held bool      `json:"held,omitempty"` // it has mail that was held back, and is no digest that they chose
}

// waits returns the state of the mail that the digest includes.
func (d DigestArgs) waits() mailing.State {
	if d.Held {
		return mailing.Held
	}
	return mailing.ForDigest
}

// due returns when mail that has waited since a moment is to be sent.
func (d DigestArgs) due(s mailing.Settings, since, now time.Time) time.Time {
	if d.Held {
		return s.Quiet(now)
	}
	return s.DigestDue(since, now)
}

// digestAt returns the job that sends a person's digest at a moment; there is one per person.
func digestAt(user uuid.UUID, at time.Time) job.Queued[DigestArgs] {
	return job.Queued[DigestArgs]{Args: DigestArgs{User: user},
		EnqueueOptions: job.EnqueueOptions{Key: user.String() + " " + at.Format(time.RFC3339Nano), At: at}}
}

// heldAt returns the job that sends a person the mail held back at a moment; there is one per person.
func heldAt(user uuid.UUID, at time.Time) job.Queued[DigestArgs] {
	d := digestAt(user, at)
	d.Args.Held, d.EnqueueOptions.Key = true, d.EnqueueOptions.Key+" held"
	return d
}

// Limits of a digest: the number of notifications (if more wait, another digest follows), and the number of requests on
// each side in the list of tasks.
const (
	maxDigested = 500
	maxWaiting  = 200
)

// digestInProgress records what a digest job has marked as being sent.
type digestInProgress struct {
	Sending []int64 `json:"sending"`
}

// MailDigest sends a person the notifications for their digest, each notification at most once. If the digest is no
// longer due because they chose another time, there is another job for that.
func (a Notifications) MailDigest(ctx context.Context, r *job.Run, args DigestArgs) error {
	var at digestInProgress
	if err := r.Resume(&at); err != nil {
		return err
	}
	if len(at.Sending) > 0 { // the process that sent it died, or its mail waits again
		err := r.Step(ctx, func(ctx context.Context, tx store.Conn) (p exchange.Progress, _ any, err error) {
			return p, digestInProgress{},
				tx.Mail.SetState(ctx, mailing.SendingDigest, mailing.InDoubt, at.Sending...)
		})
		if err != nil {
			return err
		}
	}
	c := a.DB.Read()
	reader, err := c.Mail.Reader(ctx, args.User)
	if err != nil {
		return err
	}
	since, some, err := c.Mail.DigestSince(ctx, reader.ID, args.waits())
	if err != nil || !some {
		return err
	}
	if due := args.due(reader.Mail, since, c.Now); due.After(c.Now) {
		if !args.Held { // there is a job for the new time
			return nil
		}
		return r.Finish(ctx, func(ctx context.Context, tx store.Conn) (any, error) {
			return nil, enqueueDigest(ctx, tx, heldAt(reader.ID, due))
		})
	}
	m := mail.Message{Kind: "digest", To: reader.Email, ToName: reader.Name(), At: c.Now, List: a.List("digest")}
	if at.Sending, err = a.beginDigest(ctx, r, args, reader, &m); err != nil || len(at.Sending) == 0 {
		return err
	}
	state, reason, err := a.sendDigest(ctx, args, reader, since, at.Sending, m)
	if err != nil {
		return errors.Join(err, a.digestWaitsAgain(ctx, r, args, at.Sending))
	}
	return r.Finish(ctx, func(ctx context.Context, tx store.Conn) (any, error) {
		if state == mailing.Refused {
			if err := a.refuse(ctx, tx, reader, reason); err != nil {
				return nil, err
			}
		}
		if len(at.Sending) == maxDigested {
			rest := digestAt(reader.ID, tx.Now)
			if args.Held {
				rest = heldAt(reader.ID, tx.Now)
			}
			if err := enqueueDigest(ctx, tx, rest); err != nil {
				return nil, err
			}
		}
		return MailResult{state}, tx.Mail.SetState(ctx, mailing.SendingDigest, state, at.Sending...)
	})
}

// digestWaitsAgain records that a digest was not sent. The job forgets what was in it, since another one may be sending
// that when this job runs again.
func (a Notifications) digestWaitsAgain(ctx context.Context, r *job.Run, args DigestArgs, ids []int64) error {
	err := r.Step(context.WithoutCancel(ctx),
		func(ctx context.Context, tx store.Conn) (p exchange.Progress, _ any, err error) {
			return p, digestInProgress{}, tx.Mail.SetState(ctx, mailing.SendingDigest, args.waits(), ids...)
		})
	if err == nil {
		return nil
	}
	return a.mailWaitsAgain(ctx, mailing.SendingDigest, args.waits(), ids...) // the process stops
}

func enqueueDigest(ctx context.Context, tx store.Conn, d job.Queued[DigestArgs]) error {
	_, err := MailDigest.Enqueue(ctx, tx, d.Args, d.EnqueueOptions)
	return err
}

// beginDigest marks the notifications for a digest as being sent and returns the ids; none if the person no longer
// wants mail.
func (a Notifications) beginDigest(ctx context.Context, r *job.Run, args DigestArgs, reader store.Reader,
	m *mail.Message) (ids []int64, err error) {
	become := mailing.SendingDigest
	if state := reader.Mail.MailFor("", reader.Email); state == mailing.NotWanted ||
		state == mailing.NoAddress {
		become = state
	}
	var at digestInProgress
	err = r.Step(ctx, func(ctx context.Context, tx store.Conn) (p exchange.Progress, _ any, err error) {
		at = digestInProgress{}
		if ids, err = tx.Mail.DigestIDs(ctx, reader.ID, args.waits(), maxDigested); err != nil {
			return p, nil, err
		}
		if become == mailing.SendingDigest {
			at.Sending = ids
		}
		if m.ID, err = a.messageID(ctx, tx, reader.ID, 0); err != nil {
			return p, nil, err
		}
		if m.Unsubscribe, err = a.unsubscribeURL(ctx, tx, reader.ID, ""); err != nil {
			return p, nil, err
		}
		return p, at, tx.Mail.SetState(ctx, args.waits(), become, ids...)
	})
	return at.Sending, err
}

// sendDigest sends a digest of notifications and of the person's tasks. If they may no longer see any of it, the mail
// counts as not wanted.
func (a Notifications) sendDigest(ctx context.Context, args DigestArgs, reader store.Reader, since time.Time,
	ids []int64, m mail.Message) (state mailing.State, reason string, err error) {
	c := a.DB.Read()
	d := notice.Digest{Reader: reader.ID, From: since, To: c.Now, Location: reader.Mail.Location(),
		Unsubscribe: m.Unsubscribe, Held: args.Held}
	if err = a.happened(ctx, c, reader, ids, &d); err != nil || len(d.Events)+len(d.Matches)+len(d.Announcements) == 0 {
		return mailing.NotWanted, "", err
	}
	if !args.Held {
		if d.Waiting, err = a.waitingFor(ctx, c, reader.ID); err != nil {
			return "", "", err
		}
	}
	words, err := a.Notice.Digest(d)
	if err != nil {
		return "", "", err
	}
	m.Subject, m.Text, m.HTML = words.Subject, words.Text, words.HTML
	return a.Post(ctx, m)
}

// happened adds the content of notifications to a digest, as far as the person may still see it.
func (a Notifications) happened(ctx context.Context, c store.Conn, reader store.Reader, ids []int64,
	d *notice.Digest) error {
	list, err := c.Notifications.ByIDs(ctx, ids)
	if err != nil {
		return err
	}
	var events []int64
	for _, n := range list {
		if n.Announcement == nil {
			events = append(events, n.Event.ID)
		}
	}
	kept, err := c.Events.Facts(ctx, events)
	if err != nil {
		return err
	}
	type known struct {
		notice.Event
		visible bool
	}
	requests := map[int64]known{}
	for _, n := range list {
		if slices.Contains(reader.Mail.Muted, n.Category) {
			continue
		}
		if n.Announcement != nil {
			if err := a.happenedElsewhere(ctx, c, reader, n, d); err != nil {
				return err
			}
			continue
		}
		k, some := requests[n.Event.RequestID]
		if !some {
			if k.Event, k.visible, err = a.facts(ctx, c, n, reader); err != nil {
				return err
			}
			requests[n.Event.RequestID] = k
		}
		if k.visible {
			d.Events = append(d.Events, then(of(k.Event, n), kept))
		}
	}
	return nil
}

// happenedElsewhere is happened for announcements, which are not about a request.
func (a Notifications) happenedElsewhere(ctx context.Context, c store.Conn, reader store.Reader, n notify.Notification,
	d *notice.Digest) error {
	if n.Announcement.Kind == notify.SearchMatched {
		m, visible, err := match(ctx, c, n, reader)
		if visible {
			d.Matches = append(d.Matches, m)
		}
		return err
	}
	_, visible, err := a.content(ctx, c, n, reader)
	if err == nil && visible {
		news := notice.Announcement{Announcement: *n.Announcement, Actor: "Aliquot", Organization: n.OrganizationName}
		if n.Actor != nil {
			news.Actor = n.Actor.Name()
		}
		d.Announcements = append(d.Announcements, news)
	}
	return err
}

// match returns the content of mail about a saved search: those of its materials that the person may still see. visible
// reports whether there are any and the search still exists.
func match(ctx context.Context, c store.Conn, n notify.Notification, reader store.Reader) (m notice.Match,
	visible bool, err error) {
	d := n.Announcement.Detail
	m = notice.Match{Match: notify.Match{Count: d.Count}, At: n.Announcement.At, Location: reader.Mail.Location()}
	if m.Search, err = c.SavedSearches.Get(ctx, n.User, d.SavedSearch); exchange.CodeOf(err) == exchange.NotFound {
		return m, false, nil
	} else if err != nil {
		return m, false, err
	}
	ids := make([]int64, len(d.Materials))
	for i, t := range d.Materials {
		ids[i] = t.ID
	}
	m.Materials, err = c.Alerts.MaterialPayloads(ctx, n.User, ids)
	return m, len(m.Materials) > 0, err
}

// of returns the content of mail about a notification, using the facts of another one about the same request.
func of(f notice.Event, n notify.Notification) notice.Event {
	f.Event, f.Category, f.Actor = n.Event, n.Category, ""
	if n.Actor != nil {
		f.Actor = n.Actor.Name()
	}
	return f
}

// waitingFor returns the requests that wait for a person: those that they made, and those assigned to them.
func (a Notifications) waitingFor(ctx context.Context, c store.Conn, user uuid.UUID) ([]notice.Waiting, error) {
	var list []notice.Waiting
	for _, f := range []request.Filter{{Active: new(true), AssignedTo: &user},
		{Active: new(true), Requester: &user}} {
		side := request.LabSide
		if f.Requester != nil {
			side = request.RequesterSide
		}
		part, err := c.Requests.List(ctx, exchange.Page{Limit: maxWaiting}, f, exchange.Actor{ID: user})
		if err != nil {
			return nil, err
		}
		for _, q := range part.Items {
			if turn := request.WaitingOn(q.Terms, q.Targets, q.Request); turn != nil && turn.Side == side {
				list = append(list, notice.Waiting{Request: q})
			}
		}
	}
	slices.SortStableFunc(list,
		func(x, y notice.Waiting) int { return x.Request.WaitingSince.Compare(y.Request.WaitingSince) })
	people, labs := make([]uuid.UUID, len(list)), make([]int64, len(list))
	for i, w := range list {
		people[i], labs[i] = w.Request.Requester, w.Request.Organization
	}
	users, err := c.Users.ByIDs(ctx, people)
	if err != nil {
		return nil, err
	}
	organizations, err := c.Organizations.ByIDs(ctx, labs)
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, u := range users {
		names[u.ID.String()] = u.Name()
	}
	for _, o := range organizations {
		names[strconv.FormatInt(o.ID, 10)] = o.Name
	}
	for i := range list {
		list[i].Requester, list[i].Organization = names[people[i].String()], names[strconv.FormatInt(labs[i], 10)]
	}
	return list, nil
}

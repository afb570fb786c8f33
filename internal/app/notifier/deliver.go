package notifier

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/request"
	"aliquot/internal/job"
	"aliquot/internal/store"
	"aliquot/internal/store/delivery"
	"aliquot/internal/webhook"

	"github.com/google/uuid"
)

// Deliver is the job that makes one attempt at a delivery. Its result and the job of the next attempt are one
// transaction. A process that dies between the two sends again, under the same id. Receivers may be slow, so deliveries
// are heavy jobs on the account of their lab.
var Deliver = job.Kind[DeliveryArgs]{Name: "webhook", Timeout: time.Minute, Heavy: true}

// deliverOn returns the options for a lab's delivery at a moment; zero means at once.
func deliverOn(lab int64, at time.Time) job.EnqueueOptions {
	return job.EnqueueOptions{Turn: uuid.NewSHA1(uuid.Nil, fmt.Appendf(nil, "organization %d", lab)), At: at}
}

// DeliveryArgs names a delivery and the number of the attempt. A job whose attempt is no longer the next one does
// nothing.
type DeliveryArgs struct {
	Organization int64 `json:"organization"`
	Webhook      int64 `json:"webhook"`
	Delivery     int64 `json:"delivery"`
	Round        int64 `json:"round"`
	Tries        int   `json:"tries"`
}

func deliveryArgs(w notify.Webhook, d notify.WebhookDelivery) DeliveryArgs {
	return DeliveryArgs{w.OrganizationID, w.ID, d.ID, d.Round, d.Tries}
}

// hook sends an event of a request to the webhooks of its organization. It costs one statement if none is enabled, and
// sends to each once however often it is called. It describes the current state of the request.
func (a Webhooks) hook(ctx context.Context, tx store.Conn, e request.Event, organization int64) error {
	list, err := tx.Webhooks.On(ctx, organization)
	list = slices.DeleteFunc(list, func(w notify.Webhook) bool { return !w.Wants(notify.TypeOf(e.Kind)) })
	if err != nil || len(list) == 0 {
		return err
	}
	q, err := tx.Requests.Get(ctx, e.RequestID)
	if exchange.CodeOf(err) == exchange.NotFound {
		q, err = tx.Requests.Deleted(ctx, e.RequestID)
	}
	if err != nil {
		return err
	}
	people, err := tx.Users.ByIDs(ctx, []uuid.UUID{q.Requester, e.Actor})
	if err != nil {
		return err
	}
	m := notify.NewEventMessage(e, q, people, a.PublicURL)
	for _, w := range list {
		if _, err := send(ctx, tx, w, notify.WebhookDelivery{Event: &e.ID, Type: m.Type}, m); err != nil {
			return err
		}
	}
	return nil
}

// send enqueues a message about what d names to a webhook, and returns the id of its delivery; 0 if the webhook has one
// of it already. The bytes of the message are made here, once.
func send(ctx context.Context, tx store.Conn, w notify.Webhook, d notify.WebhookDelivery, message any) (int64, error) {
	payload, err := json.Marshal(message)
	if err != nil {
		return 0, err
	}
	d.WebhookID, d.Payload = w.ID, string(payload)
	d.MessageID = "msg_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	added := false
	if d.ID, added, err = tx.Deliveries.Insert(ctx, d); err != nil || !added {
		return 0, err
	}
	_, err = Deliver.Enqueue(ctx, tx, deliveryArgs(w, d), deliverOn(w.OrganizationID, time.Time{}))
	return d.ID, err
}

// Deliver makes one attempt to send a message.
func (a Webhooks) Deliver(ctx context.Context, r *job.Run, s DeliveryArgs) error {
	c := a.DB.Read()
	w, d, turn, err := s.read(ctx, c, delivery.Webhooks.Get, delivery.Deliveries.Get)
	if err != nil || !turn {
		return err
	}
	attempt, wait := notify.Attempt{DeliveryID: d.ID, At: c.Now}, time.Duration(0)
	if w.Enabled {
		began := time.Now()
		answer, err := a.Sender.Send(ctx,
			webhook.Message{URL: w.URL, ID: d.MessageID, Secrets: w.Secrets(c.Now), At: c.Now,
				Payload: []byte(d.Payload)})
		if ctx.Err() != nil { // the process stops, or the job has another worker; the receiver is not at fault
			return ctx.Err()
		}
		if attempt.Took = time.Since(began); answer.Status != 0 {
			attempt.Status = &answer.Status
		}
		if err != nil {
			attempt.Error = err.Error()
		}
		attempt.Excerpt, wait = answer.Excerpt, answer.RetryAfter
	}
	jitter := rand.Float64() //nolint:gosec // not security relevant
	return r.Finish(ctx, func(ctx context.Context, tx store.Conn) (any, error) {
		sent := w.Enabled
		now, d, turn, err := s.read(ctx, tx, delivery.Webhooks.ForUpdate, delivery.Deliveries.ForUpdate)
		if err != nil || d.ID == 0 {
			return nil, err
		}
		if sent {
			if err := tx.Deliveries.InsertAttempt(ctx, attempt); err != nil {
				return nil, err
			}
		}
		switch {
		case !turn: // somebody asked for another attempt meanwhile
			return nil, nil
		case !sent:
			return nil, tx.Deliveries.Update(ctx, d.Skip(tx.Now))
		}
		return nil, a.settle(ctx, tx, now, d, attempt, wait, jitter)
	})
}

// read reads the message and its receiver. d.ID is 0 if the delivery was deleted; turn reports whether this attempt is
// the next one.
func (s DeliveryArgs) read(ctx context.Context, c store.Conn,
	readWebhook func(delivery.Webhooks, context.Context, int64, int64) (notify.Webhook, error),
	readDelivery func(delivery.Deliveries, context.Context, int64, int64) (notify.WebhookDelivery,
		error)) (w notify.Webhook,
	d notify.WebhookDelivery, turn bool, err error) {
	if w, err = readWebhook(c.Webhooks, ctx, s.Organization, s.Webhook); err == nil {
		d, err = readDelivery(c.Deliveries, ctx, s.Webhook, s.Delivery)
	}
	if exchange.CodeOf(err) == exchange.NotFound {
		return w, notify.WebhookDelivery{}, false, nil
	}
	return w, d, d.State == notify.DeliveryPending && d.Round == s.Round && d.Tries == s.Tries, err
}

// settle saves the result of an attempt, and enqueues the next one.
func (a Webhooks) settle(ctx context.Context, tx store.Conn, w notify.Webhook, d notify.WebhookDelivery,
	t notify.Attempt, wait time.Duration, jitter float64) error {
	d, after := d.Tried(w, t, wait, jitter)
	if err := tx.Deliveries.Update(ctx, d); err != nil {
		return err
	}
	if d.NextAt != nil {
		if _, err := Deliver.Enqueue(ctx, tx, deliveryArgs(w, d), deliverOn(w.OrganizationID, *d.NextAt)); err != nil {
			return err
		}
	}
	if core.Same(after, w) {
		return nil
	}
	if err := tx.Webhooks.Update(ctx, after); err != nil {
		return err
	}
	if w.Enabled && !after.Enabled {
		return a.SwitchedOff(ctx, tx, after)
	}
	return nil
}

// SwitchedOff records that Aliquot disabled a webhook, and notifies the owner of the organization.
func (a Webhooks) SwitchedOff(ctx context.Context, tx store.Conn, w notify.Webhook) error {
	a.Log.WarnContext(ctx, "webhook switched off", "id", w.ID, "organization", w.OrganizationID, "reason", w.OffReason)
	o, err := tx.Organizations.Get(ctx, w.OrganizationID)
	if err != nil {
		return err
	}
	off := notify.Announcement{Kind: notify.WebhookOff, Organization: o.ID,
		Detail: notify.AnnouncementDetail{Webhook: w.ID, Reason: w.OffReason}}
	if err := NotifyPeople(ctx, tx, off, o.Owner); err != nil {
		return err
	}
	return noteWebhook(ctx, tx, exchange.Actor{}, w)
}

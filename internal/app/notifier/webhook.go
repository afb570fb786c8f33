package notifier

import (
	"context"
	"time"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/store"
	"aliquot/internal/webhook"
)

// List lists the webhooks of an organization.
func (a Webhooks) List(ctx context.Context, who exchange.Actor, organization int64,
	p exchange.Page) (exchange.ListPage[notify.Webhook], error) {
	c := a.DB.Read()
	_, err := c.Organizations.Get(ctx, organization)
	if err == nil {
		err = a.MayRead(ctx, who, exchange.WebhookRead, who.ToOrganization(organization),
			core.Object("webhooks of organization", organization))
	}
	if err != nil {
		return exchange.ListPage[notify.Webhook]{}, err
	}
	return c.Webhooks.List(ctx, organization, p)
}

// Get reads one webhook of an organization.
func (a Webhooks) Get(ctx context.Context, who exchange.Actor, organization, id int64) (notify.Webhook,
	error) {
	w, err := a.DB.Read().Webhooks.Get(ctx, organization, id)
	if err == nil {
		err = a.MayRead(ctx, who, exchange.WebhookRead, who.ToOrganization(organization), core.Object("webhook", id))
	}
	return w, err
}

// Create creates a webhook of an organization, with a secret.
func (a Webhooks) Create(ctx context.Context, who exchange.Actor, organization int64,
	p notify.WebhookPatch) (notify.Webhook, error) {
	w, err := p.Create(a.Sender.Check)
	if err != nil {
		return w, err
	}
	w.OrganizationID, w.Secret = organization, webhook.NewSecret()
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if _, err := tx.Organizations.ForUpdate(ctx, organization); err != nil { // or there could be one too many
			return err
		}
		if err := a.May(ctx, tx, who, exchange.WebhookWrite, who.ToOrganization(organization),
			core.Object("organization", organization)); err != nil {
			return err
		}
		list, err := tx.Webhooks.List(ctx, organization, exchange.Page{})
		if err != nil {
			return err
		}
		if list.Total.N >= notify.MaxWebhooks {
			return exchange.Errorf(exchange.Conflict, "An organization has at most %d webhooks; delete one first.",
				notify.MaxWebhooks)
		}
		w.CreatedAt, w.UpdatedAt = tx.Now, tx.Now
		if !w.Enabled {
			w.OffAt = &tx.Now
		}
		if w.ID, err = tx.Webhooks.Insert(ctx, w); err != nil {
			return err
		}
		return noteWebhook(ctx, tx, who, w)
	})
	return w, err
}

// noteWebhook audits a change of a webhook, without its URL and secrets.
func noteWebhook(ctx context.Context, tx store.Conn, who exchange.Actor, w notify.Webhook) error {
	return tx.Audit.Insert(ctx, core.ActorID(who), exchange.WebhookWrite, core.Object("webhook", w.ID), false,
		map[string]any{"organization": w.OrganizationID, "events": w.Events, "enabled": w.Enabled})
}

// Update changes a webhook.
func (a Webhooks) Update(ctx context.Context, who exchange.Actor, organization, id int64,
	p notify.WebhookPatch, match core.IfMatch[notify.Webhook]) (notify.Webhook, error) {
	return a.change(ctx, who, organization, id, match,
		func(w notify.Webhook, tx store.Conn) (notify.Webhook, error) {
			return p.Patch(w, a.Sender.Check, tx.Now)
		})
}

// Rotate replaces the secret of a webhook; for a day, messages are signed with the old one too.
func (a Webhooks) Rotate(ctx context.Context, who exchange.Actor, organization, id int64) (notify.Webhook,
	error) {
	return a.change(ctx, who, organization, id, nil,
		func(w notify.Webhook, tx store.Conn) (notify.Webhook, error) {
			return w.Rotate(webhook.NewSecret(), tx.Now), nil
		})
}

func (a Webhooks) change(ctx context.Context, who exchange.Actor, organization, id int64,
	match core.IfMatch[notify.Webhook],
	change func(notify.Webhook, store.Conn) (notify.Webhook, error)) (w notify.Webhook, err error) {
	err = a.withLocked(ctx, who, organization, id,
		func(ctx context.Context, tx store.Conn, old notify.Webhook) error {
			if err := match.Check(old); err != nil {
				return err
			}
			if w, err = change(old, tx); err != nil || core.Same(w, old) {
				return err
			}
			w.UpdatedAt = tx.Now
			if err := tx.Webhooks.Update(ctx, w); err != nil {
				return err
			}
			return noteWebhook(ctx, tx, who, w)
		})
	return w, err
}

// withLocked locks a webhook and calls do to change it, if who may.
func (a Webhooks) withLocked(ctx context.Context, who exchange.Actor, organization, id int64,
	do func(context.Context, store.Conn, notify.Webhook) error) error {
	return a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		w, err := tx.Webhooks.ForUpdate(ctx, organization, id)
		if err != nil {
			return err
		}
		if err := a.May(ctx, tx, who, exchange.WebhookWrite, who.ToOrganization(organization),
			core.Object("webhook", id)); err != nil {
			return err
		}
		return do(ctx, tx, w)
	})
}

// Delete deletes a webhook. Its pending deliveries are never sent.
func (a Webhooks) Delete(ctx context.Context, who exchange.Actor, organization, id int64,
	match core.IfMatch[notify.Webhook]) error {
	return a.withLocked(ctx, who, organization, id,
		func(ctx context.Context, tx store.Conn, w notify.Webhook) error {
			if err := match.Check(w); err != nil {
				return err
			}
			if err := tx.Webhooks.Delete(ctx, id); err != nil {
				return err
			}
			return noteWebhook(ctx, tx, who, w)
		})
}

// Ping sends a test message to a webhook.
func (a Webhooks) Ping(ctx context.Context, who exchange.Actor, organization,
	id int64) (d notify.WebhookDelivery, err error) {
	err = a.sending(ctx, who, organization, id, func(ctx context.Context, tx store.Conn, w notify.Webhook) error {
		m := notify.PingMessage{Type: notify.Ping, Timestamp: tx.Now,
			Data: notify.PingData{Organization: organization, Webhook: id}}
		sent, err := send(ctx, tx, w, notify.WebhookDelivery{Type: m.Type}, m)
		if err == nil {
			d, err = tx.Deliveries.Get(ctx, id, sent)
		}
		return err
	})
	return d, err
}

// sending is withLocked for calls that send to it.
func (a Webhooks) sending(ctx context.Context, who exchange.Actor, organization, id int64,
	do func(context.Context, store.Conn, notify.Webhook) error) error {
	return a.withLocked(ctx, who, organization, id,
		func(ctx context.Context, tx store.Conn, w notify.Webhook) error {
			if !w.Enabled {
				return exchange.Errorf(exchange.Conflict, "This webhook is switched off; switch it on first, with "+
					"enabled: true.")
			}
			return do(ctx, tx, w)
		})
}

// Deliveries lists the deliveries to a webhook of the last 30 days.
func (a Webhooks) Deliveries(ctx context.Context, who exchange.Actor, organization, id int64, p exchange.Page,
	f notify.DeliveryFilter) (exchange.ListPage[notify.WebhookDelivery], error) {
	if _, err := a.Get(ctx, who, organization, id); err != nil {
		return exchange.ListPage[notify.WebhookDelivery]{}, err
	}
	return a.DB.Read().Deliveries.List(ctx, id, p, f)
}

// Delivery reads a delivery with its attempts, the oldest first.
func (a Webhooks) Delivery(ctx context.Context, who exchange.Actor, organization, id,
	delivery int64) (d notify.WebhookDelivery, attempts []notify.Attempt, err error) {
	if _, err := a.Get(ctx, who, organization, id); err != nil {
		return d, nil, err
	}
	c := a.DB.Read()
	if d, err = c.Deliveries.Get(ctx, id, delivery); err == nil {
		attempts, err = c.Deliveries.Attempts(ctx, delivery)
	}
	return d, attempts, err
}

// Redeliver sends a message again now, under the same id, whatever became of it before.
func (a Webhooks) Redeliver(ctx context.Context, who exchange.Actor, organization, id,
	delivery int64) (d notify.WebhookDelivery, err error) {
	err = a.sending(ctx, who, organization, id, func(ctx context.Context, tx store.Conn, w notify.Webhook) error {
		old, err := tx.Deliveries.ForUpdate(ctx, id, delivery)
		if err != nil {
			return err
		}
		d = old.Again(tx.Now)
		if err := tx.Deliveries.Update(ctx, d); err != nil {
			return err
		}
		_, err = Deliver.Enqueue(ctx, tx, deliveryArgs(w, d), deliverOn(w.OrganizationID, time.Time{}))
		return err
	})
	return d, err
}

// Package delivery is the SQL of webhooks and of what is delivered to them.
package delivery

import (
	"context"
	"fmt"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/store/sqldb"
)

// Webhooks stores webhooks.
type Webhooks struct{ conn *sqldb.Conn }

// NewWebhooks returns the store on a connection.
func NewWebhooks(c *sqldb.Conn) Webhooks { return Webhooks{c} }

// Deliveries stores deliveries to webhooks.
type Deliveries struct{ conn *sqldb.Conn }

// NewDeliveries returns the store on a connection.
func NewDeliveries(c *sqldb.Conn) Deliveries { return Deliveries{c} }

const webhookColumns = `o.id, o.organization_id, o.url, o.description, o.events, o.secret, o.old_secret, o.old_until,
	o.enabled,
	o.off_reason, o.off_at, o.failing_since, o.created_at, o.updated_at`

func (st Webhooks) scan(r sqldb.Row, w *notify.Webhook) error {
	err := r.Scan(&w.ID, &w.OrganizationID, &w.URL, &w.Description, sqldb.FromJSON(&w.Events), &w.Secret, &w.OldSecret,
		sqldb.UTCOrNull(&w.OldUntil), &w.Enabled,
		&w.OffReason, sqldb.UTCOrNull(&w.OffAt), sqldb.UTCOrNull(&w.FailingSince), sqldb.UTC(&w.CreatedAt),
		sqldb.UTC(&w.UpdatedAt))
	if err != nil {
		return err
	}
	key, err := st.conn.DB.Key()
	if err == nil {
		w.Secret, err = key.Open(SecretOf(w.ID), w.Secret)
	}
	if err == nil {
		w.OldSecret, err = key.Open(OldSecretOf(w.ID), w.OldSecret)
	}
	return err
}

func SecretOf(webhook int64) string { return fmt.Sprintf("webhooks.secret/%d", webhook) }

func OldSecretOf(webhook int64) string { return fmt.Sprintf("webhooks.old_secret/%d", webhook) }

// Get reads one webhook of an organization.
func (st Webhooks) Get(ctx context.Context, organization, id int64) (notify.Webhook, error) {
	return sqldb.One(ctx, st.conn, st.scan, "SELECT "+webhookColumns+
		" FROM webhooks o WHERE o.organization_id = $1 AND o.id = $2", organization, id)
}

// ForUpdate reads one webhook and locks it until commit. Whoever locks a delivery locks its webhook first.
func (st Webhooks) ForUpdate(ctx context.Context, organization, id int64) (notify.Webhook, error) {
	return sqldb.One(ctx, st.conn, st.scan, "SELECT "+webhookColumns+
		" FROM webhooks o WHERE o.organization_id = $1 AND o.id = $2"+st.conn.Dialect().ForUpdate, organization, id)
}

// List lists the webhooks of an organization.
func (st Webhooks) List(ctx context.Context, organization int64, p exchange.Page) (exchange.ListPage[notify.Webhook],
	error) {
	l := sqldb.Listing[notify.Webhook]{Columns: webhookColumns, Table: "webhooks", Scan: st.scan,
		ID:      func(w notify.Webhook) int64 { return w.ID },
		Filters: map[string]sqldb.Condition{"organization": sqldb.Equals("o.organization_id")}}
	return l.Page(ctx, st.conn, p, sqldb.Where("o.organization_id = ?", organization))
}

// On reads the webhooks of an organization that are switched on.
func (st Webhooks) On(ctx context.Context, organization int64) ([]notify.Webhook, error) {
	return sqldb.All(ctx, st.conn, st.scan, "SELECT "+webhookColumns+
		" FROM webhooks o WHERE o.organization_id = $1 AND o.enabled ORDER BY o.id", organization)
}

// Insert adds a webhook and returns its id.
func (st Webhooks) Insert(ctx context.Context, w notify.Webhook) (int64, error) {
	events, err := sqldb.JSON(w.Events)
	if err != nil {
		return 0, err
	}
	key, err := st.conn.DB.Key()
	if err != nil {
		return 0, err
	}
	id, err := sqldb.One(ctx, st.conn, sqldb.Value[int64], `INSERT INTO webhooks (organization_id, url, description,
		events, secret,
		old_secret, enabled, off_reason, off_at, created_at, updated_at)
		VALUES ($1, $2, $3, $4, '', '', $5, '', $6, $7, $7) RETURNING id`,
		w.OrganizationID, w.URL, w.Description, events, w.Enabled, w.OffAt, st.conn.Now)
	if err == nil {
		_, err = st.conn.Exec(ctx, "UPDATE webhooks SET secret = "+sqldb.SealedArgument(2, 3)+" WHERE id = $1", id,
			key.Seal(SecretOf(id), w.Secret), st.conn.DB.Proof())
	}
	return id, sqldb.SealError(err)
}

// Update saves a webhook.
func (st Webhooks) Update(ctx context.Context, w notify.Webhook) error {
	events, err := sqldb.JSON(w.Events)
	if err != nil {
		return err
	}
	key, err := st.conn.DB.Key()
	if err != nil {
		return err
	}
	_, err = st.conn.Exec(ctx, `UPDATE webhooks SET url = $2, description = $3, events = $4,
		secret = `+sqldb.SealedArgument(5, 13)+`, old_secret = $6, old_until = $7, enabled = $8,
		off_reason = $9, off_at = $10, failing_since = $11, updated_at = $12 WHERE id = $1`,
		w.ID, w.URL, w.Description, events, key.Seal(SecretOf(w.ID), w.Secret),
		key.Seal(OldSecretOf(w.ID), w.OldSecret), w.OldUntil, w.Enabled, w.OffReason, w.OffAt, w.FailingSince,
		w.UpdatedAt, st.conn.DB.Proof())
	return sqldb.SealError(err)
}

// Delete deletes a webhook with its deliveries.
func (st Webhooks) Delete(ctx context.Context, id int64) error {
	_, err := st.conn.Exec(ctx, "DELETE FROM webhooks WHERE id = $1", id)
	return err
}

const deliveryColumns = `o.id, o.webhook_id, o.event_id, o.news_id, o.message_id, o.type, o.payload, o.state, o.round,
	o.tries, (SELECT COUNT(*) FROM webhook_attempts t WHERE t.delivery_id = o.id), o.status, o.error, o.next_at,
	o.created_at, o.ended_at`

func scanDelivery(r sqldb.Row, d *notify.WebhookDelivery) error {
	return r.Scan(&d.ID, &d.WebhookID, &d.Event, &d.Announcement, &d.MessageID, &d.Type, &d.Payload, &d.State, &d.Round,
		&d.Tries, &d.Attempts, &d.Status, &d.Error, sqldb.UTCOrNull(&d.NextAt), sqldb.UTC(&d.CreatedAt),
		sqldb.UTCOrNull(&d.EndedAt))
}

// Get reads one delivery to a webhook.
func (st Deliveries) Get(ctx context.Context, webhook, id int64) (notify.WebhookDelivery, error) {
	return sqldb.One(ctx, st.conn, scanDelivery, "SELECT "+deliveryColumns+
		" FROM webhook_deliveries o WHERE o.webhook_id = $1 AND o.id = $2", webhook, id)
}

// ForUpdate reads one delivery and locks it until commit.
func (st Deliveries) ForUpdate(ctx context.Context, webhook, id int64) (notify.WebhookDelivery, error) {
	return sqldb.One(ctx, st.conn, scanDelivery, "SELECT "+deliveryColumns+
		" FROM webhook_deliveries o WHERE o.webhook_id = $1 AND o.id = $2"+st.conn.Dialect().ForUpdate, webhook, id)
}

// List lists the deliveries to a webhook.
func (st Deliveries) List(ctx context.Context, webhook int64, p exchange.Page,
	f notify.DeliveryFilter) (exchange.ListPage[notify.WebhookDelivery], error) {
	l := sqldb.Listing[notify.WebhookDelivery]{Columns: deliveryColumns, Table: "webhook_deliveries",
		Scan: scanDelivery,
		ID:   func(d notify.WebhookDelivery) int64 { return d.ID },
		Filters: map[string]sqldb.Condition{"webhook": sqldb.Equals("o.webhook_id"),
			"event": sqldb.Equals("o.event_id")}}
	w := sqldb.Where("o.webhook_id = ?", webhook)
	sqldb.AndEqual(w, "o.state", f.State)
	sqldb.AndEqual(w, "o.type", f.Type)
	return l.Page(ctx, st.conn, p, w)
}

// Insert adds a delivery that is to be sent now, and returns its id; added is false where the webhook has one of that
// event or announcement already.
func (st Deliveries) Insert(ctx context.Context, d notify.WebhookDelivery) (id int64, added bool, err error) {
	ids, err := sqldb.All(ctx, st.conn, sqldb.Value[int64], `INSERT INTO webhook_deliveries (webhook_id, event_id,
		news_id, message_id, type, payload, state, round, tries, error, next_at, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, 0, 0, '', $8, $8) ON CONFLICT DO NOTHING RETURNING id`,
		d.WebhookID, d.Event, d.Announcement, d.MessageID, string(d.Type), d.Payload,
		string(notify.DeliveryPending), st.conn.Now)
	if err != nil || len(ids) == 0 {
		return 0, false, err
	}
	return ids[0], true, nil
}

// Update saves a delivery.
func (st Deliveries) Update(ctx context.Context, d notify.WebhookDelivery) error {
	_, err := st.conn.Exec(ctx, `UPDATE webhook_deliveries SET state = $2, round = $3, tries = $4, status = $5,
		error = $6,
		next_at = $7, ended_at = $8 WHERE id = $1`,
		d.ID, string(d.State), d.Round, d.Tries, d.Status, d.Error, d.NextAt, d.EndedAt)
	return err
}

// DeleteUntil deletes deliveries that were made until a moment.
func (st Deliveries) DeleteUntil(ctx context.Context, until time.Time) error {
	_, err := st.conn.Exec(ctx, "DELETE FROM webhook_deliveries WHERE created_at <= $1", until)
	return err
}

// Attempts reads the attempts at a delivery, the first one first.
func (st Deliveries) Attempts(ctx context.Context, delivery int64) ([]notify.Attempt, error) {
	scan := func(r sqldb.Row, t *notify.Attempt) error {
		var micros int64
		err := r.Scan(&t.ID, &t.DeliveryID, sqldb.UTC(&t.At), &micros, &t.Status, &t.Error, &t.Excerpt)
		t.Took = time.Duration(micros) * time.Microsecond
		return err
	}
	return sqldb.All(ctx, st.conn, scan, "SELECT id, delivery_id, at, took, status, error, excerpt FROM "+
		"webhook_attempts WHERE "+
		"delivery_id = $1 ORDER BY id", delivery)
}

// InsertAttempt adds an attempt.
func (st Deliveries) InsertAttempt(ctx context.Context, t notify.Attempt) error {
	_, err := st.conn.Exec(ctx, "INSERT INTO webhook_attempts (delivery_id, at, took, status, error, excerpt) "+
		"VALUES ($1, $2, $3, $4, $5, $6)",
		t.DeliveryID, t.At, t.Took.Microseconds(), t.Status, t.Error, t.Excerpt)
	return err
}

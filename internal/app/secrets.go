package app

import (
	"context"
	"encoding/json"
	"net/http"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/sqldb"
	"aliquot/internal/webhook"
)

// lostSecret is why a webhook was disabled whose secret was lost.
const lostSecret = "The server lost the key to its secrets. Create a new secret for this webhook, set it in the " +
	"receiver, and switch the webhook on."

// ResetSecrets starts over with another key, since the key of the installation's secrets is lost. Webhooks are disabled
// and get new secrets, and the owners of their labs are notified; links in earlier mail become invalid.
func (a *App) ResetSecrets(ctx context.Context, key *sqldb.Key) error {
	body, err := json.Marshal(map[string]string{
		"error": "The response to this call is lost. Check whether the call took effect; if not, repeat it with " +
			"another Idempotency-Key.",
		"error_code": string(exchange.Conflict),
	})
	if err != nil {
		return err
	}
	instead := exchange.IdempotentCall{Status: http.StatusConflict,
		Headers: map[string]string{"Content-Type": "application/json"}, Body: string(body)}
	return a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
		lost, err := tx.Secrets.Lost(ctx)
		if err != nil {
			return err
		}
		if err := tx.Secrets.Forget(ctx, key, instead); err != nil {
			return err
		}
		for _, l := range lost.Webhooks {
			w, err := tx.Webhooks.ForUpdate(ctx, l.OrganizationID, l.ID)
			if err != nil {
				return err
			}
			w = w.Lose(webhook.NewSecret(), lostSecret, tx.Now)
			if err := tx.Webhooks.Update(ctx, w); err != nil {
				return err
			}
			if err := a.Webhooks.SwitchedOff(ctx, tx, w); err != nil {
				return err
			}
		}
		return tx.Audit.Insert(ctx, nil, exchange.SecretsReset, "secrets", true, lost)
	})
}

// RotateSecrets encrypts the secrets of the installation with another key.
func (a *App) RotateSecrets(ctx context.Context, key *sqldb.Key) error {
	return a.DB.Rotate(ctx, key, func(ctx context.Context, tx store.Conn) error {
		return tx.Audit.Insert(ctx, nil, exchange.SecretsRotate, "secrets", true, nil)
	})
}

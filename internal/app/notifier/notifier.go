// Package notifier notifies people of what happened: notifications, mail, digests and webhooks.
package notifier

import "aliquot/internal/app/core"

// Notifications are the use cases of notifications and mail.
type Notifications struct{ *core.Core }

// New returns the use cases of c.
func New(c *core.Core) Notifications { return Notifications{c} }

// Webhooks are the use cases of webhooks.
type Webhooks struct{ *core.Core }

// NewWebhooks returns those of c.
func NewWebhooks(c *core.Core) Webhooks { return Webhooks{c} }

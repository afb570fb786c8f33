// Package app holds the use cases: may they? → change → keep → promise. Beside the
// queue it is the only room that opens transactions; both servers, the JSON API and the pages, call it.
package app

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/files"
	"aliquot/internal/identity"
	"aliquot/internal/importer"
	"aliquot/internal/mail"
	"aliquot/internal/notice"
	"aliquot/internal/store"
	"aliquot/internal/webhook"
)

// App is the use cases on one database, one place for content and one identity provider.
type App struct {
	Config
	policy exchange.Policy
	feeds  feeds
	books  *workbooks
	reads  queue

	numbers cached[SiteNumbers]
	paces   cached[map[int64]exchange.Pace]

	refusals refusals
}

// Config is what an App needs.
type Config struct {
	DB            *store.DB
	PublicURL     string // how people reach the installation, for links; no slash at its end
	Files         files.Store
	Identity      *identity.Client // nil: nobody can sign in
	Importer      *importer.Importer
	Mail          *mail.Post     // nil: no mail is sent
	Notice        *notice.Writer // of the words of mail
	Access        exchange.Access
	Registration  []string      // "open", "closed", or registry ids and mail domains
	Admins        []string      // registry ids
	TokenLifetime time.Duration // of a new token
	UploadLimit   int64         // bytes of one file
	Capacity      Capacity      // of expensive reads
	Quotas        Quotas        // of stored content
	Grace         time.Duration // how long the content of a deleted attachment is kept
	Reminders     exchange.Reminders
	Escalation    exchange.Escalation
	Sender        *webhook.Client // of messages to webhooks
	Log           *slog.Logger
}

// New makes an App of cfg.
func New(cfg Config) *App {
	return &App{Config: cfg, policy: exchange.PolicyFor(cfg.Access), books: newWorkbooks()}
}

// Policy is the access rules in force.
func (a *App) Policy() exchange.Policy { return a.policy }

// write runs do in a transaction that makes a change for who, with who as they are now: they may have lost a right, or
// their token, since the call began, whose body can take minutes to come. What do is allowed by their rights, it is
// until commit. Nobody, and the operator, is who they were.
func (a *App) write(ctx context.Context, who exchange.Actor,
	do func(ctx context.Context, tx store.Conn, who exchange.Actor) error) error {
	return a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
		if who.Anonymous() {
			return do(ctx, tx, who)
		}
		now, err := tx.ActorNow(ctx, who)
		if exchange.CodeOf(err) == exchange.NotFound {
			return endedToken()
		} else if err != nil {
			return err
		}
		return do(ctx, tx, now)
	})
}

// endedToken refuses who presents a token that is unknown, revoked or expired.
func endedToken() error {
	return exchange.Errorf(exchange.NotAuthenticated, "This token is unknown or expired; sign in again with POST "+
		"/login.")
}

// may reports whether who may do action to object inside a transaction; an admin's use of their
// power is noted in it.
func (a *App) may(ctx context.Context, tx store.Conn, who exchange.Actor, action exchange.Action, rel exchange.Relation,
	object string) error {
	asAdmin, err := a.can(who, action, rel)
	if asAdmin {
		err = tx.InsertAudit(ctx, actorID(who), action, object, true, nil)
	}
	return err
}

// did notes what who did to an object, unless may noted it as done by the power of an admin.
func (a *App) recordAction(ctx context.Context, tx store.Conn, who exchange.Actor, action exchange.Action,
	rel exchange.Relation, object string, detail any) error {
	if _, asAdmin := a.policy.Can(action, rel); asAdmin {
		return nil
	}
	return tx.InsertAudit(ctx, actorID(who), action, object, false, detail)
}

// can is may for a change that is kept as a version, which says itself that it is an admin's.
func (a *App) can(who exchange.Actor, action exchange.Action, rel exchange.Relation) (asAdmin bool, err error) {
	ok, asAdmin := a.policy.Can(action, rel)
	if !ok {
		err = a.denied(who, action, rel)
	}
	return asAdmin, err
}

// mayRead is may for a use case that only reads.
func (a *App) mayRead(ctx context.Context, who exchange.Actor, action exchange.Action, rel exchange.Relation,
	object string) error {
	asAdmin, err := a.can(who, action, rel)
	if asAdmin {
		err = a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
			return tx.InsertAudit(ctx, actorID(who), action, object, true, nil)
		})
	}
	return err
}

func (a *App) denied(who exchange.Actor, action exchange.Action, rel exchange.Relation) error {
	if !a.policy.Covers(action, rel) {
		return who.BeyondScope(action)
	}
	if who.Anonymous() {
		e := exchange.Errorf(exchange.NotAuthenticated, "Sign in: send your token as \"Authorization: Token "+
			"<API_TOKEN>\".")
		e.Action = action
		return e
	}
	e := exchange.Errorf(exchange.Forbidden, "You are not allowed to do this (%s).", action)
	e.Action = action
	return e
}

// fault is an InvalidInput error on one field.
func fieldError(field, format string, args ...any) error {
	var f exchange.FieldErrors
	f.Add(field, format, args...)
	return f.Err()
}

// refer turns "there is no such object" for an id in a body into a fault of its field, since a
// wrong reference is wrong input (contract.md section 2, 404).
func refer(err error, field string, id any) error {
	if err != nil && exchange.CodeOf(err) == exchange.NotFound {
		return fieldError(field, "there is no object with the id %v", id)
	}
	return err
}

// same reports whether two values are alike, so that sending back what was read changes nothing.
func same(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

func object(kind string, id any) string { return fmt.Sprintf("%s %v", kind, id) }

// Package core holds what the use cases of every area share: dependencies, transactions, access rules, limits, and
// views of what a caller may see.
package core

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"aliquot/internal/agreement/requirement"
	"aliquot/internal/clamd"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/request"
	"aliquot/internal/files"
	"aliquot/internal/identity"
	"aliquot/internal/importer"
	"aliquot/internal/mail"
	"aliquot/internal/notice"
	"aliquot/internal/paper"
	"aliquot/internal/record"
	"aliquot/internal/store"
	"aliquot/internal/webhook"
	"aliquot/internal/witness"
)

// Core is what the use cases of every area share: the dependencies, the access rules, and transactions in which the
// rights of the caller hold.
type Core struct {
	Config
	*process
	policy exchange.Policy
	tx     Transact // runs the transaction of a use case
}

// process is what a Core remembers for as long as the process runs.
type process struct {
	Books     *workbooks
	reads     queue
	processes atomic.Int32 // that serve this installation; 0 counts as 1
	numbers   cached[SiteNumbers]
	paces     cached[map[int64]request.Pace]
	refusals  refusals
	library   atomic.Pointer[library]
}

// Transact runs do in a transaction, as store.DB.Tx does.
type Transact func(ctx context.Context, do func(ctx context.Context, tx store.Conn) error) error

// Sealer signs executed agreements in the name of the service. reasons says, for each signature field of the PDF, who
// signed and why that is known.
type Sealer interface {
	Seal(pdf []byte, reasons map[string]string, at time.Time) ([]byte, error)
}

// Config holds the dependencies and settings of the use cases.
type Config struct {
	DB        *store.DB
	PublicURL string // base URL for links to the installation, without a trailing slash
	Files     files.Store
	Identity  *identity.Client    // the main provider, whose ids are registry ids; nil: nobody can sign in
	Providers []identity.Provider // further ones
	// after how many days an affiliation that a provider asserted lapses without another sign-in there; 0: never
	AffiliationDays int
	Importer        *importer.Importer
	Mail            *mail.Post     // nil: no mail is sent
	Notice          *notice.Writer // writes the texts of mail
	Access          exchange.Access
	Registration    []string      // "open", "closed", or registry ids and mail domains
	Admins          []string      // registry ids
	TokenLifetime   time.Duration // of a new token
	UploadLimit     int64         // bytes of one file
	DocumentTypes   []string      // media types that pages accept for documents of requests; nil: any
	Capacity        Capacity      // limits expensive reads
	Quotas          Quotas        // of stored content
	Grace           time.Duration // how long the content of a deleted attachment is kept
	Reminders       request.Reminders
	Escalation      request.Escalation
	Sender          *webhook.Client             // sends messages to webhooks
	LogKeys         func() (record.Keys, error) // reads those that sign the log; nil: it is not signed
	Witnesses       []witness.Witness           // cosign checkpoints of the log
	TimestampURL    string                      // of an RFC 3161 authority for checkpoints; "": none
	ErasedList      string                      // file that lists who was erased; "": none
	Destinations    []requirement.Destinations  // lists of where nothing must go
	Sealer          Sealer                      // of executed agreements; nil: they are not sealed
	PaperReader     paper.Reader                // of uploaded agreements
	Scanner         *clamd.Client               // of uploaded files; nil: they are not scanned
	Holds           *files.S3                   // holds executed agreements and accepted documents; nil: it does not
	Presigned       *files.S3                   // from where files that may be linked to are downloaded; nil: none are
	Log             *slog.Logger
}

// New returns a Core that uses cfg.
func New(cfg Config) *Core {
	return &Core{Config: cfg, policy: exchange.PolicyFor(cfg.Access), tx: cfg.DB.Tx,
		process: &process{Books: newWorkbooks()}}
}

// Within returns a Core whose use cases change data in the transactions of tx.
func (a *Core) Within(tx Transact) *Core {
	b := *a
	b.tx = tx
	return &b
}

// Inside returns a Core whose use cases change data in a transaction that is open.
func (a *Core) Inside(tx store.Conn) *Core {
	return a.Within(func(ctx context.Context, do func(ctx context.Context, tx store.Conn) error) error {
		return do(ctx, tx)
	})
}

// ForMembers returns a Core with the access rules of AccessMembers, whatever the setting says.
func (a *Core) ForMembers() *Core {
	b := *a
	b.policy = exchange.PolicyFor(exchange.AccessMembers)
	return &b
}

// Policy returns the access rules in force.
func (a *Core) Policy() exchange.Policy { return a.policy }

// Write runs do in a transaction that makes a change for who. It reloads who inside the transaction: a body can take
// minutes to arrive, and the caller may have lost a right or their token since the call began. The rights that do sees
// hold until commit. Anonymous callers and the operator are not reloaded.
func (a *Core) Write(ctx context.Context, who exchange.Actor,
	do func(ctx context.Context, tx store.Conn, who exchange.Actor) error) error {
	return a.tx(ctx, func(ctx context.Context, tx store.Conn) error {
		tx.ActAs(who.ID)
		if who.Anonymous() {
			return do(ctx, tx, who)
		}
		now, err := tx.Actors.Current(ctx, who)
		if exchange.CodeOf(err) == exchange.NotFound {
			return EndedToken()
		} else if err != nil {
			return err
		}
		return do(ctx, tx, now)
	})
}

// EndedToken returns the error for a token that is unknown, revoked or expired.
func EndedToken() error {
	return exchange.Errorf(exchange.NotAuthenticated, "This token is unknown or expired; sign in again with POST "+
		"/login.")
}

// May checks inside a transaction that who may do action to object, and writes an audit event if that takes admin
// rights.
func (a *Core) May(ctx context.Context, tx store.Conn, who exchange.Actor, action exchange.Action,
	rel exchange.Relation, object string) error {
	asAdmin, err := a.Can(who, action, rel)
	if asAdmin {
		err = tx.Audit.Insert(ctx, ActorID(who), action, object, true, nil)
	}
	return err
}

// RecordAction writes an audit event for what who did to an object, unless it took admin rights: then may has already
// written one.
func (a *Core) RecordAction(ctx context.Context, tx store.Conn, who exchange.Actor, action exchange.Action,
	rel exchange.Relation, object string, detail any) error {
	if _, asAdmin := a.policy.Can(action, rel); asAdmin {
		return nil
	}
	return tx.Audit.Insert(ctx, ActorID(who), action, object, false, detail)
}

// Can is may for changes that are saved as versions: a version records itself whether it took admin rights.
func (a *Core) Can(who exchange.Actor, action exchange.Action, rel exchange.Relation) (asAdmin bool, err error) {
	ok, asAdmin := a.policy.Can(action, rel)
	if !ok {
		err = a.denied(who, action, rel)
	}
	return asAdmin, err
}

// MayRead is may for use cases that only read.
func (a *Core) MayRead(ctx context.Context, who exchange.Actor, action exchange.Action, rel exchange.Relation,
	object string) error {
	asAdmin, err := a.Can(who, action, rel)
	if asAdmin {
		err = a.tx(ctx, func(ctx context.Context, tx store.Conn) error {
			return tx.Audit.Insert(ctx, ActorID(who), action, object, true, nil)
		})
	}
	return err
}

func (a *Core) denied(who exchange.Actor, action exchange.Action, rel exchange.Relation) error {
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

// Unseen turns the refusal of somebody who has nothing to do with an object into the answer for an id that nobody uses.
func Unseen(err error) error {
	if exchange.CodeOf(err) == exchange.Forbidden {
		return exchange.Errorf(exchange.NotFound, "There is no such object.")
	}
	return err
}

// SaveRequest saves a changed request and its events, of which nobody is notified yet; q becomes the new state. It
// returns the events with their ids.
func (a *Core) SaveRequest(ctx context.Context, tx store.Conn, q *request.Detail, after request.Request,
	events []request.Event) ([]request.Event, error) {
	before := q.Request
	q.Request = after
	events, err := tx.Events.Append(ctx, q, events)
	if err != nil {
		return nil, err
	}
	deleted := events[len(events)-1].Kind == request.Deleted
	if err := tx.Requests.Update(ctx, *q, deleted); err != nil {
		return nil, err
	}
	if err := tx.Requests.SaveDocuments(ctx, q.ID, before.Documents, after.Documents); err != nil {
		return nil, err
	}
	if err := a.holdEvidence(ctx, tx, events); err != nil {
		return nil, err
	}
	if q.Letter != 0 && events[0].Kind != request.AgreementExecuted && after.LeavesLetter(before) {
		if err := a.LeaveLetter(ctx, tx, q.Letter, q.ID); err != nil {
			return nil, err
		}
	}
	if slices.ContainsFunc(events, request.Event.ChangesIndex) {
		if err := tx.Requests.IndexEvents(ctx, *q, events); err != nil {
			return nil, err
		}
	}
	if after.Clock.Turn != before.Clock.Turn {
		turn := after.PresentTurn(q.Terms)
		if !deleted {
			turn.Organization = q.Organization
		}
		if err := tx.Turns.Insert(ctx, []request.TurnRecord{turn}); err != nil {
			return nil, err
		}
	}
	return events, nil
}

// FieldError returns an InvalidInput error on one field.
func FieldError(field, format string, args ...any) error {
	var f exchange.FieldErrors
	f.Add(field, format, args...)
	return f.Err()
}

// Refer turns a NotFound error for an id in a body into an error on its field, since a wrong reference is wrong input
// (contract.md section 2, 404).
func Refer(err error, field string, id any) error {
	if err != nil && exchange.CodeOf(err) == exchange.NotFound {
		return FieldError(field, "there is no object with the id %v", id)
	}
	return err
}

// Same reports whether two values have the same JSON, so that sending back what was read changes nothing.
func Same(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// Object names an object in an audit event.
func Object(kind string, id any) string { return fmt.Sprintf("%s %v", kind, id) }

// IfMatch is the condition of a change: it returns an error unless the object is still as its caller saw it. The use
// case calls it in its transaction, with the object's row locked, with what reading the object returns: of two calls
// that saw the same version, the second one finds another (RFC 9110 section 13.1.1). nil sets no condition.
type IfMatch[T any] func(object T) error

// Check checks the condition on a locked object.
func (m IfMatch[T]) Check(object T) error {
	if m == nil {
		return nil
	}
	return m(object)
}

// CheckRead is check for an object that still has to be read as the use cases that return it do.
func (m IfMatch[T]) CheckRead(read func() (T, error)) error {
	if m == nil {
		return nil
	}
	object, err := read()
	if err != nil {
		return err
	}
	return m(object)
}

// Untagged stands for an object that no GET returns by itself, so that nobody can have seen a version of it.
type Untagged struct{}

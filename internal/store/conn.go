// Package store is the SQL of Aliquot: one text for SQLite and PostgreSQL. One file per
// resource holds its columns, its scan and its queries as methods of a small store; Conn holds all stores.
package store

import (
	"context"
	"time"

	"aliquot/internal/search"
	"aliquot/internal/store/agreement"
	"aliquot/internal/store/cellosaurus"
	"aliquot/internal/store/delivery"
	"aliquot/internal/store/hold"
	"aliquot/internal/store/insight"
	"aliquot/internal/store/institution"
	"aliquot/internal/store/library"
	"aliquot/internal/store/queue"
	"aliquot/internal/store/requirement"
	"aliquot/internal/store/scan"
	"aliquot/internal/store/signin"
	"aliquot/internal/store/signing"
	"aliquot/internal/store/sqldb"
)

// DB is an open database.
type DB struct{ *sqldb.DB }

// Open opens the database at a postgres:// URL, or the SQLite file at any other path, which it creates if missing. It
// does not migrate.
func Open(ctx context.Context, where string) (*DB, error) {
	db, err := sqldb.Open(ctx, where)
	if err != nil {
		return nil, err
	}
	db.Observe(observed)
	return &DB{db}, nil
}

// Read returns a Conn that reads committed data.
func (db *DB) Read() Conn { return storesOn(db.DB.Read()) }

// ReadCaughtUp runs do on the stores of a connection that reads what was committed before the call; see
// sqldb.DB.ReadCaughtUp.
func (db *DB) ReadCaughtUp(ctx context.Context, do func(ctx context.Context, c Conn) error) error {
	return db.DB.ReadCaughtUp(ctx, func(ctx context.Context, c *sqldb.Conn) error { return do(ctx, storesOn(c)) })
}

// Snapshot runs do on one state of the database, however long it takes; do only reads.
func (db *DB) Snapshot(ctx context.Context, do func(ctx context.Context, c Conn) error) error {
	return db.DB.Snapshot(ctx, func(ctx context.Context, c *sqldb.Conn) error { return do(ctx, storesOn(c)) })
}

// Tx runs do in one transaction and commits when do returns nil. On PostgreSQL a serialization failure or deadlock runs
// do again after a short random pause, so do must change nothing but the database and its own results. Transactions do
// not nest.
func (db *DB) Tx(ctx context.Context, do func(ctx context.Context, tx Conn) error) error {
	return db.DB.Tx(ctx, onStores(do))
}

// TxAlone is Tx for a transaction that may take long: on SQLite it shares its commit with no other, so that none waits
// for it that has run already.
func (db *DB) TxAlone(ctx context.Context, do func(ctx context.Context, tx Conn) error) error {
	return db.DB.TxAlone(ctx, onStores(do))
}

// Erasing is Tx for a change of which nothing that it deletes may stay in the file of SQLite.
func (db *DB) Erasing(ctx context.Context, do func(ctx context.Context, tx Conn) error) error {
	return db.DB.Erasing(ctx, onStores(do))
}

// onStores runs do and records what it changed.
func onStores(do func(ctx context.Context, tx Conn) error) func(context.Context, *sqldb.Conn) error {
	return func(ctx context.Context, c *sqldb.Conn) error {
		tx := storesOn(c)
		if err := do(ctx, tx); err != nil {
			return err
		}
		return tx.record(ctx)
	}
}

// DeferredCommit is a transaction that stays open after the use case that ran in it, so that the response of the call
// can be saved in it.
type DeferredCommit struct{ *sqldb.DeferredCommit }

// DeferCommit returns a DeferredCommit. The caller must call its Commit or Rollback.
func (db *DB) DeferCommit() *DeferredCommit { return &DeferredCommit{db.DB.DeferCommit()} }

// Tx is DB.Tx, but it leaves the transaction open.
func (h *DeferredCommit) Tx(ctx context.Context, do func(ctx context.Context, tx Conn) error) error {
	return h.DeferredCommit.Tx(ctx, onStores(do))
}

// Commit runs last in the open transaction, or in a new one if none is open, and commits if last returns nil.
func (h *DeferredCommit) Commit(ctx context.Context, last func(ctx context.Context, tx Conn) error) error {
	return h.DeferredCommit.Commit(ctx, onStores(last))
}

// Final is for transactions that record what is final: signatures, executed agreements, checkpoints. Their commit is as
// safe as the server of PostgreSQL makes commits, also where the address of the database has others less safe.
func (c Conn) Final(ctx context.Context) error { return c.conn.Final(ctx) }

// Conn holds one store for each kind of object. All of them use the same connection: a transaction, or the pool for
// reading. Now is fixed when the Conn is created, so that all rows written in one transaction have the same time.
type Conn struct {
	Now  time.Time
	conn *sqldb.Conn

	Actors          Actors
	Addresses       Addresses
	Admin           Admin
	Agreements      agreement.Agreements
	Alerts          Alerts
	Attachments     Attachments
	Audit           Audit
	Baskets         Baskets
	Bulk            Bulk
	CellLines       cellosaurus.CellLines
	Chains          Chains
	Closing         Closing
	Deliveries      delivery.Deliveries
	Drafts          Drafts
	Duties          agreement.Duties
	Events          Events
	Grants          Grants
	Holds           hold.Holds
	IdempotentCalls IdempotentCalls
	Inbox           Inbox
	Inquiries       Inquiries
	Insights        insight.Insights
	Institutions    institution.Institutions
	Instruments     library.Instruments
	Invitations     Invitations
	Jobs            queue.Jobs
	JoinRequests    JoinRequests
	Lineages        agreement.Lineages
	Links           agreement.Links
	Log             Log
	Mail            Mail
	Materials       Materials
	Memberships     Memberships
	Notifications   Notifications
	Organizations   Organizations
	Papers          agreement.Papers
	Passkeys        signing.Passkeys
	Permits         requirement.Permits
	Purposes        requirement.Purposes
	Reminders       Reminders
	Replies         Replies
	Requests        Requests
	SavedSearches   SavedSearches
	Scans           scan.Scans
	Search          search.Searcher
	Secrets         Secrets
	Shippings       Shippings
	SignIns         signin.SignIns
	SourceCalls     queue.SourceCalls
	Statements      signing.Statements
	Storage         Storage
	Tokens          Tokens
	TransferFacts   requirement.TransferFacts
	Turns           Turns
	Users           Users
	Webhooks        delivery.Webhooks
}

func storesOn(c *sqldb.Conn) Conn {
	return Conn{
		Now: c.Now, conn: c,
		Actors: Actors{c}, Addresses: Addresses{c}, Admin: Admin{c}, Agreements: agreement.New(c), Alerts: Alerts{c},
		Attachments: Attachments{c}, Audit: Audit{c}, Baskets: Baskets{c}, Bulk: Bulk{c},
		CellLines: cellosaurus.New(c), Chains: Chains{c}, Closing: Closing{c},
		Deliveries: delivery.NewDeliveries(c), Drafts: Drafts{c}, Duties: agreement.NewDuties(c),
		Events: Events{c}, Grants: Grants{c},
		IdempotentCalls: IdempotentCalls{c}, Inbox: Inbox{c}, Inquiries: Inquiries{c},
		Insights: insight.New(c), Institutions: institution.New(c), Instruments: library.New(c),
		Invitations: Invitations{c},
		Jobs:        queue.New(c), SourceCalls: queue.NewSourceCalls(c), JoinRequests: JoinRequests{c},
		Lineages: agreement.NewLineages(c), Links: agreement.NewLinks(c), Log: Log{c}, Mail: Mail{c},
		Materials:   Materials{c},
		Memberships: Memberships{c}, Notifications: Notifications{c}, Organizations: Organizations{c},
		Papers: agreement.NewPapers(c), Passkeys: signing.NewPasskeys(c), Permits: requirement.NewPermits(c),
		Purposes:  requirement.NewPurposes(c),
		Reminders: Reminders{c}, Replies: Replies{c},
		Requests: Requests{c}, SavedSearches: SavedSearches{c}, Scans: scan.New(c),
		Holds: hold.New(c), Search: search.New(c),
		Secrets:   Secrets{c},
		Shippings: Shippings{c}, SignIns: signin.New(c), Statements: signing.NewStatements(c), Storage: Storage{c},
		Tokens: Tokens{c}, TransferFacts: requirement.NewTransferFacts(c), Turns: Turns{c},
		Users: Users{c}, Webhooks: delivery.NewWebhooks(c),
	}
}

// At returns the stores on the same connection at another time.
func (c Conn) At(now time.Time) Conn { return storesOn(c.conn.At(now)) }

// The stores. Each holds the statements on one kind of object.
type (
	// Actors stores who acts: the rights of tokens and users.
	Actors struct{ conn *sqldb.Conn }
	// Addresses stores addresses of users.
	Addresses struct{ conn *sqldb.Conn }
	// Admin stores what administrators look after.
	Admin struct{ conn *sqldb.Conn }
	// Alerts stores what changed, and which saved searches it matches.
	Alerts struct{ conn *sqldb.Conn }
	// Attachments stores attachments and their versions.
	Attachments struct{ conn *sqldb.Conn }
	// Audit stores audit events and the versions of objects.
	Audit struct{ conn *sqldb.Conn }
	// Baskets stores the materials that people mean to request.
	Baskets struct{ conn *sqldb.Conn }
	// Bulk stores imports of many materials, and what they stage.
	Bulk struct{ conn *sqldb.Conn }
	// Chains stores the chains of events of format 2, and the texts that they have commitments to.
	Chains struct{ conn *sqldb.Conn }
	// Closing stores what closing an account or an organization changes.
	Closing struct{ conn *sqldb.Conn }
	// Drafts stores drafts of forms.
	Drafts struct{ conn *sqldb.Conn }
	// Events stores events of requests.
	Events struct{ conn *sqldb.Conn }
	// Grants stores grants, what they fund, and links to their reports.
	Grants struct{ conn *sqldb.Conn }
	// IdempotentCalls stores calls with an Idempotency-Key and their responses.
	IdempotentCalls struct{ conn *sqldb.Conn }
	// Inbox stores the requests in which it is somebody's turn.
	Inbox struct{ conn *sqldb.Conn }
	// Inquiries stores questions about materials.
	Inquiries struct{ conn *sqldb.Conn }
	// Invitations stores invitations to organizations.
	Invitations struct{ conn *sqldb.Conn }
	// JoinRequests stores requests to join an organization.
	JoinRequests struct{ conn *sqldb.Conn }
	// Log stores the Merkle log of all events of chains, and its checkpoints.
	Log struct{ conn *sqldb.Conn }
	// Mail stores who wants which mail, and what is still to be mailed.
	Mail struct{ conn *sqldb.Conn }
	// Materials stores materials.
	Materials struct{ conn *sqldb.Conn }
	// Memberships stores memberships of users.
	Memberships struct{ conn *sqldb.Conn }
	// Notifications stores notifications and announcements.
	Notifications struct{ conn *sqldb.Conn }
	// Organizations stores organizations and their members.
	Organizations struct{ conn *sqldb.Conn }
	// Reminders stores reminders of requests that wait.
	Reminders struct{ conn *sqldb.Conn }
	// Replies stores texts that labs use again.
	Replies struct{ conn *sqldb.Conn }
	// Requests stores requests, their documents and issues.
	Requests struct{ conn *sqldb.Conn }
	// SavedSearches stores saved searches.
	SavedSearches struct{ conn *sqldb.Conn }
	// Secrets stores secrets that are sealed with the key of the database.
	Secrets struct{ conn *sqldb.Conn }
	// Shippings stores shipping requirements.
	Shippings struct{ conn *sqldb.Conn }
	// Storage stores the use of storage.
	Storage struct{ conn *sqldb.Conn }
	// Tokens stores tokens and sessions.
	Tokens struct{ conn *sqldb.Conn }
	// Turns stores the turns of requests.
	Turns struct{ conn *sqldb.Conn }
	// Users stores users.
	Users struct{ conn *sqldb.Conn }
)

// Package app puts the use cases together, one service for each area, and holds what spans areas: jobs, pending
// actions, calls with a key, the site's administration. A use case checks whether the caller may do it, changes the
// objects, saves them, and enqueues what has to happen later. Apart from the job queue, this package and those below it
// are the only ones that open transactions; both servers, the JSON API and the pages, call it.
package app

import (
	"aliquot/internal/app/account"
	"aliquot/internal/app/catalog"
	"aliquot/internal/app/core"
	"aliquot/internal/app/documents"
	"aliquot/internal/app/evidence"
	"aliquot/internal/app/funding"
	"aliquot/internal/app/institutions"
	"aliquot/internal/app/instruments"
	"aliquot/internal/app/labs"
	"aliquot/internal/app/letters"
	"aliquot/internal/app/notifier"
	"aliquot/internal/app/requirements"
	"aliquot/internal/app/signing"
	"aliquot/internal/app/spreadsheet"
	"aliquot/internal/app/stream"
	"aliquot/internal/app/transfer"
	"aliquot/internal/store"
)

// Config holds the dependencies and settings of an App.
type Config = core.Config

// App runs the use cases on one database, one store for files and one identity provider.
type App struct {
	*core.Core
	Accounts      account.Accounts
	Documents     documents.Documents
	Evidence      evidence.Evidence
	Grants        funding.Grants
	Groups        transfer.Groups
	Inquiries     transfer.Inquiries
	Institutions  institutions.Institutions
	Instruments   instruments.Instruments
	Labs          labs.Labs
	Letters       letters.Letters
	Lineages      letters.Lineages
	Duties        letters.Duties
	Desks         letters.Desks
	Materials     catalog.Materials
	Notifications notifier.Notifications
	Papers        transfer.Papers
	Requests      transfer.Requests
	Requirements  requirements.Requirements
	SignIns       account.SignIns
	Signing       signing.Signing
	Spreadsheets  spreadsheet.Spreadsheets
	Streams       stream.Streams
	Webhooks      notifier.Webhooks
}

// New returns an App that uses cfg.
func New(cfg Config) *App {
	c := core.New(cfg)
	return newApp(c, stream.New(c))
}

func newApp(c *core.Core, streams stream.Streams) *App {
	return &App{Core: c, Accounts: account.New(c), Documents: documents.New(c),
		Evidence: evidence.New(c), Grants: funding.New(c), Institutions: institutions.New(c),
		Instruments: instruments.New(c), Labs: labs.New(c), Letters: letters.New(c),
		Lineages:      letters.Lineages{Letters: letters.New(c)},
		Duties:        letters.Duties{Letters: letters.New(c)},
		Desks:         letters.Desks{Letters: letters.New(c)},
		Materials:     catalog.New(c),
		Notifications: notifier.New(c), Requests: transfer.New(c), Requirements: requirements.New(c),
		Groups: transfer.Groups{Requests: transfer.New(c)}, Inquiries: transfer.Inquiries{Core: c},
		Papers:  transfer.Papers{Requests: transfer.New(c)},
		SignIns: account.SignIns{Core: c},
		Signing: signing.New(c), Spreadsheets: spreadsheet.New(c), Streams: streams,
		Webhooks: notifier.NewWebhooks(c)}
}

// ForPages returns an App for the pages: it follows the access rules for members even if Access is AccessOpen, which
// opens writes to programs.
func (a *App) ForPages() *App { return newApp(a.Core.ForMembers(), a.Streams) }

// within returns an App whose use cases change data in the transactions of tx.
func (a *App) within(tx core.Transact) *App { return newApp(a.Core.Within(tx), a.Streams) }

// inside returns an App whose use cases change data in a transaction that is open.
func (a *App) inside(tx store.Conn) *App { return newApp(a.Core.Inside(tx), a.Streams) }

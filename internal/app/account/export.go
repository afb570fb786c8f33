package account

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"aliquot/internal/agreement/approval"
	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/agreement/signing"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"
	"aliquot/internal/store/agreement"
	storedpermit "aliquot/internal/store/requirement"

	"github.com/google/uuid"
)

// takeoutHelp is the README of an export.
const takeoutHelp = `This is what Aliquot stores about you, as JSON. Times are UTC.

profile.json         who you are, how you want mail, your labs and their switches
addresses.json       your addresses
requests.json        the requests that you made, each with everything that happened in it
events.json          what you did in requests, also in those of your labs
attachments.json     the documents that you own or filed for a lab
files/               the content of the documents that you own, by their ids
notifications.json   your notifications
saved_searches.json  the searches that you keep
inbox_views.json     the views of your requests that you keep
drafts.json          forms that you began
basket.json          the ids of the materials in your basket
inquiries.json       the questions that you asked about materials, with their answers
grants.json          your grants
affiliations.json    institutions that you are at
authorities.json     what you may sign for institutions, or might once
approvals.json       what you signed for institutions in advance
stand_ins.json       where you stand in for somebody who signs
invitations.json     labs that invited you, and labs that you asked to join
agreements.json      letters for your requests
signatures.json      what you signed for agreements
passkeys.json        passkeys with which you sign, or signed
sign_ins.json        your sign-ins at other identity providers
tokens.json          sessions and tokens that are valid; their secrets are kept nowhere
acts.json            what is on record that you did, beside what happened in requests

Each has a page for reading beside it, such as profile.html, which any browser shows.
`

// ExportAccount returns a function that writes all that is kept about a user, as a ZIP of JSON and of pages for
// reading, a part at a time.
func (a Accounts) ExportAccount(ctx context.Context, who exchange.Actor, user uuid.UUID) (write func(io.Writer) error,
	err error) {
	var reader store.Reader
	err = a.Expensive(ctx, user.String(), func(ctx context.Context) (err error) {
		if err := a.MayRead(ctx, who, exchange.AccountExport, who.ToUser(user),
			core.Object("account of", user)); err != nil {
			return err
		}
		reader, err = a.DB.Read().Mail.Reader(ctx, user)
		return err
	})
	if err != nil {
		return nil, err
	}
	return func(out io.Writer) error {
		z := zip.NewWriter(out)
		return errors.Join(a.writeExport(ctx, z, reader), z.Close())
	}, nil
}

// writeExport writes the files of an export.
func (a Accounts) writeExport(ctx context.Context, z *zip.Writer, of store.Reader) error {
	help, err := z.Create("README.txt")
	if err != nil {
		return err
	}
	if _, err := io.WriteString(help, takeoutHelp); err != nil {
		return err
	}
	c, user, part := a.DB.Read(), of.ID, a.Parts(of.ID.String())
	own, err := c.Memberships.List(ctx, user, core.Everything)
	if err != nil {
		return err
	}
	erasure, err := c.Closing.Erasure(ctx, user, false)
	if err != nil {
		return err
	}
	profile := []takenProfile{{of.User, of.Mail, own.Items, erasure}}
	return errors.Join(
		takeList(z, "profile", profile, nil),
		takePages(ctx, part, z, "addresses",
			func(ctx context.Context, p exchange.Page) (exchange.ListPage[person.Address], error) {
				return c.Addresses.List(ctx, user, p)
			}),
		takePages(ctx, part, z, "requests",
			func(ctx context.Context, p exchange.Page) (exchange.ListPage[takenRequest], error) {
				return takenRequests(ctx, c, user, p)
			}),
		takeEvents(ctx, part, z, c, user),
		takeAll(ctx, part, z, "attachments",
			func(ctx context.Context) ([]document.Attachment, error) { return takenAttachments(ctx, c, user) }),
		a.takeFiles(ctx, z, user),
		takePages(ctx, part, z, "notifications",
			func(ctx context.Context, p exchange.Page) (exchange.ListPage[takenNotification], error) {
				return takenNotifications(ctx, c, user, p)
			}),
		takePages(ctx, part, z, "saved_searches",
			func(ctx context.Context, p exchange.Page) (exchange.ListPage[material.SavedSearch], error) {
				return c.SavedSearches.List(ctx, user, p)
			}),
		takeAll(ctx, part, z, "inbox_views",
			func(ctx context.Context) ([]request.InboxView, error) { return c.Inbox.Views(ctx, user) }),
		takeAll(ctx, part, z, "drafts",
			func(ctx context.Context) ([]person.Draft, error) { return c.Drafts.List(ctx, user) }),
		takeAll(ctx, part, z, "basket",
			func(ctx context.Context) ([]int64, error) { return c.Baskets.List(ctx, user) }),
		takePages(ctx, part, z, "inquiries",
			func(ctx context.Context, p exchange.Page) (exchange.ListPage[takenInquiry], error) {
				return takenInquiries(ctx, c, user, p)
			}),
		takePages(ctx, part, z, "grants",
			func(ctx context.Context, p exchange.Page) (exchange.ListPage[person.Grant], error) {
				return c.Grants.List(ctx, user, p)
			}),
		takeAll(ctx, part, z, "affiliations",
			func(ctx context.Context) ([]party.Affiliation, error) { return c.Institutions.OfPerson(ctx, user) }),
		takeAll(ctx, part, z, "authorities",
			func(ctx context.Context) ([]party.Authority, error) { return c.Institutions.HeldBy(ctx, user) }),
		takeAll(ctx, part, z, "approvals",
			func(ctx context.Context) ([]approval.Approval, error) { return c.Institutions.SignedBy(ctx, user) }),
		takeAll(ctx, part, z, "stand_ins",
			func(ctx context.Context) ([]party.StandIn, error) { return c.Institutions.StandingIn(ctx, user) }),
		takePages(ctx, part, z, "permits",
			func(ctx context.Context, p exchange.Page) (exchange.ListPage[requirement.Permit], error) {
				return c.Permits.List(ctx, storedpermit.Holders{Person: user}, p)
			}),
		takeAll(ctx, part, z, "invitations",
			func(ctx context.Context) ([]any, error) { return takenInvitations(ctx, c, of.User) }),
		takePages(ctx, part, z, "agreements",
			func(ctx context.Context, p exchange.Page) (exchange.ListPage[letter.Agreement], error) {
				return c.Agreements.List(ctx, agreement.Viewer{Person: user}, letter.Filter{}, p)
			}),
		takeAll(ctx, part, z, "signatures",
			func(ctx context.Context) ([]signing.Kept, error) { return c.Agreements.SignaturesOf(ctx, user) }),
		takeAll(ctx, part, z, "passkeys",
			func(ctx context.Context) ([]signing.Registered, error) { return c.Passkeys.Of(ctx, user) }),
		takeAll(ctx, part, z, "sign_ins",
			func(ctx context.Context) ([]person.SignIn, error) { return c.SignIns.Of(ctx, user) }),
		takePages(ctx, part, z, "tokens",
			func(ctx context.Context, p exchange.Page) (exchange.ListPage[person.Token], error) {
				return c.Tokens.List(ctx, user, p)
			}),
		takePages(ctx, part, z, "acts",
			func(ctx context.Context, p exchange.Page) (exchange.ListPage[exchange.AuditEvent], error) {
				return c.Audit.List(ctx, p, exchange.AuditFilter{Actor: &user})
			}),
	)
}

// takeFiles writes the content of the documents of a user that are their own.
func (a Accounts) takeFiles(ctx context.Context, z *zip.Writer, user uuid.UUID) error {
	list, err := a.DB.Read().Attachments.OfUser(ctx, user)
	for _, t := range list {
		if err == nil && t.Content != nil && !t.OfLab {
			err = a.takeFile(ctx, z, t)
		}
	}
	return err
}

var noFolder = strings.NewReplacer("/", "_", `\`, "_")

func (a Accounts) takeFile(ctx context.Context, z *zip.Writer, t document.Attachment) error {
	in, err := a.OpenContent(ctx, *t.Content)
	switch exchange.CodeOf(err) {
	case exchange.NotFound, exchange.FileWithheld: // it was deleted meanwhile; or it may have a virus
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was only read
	w, err := z.Create(fmt.Sprintf("files/%d %s", t.ID, noFolder.Replace(t.Filename)))
	if err == nil {
		_, err = io.Copy(w, in)
	}
	return err
}

// takeEvents writes what a user did in requests.
func takeEvents(ctx context.Context, part core.Turns, z *zip.Writer, c store.Conn, user uuid.UUID) error {
	after := int64(0)
	next := func() (list []request.Event, err error) {
		for more := true; more && len(list) == 0 && err == nil; {
			err = part(ctx, func(ctx context.Context) error {
				list, err = c.Closing.EventsWith(ctx, user, after, core.Batch)
				return err
			})
			if more = len(list) > 0; more {
				after = list[len(list)-1].ID
			}
			list = slices.DeleteFunc(list, func(e request.Event) bool { return e.Actor != user }) // who quotes them
		}
		return list, err
	}
	first, err := next()
	if err != nil {
		return err
	}
	return takeList(z, "events", first, next)
}

// takePages writes a list that is read in parts.
func takePages[T any](ctx context.Context, part core.Turns, z *zip.Writer, name string,
	read func(context.Context, exchange.Page) (exchange.ListPage[T], error)) error {
	page := exchange.Page{Limit: core.Batch}
	var list exchange.ListPage[T]
	next := func() ([]T, error) {
		err := part(ctx, func(ctx context.Context) (err error) {
			list, err = read(ctx, page)
			return err
		})
		page.After = list.Next
		return list.Items, err
	}
	first, err := next()
	if err != nil {
		return err
	}
	return takeList(z, name, first, func() ([]T, error) {
		if list.Next == nil {
			return nil, nil
		}
		return next()
	})
}

// takeAll writes a list that is read at once.
func takeAll[T any](ctx context.Context, part core.Turns, z *zip.Writer, name string,
	read func(context.Context) ([]T, error)) error {
	var list []T
	err := part(ctx, func(ctx context.Context) (err error) {
		list, err = read(ctx)
		return err
	})
	if err != nil {
		return err
	}
	return takeList(z, name, list, nil)
}

// takeList writes a list and then what more returns until that is empty; a nil more means that list is complete. The
// page for reading, of the same list, is written to a temporary file meanwhile, since a ZIP has one file at a time.
func takeList[T any](z *zip.Writer, name string, list []T, more func() ([]T, error)) error {
	page, err := newReadable(name)
	if err != nil {
		return err
	}
	return errors.Join(takeJSON(z, name, list, more, page), page.take(z))
}

func takeJSON[T any](z *zip.Writer, name string, list []T, more func() ([]T, error), page *readable) error {
	w, err := z.Create(name + ".json")
	if err != nil {
		return err
	}
	open := "[\n"
	for len(list) > 0 {
		for _, item := range list {
			text, err := json.MarshalIndent(item, "", "  ")
			if err != nil {
				return err
			}
			if _, err := io.WriteString(w, open+string(text)); err != nil {
				return err
			}
			if err := page.add(text); err != nil {
				return err
			}
			open = ",\n"
		}
		if list = nil; more != nil {
			if list, err = more(); err != nil {
				return err
			}
		}
	}
	end := "\n]\n"
	if open == "[\n" { // the list is empty
		end = "[]\n"
	}
	_, err = io.WriteString(w, end)
	return err
}

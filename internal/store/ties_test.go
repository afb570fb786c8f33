package store_test

import (
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"
)

func TestAttachments_References(t *testing.T) {
	t.Parallel()
	type setup struct{ attachment, request, material int64 }
	link := func(l testLab, s setup, state document.Review) {
		l.write(func(ctx context, tx store.Conn) error {
			u, err := tx.Requests.Get(ctx, s.request)
			if err != nil {
				return err
			}
			return tx.Requests.SaveDocuments(ctx, s.request, nil,
				[]document.Document{{Slot: document.IRB, AttachmentID: s.attachment, State: state,
					AddedBy: u.Requester}})
		})
	}
	change := func(l testLab, s setup, change func(m *material.Material)) {
		l.write(func(ctx context, tx store.Conn) error {
			m, err := tx.Materials.Get(ctx, s.material)
			if err != nil {
				return err
			}
			change(&m)
			return tx.Materials.Update(ctx, m)
		})
	}
	mapFor := func(l testLab, s setup) {
		l.write(func(ctx context, tx store.Conn) error {
			a, err := tx.Attachments.Get(ctx, s.attachment)
			if err != nil {
				return err
			}
			a.SequenceMapFor = &s.material
			return tx.Attachments.Update(ctx, a)
		})
	}
	linked := store.AttachmentTies{Linked: true, Requests: true}
	stands := store.AttachmentTies{Requests: true}
	for name, test := range map[string]struct {
		make                                func(l testLab, s setup)
		requester, member, former, stranger store.AttachmentTies
	}{
		"bound to nothing": {make: func(testLab, setup) {}},
		"linked to a request": {func(l testLab, s setup) { link(l, s, document.Delivered) },
			linked, linked, stands, stands},
		"once linked to a request": {func(l testLab, s setup) { link(l, s, document.Superseded) },
			linked, linked, stands, stands},
		"linked to a deleted request": {func(l testLab, s setup) {
			link(l, s, document.Delivered)
			l.change(s.request, true, func(context, store.Conn, *request.Detail) error { return nil })
		}, stands, stands, stands, stands},
		"MTA of a listed material": {func(l testLab, s setup) {
			change(l, s, func(m *material.Material) { m.MTAAttachmentID = &s.attachment })
		}, store.AttachmentTies{Public: true, MTA: true}, store.AttachmentTies{Public: true, MTA: true},
			store.AttachmentTies{Public: true, MTA: true}, store.AttachmentTies{Public: true, MTA: true}},
		"MTA of an archived material": {func(l testLab, s setup) {
			change(l, s, func(m *material.Material) { m.MTAAttachmentID, m.Archived = &s.attachment, true })
		}, store.AttachmentTies{MTA: true}, store.AttachmentTies{MTA: true}, store.AttachmentTies{MTA: true},
			store.AttachmentTies{MTA: true}},
		"MTA of an embargoed material": {func(l testLab, s setup) {
			change(l, s, func(m *material.Material) {
				m.MTAAttachmentID, m.EmbargoDate = &s.attachment, new(exchange.Date("2026-03-13"))
			})
		}, store.AttachmentTies{MTA: true}, store.AttachmentTies{MTA: true}, store.AttachmentTies{MTA: true},
			store.AttachmentTies{MTA: true}},
		"MTA of a material whose embargo ends today": {func(l testLab, s setup) {
			change(l, s, func(m *material.Material) {
				m.MTAAttachmentID, m.EmbargoDate = &s.attachment, new(exchange.Date("2026-03-12"))
			})
		}, store.AttachmentTies{Public: true, MTA: true}, store.AttachmentTies{Public: true, MTA: true},
			store.AttachmentTies{Public: true, MTA: true}, store.AttachmentTies{Public: true, MTA: true}},
		"sequence map of a listed material": {mapFor,
			store.AttachmentTies{Public: true}, store.AttachmentTies{Public: true}, store.AttachmentTies{Public: true},
			store.AttachmentTies{Public: true}},
		"sequence map of an archived material": {func(l testLab, s setup) {
			mapFor(l, s)
			change(l, s, func(m *material.Material) { m.Archived = true })
		}, store.AttachmentTies{}, store.AttachmentTies{}, store.AttachmentTies{}, store.AttachmentTies{}},
		"all of it": {func(l testLab, s setup) {
			link(l, s, document.Accepted)
			mapFor(l, s)
			change(l, s, func(m *material.Material) { m.MTAAttachmentID = &s.attachment })
		}, store.AttachmentTies{Linked: true, Public: true, Requests: true, MTA: true},
			store.AttachmentTies{Linked: true, Public: true, Requests: true, MTA: true},
			store.AttachmentTies{Public: true, Requests: true, MTA: true},
			store.AttachmentTies{Public: true, Requests: true, MTA: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, l testLab) {
				requester, member, former, stranger := l.user().ID, l.user().ID, l.user().ID, l.user().ID
				organization := l.organization(member, member, former)
				l.setMembers(organization, member)
				s := setup{material: l.material(organization, member, nil)}
				s.request = l.request(s.material, requester, member, nil)
				s.attachment = l.attachment(requester, nil)
				other := l.attachment(requester, nil)
				test.make(l, s)
				c := l.db.Read()
				a, err := c.Attachments.Get(l.ctx, s.attachment)
				code(t, "Attachment", err, "")
				for who, want := range map[[16]byte]store.AttachmentTies{requester: test.requester, member: test.member,
					former: test.former, stranger: test.stranger} {
					got, err := c.Attachments.Ties(l.ctx, a, who)
					code(t, "Ties", err, "")
					same(t, "Ties of one of requester, member, former member, stranger", want, got)
				}
				got, err := c.Attachments.Ties(l.ctx, document.Attachment{ID: other}, requester)
				code(t, "Ties", err, "")
				same(t, "Ties of another attachment", store.AttachmentTies{}, got)
			})
		})
	}
}

package store_test

import (
	"os"
	"strings"
	"testing"

	"aliquot/internal/agreement/requirement"
	"aliquot/internal/exchange/datause"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/material"
	"aliquot/internal/store"
)

// TestMigration_GivesLabsTheirDocuments: what is in a database of before belongs to whom it would if it were filed now.
func TestMigration_GivesLabsTheirDocuments(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("migration/00009_people.sql")
	if err != nil {
		t.Fatal(err)
	}
	each(t, func(t *testing.T, l testLab) {
		requester, member := l.user().ID, l.user().ID
		organization := l.organization(member, member)
		mta, shared := l.attachment(member, nil), func(a *document.Attachment) { a.OwnedByOrg = &organization }
		material := l.material(organization, member, func(m *material.Material) { m.MTAAttachmentID = &mta })
		request := l.request(material, requester, member, nil)
		filed, signed, executed, private := l.attachment(member, shared), l.attachment(requester, shared),
			l.attachment(requester, shared), l.attachment(member, nil)
		sequence := l.attachment(member, func(a *document.Attachment) { a.SequenceMapFor = &material })
		l.write(func(ctx context, tx store.Conn) error {
			return tx.Requests.SaveDocuments(ctx, request, nil, []document.Document{
				{Slot: document.SignedMTA, AttachmentID: signed, State: document.Delivered, AddedBy: requester},
				{Slot: document.ExecutedMTA, AttachmentID: executed, State: document.Delivered, AddedBy: member},
			})
		})
		l.exec("UPDATE material_requests SET mta_attachment_id = NULL, mta_version = NULL")
		var text strings.Builder
		for line := range strings.Lines(string(file)) {
			if !strings.HasPrefix(line, "--") {
				text.WriteString(line)
			}
		}
		for statement := range strings.SplitSeq(text.String(), ";") {
			if statement = strings.TrimSpace(statement); strings.HasPrefix(statement, "UPDATE") {
				l.exec(statement)
			}
		}
		for id, want := range map[int64]bool{mta: true, filed: true, sequence: true, executed: true, signed: false,
			private: false} {
			a, err := l.db.Read().Attachments.Get(l.ctx, id)
			if err != nil || a.OfLab != want || want && (a.OwnedByOrg == nil || *a.OwnedByOrg != organization) {
				t.Errorf("%+v, %v; the lab's: want %v", a, err, want)
			}
		}
		if q, err := l.db.Read().Requests.Get(l.ctx, request); err != nil || q.MTA == nil ||
			*q.MTA != (document.MTA{Attachment: mta, Version: 1}) {
			t.Errorf("the request's MTA is %+v, %v", q.MTA, err)
		}
	})
}

// TestMigration_FindsMaterialsByTheirTermsOfDataUse that were there before such a search was.
func TestMigration_FindsMaterialsByTheirTermsOfDataUse(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		member := l.user().ID
		organization := l.organization(member, member)
		dataset := l.material(organization, member, func(m *material.Material) {
			m.Category, m.Metadata = "DATASET", []byte(`{"consent_restrictions":"DUO:0000042"}`)
		})
		stated, without := l.material(organization, member, nil), l.material(organization, member, nil)
		l.write(func(ctx context, tx store.Conn) error {
			return tx.TransferFacts.Save(ctx, stated, requirement.Facts{Uses: []datause.Term{{ID: "DUO:0000045"}}})
		})
		l.exec("UPDATE material_index SET facets = '', digest = ''")
		if err := l.db.IndexDataUses(l.ctx); err != nil {
			t.Fatal(err)
		}
		for id, want := range map[int64]string{dataset: "data_use=DUO:0000042", stated: "data_use=DUO:0000045", without: ""} {
			facets, err := store.Values[string](l.ctx, l.db.Read(), "SELECT facets FROM material_index WHERE id = $1", id)
			if err != nil || len(facets) != 1 || want == "" && facets[0] != "" || !strings.Contains(facets[0], want) {
				t.Errorf("material %d: %q, %v", id, facets, err)
			}
		}
	})
}

package app_test

import (
	"fmt"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/material"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// agreement creates a document of the lab and so many materials that name it as their MTA.
func (r *reminding) agreement(materials int) (documentID int64) {
	r.Helper()
	t, err := r.app.Documents.CreateAttachment(r.Context(), r.member, document.AttachmentPatch{Filename: exchange.Some("mta.pdf"),
		Description: exchange.Some("Ours"), OwnedByOrg: exchange.NullOf(exchange.Ref(r.lab))}, nil)
	r.must(err)
	for i := range materials {
		_, _, err := r.app.Materials.CreateMaterial(r.Context(), r.member,
			material.Patch{Category: exchange.Some("OTHER"), Title: exchange.Some(fmt.Sprint("Line ", i)),
				Organization: exchange.Some(exchange.Ref(r.lab)), MTAAttachment: exchange.NullOf(exchange.Ref(t.ID))})
		r.must(err)
	}
	return t.ID
}

// naming returns how many materials of the lab name a document as their MTA.
func (r *reminding) naming(document int64) int {
	r.Helper()
	part, err := r.app.Materials.Materials(r.Context(), r.member, exchange.Page{}, material.Filter{Organization: &r.lab})
	r.must(err)
	n := 0
	for _, m := range part.Items {
		if m.MTAAttachmentID != nil && *m.MTAAttachmentID == document {
			n++
		}
	}
	return n
}

func TestReplaceDocument_EverywhereOrNowhere(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newReminding(t, db)
		ctx, old, sql := t.Context(), r.agreement(12), storetest.SQL(t, db)
		renamed := document.AttachmentPatch{Filename: exchange.Some("mta-2.pdf")}
		if _, err := r.app.Labs.ReplaceDocument(ctx, r.person("stranger"), old, renamed,
			nil); exchange.CodeOf(err) != exchange.Forbidden {
			t.Errorf("replaced by a stranger: %v", err)
		}
		// Its last statement fails: then nothing of it is saved.
		_, err := sql.ExecContext(ctx, "ALTER TABLE audit_events RENAME TO away")
		r.must(err)
		_, failed := r.app.Labs.ReplaceDocument(ctx, r.member, old, renamed, nil)
		_, err = sql.ExecContext(ctx, "ALTER TABLE away RENAME TO audit_events")
		r.must(err)
		documents, err := db.Read().Attachments.OfOrganization(ctx, r.lab, exchange.Page{})
		r.must(err)
		if failed == nil || r.naming(old) != 12 || len(documents.Items) != 1 {
			t.Errorf("%v; %d materials name the old document, the lab has %d", failed, r.naming(old),
				len(documents.Items))
		}
		_, err = r.app.Materials.UpdateMaterial(ctx, r.member, r.material,
			material.Patch{MTAShown: exchange.NullOf(exchange.Ref(old)), NeedsMTA: exchange.Some(false)}, nil)
		r.must(err)
		made, err := r.app.Labs.ReplaceDocument(ctx, r.member, old, renamed, nil)
		r.must(err)
		if r.naming(old) != 0 || r.naming(made.ID) != 13 || made.Description != "Ours" {
			t.Errorf("%d materials name the old document, %d the new one: %+v", r.naming(old), r.naming(made.ID), made)
		}
		if m, err := r.app.Materials.Material(ctx, exchange.Actor{}, r.material); err != nil || m.NeedsMTA {
			t.Errorf("a material that names a document and needs none needs one by now: %v", err)
		}
		if _, err := r.app.Documents.Attachment(ctx, r.member, old); exchange.CodeOf(err) != exchange.NotFound {
			t.Errorf("the old document is still there: %v", err)
		}
		history, err := r.app.MaterialHistory(ctx, r.member, r.material, exchange.Page{Limit: 9})
		r.must(err)
		if last := history.Items[0]; *last.State.MTAAttachmentID != made.ID || last.By == nil ||
			last.By.ID != r.member.ID {
			t.Errorf("the last version is %+v", last)
		}
	})
}

// TestReplaceDocument_WritesEightMaterialsPerStatement: eight materials, which one statement writes on either database, cost
// as much as one.
func TestReplaceDocument_WritesEightMaterialsPerStatement(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newReminding(t, db)
		var counts []int64
		for _, materials := range []int{1, 1, 8} { // the first one warms up
			old := r.agreement(materials)
			before := db.Queries()
			_, err := r.app.Labs.ReplaceDocument(t.Context(), r.member, old,
				document.AttachmentPatch{Filename: exchange.Some("mta-2.pdf")}, nil)
			r.must(err)
			counts = append(counts, db.Queries()-before)
		}
		if counts[2] > counts[1] {
			t.Errorf("%d statements for one material, %d for eight", counts[1], counts[2])
		}
	})
}

package web_test

import (
	"fmt"
	"net/http"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
)

func TestSharePages_RunAConstantNumberOfStatements(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v := w.as("mario")
		m := w.material("HT-29")
		paths := []string{"/share", "/share/new?category=PDX", fmt.Sprintf("/catalog/%d/edit", m.ID),
			fmt.Sprintf("/catalog/%d/history", m.ID),
			"/share/import", "/share/spreadsheet"}
		count := func(path string) int64 {
			v.get(path).want(http.StatusOK)
			before := w.db.Queries()
			v.get(path).want(http.StatusOK)
			return w.db.Queries() - before
		}
		was := map[string]int64{}
		for _, path := range paths {
			was[path] = count(path)
		}
		organization := exchange.Some(exchange.Ref(m.OrganizationID))
		for i := range 12 {
			_, _, err := w.app.Materials.CreateMaterial(w.Context(), v.actor,
				material.Patch{Category: exchange.Some("OTHER"),
					Title: exchange.Some(fmt.Sprintf("More %d", i)), Organization: organization})
			w.must(err)
			_, err = w.app.Documents.CreateShipping(w.Context(), v.actor, lab.ShippingPatch{Organization: organization})
			w.must(err)
			_, err = w.app.Grants.CreateGrant(w.Context(), v.actor,
				person.GrantPatch{Title: exchange.Some("Grant"), FunderID: exchange.Some(fmt.Sprint(i))})
			w.must(err)
			_, err = w.app.Documents.CreateAttachment(w.Context(), v.actor,
				document.AttachmentPatch{Filename: exchange.Some("mta.pdf"),
					OwnedByOrg: exchange.NullOf(exchange.Ref(m.OrganizationID))}, nil)
			w.must(err)
			_, err = w.app.Materials.UpdateMaterial(w.Context(), v.actor, m.ID,
				material.Patch{Citation: exchange.NullOf(fmt.Sprint("Cite ", i))}, nil)
			w.must(err)
		}
		for _, path := range paths {
			if now := count(path); now != was[path] || now > 20 {
				w.Errorf("%s needs %d statements, needed %d", path, now, was[path])
			}
		}
	})
}

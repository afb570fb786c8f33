package api_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"aliquot/internal/api"
	"aliquot/internal/app/catalog"
	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// fieldErrorsOf are the names of the fields that an answer of 400 names.
func (a answer) faultsOf() []string {
	named, _ := a.Body["fields"].(map[string]any)
	return slices.Sorted(maps.Keys(named))
}

func TestValidation_NamesFieldsAsTheyWereSent(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		const nobody, nothing = "018f0000-0000-7000-8000-000000000000", 999_999
		material := fmt.Sprintf("/materials/%d", s.newMaterial())
		for _, test := range []struct {
			path  string
			sent  obj
			wrong []string
		}{
			{"/materials", obj{"title": "A", "category": "OTHER", "organization": "x"}, []string{"organization"}},
			{"/materials", obj{"title": "A", "category": "OTHER", "organization": nothing}, []string{"organization"}},
			{"/materials", obj{"title": "A", "category": "OTHER", "organization_id": nothing},
				[]string{"organization_id"}},
			{"/materials", obj{"title": "A", "category": "OTHER"}, []string{"organization_id"}},
			{material, obj{"organism": []any{"a\x01"}}, []string{"organism"}},
			{material, obj{"organisms": []any{"a\x01"}}, []string{"organisms"}},
			{material, obj{"contact_user": obj{"id": nobody}}, []string{"contact_user"}},
			{material, obj{"shipping_requirements": nothing, "mta_attachment": nothing},
				[]string{"mta_attachment", "shipping_requirements"}},
			{material, obj{"mta_attachment_id": nothing}, []string{"mta_attachment_id"}},
			{"/material-requests", obj{"material_id": nothing}, []string{"material_id"}},
			{fmt.Sprintf("/material-requests/%d/messages", s.request), obj{"body": "a\x01"}, []string{"body"}},
			{"/shipping-requirements", obj{"organization_id": nothing}, []string{"organization_id"}},
		} {
			method := "POST"
			if test.path == material {
				method = "PATCH"
			}
			a := s.member.refused(400, "INVALID_INPUT", method, test.path, test.sent)
			if got := a.faultsOf(); !slices.Equal(got, test.wrong) {
				t.Errorf("%s %v names %v, want %v", test.path, test.sent, got, test.wrong)
			}
		}
		// A field that may not be set is named alike.
		foreign := s.paper(s.people["stranger"])
		for _, name := range []string{"mta_attachment", "mta_attachment_id"} {
			if a := s.member.refused(403, "FIELD_FORBIDDEN", "PATCH", material,
				obj{name: foreign}); a.Body["field"] != name {
				t.Errorf("%s is called %v", name, a.Body["field"])
			}
		}
	})
}

func TestValidation_NamesAllWrongFieldsAndReferencesAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		const nobody, nothing = "018f0000-0000-7000-8000-000000000000", 999_999
		for path, sent := range map[string]obj{
			"/materials": {"title": "", "category": "STONE", "organization": nothing, "contact_user_id": nobody,
				"mta_attachment": nothing, "pubmed_id": "x"},
			"/material-requests": {"material": nothing, "payment_method": "GOLD", "address": nothing,
				"irb_attachment": nothing, "requester_signed_mta_attachment": nothing},
			"/organizations": {"owner": s.member.ID, "members": []any{nobody}, "name": "a\x01"},
			"/attachments":   {"filename": "a/b", "owned_by_org": nothing, "sequence_map_for": nothing},
			"/materials/import": {"import_source": "STONE", "accession": "x", "organization_id": nothing,
				"grant_id": nothing},
		} {
			want := slices.DeleteFunc(slices.Sorted(maps.Keys(sent)),
				func(name string) bool { return name == "owner" || name == "accession" })
			a := s.member.refused(400, "INVALID_INPUT", "POST", path, sent)
			if got := a.faultsOf(); !slices.Equal(got, want) {
				t.Errorf("%s names %v, want %v: %s", path, got, want, a.Raw)
			}
		}
		a := s.member.refused(400, "INVALID_INPUT", "POST", "/materials",
			obj{"title": 7, "category": "OTHER", "organization_id": nothing})
		if got := a.faultsOf(); !slices.Equal(got, []string{"organization_id", "title"}) {
			t.Errorf("of a wrong type: %v", got)
		}
	})
}

// TestReferences_ToEmbargoedMaterialLookMissing: that a reference is wrong does not tell that there is a material.
func TestReferences_ToEmbargoedMaterialLookMissing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		hidden := s.newMaterial()
		s.member.want(200, "PATCH", fmt.Sprintf("/materials/%d", hidden), obj{"embargo_date": "2999-01-01"})
		for _, id := range []int64{hidden, 999_999} {
			a := s.people["stranger"].refused(400, "INVALID_INPUT", "POST", "/attachments",
				obj{"filename": "a/b", "sequence_map_for": id})
			if got := a.faultsOf(); !slices.Equal(got, []string{"filename", "sequence_map_for"}) {
				t.Errorf("%d: %v", id, got)
			}
		}
	})
}

// TestReferences_OfEveryBodyCanBeLookedUp holds app.Refers to the types of the bodies.
func TestReferences_OfEveryBodyCanBeLookedUp(t *testing.T) {
	t.Parallel()
	for _, line := range api.Lines() {
		if !hasBody(line) {
			continue
		}
		for _, f := range reflect.VisibleFields(line.In) {
			switch f.Type {
			case reflect.TypeFor[exchange.Opt[exchange.Ref]](), reflect.TypeFor[exchange.Null[exchange.Ref]](),
				reflect.TypeFor[exchange.Opt[exchange.UserRef]](),
				reflect.TypeFor[exchange.Null[exchange.UserRef]](), reflect.TypeFor[exchange.Opt[[]exchange.UserRef]]():
				if name := f.Tag.Get("json"); !catalog.Refers(name) {
					t.Errorf("%s: app.lookUps does not say what %s refers to", line.Route, name)
				}
			}
		}
	}
}

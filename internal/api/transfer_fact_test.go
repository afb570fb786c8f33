package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// TestTransferFacts_FollowFromTheCategoryOrAreStatedByTheLab and show which.
func TestTransferFacts_FollowFromTheCategoryOrAreStatedByTheLab(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		member := s.member
		made := member.want(201, "POST", "/materials", obj{"category": "OTHER", "title": "Plasma",
			"organization_id": s.id, "additional_metadata": obj{"description": "Plasma",
				"organism_ids": []string{"NCBITaxon:9606"}, "biosafety_level": "BSL-2"}}).id()
		path := fmt.Sprintf("/materials/%d/transfer-facts", made)
		known := s.requester().want(200, "GET", path, nil).Body
		sources := known["sources"].(map[string]any)
		if known["human_derived"] != "UNKNOWN" || sources["human_derived"] != "organism_ids" || known["bsl"] != "2" ||
			sources["bsl"] != "biosafety_level" || known["select_agent"] != "UNKNOWN" || sources["select_agent"] != nil ||
			known["encumbrances"] != nil || known["accessed_on"] != nil {
			t.Errorf("known: %v", known)
		}
		for field, value := range map[string]any{"human_derived": "NO", "bsl": "1", "select_agent": "PERHAPS",
			"accessed_on": "yesterday", "encumbrances": []obj{{"holder": "", "terms": []string{}, "document": ""}},
			"data_uses": []obj{{"id": "DUO:0000007"}}, "origin_country": "Atlantis"} {
			s.unchanged(field, func() {
				got := member.refused(400, "INVALID_INPUT", "PATCH", path, obj{field: value})
				if faults := got.faultsOf(); len(faults) != 1 || faults[0] != field {
					t.Errorf("%s: %s", field, got.Raw)
				}
			})
		}
		stated := member.want(200, "PATCH", path, obj{"human_derived": "ANONYMISED", "consent_allows": "YES",
			"encumbrances": []obj{}, "data_uses": []obj{{"id": "DUO:0000007", "value": "MONDO:0005148"}},
			"origin_country": "Brazil", "accessed_on": "2020-01-31"})
		sources = stated.Body["sources"].(map[string]any)
		if stated.Body["origin_country"] != "BR" || sources["human_derived"] != "lab" || sources["bsl"] != "biosafety_level" ||
			fmt.Sprint(stated.Body["encumbrances"]) != "[]" {
			t.Errorf("stated: %s", stated.Raw)
		}
		s.unchanged("what GET answered", func() { member.want(200, "PUT", path, stated.Body) })
		s.foundByDataUse("DUO:0000007", made)
		again := member.want(200, "PATCH", path, obj{"human_derived": "UNKNOWN", "data_uses": nil}).Body
		s.foundByDataUse("DUO:0000007")
		if again["human_derived"] != "UNKNOWN" || again["consent_allows"] != "YES" || again["data_uses"] != nil {
			t.Errorf("taken back: %v", again)
		}
		member.want(200, "PATCH", fmt.Sprintf("/materials/%d", made), obj{"embargo_date": "2999-01-01"})
		s.requester().refused(404, "NOT_FOUND", "GET", path, nil)
		s.requester().refused(404, "NOT_FOUND", "PATCH", path, obj{})
	})
}

// foundByDataUse checks which materials a search finds by a term of data use, which is named and counted.
func (s *scene) foundByDataUse(term string, want ...int64) {
	s.t.Helper()
	found := s.people["anonymous"].want(200, "GET", "/search/materials?data_use="+term, nil)
	var ids []int64
	for _, one := range found.of("results").([]any) {
		ids = append(ids, int64(one.(map[string]any)["id"].(float64)))
	}
	counted := fmt.Sprintf("%s:%d", term, len(want))
	if !slices.Equal(ids, want) || len(want) > 0 && (!strings.Contains(fmt.Sprint(found.at("facets.data_use")), counted) ||
		!strings.Contains(fmt.Sprint(found.at("facet_labels.data_use")), "disease")) {
		s.t.Errorf("by %s: %s", term, found.Raw)
	}
}

// TestSearch_FindsDatasetsByTheirTermsOfDataUse, which are in a field of theirs.
func TestSearch_FindsDatasetsByTheirTermsOfDataUse(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		dataset := s.member.want(201, "POST", "/materials", obj{"category": "DATASET", "title": "Exomes",
			"organization_id": s.id, "additional_metadata": obj{"description": "Exomes",
				"consent_restrictions": "DUO:0000007 (MONDO:0005148); DUO:0000045"}}).id()
		s.foundByDataUse("DUO:0000007", dataset)
		s.member.want(200, "PATCH", fmt.Sprintf("/materials/%d/transfer-facts", dataset),
			obj{"data_uses": []obj{{"id": "DUO:0000021"}}})
		s.member.want(200, "PATCH", fmt.Sprintf("/materials/%d", dataset), obj{"title": "Exomes of 2026"})
		if found := s.people["anonymous"].want(200, "GET", "/search/materials?data_use=DUO:0000021", nil); found.
			Body["count"] != 1.0 {
			t.Errorf("a term that the lab stated is lost with a change: %s", found.Raw)
		}
	})
}

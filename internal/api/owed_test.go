package api_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// valuesOf returns the values of a field in a list of an answer, joined by spaces.
func valuesOf(body obj, list, field string) string {
	var values []string
	items, _ := body[list].([]any)
	for _, item := range items {
		values = append(values, fmt.Sprint(item.(map[string]any)[field]))
	}
	return strings.Join(values, " ")
}

// TestRequirements_OfHumanPlasmaAskAboutConsentAndIRB, although nobody set a flag, before the requester owes anything.
func TestRequirements_OfHumanPlasmaAskAboutConsentAndIRB(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		plasma := s.member.want(201, "POST", "/materials", obj{"category": "OTHER", "title": "Plasma",
			"organization_id": s.id, "additional_metadata": obj{"description": "Plasma",
				"organism_ids": []string{"NCBITaxon:9606"}}}).id()
		asked := s.requester().want(201, "POST", "/material-requests", obj{"material_id": plasma}).id()
		path, facts := fmt.Sprintf("/material-requests/%d/requirements", asked),
			fmt.Sprintf("/materials/%d/transfer-facts", plasma)
		owed := s.requester().want(200, "GET", path, nil).Body
		if kinds := valuesOf(owed, "requirements", "kind"); kinds != "" {
			t.Errorf("before the lab was asked, the requester owes %s", kinds)
		}
		for _, fact := range []string{"human_derived", "consent_allows", "irb_needed"} {
			if !strings.Contains(valuesOf(owed, "questions", "fact"), fact) {
				t.Errorf("nobody asks about %s: %v", fact, owed)
			}
		}
		s.member.want(200, "PATCH", facts, obj{"human_derived": "IDENTIFIABLE", "consent_allows": "YES",
			"live_animal": "NO", "genetically_modified": "NO", "bsl": "2", "select_agent": "NO", "export_class": "NO"})
		owed = s.requester().want(200, "GET", path, nil).Body
		if kinds := valuesOf(owed, "requirements", "kind"); !strings.Contains(kinds, "IRB") ||
			valuesOf(owed, "questions", "fact") != "" {
			t.Errorf("the donor can be identified: %v", owed)
		}
		s.member.want(200, "PATCH", facts, obj{"consent_allows": "NO"})
		if owed = s.member.want(200, "GET", path, nil).Body; !strings.Contains(valuesOf(owed, "requirements", "state"), "BLOCKED") {
			t.Errorf("the consent forbids it: %v", owed)
		}
	})
}

// TestResolve_SaysWhichInstrumentWhyAndWhyNotTheOthers.
func TestResolve_SaysWhichInstrumentWhyAndWhyNotTheOthers(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		plasmid := s.member.want(201, "POST", "/materials", obj{"category": "PLASMID", "title": "pUC19",
			"organization_id": s.id, "additional_metadata": obj{}}).id()
		other := s.people["admin"].want(201, "POST", "/institutions", obj{"legal_name": "Institute", "country": "FR",
			"kind": "NONPROFIT", "kind_evidence": "statute", "kind_since": "1990-01-01"}).id()
		ask := obj{"material": plasmid, "recipient": other}
		if a := s.requester().refused(409, "CONFLICT", "POST", "/agreements/resolve", ask); !strings.Contains(string(a.Raw), "labs") {
			t.Errorf("a lab without institution: %s", a.Raw)
		}
		home := s.institution()
		s.member.want(200, "PATCH", fmt.Sprintf("/materials/%d/transfer-facts", plasmid), obj{"export_class": "NO",
			"encumbrances": []obj{}, "proprietary": "NO"})
		instrumentOf := func(a answer) string {
			i, _ := a.Body["instrument"].(map[string]any)
			return fmt.Sprint(i["family"])
		}
		before := s.requester().want(200, "POST", "/agreements/resolve", ask)
		if instrumentOf(before) == "UBMTA" || !strings.Contains(string(before.Raw), "SIGN_MASTER") {
			t.Errorf("the recipient signed no master agreement: %s", before.Raw)
		}
		s.people["admin"].want(201, "POST", fmt.Sprintf("/institutions/%d/masters", other), obj{"family": "UBMTA",
			"signed_on": "2020-01-01"})
		after := s.requester().want(200, "POST", "/agreements/resolve", ask)
		if instrumentOf(after) == instrumentOf(before) || valuesOf(after.Body, "because", "why") == "" {
			t.Errorf("both signed it: %s", after.Raw)
		}
		s.resolvesTogether(plasmid, other)
		ask["choice"] = "NO_SUCH"
		s.requester().refused(400, "INVALID_INPUT", "POST", "/agreements/resolve", ask)
		ask["choice"], ask["provider"] = "", home.id
		s.requester().want(200, "POST", "/agreements/resolve", ask)
	})
}

// resolvesTogether asks for one instrument for a plasmid and others: of the same, and of which nobody knows a thing.
func (s *scene) resolvesTogether(plasmid, recipient int64) {
	s.t.Helper()
	listed := func(title, category string) int64 {
		return s.member.want(201, "POST", "/materials", obj{"category": category, "title": title,
			"organization_id": s.id, "additional_metadata": obj{}}).id()
	}
	same, unknown := listed("pUC20", "PLASMID"), listed("HeLa S3", "CELL_LINE")
	s.member.want(200, "PATCH", fmt.Sprintf("/materials/%d/transfer-facts", same), obj{"export_class": "NO",
		"encumbrances": []obj{}, "proprietary": "NO"})
	ask := func(ids ...int64) answer {
		return s.requester().want(200, "POST", "/agreements/resolve", obj{"materials": ids, "recipient": recipient})
	}
	one := s.requester().want(200, "POST", "/agreements/resolve", obj{"material": plasmid, "recipient": recipient})
	if both := ask(plasmid, same, plasmid); !reflect.DeepEqual(both.of("instrument"), one.of("instrument")) ||
		len(both.of("materials").([]any)) != 2 || len(one.of("materials").([]any)) != 1 {
		s.t.Errorf("two of the same: %s", both.Raw)
	}
	differ := ask(unknown, plasmid)
	if differ.of("instrument") != nil || len(differ.of("because").([]any)) != 0 ||
		!strings.Contains(fmt.Sprint(differ.of("questions")), "export_class") {
		s.t.Errorf("two that take different ones: %s", differ.Raw)
	}
	elsewhere := s.people["admin"].want(201, "POST", "/materials", obj{"category": "PLASMID", "title": "pUC21",
		"organization_id": s.labBeside(s.people["admin"]), "additional_metadata": obj{}}).id()
	for _, wrong := range []obj{{"materials": []int64{}}, {"material": plasmid, "materials": []int64{same}},
		{"materials": make([]int64, 201)}, {"materials": []int64{plasmid, 999999}},
		{"materials": []int64{plasmid, elsewhere}}} {
		wrong["recipient"] = recipient
		s.requester().refused(400, "INVALID_INPUT", "POST", "/agreements/resolve", wrong)
	}
}

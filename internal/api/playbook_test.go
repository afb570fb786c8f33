package api_test

import (
	"fmt"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// clause is a position on a term in the body of a playbook.
func clause(term, provide, receive, note string) obj {
	return obj{"term": term, "provide": provide, "receive": receive, "note": note}
}

// preference is one in the body of a playbook, with another value of a field.
func preference(field string, value any) obj {
	p := obj{"categories": []string{}, "counterparties": []int64{}, "families": []string{"SIMPLE_LETTER"}}
	p[field] = value
	return p
}

// TestPlaybook_IsKeptAsItsOfficersWroteIt also checks that what a GET returns can be sent back, that a change needs the
// tag that its caller saw, and that the record has it.
func TestPlaybook_IsKeptAsItsOfficersWroteIt(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		path := s.institution().path + "/playbook"
		empty := s.owner.want(200, "GET", path, nil)
		if empty.of("changed_at") != nil || len(empty.of("provide").([]any)) != 0 {
			t.Errorf("at first: %v", empty.Body)
		}
		body := obj{"provide": []obj{preference("categories", []string{"PLASMID"})},
			"accept":  []string{"SIMPLE_LETTER", "SIMPLE_LETTER"},
			"clauses": []obj{clause("NON_COMMERCIAL", "REQUIRED", "ACCEPTED", "Policy 7")}}
		made := s.owner.want(200, "PUT", path, body)
		kept := made.of("clauses").([]any)[0].(map[string]any)
		if len(made.of("accept").([]any)) != 1 || kept["receive"] != "ACCEPTED" || kept["note"] != "Policy 7" ||
			made.of("changed_at") == nil {
			t.Errorf("made: %v", made.Body)
		}
		read := s.owner.want(200, "GET", path, nil)
		again := s.owner.want(200, "PUT", path, read.Body)
		if fmt.Sprint(read.Body) != fmt.Sprint(made.Body) || fmt.Sprint(again.Body) != fmt.Sprint(made.Body) {
			t.Errorf("%v, read %v, sent back %v", made.Body, read.Body, again.Body)
		}
		s.owner.want(200, "PATCH", path, obj{"accept": []string{}})
		if kept := s.owner.want(200, "GET", path, nil); len(kept.of("clauses").([]any)) != 1 {
			t.Errorf("a change of one list: %v", kept.Body)
		}
		s.recordHolds()
	})
}

func TestPlaybook_RefusesWhatDoesNotExist(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		path := s.institution().path + "/playbook"
		for field, values := range map[string][]any{
			"accept": {[]string{"NOTHING"}},
			"provide": {[]obj{preference("families", []string{"NOTHING"})}, []obj{preference("families", []string{})},
				[]obj{preference("categories", []string{"TEA"})}, []obj{preference("counterparties", []int64{999999})},
				[]obj{preference("counterparties", []int64{s.institution().id})}},
			"clauses": {[]obj{clause("NO_TEA", "ACCEPTED", "ACCEPTED", "")},
				[]obj{clause("REPORT", "ACCEPTED", "PERHAPS", "")}, []obj{clause("REPORT", "ASK", "ASK", ""),
					clause("REPORT", "ASK", "ASK", "")}},
		} {
			for _, value := range values {
				refused := s.owner.want(400, "PUT", path, obj{field: value})
				if fields, _ := refused.Body["fields"].(map[string]any); len(fields) != 1 || fields[field] == nil {
					t.Errorf("%s: %v", field, refused.Body)
				}
			}
		}
		if is := s.owner.want(200, "GET", path, nil); is.of("changed_at") != nil {
			t.Errorf("what was refused changed something: %v", is.Body)
		}
	})
}

func TestPlaybook_IsComparedWithThatOfAnother(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		other := s.recipient()
		compare := fmt.Sprintf("%s/playbook/conflicts?with=%d", s.institution().path, other)
		conflicts := func(query string) []any {
			t.Helper()
			return s.owner.want(200, "GET", compare+query, nil).of("conflicts").([]any)
		}
		if list := conflicts(""); len(list) != 0 {
			t.Errorf("without playbooks: %v", list)
		}
		s.official.want(200, "PUT", fmt.Sprintf("/institutions/%d/playbook", other),
			obj{"clauses": []obj{clause("NON_COMMERCIAL", "ACCEPTED", "NOT_ACCEPTED", "secret")}})
		list := conflicts("&instrument=SIMPLE_LETTER_1995")
		if len(list) != 1 {
			t.Fatalf("conflicts: %v", list)
		}
		one := list[0].(map[string]any)
		if one["term"] != "NON_COMMERCIAL" || one["of"] != float64(other) || one["position"] != "NOT_ACCEPTED" ||
			one["provider"] != float64(s.institution().id) {
			t.Errorf("the conflict: %v", one)
		}
		s.owner.refused(400, "INVALID_INPUT", "GET", s.institution().path+"/playbook/conflicts", nil)
		for _, query := range []string{"?with=999999", fmt.Sprintf("?with=%d", s.institution().id),
			fmt.Sprintf("?with=%d&instrument=TEA", other)} {
			s.owner.refused(400, "INVALID_INPUT", "GET", s.institution().path+"/playbook/conflicts"+query, nil)
		}
	})
}

// TestPlaybook_AConflictGoesToPeopleUntilBothHaveAgreed also checks that it keeps nobody from signing, and that what
// both agreed on is the precedent of the next letter.
func TestPlaybook_AConflictGoesToPeopleUntilBothHaveAgreed(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		s.covered()
		playbook := fmt.Sprintf("/institutions/%d/playbook", s.recipient())
		s.official.want(200, "PUT", playbook, obj{"clauses": []obj{clause("ATTRIBUTION", "ACCEPTED", "ASK", "")}})
		conflict := func(path string, settled bool) {
			t.Helper()
			is := s.requester().want(200, "GET", path, nil)
			list := is.of("conflicts").([]any)
			if len(list) != 1 || list[0].(obj2)["of"] != float64(s.recipient()) || list[0].(obj2)["term"] != "ATTRIBUTION" ||
				list[0].(obj2)["settled"] != settled {
				t.Errorf("conflicts, settled %v: %v", settled, list)
			}
		}
		path := s.sendLetter(s.newPlasmid())
		conflict(path, false)
		s.goesToPeople("it conflicts with the playbook", path, "RECIPIENT_OFFICIAL", "PLAYBOOK_CONFLICT")
		execute := func(path string, people map[string]*testPerson) {
			t.Helper()
			for role, p := range people {
				p.want(201, "POST", path+"/signatures", s.signature(path, role))
			}
			if is := s.requester().want(200, "GET", path, nil); is.of("state") != "EXECUTED" {
				t.Fatalf("signed: %s", is.Raw)
			}
		}
		scientists := map[string]*testPerson{"RECIPIENT_SCIENTIST": s.requester(), "PROVIDER_SCIENTIST": s.owner}
		execute(path, map[string]*testPerson{"RECIPIENT_SCIENTIST": s.requester(), "PROVIDER_SCIENTIST": s.owner,
			"RECIPIENT_OFFICIAL": s.official})

		next := s.sendLetter(s.newPlasmid())
		conflict(next, true)
		is := s.requester().want(200, "GET", next, nil)
		precedent, _ := is.of("precedent").(obj2)
		if precedent["times"] != 1.0 || precedent["category"] != "PLASMID" ||
			is.of("because").([]any)[0].(obj2)["rule"] != "P8" {
			t.Errorf("the precedent: %s", is.Raw)
		}
		execute(next, scientists)

		s.official.want(200, "PATCH", playbook, obj{"clauses": []obj{clause("ATTRIBUTION", "ACCEPTED", "NOT_ACCEPTED", "")}})
		last := s.sendLetter(s.newPlasmid())
		conflict(last, false)
		s.goesToPeople("the playbook changed", last, "RECIPIENT_OFFICIAL", "PLAYBOOK_CONFLICT")
		s.recordHolds()
	})
}

// TestPrecedent_IsShownToWhomMaySeeTheAgreement: others get the same answer without it.
func TestPrecedent_IsShownToWhomMaySeeTheAgreement(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		s.covered()
		path := s.sendLetter(s.newPlasmid())
		s.requester().want(201, "POST", path+"/signatures", s.signature(path, "RECIPIENT_SCIENTIST"))
		done := s.owner.want(201, "POST", path+"/signatures", s.signature(path, "PROVIDER_SCIENTIST"))
		asked := obj{"material": s.plasmid(), "recipient": s.recipient()}
		for name, p := range map[string]*testPerson{"the requester": s.requester(), "a member": s.member,
			"an officer": s.official, "an admin": s.people["admin"], "an outsider": s.person("outsider")} {
			r := p.want(200, "POST", "/agreements/resolve", asked)
			precedent, _ := r.of("precedent").(obj2)
			if r.of("because").([]any)[0].(obj2)["rule"] != "P8" {
				t.Errorf("%s: %s", name, r.Raw)
			}
			if seen := precedent["number"] == done.of("number"); seen == (name == "an outsider") {
				t.Errorf("%s: %v", name, precedent)
			}
		}
	})
}

package api_test

import (
	"fmt"
	"time"
)

// office is an institution that is confirmed, whose officer is the owner of the scene's lab, with what is registered
// of it.
type office struct {
	path                                                                      string
	id                                                                        int64
	lab, affiliation, position, authority, outside, standIn, master, approval int64
}

// institution returns the scene's institution.
func (s *scene) institution() *office {
	s.t.Helper()
	if s.office == nil {
		s.office = s.newInstitution()
	}
	return s.office
}

// newInstitution makes an institution with one of everything. The owner may sign all, an outsider a part of it.
func (s *scene) newInstitution() *office {
	s.t.Helper()
	admin := s.people["admin"]
	o := &office{id: admin.want(201, "POST", "/institutions",
		obj{"legal_name": fmt.Sprint("Universität ", s.next()), "country": "Germany", "confirmed": true,
			"kind": "NONPROFIT", "kind_evidence": "statute", "kind_since": "1990-01-01"}).id()}
	o.path = fmt.Sprintf("/institutions/%d", o.id)
	add := func(by *testPerson, kind string, body obj) int64 {
		s.t.Helper()
		return by.want(201, "POST", o.path+"/"+kind, body).id()
	}
	o.position = add(admin, "positions", obj{"title": "Director, Technology Transfer"})
	o.authority = add(admin, "authorities", obj{"position": o.position, "holder": s.owner.ID, "name": "The owner",
		"mail": "owner@example.edu", "direction": "BOTH", "human": true, "largest_bsl": 3, "from": "2020-01-01"})
	o.outside = add(s.owner, "authorities", s.authority(o.position))
	o.standIn = add(s.owner, "stand-ins", standIn(o.authority))
	o.lab = add(s.owner, "labs", obj{"organization": s.id, "from": "2020-01-01", "confirmed": true})
	o.affiliation = add(s.requester(), "affiliations", obj{"from": "2020-01-01"})
	o.master = add(s.owner, "masters", obj{"family": "ubmta", "version": "1995", "signed_on": "1995-06-01",
		"checked_on": "2026-01-01"})
	o.approval = add(s.owner, "approvals", standing())
	return o
}

// authority is the body of an authority of somebody without an account.
func (s *scene) authority(position int64) obj {
	return obj{"position": position, "name": "Ada Outside", "mail": "ada@example.edu", "direction": "PROVIDE",
		"families": []string{"UBMTA"}, "categories": []string{"PLASMID"}, "largest_bsl": 2, "from": "2026-01-01"}
}

// standIn is the body of a stand-in without an account.
func standIn(authority int64) obj {
	return obj{"authority": authority, "name": "Grace Outside", "mail": "grace@example.edu", "reason": "leave",
		"from": "2026-01-01", "until": "2026-02-01"}
}

// standing is the body of a standing approval for today, for what the scene's lab provides.
func standing() obj {
	today := time.Now().UTC()
	return obj{"direction": "PROVIDE", "families": []string{"UBMTA_LETTER"}, "categories": []string{"PLASMID"},
		"from": today.Format(time.DateOnly), "until": today.AddDate(1, 0, 0).Format(time.DateOnly)}
}

// confirmAll confirms every institution, since a person may have made few that are not.
func (s *scene) confirmAll() {
	s.t.Helper()
	if _, err := s.sql.ExecContext(s.t.Context(), "UPDATE institutions SET confirmed = TRUE"); err != nil {
		s.t.Fatal(err)
	}
}

// day is a day in the past that was not used before.
func (s *scene) day() string {
	return time.Date(2001, 1, s.next(), 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
}

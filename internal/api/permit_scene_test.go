package api_test

import (
	"fmt"
	"maps"
)

// permit is the body of a permit, with some fields of its own.
func (s *scene) permit(own obj) obj {
	body := obj{"regime": "IRB", "number": fmt.Sprint("A-", s.next()), "authority": "The board", "from": "2020-01-01"}
	maps.Copy(body, own)
	return body
}

// newPermit has somebody add a permit and returns its id.
func (s *scene) newPermit(by *testPerson, own obj) int64 {
	s.t.Helper()
	return by.want(201, "POST", "/permits", s.permit(own)).id()
}

// permitOf returns the id of a new permit that a role may use: that of the lab for its members, otherwise their own.
func (s *scene) permitOf(role string) int64 {
	s.t.Helper()
	switch role {
	case "anonymous":
		return s.newPermit(s.requester(), obj{})
	case "member", "owner", "assignee":
		return s.newPermit(s.member, obj{"organization": s.id})
	}
	return s.newPermit(s.people[role], obj{})
}

const usedPath = "/material-requests/%d/permits/%d"

// used has a request use a permit of a role, or of the requester's if the role is no party, and returns the path of
// that.
func (s *scene) used(role string) string {
	s.t.Helper()
	request := s.newRequest()
	by := s.people[role]
	switch role {
	case "anonymous", "stranger", "former":
		role, by = "requester", s.requester()
	}
	permit := s.permitOf(role)
	by.want(201, "POST", fmt.Sprintf("/material-requests/%d/permits", request), obj{"permit": permit})
	return fmt.Sprintf(usedPath, request, permit)
}

// usedPermit returns the id of a permit of a role that a request uses.
func (s *scene) usedPermit(role string) (permit int64) {
	s.t.Helper()
	var request int64
	if _, err := fmt.Sscanf(s.used(role), usedPath, &request, &permit); err != nil {
		s.t.Fatal(err)
	}
	return permit
}

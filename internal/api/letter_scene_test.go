package api_test

import (
	"encoding/json"
	"fmt"

	"aliquot/internal/agreement/signing/signingtest"
	"aliquot/internal/app/evidence"
)

// recipient returns an institution of the requester, other than that of the lab, for which the official signs.
func (s *scene) recipient() int64 {
	s.t.Helper()
	s.institution()
	if s.receives == 0 {
		s.receives = s.people["admin"].want(201, "POST", "/institutions", obj{"legal_name": "Recipient Institute",
			"country": "GB", "confirmed": true, "kind": "NONPROFIT", "kind_evidence": "statute",
			"kind_since": "1990-01-01"}).id()
		s.people["admin"].want(201, "POST", fmt.Sprintf("/institutions/%d/affiliations", s.receives),
			obj{"person": s.requester().ID, "from": "2020-01-01", "confirmed": true})
		s.official = s.person("official")
		position := s.people["admin"].want(201, "POST", fmt.Sprintf("/institutions/%d/positions", s.receives),
			obj{"title": "Contracts Officer", "from": "2020-01-01"}).id()
		s.people["admin"].want(201, "POST", fmt.Sprintf("/institutions/%d/authorities", s.receives), obj{
			"position": position, "holder": s.official.ID, "direction": "RECEIVE", "human": true, "largest_bsl": 2,
			"from": "2020-01-01"})
	}
	return s.receives
}

// newProtocol requests a protocol of the lab, which is sent without that anybody states facts.
func (s *scene) newProtocol() int64 {
	s.t.Helper()
	material := s.member.want(201, "POST", "/materials",
		obj{"category": "PROTOCOL", "title": "Staining", "organization_id": s.id}).id()
	return s.requester().want(201, "POST", "/material-requests", obj{"material": material, "quantity": "1 copy"}).id()
}

// draft is the body of a letter for some requests for protocols.
func (s *scene) draft(requests ...int64) obj {
	return obj{"requests": requests, "choice": "NONE", "recipient": s.recipient()}
}

// newLetter drafts a letter for a request of the requester, and does some things with it.
func (s *scene) newLetter(acts ...string) string {
	s.t.Helper()
	path := fmt.Sprintf("/agreements/%d",
		s.requester().want(201, "POST", "/agreements", s.draft(s.newProtocol())).id())
	for _, act := range acts {
		s.requester().want(200, "POST", path+act, nil)
	}
	return path
}

// newPlasmid requests such a plasmid as plasmid lists.
func (s *scene) newPlasmid() int64 {
	s.t.Helper()
	return s.requester().want(201, "POST", "/material-requests",
		obj{"material": s.plasmid(), "quantity": "1 vial"}).id()
}

// plasmid lists a plasmid of the lab that needs an MTA, and states every fact of it.
func (s *scene) plasmid() int64 {
	s.t.Helper()
	material := s.member.want(201, "POST", "/materials",
		obj{"category": "PLASMID", "title": "pUC19", "organization_id": s.id, "needs_mta": true}).id()
	s.member.want(200, "PATCH", fmt.Sprintf("/materials/%d/transfer-facts", material), obj{"bsl": "1",
		"genetically_modified": "NO", "select_agent": "NO", "plant_genetic_resource": "NO", "export_class": "NO",
		"encumbrances": []obj{}, "proprietary": "NO"})
	return material
}

// sendLetter drafts a letter for requests of the requester, and sends it.
func (s *scene) sendLetter(requests ...int64) string {
	s.t.Helper()
	path := fmt.Sprintf("/agreements/%d", s.requester().want(201, "POST", "/agreements",
		obj{"requests": requests, "recipient": s.recipient()}).id())
	s.requester().want(200, "POST", path+"/send", nil)
	return path
}

// signature is the body of a signature on a letter as it is now.
func (s *scene) signature(path, role string) obj {
	s.t.Helper()
	is := s.requester().want(200, "GET", path, nil)
	return obj{"role": role, "version": is.Body["version"], "sha256": is.Body["sha256"]}
}

// external registers an official of the provider of a letter who has no account, and returns their address.
func (s *scene) external(path string) string {
	s.t.Helper()
	i := fmt.Sprintf("/institutions/%v", s.requester().want(200, "GET", path, nil).of("provider"))
	position := s.people["admin"].want(201, "POST", i+"/positions", obj{"title": "Director", "from": "2020-01-01"}).id()
	mail := fmt.Sprintf("director%d@university.example", s.next())
	s.people["admin"].want(201, "POST", i+"/authorities", obj{"position": position, "name": "Dana Director",
		"mail": mail, "direction": "BOTH", "human": true, "largest_bsl": 3, "from": "2020-01-01"})
	return mail
}

// link has a link to a letter mailed to an official without an account.
func (s *scene) link(path string) {
	s.t.Helper()
	s.requester().want(201, "POST", path+"/links", obj{"role": "PROVIDER_OFFICIAL", "mail": s.external(path)})
}

// touch asks somebody to sign letters with the passkey of a device, which is theirs, and returns the device's answer.
func (s *scene) touch(p *testPerson, device *signingtest.Device, role string, letters ...string) obj {
	s.t.Helper()
	s.forgetStatements()
	var ids []int64
	for _, path := range letters {
		ids = append(ids, p.want(200, "GET", path, nil).id())
	}
	options, err := json.Marshal(p.want(200, "POST", fmt.Sprintf("/users/%s/signatures/options", p.ID),
		obj{"role": role, "agreements": ids}).Body["options"])
	if err != nil {
		s.t.Fatal(err)
	}
	return obj{"credential": json.RawMessage(device.Get(s.t, options, publicURL))}
}

// device returns a device with a passkey that it registered for somebody.
func (s *scene) device(p *testPerson) *signingtest.Device {
	s.t.Helper()
	device := signingtest.New(s.t)
	p.want(201, "POST", fmt.Sprintf("/users/%s/passkeys", p.ID), s.passkey(p, device))
	return device
}

// recordHolds verifies the whole record.
func (s *scene) recordHolds() {
	s.t.Helper()
	r, err := s.app.Evidence.Verify(s.t.Context(), evidence.Verification{Files: true})
	if err != nil || r.FaultCount > 0 {
		s.t.Errorf("the record: %v, %v", r.Faults, err)
	}
}

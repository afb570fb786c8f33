package api_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"aliquot/internal/app/evidence"
	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// leave takes a member out of the lab.
func (s *scene) leave(p *testPerson) {
	s.t.Helper()
	var rest []any
	for _, m := range []*testPerson{s.owner, s.member, s.assignee} {
		if m != p {
			rest = append(rest, m.ID)
		}
	}
	s.owner.want(200, "PATCH", fmt.Sprintf("/organizations/%d", s.id), obj{"members": rest})
}

// TestAttachment_OfALabStaysWhenItsUploaderLeaves: whatever was filed for the lab, however it came to it, is the
// lab's alone.
func TestAttachment_OfALabStaysWhenItsUploaderLeaves(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		hidden := s.member.want(201, "POST", "/materials",
			obj{"category": "OTHER", "title": "H", "organization_id": s.id, "embargo_date": "2999-01-01"}).id()
		documents := map[string]answer{
			"filed for the lab": s.member.upload("sop.pdf", pdf, obj{"owned_by_org": s.id}),
			"MTA":               s.member.upload("mta.pdf", pdf, nil),
			"sequence map":      s.member.upload("map.pdf", pdf, obj{"sequence_map_for": hidden}),
			"executed MTA":      s.member.upload("executed.pdf", pdf, nil),
			"IRB for another":   s.member.upload("irb.pdf", pdf, nil),
			"moved to the lab":  s.member.upload("late.pdf", pdf, nil),
		}
		of := func(name string) string { return fmt.Sprintf("/attachments/%d", documents[name].id()) }
		s.member.want(200, "PATCH", fmt.Sprintf("/materials/%d", hidden),
			obj{"mta_attachment_id": documents["MTA"].id()})
		s.member.want(200, "PATCH", of("moved to the lab"), obj{"owned_by_org": s.id})
		request := s.newRequest()
		s.member.want(200, "PATCH", fmt.Sprintf("/material-requests/%d", request),
			obj{"executed_mta_attachment": documents["executed MTA"].id(),
				"irb_attachment": documents["IRB for another"].id()})
		private := s.member.upload("mine.pdf", pdf, nil)
		s.leave(s.member)
		s.unchanged("what a former member tries", func() {
			for name, d := range documents {
				url := d.Body["download_url"].(string)
				s.member.refused(403, "FORBIDDEN", "GET", of(name), nil)
				s.member.refused(403, "FORBIDDEN", "GET", url, nil)
				s.member.refused(403, "FORBIDDEN", "GET", of(name)+"/versions/1", nil)
				s.member.refused(403, "FORBIDDEN", "PATCH", of(name), obj{"owned_by_org": nil})
				s.member.refused(403, "FORBIDDEN", "DELETE", of(name), nil)
				s.member.put(t, 403, url, []byte("%PDF-1.4 other"))
				if a := s.owner.want(200, "GET", of(name), nil); a.Body["owned_by_org"] != float64(s.id) {
					t.Errorf("%s: %s", name, a.Raw)
				}
			}
			own := s.member.want(200, "GET", "/users/"+s.member.ID.String(), nil).Body["owned_attachments"].([]any)
			if len(own) != 1 || int64(own[0].(map[string]any)["id"].(float64)) != private.id() {
				t.Errorf("a former member's attachments: %v", own)
			}
			s.requester().want(200, "GET", of("executed MTA"), nil)
			s.requester().refused(403, "FORBIDDEN", "PATCH", of("executed MTA"), obj{"description": "mine"})
		})
		s.owner.put(t, 200, documents["MTA"].Body["download_url"].(string), []byte("%PDF-1.4 other"))
	})
}

// TestAttachment_TakenOutOfALabBelongsToTheMemberWhoTookIt: it does not go back to a former member who filed it.
func TestAttachment_TakenOutOfALabBelongsToTheMemberWhoTookIt(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		path := fmt.Sprintf("/attachments/%d", s.filed().id())
		if a := s.member.want(200, "PATCH", path,
			obj{"owned_by_org": nil}); a.Body["owned_by_user"] != s.member.ID.String() {
			t.Errorf("%s", a.Raw)
		}
		s.former.refused(403, "FORBIDDEN", "GET", path, nil)
		s.owner.refused(403, "FORBIDDEN", "GET", path, nil)
		shown := s.newAttachment()
		s.member.want(200, "PATCH", fmt.Sprintf("/materials/%d", s.newMaterial()), obj{"mta_attachment_id": shown.id()})
		s.member.refused(409, "ATTACHMENT_IN_USE", "PATCH", fmt.Sprintf("/attachments/%d", shown.id()),
			obj{"owned_by_org": nil})
	})
}

func TestAttachment_CannotBeCreatedUnderAnotherUser(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		own := s.member.upload("own.pdf", pdf, obj{"owned_by_user": s.member.ID.String()})
		path := fmt.Sprintf("/attachments/%d", own.id())
		s.unchanged("an attachment under another user", func() {
			for _, p := range []*testPerson{s.owner, s.requester()} {
				body := obj{"filename": "a.pdf", "owned_by_user": p.ID}
				if a := s.member.refused(403, "FIELD_FORBIDDEN", "POST", "/attachments",
					body); a.Body["field"] != "owned_by_user" {
					t.Errorf("%s", a.Raw)
				}
				s.member.refused(403, "FIELD_FORBIDDEN", "PATCH", path, obj{"owned_by_user": p.ID})
				s.member.refused(403, "FIELD_FORBIDDEN", "PUT", path, obj{"filename": "b.pdf", "owned_by_user": p.ID})
			}
			s.member.refused(400, "INVALID_INPUT", "PATCH", path,
				obj{"owned_by_user": "01890000-0000-7000-8000-00000000ffff"})
		})
		s.member.want(200, "PUT", path, s.member.want(200, "GET", path, nil).Body)
		if a := s.people["admin"].want(200, "PATCH", path,
			obj{"owned_by_user": s.owner.ID}); a.Body["owned_by_user"] != s.owner.ID.String() {
			t.Errorf("%s", a.Raw)
		}
		if got := s.audits(fmt.Sprintf("user %s", s.owner.ID)); !slices.Contains(got, "admin:admin attachment.update") {
			t.Errorf("an admin's filing under another is not noted: %v", got)
		}
	})
}

// TestRequest_KeepsTheMTAItWasMadeUnder: new content is a new version, and the old one stays for those it concerns.
func TestRequest_KeepsTheMTAItWasMadeUnder(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		material := s.newMaterial()
		mta := s.member.upload("mta.pdf", pdf, obj{"owned_by_org": s.id})
		url, path := mta.Body["download_url"].(string), fmt.Sprintf("/attachments/%d", mta.id())
		s.member.want(200, "PATCH", fmt.Sprintf("/materials/%d", material), obj{"mta_attachment_id": mta.id()})
		first := s.requester().want(201, "POST", "/material-requests", obj{"material": material})
		other := []byte("%PDF-1.4 the second version")
		s.member.put(t, 200, url, pdf) // the same again
		if a := s.member.put(t, 200, url, other); a.Body["version"] != 2.0 {
			t.Errorf("%s", a.Raw)
		}
		second := s.people["stranger"].want(201, "POST", "/material-requests", obj{"material": material})
		for name, test := range map[string]struct {
			made    answer
			by      *testPerson
			version float64
			content []byte
		}{"before": {first, s.requester(), 1, pdf}, "after": {second, s.people["stranger"], 2, other}} {
			shown := test.by.want(200, "GET", fmt.Sprintf("/material-requests/%d", test.made.id()), nil)
			if shown.at("mta.version") != test.version || shown.at("mta.attachment") != float64(mta.id()) {
				t.Fatalf("made %s: %s", name, shown.Raw)
			}
			for _, p := range []*testPerson{test.by, s.member, s.owner} {
				if a := p.want(200, "GET", shown.at("mta.download_url").(string), nil); !bytes.Equal(a.Raw,
					test.content) {
					t.Errorf("made %s: %q", name, a.Raw)
				}
			}
		}
		old := path + "/versions/1"
		s.people["stranger"].refused(403, "FORBIDDEN", "GET", old, nil)
		s.people["former"].refused(403, "FORBIDDEN", "GET", old, nil)
		s.anonymous().refused(401, "NOT_AUTHENTICATED", "GET", old, nil)
		s.member.refused(404, "NOT_FOUND", "GET", path+"/versions/3", nil)
		if got := s.audits(fmt.Sprintf("attachment %d", mta.id())); !slices.Equal(got,
			[]string{"member attachment.create", "member attachment.replace"}) {
			t.Errorf("noted: %v", got)
		}
		// It is kept when the material shows another one, too.
		s.member.want(200, "PATCH", fmt.Sprintf("/materials/%d", material), obj{"mta_attachment_id": nil})
		s.member.refused(409, "ATTACHMENT_IN_USE", "DELETE", path, nil)
		s.member.refused(409, "ATTACHMENT_IN_USE", "PATCH", path, obj{"filename": "other.pdf"})
		s.requester().want(200, "GET", old, nil)
		s.anonymous().refused(401, "NOT_AUTHENTICATED", "GET", path+"/versions/2", nil)
		r, err := s.app.Evidence.Verify(t.Context(), evidence.Verification{Files: true})
		if err != nil || len(r.Faults) != 0 || r.Files < 2 {
			t.Errorf("Verify = %+v, %v", r, err)
		}
	})
}

// TestAttachment_ContentOfAnMTAShownByAnotherLabCannotChange: it would change in the hands of others.
func TestAttachment_ContentOfAnMTAShownByAnotherLabCannotChange(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		mta := s.newAttachment()
		s.unchanged("a document that only another lab of theirs has", func() {
			a := s.member.refused(400, "INVALID_INPUT", "POST", "/materials",
				obj{"category": "OTHER", "title": "A", "mta_attachment_id": mta.id(), "organization_id": s.member.Lab})
			if a.at("fields.mta_attachment_id") == nil {
				t.Errorf("%s", a.Raw)
			}
		})
		s.member.want(200, "PATCH", fmt.Sprintf("/materials/%d", s.newMaterial()), obj{"mta_attachment_id": mta.id()})
		stranger := s.people["stranger"]
		stranger.want(201, "POST", "/materials",
			obj{"category": "OTHER", "title": "A", "mta_attachment_id": mta.id(), "organization_id": stranger.Lab})
		s.unchanged("the content of an MTA that two labs show", func() {
			s.member.put(t, 409, mta.Body["download_url"].(string), []byte("%PDF-1.4 other"))
			stranger.put(t, 403, mta.Body["download_url"].(string), []byte("%PDF-1.4 other"))
		})
	})
}

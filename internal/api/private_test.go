package api_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/job"
	"aliquot/internal/job/jobtest"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// newPatient lists a xenograft with the number of its patient and a column of the lab's own.
func (s *scene) newPatient() int64 {
	s.t.Helper()
	return s.member.want(201, "POST", "/materials",
		obj{"category": "PDX", "title": "Colon xenograft", "organization_id": s.id}.meta(
			obj{"submitter_patient_id": "quokkanaut", "submitter_tumor_id": "quokkanaut-T1",
				"submitter_pdx_id": "MODEL-7",
				"freezer":          "quokkafreezer", "shelf": obj{"box": "quokkabox"}})).id()
}

// TestPrivateFields_WhoSeesThem holds that the lab, admins and requesters whom it accepted see them, and that nobody
// else finds a trace of them at any address of the document.
func TestPrivateFields_WhoSeesThem(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		id := s.newPatient()
		path := fmt.Sprintf("/materials/%d", id)
		request := fmt.Sprintf("/material-requests/%d",
			s.requester().want(201, "POST", "/material-requests", obj{"material": id}).id())
		sees := func(name string) bool {
			a := s.people[name].want(200, "GET", path, nil)
			if a.at("additional_metadata.submitter_pdx_id") != "MODEL-7" {
				t.Errorf("%s does not see what is public: %s", name, a.Raw)
			}
			return a.at("additional_metadata.submitter_patient_id") == "quokkanaut" &&
				a.at("additional_metadata.freezer") == "quokkafreezer"
		}
		for name, want := range map[string]bool{"anonymous": false, "stranger": false, "requester": false,
			"former": false, "member": true, "owner": true, "admin": true} {
			if sees(name) != want {
				t.Errorf("%s sees private fields: %v", name, !want)
			}
		}
		for _, name := range []string{"anonymous", "stranger", "requester", "former"} {
			x := &secret{scene: s, material: id, shown: id, mta: 1, plan: 1, grant: 1}
			for _, address := range append(x.addresses(s.people[name]), "/search/materials?search=colon",
				"/search/materials?category=PDX", "/search/materials?search=quokkanuat",
				"/search/materials?search=quokkanaut", "/search/materials?search=quokkafreezer",
				"/search/materials/feed?search=colon", path+"/citation?format=csl-json") {
				a := s.people[name].call("GET", address, nil)
				if strings.Contains(address, "quokka") {
					if a.Body["count"] != 0.0 || a.Body["did_you_mean"] != nil {
						t.Errorf("%s finds it at %s: %s", name, address, a.Raw)
					}
				} else if raw := strings.ToLower(string(a.Raw)); strings.Contains(raw, "quokka") ||
					strings.Contains(raw, `"freezer"`) {
					t.Errorf("%s at %s: %.600s", name, address, a.Raw)
				}
			}
		}
		for _, status := range []string{"APPROVED", "REJECTED"} {
			s.member.want(200, "PATCH", request, obj{"status": status, "rejection_reason": "No more of it"})
			if want := status == "APPROVED"; sees("requester") != want {
				t.Errorf("the requester of a request that is %s sees them: %v", status, !want)
			}
		}
		tags := map[string]string{}
		for _, name := range []string{"member", "stranger"} {
			a := s.people[name].want(200, "GET", path, nil)
			tags[name] = a.Header.Get("ETag")
			if !strings.Contains(strings.Join(a.Header.Values("Vary"), ", "), "Authorization") {
				t.Errorf("caches may give %s what another one sees: %v", name, a.Header)
			}
		}
		if tags["member"] == tags["stranger"] {
			t.Error("what two see differently has one tag")
		}
	})
}

// TestPrivateFields_StayWhereOthersChangeTheMaterial holds that who does not see them neither deletes nor sets them.
func TestPrivateFields_StayWhereOthersChangeTheMaterial(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessOpen)
		path := fmt.Sprintf("/materials/%d", s.newPatient())
		whole := func() string { return string(s.member.want(200, "GET", path, nil).Raw) }
		before := whole()
		for _, name := range []string{"member", "stranger", "anonymous"} { // what they read, sent back
			s.people[name].want(200, "PUT", path, s.people[name].want(200, "GET", path, nil).Body)
			if after := whole(); after != before {
				t.Errorf("%s sent back what they read, and it is %s, was %s", name, after, before)
			}
		}
		stranger := s.people["stranger"]
		a := stranger.want(200, "PATCH", path, obj{}.meta(obj{"submitter_pdx_id": "MODEL-8"}))
		if strings.Contains(string(a.Raw), "quokka") {
			t.Errorf("the answer to a change: %s", a.Raw)
		}
		if m := s.member.want(200, "GET", path, nil); m.at("additional_metadata.submitter_pdx_id") != "MODEL-8" ||
			m.at("additional_metadata.freezer") != "quokkafreezer" ||
			m.at("additional_metadata.submitter_patient_id") != "quokkanaut" ||
			m.at("additional_metadata.shelf.box") != "quokkabox" {
			t.Errorf("after a change by a stranger: %s", m.Raw)
		}
		stranger.want(200, "PATCH", path, obj{}.meta(obj{"note": "quokkanote"})) // open is open: to write, not to read
		if m := s.member.want(200, "GET", path, nil); m.at("additional_metadata.note") != "quokkanote" ||
			m.at("additional_metadata.freezer") != "quokkafreezer" {
			t.Errorf("after a key of their own by a stranger: %s", m.Raw)
		}
		for _, key := range []string{"submitter_patient_id", "submitter_tumor_id"} {
			s.unchanged(key, func() {
				if a := stranger.refused(403, "FIELD_FORBIDDEN", "PATCH", path,
					obj{}.meta(obj{key: "quokkanaut"})); a.Body["field"] != "additional_metadata."+key {
					t.Errorf("%s: %s", key, a.Raw)
				}
			})
		}
		stranger.refused(403, "FIELD_FORBIDDEN", "PATCH", path, obj{"organization_id": stranger.Lab})
		s.member.want(200, "PATCH", path, obj{}.meta(obj{"submitter_pdx_id": "MODEL-9"})) // who sees them replaces all
		if m := s.member.want(200, "GET", path, nil); m.at("additional_metadata.freezer") != nil {
			t.Errorf("a member cannot delete a key: %s", m.Raw)
		}
	})
}

// TestMetadata_OwnerPublishesAndHidesKeys holds that the owner of a lab opens keys of its own, and shuts them again, for reading and for
// searching.
func TestMetadata_OwnerPublishesAndHidesKeys(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessOpen)
		material, lab := fmt.Sprintf("/materials/%d", s.newPatient()), fmt.Sprintf("/organizations/%d", s.id)
		defer s.work(s.app, job.Config{})()
		publish := func(keys []string) {
			s.owner.want(200, "PATCH", lab, obj{"public_metadata_keys": keys})
			var id int64
			if err := s.sql.QueryRowContext(t.Context(), "SELECT id FROM jobs WHERE kind = $1 AND key = $2",
				core.Reindex.Name, fmt.Sprintf("organization %d", s.id)).Scan(&id); err != nil {
				t.Fatal(err)
			}
			jobtest.Wait(t, db, id, exchange.JobDone)
		}
		anonymous := s.people["anonymous"]
		found := func() any {
			return anonymous.want(200, "GET", "/search/materials?search=quokkafreezer", nil).Body["count"]
		}
		publish([]string{"freezer"})
		if a := anonymous.want(200, "GET", material, nil); a.at("additional_metadata.freezer") != "quokkafreezer" ||
			a.at("additional_metadata.shelf") != nil ||
			a.at("additional_metadata.submitter_patient_id") != nil || found() != 1.0 {
			t.Errorf("published: %s, found %v", a.Raw, found())
		}
		publish([]string{})
		if a := anonymous.want(200, "GET", material, nil); a.at("additional_metadata.freezer") != nil ||
			found() != 0.0 {
			t.Errorf("no longer published: %s, found %v", a.Raw, found())
		}
		s.owner.refused(400, "INVALID_INPUT", "PATCH", lab,
			obj{"public_metadata_keys": []string{"submitter_patient_id"}})
		for _, name := range []string{"anonymous", "stranger", "member"} {
			s.people[name].refused(403, "FIELD_FORBIDDEN", "PATCH", lab, obj{"public_metadata_keys": []string{"shelf"}})
		}
	})
}

// TestMigration_RemovesPrivateFieldsFromTheIndex holds that nobody outside finds a material by its private fields in a database of
// before, and that everybody finds it by the others once the jobs of the migration are done.
func TestMigration_RemovesPrivateFieldsFromTheIndex(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("../store/migration/00003_visibility.sql")
	if err != nil {
		t.Fatal(err)
	}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		exec := func(statement string) {
			if _, err := s.sql.ExecContext(t.Context(), statement); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
		exec(`UPDATE organizations SET public_metadata_keys = '["freezer"]'`)
		s.newPatient()
		exec(`UPDATE organizations SET public_metadata_keys = '[]'`)
		finds := func(name, text string) any {
			return s.people[name].want(200, "GET", "/search/materials?search="+text, nil).Body["count"]
		}
		if finds("stranger", "quokkafreezer") != 1.0 {
			t.Fatal("the index of before has nothing private")
		}
		for statement := range strings.SplitSeq(regexp.MustCompile(`(?m)^--.*$`).ReplaceAllString(string(file), ""),
			";") {
			if statement = strings.TrimSpace(statement); strings.HasPrefix(statement, "UPDATE") ||
				strings.HasPrefix(statement, "DELETE") || strings.HasPrefix(statement, "INSERT") {
				exec(statement)
			}
		}
		if finds("stranger", "quokkafreezer") != 0.0 || finds("stranger", "xenograft") != 0.0 ||
			finds("member", "xenograft") != 1.0 {
			t.Error("before the job")
		}
		var id int64
		if err := s.sql.QueryRowContext(t.Context(), "SELECT id FROM jobs WHERE kind = $1 AND key = $2",
			core.Reindex.Name, fmt.Sprintf("organization %d", s.id)).Scan(&id); err != nil {
			t.Fatal(err)
		}
		defer s.work(s.app, job.Config{})()
		jobtest.Wait(t, db, id, exchange.JobDone)
		if finds("stranger", "quokkafreezer") != 0.0 || finds("member", "quokkafreezer") != 0.0 ||
			finds("stranger", "xenograft") != 1.0 {
			t.Error("after the job")
		}
	})
}

// TestSequenceMap_OfAHiddenMaterialStaysWhereItsAttachmentIsSentBack holds that who reads null for a material that is
// hidden from them does not take the map away by sending back what they read.
func TestSequenceMap_OfAHiddenMaterialStaysWhereItsAttachmentIsSentBack(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		material := s.member.want(201, "POST", "/materials",
			obj{"category": "OTHER", "title": "Hidden", "organization_id": s.id, "embargo_date": "2999-12-31"}).id()
		stranger := s.people["stranger"]
		id := stranger.upload("map.pdf", pdf, obj{"owned_by_org": stranger.Lab}).id()
		if _, err := s.sql.ExecContext(t.Context(), "UPDATE attachments SET sequence_map_for = $1 WHERE id = $2",
			material, id); err != nil {
			t.Fatal(err)
		}
		path := fmt.Sprintf("/attachments/%d", id)
		of := func() (n int64) {
			if err := s.sql.QueryRowContext(t.Context(), "SELECT COALESCE(sequence_map_for, 0) FROM attachments "+
				"WHERE id = $1", id).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		read := stranger.want(200, "GET", path, nil)
		if read.Body["sequence_map_for"] != nil {
			t.Fatalf("a stranger sees it: %s", read.Raw)
		}
		stranger.want(200, "PUT", path, read.Body)
		stranger.want(200, "PATCH", path, obj{"sequence_map_for": nil, "description": "Mine"})
		if of() != material {
			t.Error("it is no map of it any more")
		}
		s.member.want(200, "PATCH", fmt.Sprintf("/materials/%d", material), obj{"embargo_date": nil})
		stranger.want(200, "PATCH", path, obj{"sequence_map_for": nil})
		if of() != 0 {
			t.Error("who sees it cannot take it away")
		}
	})
}

package api_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// ask is GET with headers.
func (p *testPerson) ask(path string, headers map[string]string) answer {
	p.w.t.Helper()
	r, err := http.NewRequestWithContext(p.w.t.Context(), http.MethodGet, p.w.url+path, http.NoBody)
	if err != nil {
		p.w.t.Fatal(err)
	}
	if p.Token != "" {
		r.Header.Set("Authorization", "Token "+p.Token)
	}
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	return p.w.do(r)
}

func (p *testPerson) put(t testing.TB, status int, path string, content []byte) answer {
	t.Helper()
	a := p.send("PUT", path, "application/x-anything", bytes.NewReader(content))
	if a.Status != status {
		t.Fatalf("PUT %s: got %d, want %d: %s", path, a.Status, status, a.Raw)
	}
	return a
}

func TestUpload_CreatesTheRecordFirstAndTheContentAfterwards(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, exchange.AccessMembers)
		p := w.person("p")
		a := p.want(201, "POST", "/attachments", obj{"filename": "map.gb", "description": "of pX330"})
		url := a.Body["download_url"].(string)
		if a.Body["size"] != nil || a.Body["sha256"] != nil || a.Body["media_type"] != nil ||
			a.Header.Get("Location") != fmt.Sprintf("/v1/attachments/%d", a.id()) {
			t.Errorf("%s %v", a.Raw, a.Header)
		}
		p.refused(404, "NOT_FOUND", "GET", url, nil)
		content := []byte("LOCUS       SCU49845     5028 bp    DNA             PLN       21-JUN-1999\n")
		sum := sha256.Sum256(content)
		for range 2 { // the same again is fine
			a = p.put(t, 200, url, content)
			if a.Body["size"] != float64(len(content)) || a.Body["sha256"] != hex.EncodeToString(sum[:]) ||
				a.Body["storage_resource_deleted"] != false {
				t.Errorf("%s", a.Raw)
			}
		}
		if got := p.want(200, "GET", strings.TrimPrefix(url, "/v1"), nil); !bytes.Equal(got.Raw, content) {
			t.Errorf("%q", got.Raw)
		}
		for _, wrong := range []string{"map.gb.pdf", "MAP.GB", "map", "map.g%62x", "x", "map.gb%2F", "%2e"} {
			for _, method := range []string{"GET", "PUT"} {
				path := fmt.Sprintf("/uploaded-file/attachment_%d/%s", a.id(), wrong)
				if got := p.send(method, path, "", bytes.NewReader(pdf)); got.Status != 404 {
					t.Errorf("%s %s: %d", method, path, got.Status)
				}
			}
		}
		p.want(204, "DELETE", fmt.Sprintf("/attachments/%d", a.id()), nil)
		for _, path := range []string{url, fmt.Sprintf("/attachments/%d", a.id())} {
			p.refused(404, "NOT_FOUND", "GET", path, nil)
		}
	})
}

func TestDownload_SupportsRangesAndConditions(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, exchange.AccessMembers)
		p := w.person("p")
		made := p.upload("a.pdf", pdf, nil)
		url := made.Body["download_url"].(string)
		tag := fmt.Sprintf("%q", made.Body["sha256"])
		whole := p.ask(url, nil)
		modified := whole.Header.Get("Last-Modified")
		for name, test := range map[string]struct {
			headers map[string]string
			status  int
			body    string
		}{
			"whole":               {nil, 200, string(pdf)},
			"a range":             {map[string]string{"Range": "bytes=0-3"}, 206, "%PDF"},
			"the end":             {map[string]string{"Range": "bytes=-6"}, 206, "%%EOF\n"},
			"the rest":            {map[string]string{"Range": "bytes=5-"}, 206, string(pdf[5:])},
			"a range of this one": {map[string]string{"Range": "bytes=0-3", "If-Range": tag}, 206, "%PDF"},
			"a range of another one": {map[string]string{"Range": "bytes=0-3", "If-Range": `"other"`}, 200,
				string(pdf)},
			"not changed":           {map[string]string{"If-None-Match": tag}, 304, ""},
			"not changed, weakly":   {map[string]string{"If-None-Match": `"x", W/` + tag}, 304, ""},
			"not changed since":     {map[string]string{"If-Modified-Since": modified}, 304, ""},
			"changed":               {map[string]string{"If-None-Match": `"other"`}, 200, string(pdf)},
			"not in units of bytes": {map[string]string{"Range": "lines=1-2"}, 416, ""},
			"behind the end":        {map[string]string{"Range": "bytes=9999-"}, 416, ""},
			"no range":              {map[string]string{"Range": "bytes=x"}, 416, ""},
			"another one expected":  {map[string]string{"If-Match": `"other"`}, 412, ""},
		} {
			a := p.ask(url, test.headers)
			if a.Status != test.status || test.status < 400 && string(a.Raw) != test.body {
				t.Errorf("%s: %d %q", name, a.Status, a.Raw)
			}
			if a.Status < 400 && a.Header.Get("ETag") != tag {
				t.Errorf("%s: ETag %q, want %q", name, a.Header.Get("ETag"), tag)
			}
			if a.Status == 416 && (a.Header.Get("Content-Range") != fmt.Sprintf("bytes */%d", len(pdf)) &&
				name == "behind the end" || a.Body["error_code"] == nil) {
				t.Errorf("%s: %v %s", name, a.Header, a.Raw)
			}
		}
		if many := p.ask(url, map[string]string{"Range": "bytes=0-1,3-4"}); many.Status != 206 ||
			!strings.HasPrefix(many.Header.Get("Content-Type"), "multipart/byteranges") {
			t.Errorf("two ranges: %d %v", many.Status, many.Header)
		}
	})
}

// TestDownload_IsNeverShownInTheBrowser: nothing uploaded is ever shown or run under our origin.
func TestDownload_IsNeverShownInTheBrowser(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, exchange.AccessMembers)
		p := w.person("p")
		for _, name := range []string{"a.pdf", "größe 5µm.pdf", `say "hi".pdf`, "a;b=c.pdf", "100%.pdf", "日本語.txt",
			"a?b#c&d.txt", "x'y.txt", "attachment", "a b.pdf", "<script>.txt", "...", "-", "%2e%2e"} {
			made := p.upload(name, pdf, nil)
			if made.Status != 201 || made.Body["filename"] != name {
				t.Errorf("%q: %d %s", name, made.Status, made.Raw)
				continue
			}
			a := p.ask(made.Body["download_url"].(string), nil)
			kind, parameters, err := mime.ParseMediaType(a.Header.Get("Content-Disposition"))
			if a.Status != 200 || err != nil || kind != "attachment" || parameters["filename"] != name {
				t.Errorf("%q: %d, Content-Disposition %q", name, a.Status, a.Header.Get("Content-Disposition"))
			}
			for header, want := range map[string]string{"X-Content-Type-Options": "nosniff",
				"Content-Security-Policy": "sandbox; default-src 'none'",
				"Content-Type":            "application/pdf", "Cache-Control": "no-store"} {
				if got := a.Header.Get(header); got != want {
					t.Errorf("%q: %s is %q, want %q", name, header, got, want)
				}
			}
		}
		for _, name := range []string{"", ".", "..", "a/b", `a\b`, "a\x00", "a\nb", "a\u202eb",
			strings.Repeat("x", 256)} {
			p.refused(400, "INVALID_INPUT", "POST", "/attachments", obj{"filename": name})
		}
	})
}

func TestDownload_OfARenamedFileIsNotExecutable(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, exchange.AccessMembers)
		p := w.person("p")
		made := p.upload("notes.txt", []byte("echo hello\n"), nil)
		path := fmt.Sprintf("/attachments/%d", made.id())
		p.refused(415, "UNSUPPORTED_MEDIA", "PATCH", path, obj{"filename": "notes.bat"})
		if a := p.want(200, "PATCH", path,
			obj{"filename": "notes.md"}); a.Body["download_url"] != fmt.Sprintf("/v1/uploaded-file/attachment_%d/notes.md", made.id()) {
			t.Errorf("%s", a.Raw)
		}
		p.refused(404, "NOT_FOUND", "GET", made.Body["download_url"].(string), nil)
	})
}

// TestDownload_AccessOfEachRole goes through all that a document can be.
func TestDownload_AccessOfEachRole(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		public := s.member.upload("mta.pdf", pdf, nil)
		listed := s.newMaterial()
		s.member.want(200, "PATCH", fmt.Sprintf("/materials/%d", listed), obj{"mta_attachment_id": public.id()})
		hidden := s.member.upload("hidden.pdf", pdf, nil)
		s.member.want(201, "POST", "/materials",
			obj{"category": "OTHER", "title": "H", "organization_id": s.id, "mta_attachment_id": hidden.id(),
				"embargo_date": "2999-01-01"})
		archived := s.member.upload("old.pdf", pdf, nil)
		gone := s.member.want(201, "POST", "/materials",
			obj{"category": "OTHER", "title": "G", "organization_id": s.id, "mta_attachment_id": archived.id()}).id()
		s.member.want(204, "DELETE", fmt.Sprintf("/materials/%d", gone), nil)
		deleted := s.newRequest()
		lost := s.requester().upload("lost.pdf", pdf, nil)
		s.requester().want(200, "PATCH", fmt.Sprintf("/material-requests/%d", deleted),
			obj{"irb_attachment": lost.id()})
		s.people["admin"].want(204, "DELETE", fmt.Sprintf("/material-requests/%d", deleted), nil)
		for name, test := range map[string]struct {
			document answer
			may      []string
		}{
			"of one person": {s.requester().upload("own.pdf", pdf, nil), []string{"requester", "admin"}},
			"of the lab":    {s.newAttachment(), []string{"member", "owner", "assignee", "admin"}},
			"the requester's, submitted": {s.linked("requester_signed_mta_attachment"),
				[]string{"member", "owner", "requester", "assignee", "admin"}},
			"the lab's, submitted": {s.linked("executed_mta_attachment"),
				[]string{"member", "owner", "requester", "assignee", "admin"}},
			"MTA of a listed material": {public, roles},
			"sequence map":             {s.member.upload("map.pdf", pdf, obj{"sequence_map_for": listed}), roles},
			"MTA under embargo":        {hidden, []string{"member", "owner", "assignee", "admin"}},
			"MTA of an archived one":   {archived, []string{"member", "owner", "assignee", "admin"}},
			// it was shared with the lab
			"of a deleted request": {lost, []string{"member", "owner", "requester", "assignee", "admin"}},
		} {
			var got []string
			for _, role := range roles {
				switch a := s.people[role].call("GET", test.document.Body["download_url"].(string), nil); a.Status {
				case 200:
					got = append(got, role)
				case 401, 403:
				default:
					t.Errorf("%s by %s: %d %s", name, role, a.Status, a.Raw)
				}
			}
			if !slices.Equal(got, test.may) {
				t.Errorf("%s: %v may read it, want %v", name, got, test.may)
			}
		}
	})
}

func TestAttachment_OfARequestIsSharedWithBothSidesAndKept(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		path := fmt.Sprintf("/material-requests/%d", s.newRequest())
		irb := s.requester().upload("irb.pdf", pdf, nil)
		of := func(a answer) string { return fmt.Sprintf("/attachments/%d", a.id()) }
		s.member.refused(403, "FORBIDDEN", "GET", of(irb), nil)
		s.requester().want(200, "PATCH", path, obj{"irb_attachment": irb.id()})
		if a := s.member.want(200, "GET", of(irb), nil); a.Body["owned_by_org"] != float64(s.id) ||
			a.Body["owned_by_user"] != s.requester().ID.String() {
			t.Errorf("a requester's document is not shared with the lab: %s", a.Raw)
		}
		executed := s.member.upload("executed.pdf", pdf, obj{"owned_by_org": s.id})
		s.member.want(200, "PATCH", path, obj{"executed_mta_attachment": executed.id()})
		if a := s.requester().want(200, "GET", of(executed), nil); a.Body["owned_by_org"] != float64(s.id) ||
			a.Body["owned_by_user"] != s.requester().ID.String() {
			t.Errorf("an executed MTA is not shared with the requester: %s", a.Raw)
		}
		s.unchanged("what is refused", func() {
			for _, document := range []answer{irb, executed} {
				for _, p := range []*testPerson{s.requester(), s.member} {
					status, code := 409, "ATTACHMENT_IN_USE"
					if p != s.member && document.id() == executed.id() {
						status, code = 403, "FORBIDDEN" // it is the lab's
					}
					p.refused(status, code, "DELETE", of(document), nil)
					if a := p.put(t, status, document.Body["download_url"].(string),
						[]byte("%PDF-1.4 other")); a.Body["error_code"] != code {
						t.Errorf("%s", a.Raw)
					}
				}
				s.member.refused(409, "ATTACHMENT_IN_USE", "PATCH", of(document), obj{"sequence_map_for": s.material})
				s.member.refused(409, "ATTACHMENT_IN_USE", "PATCH", of(document), obj{"filename": "other.pdf"})
				s.member.refused(409, "ATTACHMENT_IN_USE", "PATCH", of(document), obj{"owned_by_user": s.member.ID})
			}
		})
		// Superseded, it stays on record.
		again := s.requester().upload("irb-2.pdf", pdf, nil)
		s.requester().want(200, "PATCH", path, obj{"irb_attachment": again.id()})
		s.requester().refused(409, "ATTACHMENT_IN_USE", "DELETE", of(irb), nil)
		// Made without content, it can still get some, once.
		late := s.requester().want(201, "POST", "/attachments", obj{"filename": "late.pdf"})
		s.requester().want(200, "PATCH", path, obj{"irb_attachment": late.id()})
		s.requester().put(t, 200, late.Body["download_url"].(string), pdf)
		s.requester().put(t, 409, late.Body["download_url"].(string), pdf)
	})
}

func TestAttachment_OfOthersCannotBeReferenced(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		document := map[string]func() int64{"lab": func() int64 { return s.newAttachment().id() }}
		for _, role := range []string{"stranger", "requester", "member", "owner"} {
			document[role] = func() int64 { return s.people[role].upload("a.pdf", pdf, nil).id() }
		}
		may := map[string][]string{"requester": {"requester"}, "member": {"member", "lab"}}
		for role, own := range may {
			for _, of := range slices.Sorted(maps.Keys(document)) {
				for _, slot := range []string{"requester_signed_mta_attachment", "irb_attachment",
					"executed_mta_attachment"} {
					path := fmt.Sprintf("/material-requests/%d", s.newRequest())
					a := s.people[role].call("PATCH", path, obj{slot: document[of]()})
					want := 200
					if !slices.Contains(own, of) || role == "requester" && slot == "executed_mta_attachment" {
						want = 403
					}
					if a.Status != want {
						t.Errorf("%s submits as %s what is of %s: %d %s, want %d", role, slot, of, a.Status, a.Raw,
							want)
					}
				}
			}
		}
		// A document that a requester submitted is shared with the lab, and still not the lab's to
		// give to another requester.
		given := s.linked("irb_attachment")
		other := s.people["stranger"].want(201, "POST", "/material-requests", obj{"material": s.material})
		s.unchanged("another's document in a request", func() {
			for _, slot := range []string{"irb_attachment", "executed_mta_attachment"} {
				s.member.refused(403, "FIELD_FORBIDDEN", "PATCH", fmt.Sprintf("/material-requests/%d", other.id()),
					obj{slot: given.id()})
			}
		})
		foreign := document["stranger"]()
		s.unchanged("a request with another's document", func() {
			for _, slot := range []string{"requester_signed_mta_attachment", "irb_attachment"} {
				s.requester().refused(403, "FIELD_FORBIDDEN", "POST", "/material-requests",
					obj{"material": s.material, slot: foreign})
				a := s.requester().refused(400, "INVALID_INPUT", "POST", "/material-requests",
					obj{"material": s.material, slot: 999})
				if a.at("fields."+slot) == nil {
					t.Errorf("%s", a.Raw)
				}
			}
		})
	})
}

package api_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// form is a multipart body written by hand: each part is its headers, a blank line and content.
func form(parts ...string) (contentType string, body string) {
	var b strings.Builder
	for _, part := range parts {
		b.WriteString("--b\r\n" + part + "\r\n")
	}
	return "multipart/form-data; boundary=b", b.String() + "--b--\r\n"
}

func formField(name, value string) string {
	return fmt.Sprintf("Content-Disposition: form-data; name=%q\r\n\r\n%s", name, value)
}

func filePart(filename, content string) string {
	return fmt.Sprintf("Content-Disposition: form-data; name=\"file\"; filename=%q\r\nContent-Type: "+
		"application/pdf\r\n\r\n%s", filename, content)
}

func TestUpload_FormTakesRecordAndContentInAnyOrder(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, exchange.AccessMembers)
		l := w.lab()
		for name, parts := range map[string][]string{
			"fields before": {formField("description", "of us"), formField("owned_by_org", fmt.Sprint(l.id)),
				formField("filename", "named.pdf"), filePart("x.pdf", string(pdf))},
			"fields behind": {filePart("x.pdf", string(pdf)), formField("filename", "named.pdf"),
				formField("owned_by_org", fmt.Sprint(l.id)), formField("description", "of us")},
			"objects": {filePart("x.pdf", string(pdf)), formField("filename", "named.pdf"),
				formField("owned_by_org", fmt.Sprintf(`{"id": %d}`, l.id)), formField("description", " of us ")},
			"empty fields": {formField("filename", "named.pdf"), formField("sequence_map_for", ""),
				formField("owned_by_org", fmt.Sprint(l.id)), filePart("", string(pdf)), formField("description", "of us"),
				formField("unknown", "x")},
		} {
			kind, body := form(parts...)
			a := l.member.send("POST", "/attachments/", kind, strings.NewReader(body))
			if a.Status != 201 || a.Body["filename"] != "named.pdf" || a.Body["description"] != "of us" ||
				a.Body["owned_by_org"] != float64(l.id) ||
				a.Body["owned_by_user"] != l.member.ID.String() || a.Body["size"] != float64(len(pdf)) ||
				a.Body["media_type"] != "application/pdf" ||
				a.Body["sequence_map_for"] != nil ||
				a.Body["download_url"] != fmt.Sprintf("/v1/uploaded-file/attachment_%d/named.pdf", a.id()) {
				t.Errorf("%s: %d %s", name, a.Status, a.Raw)
			}
			if got := l.member.want(200, "GET", a.Body["download_url"].(string), nil); !bytes.Equal(got.Raw, pdf) {
				t.Errorf("%s: content %q", name, got.Raw)
			}
		}
		for sent, kept := range map[string]string{`C:\labs\map.pdf`: "map.pdf", "../../etc/map.pdf": "map.pdf",
			" Größe.pdf ": "Größe.pdf"} {
			if a := l.member.upload(sent, pdf, nil); a.Body["filename"] != kept {
				t.Errorf("%q: %d %s", sent, a.Status, a.Raw)
			}
		}
	})
}

// TestUpload_RefusedLeavesNothingBehind goes through everything that is wrong with an upload.
func TestUpload_RefusedLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	storetest.OnStrictest(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		good := filePart("a.pdf", string(pdf))
		large := string(pdf) + strings.Repeat("x", uploadLimit)
		tests := map[string]struct {
			parts  []string
			cut    int // bytes missing at the end
			status int
			code   string
			field  string
		}{
			"no file":   {[]string{formField("filename", "a.pdf")}, 0, 400, "INVALID_INPUT", "file"},
			"nothing":   {nil, 0, 400, "INVALID_INPUT", ""},
			"two files": {[]string{good, good}, 0, 400, "INVALID_INPUT", "file"},
			"a file of another name": {[]string{strings.Replace(good, "file", "data", 1)}, 0, 400, "INVALID_INPUT",
				"file"},
			"two files of two names": {[]string{good, strings.Replace(good, "file", "data", 1)}, 0, 400,
				"INVALID_INPUT", "file"},
			"an empty file": {[]string{filePart("a.pdf", "")}, 0, 400, "INVALID_INPUT", "file"},
			"no name":       {[]string{filePart("", string(pdf))}, 0, 400, "INVALID_INPUT", "filename"},
			"a bad name": {[]string{good, formField("filename", "a/b.pdf")}, 0, 400, "INVALID_INPUT",
				"filename"},
			"a name that is not UTF-8": {[]string{good, formField("filename", "a\xff.pdf")}, 0, 400, "INVALID_INPUT",
				"filename"},
			"a part's name not UTF-8": {[]string{strings.Replace(good, "a.pdf", "a\xff.pdf", 1)}, 0, 400,
				"INVALID_INPUT", "filename"},
			"a text that is not UTF-8": {[]string{good, formField("description", "\xff")}, 0, 400, "INVALID_INPUT",
				"description"},
			"a text with NUL": {[]string{good, formField("description", "a\x00")}, 0, 400, "INVALID_INPUT",
				"description"},
			"a wrong reference": {[]string{good, formField("owned_by_org", "x")}, 0, 400, "INVALID_INPUT",
				"owned_by_org"},
			"a broken object": {[]string{good, formField("owned_by_org", "{")}, 0, 400, "INVALID_INPUT",
				"owned_by_org"},
			"an organization of nobody": {[]string{good, formField("owned_by_org", "999")}, 0, 400, "INVALID_INPUT",
				"owned_by_org"},
			"an organization of others": {[]string{good, formField("owned_by_org", fmt.Sprint(s.people["stranger"].Lab))},
				0, 403, "FIELD_FORBIDDEN", ""},
			"a material of others": {[]string{good, formField("sequence_map_for", fmt.Sprint(s.others()))}, 0, 403,
				"FIELD_FORBIDDEN", ""},
			"no last boundary":    {[]string{good}, len("--b--\r\n"), 400, "INVALID_INPUT", "body"},
			"cut off in the file": {[]string{good}, len("--b--\r\n") + 20, 400, "INVALID_INPUT", "body"},
			"cut off in a field": {[]string{good, formField("description", "abc")}, len("--b--\r\n") + 3, 400,
				"INVALID_INPUT", "body"},
			"broken headers": {[]string{good, "no colon\r\n\r\nx"}, 0, 400, "INVALID_INPUT", "body"},
			"too large":      {[]string{filePart("a.pdf", large)}, 0, 413, "TOO_LARGE", ""},
			"a field too large": {[]string{good, formField("description", strings.Repeat("x", 200<<10))}, 0, 413,
				"TOO_LARGE", ""},
			"fields too large in sum": {append([]string{good}, manyFields(12, strings.Repeat("x", 100<<10))...), 0,
				413, "TOO_LARGE", ""},
			"fields without end": {append([]string{good}, manyFields(20_000, "")...), 0, 413, "TOO_LARGE", ""},
			"a page named .pdf": {[]string{filePart("a.pdf", "<!DOCTYPE html><script>alert(1)</script>")}, 0,
				415, "UNSUPPORTED_MEDIA", ""},
			"a drawing with scripts": {[]string{filePart("a.png",
				`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`)}, 0, 415, "UNSUPPORTED_MEDIA", ""},
			"a program": {[]string{filePart("a.pdf", "\x7fELF\x02\x01\x01")}, 0, 415,
				"UNSUPPORTED_MEDIA", ""},
			"a script": {[]string{filePart("a.pdf", "#!/bin/sh\n")}, 0, 415, "UNSUPPORTED_MEDIA",
				""},
			"a text named .bat": {[]string{filePart("a.bat", "echo hello\n")}, 0, 415, "UNSUPPORTED_MEDIA",
				""},
			"a text named .html by field": {[]string{filePart("a.txt", "hello\n"), formField("filename", "a.html")}, 0, 415,
				"UNSUPPORTED_MEDIA", ""},
		}
		for name, test := range tests {
			s.unchanged(name, func() {
				kind, body := form(test.parts...)
				a := s.member.send("POST", "/attachments/", kind, strings.NewReader(body[:len(body)-test.cut]))
				if a.Status != test.status || a.Body["error_code"] != test.code || test.field != "" &&
					a.at("fields."+test.field) == nil {
					t.Errorf("%s: %d %s, want %d %s %s", name, a.Status, a.Raw, test.status, test.code, test.field)
				}
			})
		}
		for name, kind := range map[string]string{"no boundary": "multipart/form-data",
			"another boundary": "multipart/form-data; boundary=c"} {
			s.unchanged(name, func() {
				_, body := form(good)
				if a := s.member.send("POST", "/attachments/", kind, strings.NewReader(body)); a.Status != 400 ||
					a.at("fields.body") == nil && a.at("fields.file") == nil {
					t.Errorf("%s: %d %s", name, a.Status, a.Raw)
				}
			})
		}
		record := s.member.want(201, "POST", "/attachments", obj{"filename": "a.pdf"})
		page := s.member.want(201, "POST", "/attachments", obj{"filename": "a.html"})
		for content, want := range map[string]string{"": "400 INVALID_INPUT", large: "413 TOO_LARGE",
			"<html>": "415 UNSUPPORTED_MEDIA", "MZ\x90\x00": "415 UNSUPPORTED_MEDIA"} {
			s.unchanged("content", func() {
				for _, chunked := range []bool{false, true} {
					var body io.Reader = strings.NewReader(content)
					if chunked {
						body = io.MultiReader(body) // of no known length
					}
					a := s.member.send("PUT", record.Body["download_url"].(string), "application/pdf", body)
					if got := fmt.Sprint(a.Status, " ", a.Body["error_code"]); got != want {
						t.Errorf("content of %d bytes: %s, want %s", len(content), got, want)
					}
				}
			})
		}
		s.unchanged("text as .html", func() {
			if a := s.member.send("PUT", page.Body["download_url"].(string), "text/plain",
				strings.NewReader("hello")); a.Status != 415 {
				t.Errorf("%d %s", a.Status, a.Raw)
			}
		})
		s.unchanged("a stranger's content", func() {
			for p, want := range map[string]int{"stranger": 403, "anonymous": 401} {
				if a := s.people[p].send("PUT", record.Body["download_url"].(string), "",
					bytes.NewReader(pdf)); a.Status != want {
					t.Errorf("%s: %d %s", p, a.Status, a.Raw)
				}
			}
		})
	})
}

// others is a material that is not of the lab.
func (s *scene) others() int64 {
	p := s.people["stranger"]
	return p.want(201, "POST", "/materials", obj{"category": "OTHER", "title": "Z", "organization_id": p.Lab}).id()
}

func manyFields(n int, value string) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = formField(fmt.Sprint("f", i), value)
	}
	return list
}

// TestUpload_BodyThatNeverEndsIsAnswered sends the beginning of a body and then nothing more: the
// answer must not wait for the rest.
func TestUpload_BodyThatNeverEndsIsAnswered(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, exchange.AccessMembers)
		p := w.person("p")
		record := p.want(201, "POST", "/attachments", obj{"filename": "a.pdf"}).Body["download_url"].(string)
		_, start := form(filePart("a.pdf", string(pdf)))
		start = strings.TrimSuffix(start, "\r\n--b--\r\n")
		page := strings.ReplaceAll(start, string(pdf), "<html>"+strings.Repeat(" ", 8<<10))
		tests := map[string]struct {
			line, headers, body string
			chunked             bool
			status              int
		}{
			"JSON": {"POST /materials", "Content-Type: application/json",
				strings.Repeat(" ", 1<<20+1), true, 413},
			"JSON of a told length": {"POST /materials",
				"Content-Type: application/json\r\nContent-Length: 1073741824", "", false, 413},
			"content": {"PUT " + record, "", string(pdf) + strings.Repeat("x", uploadLimit), true,
				413},
			"content of a told length": {"PUT " + record, "Content-Length: 1073741824", "", false, 413},
			"form": {"POST /attachments", "Content-Type: multipart/form-data; boundary=b",
				start + strings.Repeat("x", uploadLimit), true, 413},
			"form of a told length": {"POST /attachments",
				"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1073741824",
				start + strings.Repeat("x", uploadLimit), false, 413},
			"page in a form": {"POST /attachments", "Content-Type: multipart/form-data; boundary=b",
				page, true, 415},
			"JSON of an open path": {"POST /login", "Content-Type: application/json",
				strings.Repeat("[", 1<<20+1), true, 413},
			"content to a path that is not": {"PUT /uploaded-file/attachment_9/x", "", "x", true, 404},
		}
		for name, test := range tests {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				headers := test.headers
				if test.chunked {
					headers += "\r\nTransfer-Encoding: chunked"
					test.body = fmt.Sprintf("%x\r\n%s\r\n", len(test.body), test.body)
				}
				status, code := raw(t, w.url, fmt.Sprintf("%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Token "+
					"%s\r\n%s\r\n\r\n%s",
					test.line, p.Token, strings.TrimPrefix(headers, "\r\n"), test.body), false)
				if status != test.status {
					t.Errorf("%d %s, want %d", status, code, test.status)
				}
			})
		}
		t.Cleanup(func() {
			if kept := w.kept(); len(kept) > 0 {
				t.Errorf("left behind: %v", kept)
			}
		})
	})
}

// TestUpload_CutOffBodyIsTheCallersError: the machine has no fault of its own to log.
func TestUpload_CutOffBodyIsTheCallersError(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, exchange.AccessMembers)
		p := w.person("p")
		record := p.want(201, "POST", "/attachments", obj{"filename": "a.pdf"}).Body["download_url"].(string)
		_, whole := form(filePart("a.pdf", string(pdf)))
		w.unchanged("a broken body", func() {
			for _, test := range []struct{ line, headers, body, code string }{
				{"PUT " + record, "Content-Length: 10000", string(pdf), "INVALID_INPUT"},
				{"PUT " + record, "Transfer-Encoding: chunked", "5\r\n%PDF-\r\nnot a length\r\n", "INVALID_INPUT"},
				{"PUT " + record, "Transfer-Encoding: chunked", "5\r\n%PDF-\r\n", "INVALID_INPUT"},
				{"POST /attachments", "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 10000",
					whole[:len(whole)-20], "INVALID_INPUT"},
				{"POST /attachments", "Content-Type: multipart/form-data; boundary=b\r\nTransfer-Encoding: chunked",
					fmt.Sprintf("%x\r\n%s\r\nzz\r\n", 90, whole[:90]), "INVALID_INPUT"},
				{"POST /attachments", "Content-Type: application/json\r\nContent-Length: 10000", `{"filename": `,
					"MALFORMED_JSON"},
				{"POST /materials", "Content-Type: application/json\r\nTransfer-Encoding: chunked", "2\r\n{}\r\nzz\r\n",
					"MALFORMED_JSON"},
			} {
				status, code := raw(t, w.url, fmt.Sprintf("%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Token "+
					"%s\r\n%s\r\n\r\n%s", test.line, p.Token, test.headers, test.body), true)
				if status != 400 || code != test.code {
					t.Errorf("%s, %s: %d %s, want 400 %s", test.line, test.headers, status, code, test.code)
				}
			}
		})
	})
}

// raw sends bytes over a connection of their own and reads the answer; end means that nothing more
// will come.
func raw(t testing.TB, address, request string, end bool) (status int, code any) {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err = io.WriteString(c, request); err == nil && end {
		err = c.(*net.TCPConn).CloseWrite()
	}
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("no answer: %v", err)
	}
	defer func() { _ = response.Body.Close() }()
	var body map[string]any
	if err := json.NewDecoder(response.Body).Decode(&body); err != nil {
		t.Fatalf("%d: %v", response.StatusCode, err)
	}
	return response.StatusCode, body["error_code"]
}

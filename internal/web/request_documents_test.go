package web_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"

	"github.com/PuerkitoBio/goquery"
)

const paper = "%PDF-1.4 the whole agreement"

func TestRequestDocuments_AreSubmittedCheckedAndReturned(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		q := w.transfer("PDX model BL0269-F402")
		path, josiah, priya := w.at(q.Material), w.as("josiah"), w.as("priya")
		slot := path + "/documents/requester_signed_mta"
		josiah.upload(slot, "file", `C:\papers\signed.pdf`, paper).want(http.StatusSeeOther)
		a := josiah.get(path)
		if text := a.text("#requirement-signed-mta"); !strings.Contains(text, "signed.pdf") ||
			!strings.Contains(text, "The lab is checking it") || !strings.Contains(text, "version 1 from you") {
			w.Errorf("submitted: %s", text)
		}
		priya.post(slot+"/review", "reason", "Page 4 has no signature.").want(http.StatusSeeOther)
		if text := josiah.get(path).text("#requirement-signed-mta"); !strings.Contains(text,
			"Page 4 has no signature.") || !strings.Contains(text, "Your turn: correct and upload") {
			w.Errorf("returned: %s", text)
		}
		josiah.upload(slot, "file", "signed-2.pdf", paper+" signed").want(http.StatusSeeOther)
		priya.post(slot+"/review", "accept", "true").want(http.StatusSeeOther)
		a = priya.get(path)
		if text := a.text("#requirement-signed-mta"); !strings.Contains(text, "Accepted") ||
			!strings.Contains(text, "version 2 from Josiah Carberry") || !strings.Contains(text, "signed.pdf") {
			w.Errorf("accepted, with the old version: %s", text)
		}
		josiah.post(slot + "/withdraw").want(http.StatusSeeOther)
		if w.now(q.ID).Current(document.SignedMTA) != nil {
			w.Error("it was not withdrawn")
		}
	})
}

// TestRequestDocuments_WithheldOnesAreNotOfferedToAccept, which would be refused; they can be returned.
func TestRequestDocuments_WithheldOnesAreNotOfferedToAccept(t *testing.T) {
	t.Parallel()
	w := alone(t)
	q := w.transfer("PDX model BL0269-F402")
	path, josiah, priya := w.at(q.Material), w.as("josiah"), w.as("priya")
	josiah.upload(path+"/documents/requester_signed_mta", "file", "signed.pdf", paper).want(http.StatusSeeOther)
	id := w.now(q.ID).Current(document.SignedMTA).AttachmentID
	for state, want := range map[document.ScanState]string{document.Clean: "", document.Checking: "still being checked",
		document.Infected: "A virus was found in this file (Test)"} {
		err := w.db.Tx(t.Context(), func(ctx context.Context, tx store.Conn) error {
			a, err := tx.Attachments.Get(ctx, id)
			if err != nil {
				return err
			}
			return tx.Scans.Save(ctx, a.Present(), document.Scan{State: state, Found: "Test"})
		})
		if err != nil {
			t.Fatal(err)
		}
		a := priya.get(path)
		line := a.text("#requirement-signed-mta")
		if !strings.Contains(line, want) || strings.Contains(line, "Accept document") != (want == "") ||
			a.has("#requirement-signed-mta a[href*=download]") != (want == "") ||
			!strings.Contains(line, "Return for correction") {
			t.Errorf("%s: %s", state, line)
		}
	}
}

func TestRequestDocuments_RefusedUploadSaysWhyAtItsField(t *testing.T) {
	t.Parallel()
	w := alone(t)
	path, josiah := w.at("PDX model BL0269-F402"), w.as("josiah")
	slot := path + "/documents/requester_signed_mta"
	field := "#f-requester_signed_mta-file"
	for _, c := range []struct {
		what, name, content, want string
		status                    int
	}{
		{"a page", "mta.pdf", "<!doctype html><script>alert(1)</script>", "HTML", http.StatusUnprocessableEntity},
		{"a name of a program", "mta.exe", paper, ".exe", http.StatusUnprocessableEntity},
		{"a text", "notes.txt", "Only words", "Signed MTA: “notes.txt” is not a PDF or PNG file.",
			http.StatusUnprocessableEntity},
		{"a text with another name", "mta.pdf", "Only words", "is not a PDF or PNG file", http.StatusUnprocessableEntity},
		{"nothing in it", "mta.pdf", "", "empty", http.StatusUnprocessableEntity},
		{"no file", "", "", "Choose a file", http.StatusUnprocessableEntity},
		{"too large", "mta.pdf", paper + strings.Repeat(" ", 1<<20), "limit is 1.0 MB",
			http.StatusRequestEntityTooLarge},
	} {
		a := josiah.upload(slot, "file", c.name, c.content).want(c.status)
		if text := a.text(field + "-e"); !strings.Contains(text, c.want) || !a.has("#errors a[href='"+field+"']") {
			t.Errorf("%s: %q; %s", c.what, text, a.text("#errors"))
		}
	}
	// What was refused left nothing behind.
	if q := w.transfer("PDX model BL0269-F402"); len(q.Documents) != 0 {
		t.Errorf("%+v", q.Documents)
	}
	broken := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://example.org"+slot,
		strings.NewReader("--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.pdf\"\r\n\r\n%PDF-1.4 cut"))
	broken.Header.Set("Content-Type", "multipart/form-data; boundary=x")
	if a := josiah.send(broken).want(http.StatusUnprocessableEntity); !strings.Contains(a.text(field+"-e"),
		"did not arrive completely") {
		t.Errorf("cut off: %s", a.text("#errors"))
	}
}

func TestRequestDocuments_ScriptGetsTheResultInOneLine(t *testing.T) {
	t.Parallel()
	w := alone(t)
	path := w.at("PDX model BL0269-F402")
	for _, c := range []struct {
		who, slot, content, want string
		status                   int
	}{
		{"josiah", "irb", paper, "Document submitted.", http.StatusCreated},
		{"josiah", "irb", "<html></html>", "HTML", http.StatusUnprocessableEntity},
		{"josiah", "irb", paper + strings.Repeat(" ", 1<<20), "1.0 MB", http.StatusRequestEntityTooLarge},
		{"josiah", "executed_mta", paper, "other side", http.StatusForbidden},
		{"nadia", "irb", paper, "not allowed", http.StatusForbidden},
	} {
		r := uploading(w, path+"/documents/"+c.slot, c.content)
		r.Header.Set("Accept", "text/plain")
		a := w.as(c.who).send(r).want(c.status)
		if !strings.Contains(a.body, c.want) || strings.Contains(a.body, "<") ||
			!strings.HasPrefix(a.header.Get("Content-Type"), "text/plain") {
			t.Errorf("%s to %s: %s", c.slot, c.who, a.body)
		}
	}
}

// uploading is a request with a file named a.pdf.
func uploading(w *world, path, content string) *http.Request {
	body := "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.pdf\"\r\n\r\n" + content +
		"\r\n--x--\r\n"
	r := httptest.NewRequestWithContext(w.Context(), http.MethodPost, "http://example.org"+path,
		strings.NewReader(body))
	r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
	return r
}

// endless is a file of a form that never ends, and counts how much of it was read.
type endless struct{ read int64 }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	e.read += int64(len(p))
	return len(p), nil
}

func TestRequestDocuments_TooLargeUploadIsNotReadToItsEnd(t *testing.T) {
	t.Parallel()
	w := alone(t)
	file := &endless{}
	head := strings.NewReader("--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.pdf\"\r\n\r\n" +
		paper)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://example.org"+
		w.at("PDX model BL0269-F402")+"/documents/irb", io.MultiReader(head, file))
	r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
	w.as("josiah").send(r).want(http.StatusRequestEntityTooLarge)
	if file.read > 2<<20 {
		t.Errorf("%d bytes were read of a file that may have 1 MiB", file.read)
	}
	refused := &endless{}
	r = httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://example.org"+w.at("Sf9")+"/documents/irb",
		io.MultiReader(strings.NewReader("--x\r\n"), refused))
	r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
	w.as("josiah").send(r).want(http.StatusConflict)
	if refused.read != 0 {
		t.Errorf("%d bytes were read for a request that is closed", refused.read)
	}
}

func TestRequestDocuments_NeverRunInTheBrowser(t *testing.T) {
	t.Parallel()
	w := alone(t)
	path, josiah := w.at("PDX model BL0269-F402"), w.as("josiah")
	for _, c := range []struct{ name, content, kind, disposition string }{
		{"a.pdf", paper, "application/pdf", "inline"},
		{"lies.png", paper, "application/pdf", "inline"},
		{"notes.txt", "Only words", "text/plain", "attachment"},
		{"page.pdf", "just <b>words</b> that look like a page", "text/plain", "attachment"},
	} {
		content, err := w.app.Documents.Store(t.Context(), josiah.actor, strings.NewReader(c.content))
		w.must(err)
		_, err = w.app.Requests.HandIn(t.Context(), josiah.actor, w.transfer("PDX model BL0269-F402").ID, document.IRB,
			c.name, content) // which takes any file, as the API does
		w.must(err)
		d := w.transfer("PDX model BL0269-F402").Current(document.IRB)
		address := fmt.Sprintf("%s/documents/%d", path, d.AttachmentID)
		a := w.as("priya").get(address).want(http.StatusOK)
		h := a.header
		if a.body != c.content || !strings.HasPrefix(h.Get("Content-Type"), c.kind) ||
			!strings.HasPrefix(h.Get("Content-Disposition"), c.disposition) ||
			!strings.Contains(h.Get("Content-Security-Policy"), "sandbox") ||
			strings.Contains(h.Get("Content-Security-Policy"), "script") ||
			h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Cache-Control") != "private, no-store" {
			t.Errorf("%s: %q %v", c.name, a.body, h)
		}
		if a := josiah.get(address + "?download=1"); !strings.HasPrefix(a.header.Get("Content-Disposition"),
			"attachment") {
			t.Errorf("%s as a file: %v", c.name, a.header)
		}
		w.as("nadia").get(address).want(http.StatusForbidden)
		w.as("josiah").get(fmt.Sprintf("%s/documents/%d", w.at("HeLa"), d.AttachmentID)).want(http.StatusNotFound)
	}
}

func TestRequestDocuments_DownloadTogetherOnlyForParties(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		path := w.at("HEK293T")
		w.as("nadia").get(path + "/documents.zip").want(http.StatusForbidden)
		w.as("josiah").get(w.at("NIH 3T3") + "/documents.zip").want(http.StatusNotFound)
		for _, name := range []string{"josiah", "mario", "ada"} {
			a := w.as(name).get(path + "/documents.zip").want(http.StatusOK)
			z, err := zip.NewReader(bytes.NewReader([]byte(a.body)), int64(len(a.body)))
			w.must(err)
			names := []string{}
			for _, f := range z.File {
				names = append(names, f.Name)
				content, err := f.Open()
				w.must(err)
				if _, err := io.Copy(io.Discard, content); err != nil { // it checks the sum
					w.Errorf("%s: %v", f.Name, err)
				}
			}
			if got := strings.Join(names, ", "); got != "Signed MTA/version 1/signed-mta.pdf, Executed MTA/version "+
				"1/executed-mta.pdf" {
				w.Errorf("%s gets %s", name, got)
			}
		}
	})
}

func TestLabels_AreForTheLabInTheNumberAskedFor(t *testing.T) {
	t.Parallel()
	w := alone(t)
	path := w.at("HCT 116") + "/labels"
	w.as("gabriel").get(path).want(http.StatusForbidden)
	w.as("nadia").get(path).want(http.StatusForbidden)
	w.as("").get(path).want(http.StatusSeeOther)
	v := w.as("mario")
	for query, want := range map[string][3]int{ // parcels, tubes, slips
		"": {1, 1, 1}, "?tubes=5": {1, 5, 1}, "?what=tubes&tubes=1000": {0, 96, 0}, "?what=parcel&size=a4": {4, 0, 0},
		"?what=slip&tubes=-3":                {0, 0, 1},
		"?what=everything&size=huge&tubes=x": {1, 1, 1},
	} {
		a := v.get(path + query).want(http.StatusOK)
		got := [3]int{a.doc.Find(".parcel").Length(), a.doc.Find(".tube-label").Length(), a.doc.Find(".slip").Length()}
		if got != want {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	a := v.get(path)
	if text := a.text(".parcel"); !strings.Contains(text, "Gabriel Grant") || !strings.Contains(text, "HCT 116") ||
		!strings.Contains(text, "Sample Cell Bank") {
		t.Errorf("the label of the parcel: %s", text)
	}
	code := a.doc.Find(".parcel .qr use").AttrOr("href", "")
	if d := a.doc.Find("path"+code).AttrOr("d", ""); strings.Count(d, "M") < 100 || a.has("[style]") {
		t.Errorf("the code is drawn as %q", d)
	}
}

func TestLabels_OfManyRequestsAreOnlyOfOwnLabs(t *testing.T) {
	t.Parallel()
	w := alone(t)
	hct, hela := w.transfer("HCT 116"), w.transfer("HeLa")
	foreign := int64(0)
	v := w.as("mario")
	for _, q := range w.requests(request.Open) {
		if !v.actor.MemberOf(q.Organization) {
			foreign = q.ID
		}
	}
	a := v.post("/requests/bulk", "do", "labels", "id", number(hct.ID), "id", number(foreign), "id", number(hela.ID),
		"back", "/requests").follow().want(http.StatusOK)
	if a.text("h1") != "Labels for 2 requests" || a.doc.Find(".parcel").Length() != 2 ||
		a.doc.Find(".slip").Length() != 2 {
		t.Errorf("%s: %d labels of parcels, %d slips", a.text("h1"), a.doc.Find(".parcel").Length(),
			a.doc.Find(".slip").Length())
	}
	if text := a.text(".parcel"); !strings.Contains(text, "HCT 116") || !strings.Contains(text, "HeLa") {
		t.Errorf("the labels: %s", text)
	}
	if text := a.text(".note"); !strings.Contains(text, "not yours to ship: request "+number(foreign)+".") {
		t.Errorf("what is left out: %s", text)
	}
	chosen := "/requests/labels?id=" + number(hct.ID) + "&id=" + number(hela.ID)
	for query, want := range map[string][3]int{"&what=tubes&tubes=3": {0, 6, 0}, "&what=parcel&size=a4": {2, 0, 0},
		"&what=slip": {0, 0, 2}} {
		a := v.get(chosen + query).want(http.StatusOK)
		if got := [3]int{a.doc.Find(".parcel").Length(), a.doc.Find(".tube-label").Length(),
			a.doc.Find(".slip").Length()}; got != want {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	cost := func(path string) int64 {
		before := w.db.Queries()
		v.get(path).want(http.StatusOK)
		return w.db.Queries() - before
	}
	if one, two := cost("/requests/labels?id="+number(hct.ID)), cost(chosen); one != two {
		t.Errorf("%d statements for one request, %d for two", one, two)
	}
	w.as("nadia").get(chosen).want(http.StatusForbidden)
	if a := v.get("/requests/labels?id=x"); a.status != http.StatusSeeOther || a.location != "/requests" {
		t.Errorf("nothing chosen: %d %s", a.status, a.location)
	}
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

func TestLabels_NameSenderPhoneTemperatureAndHazard(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v := w.as("mario")
	path := w.at("HCT 116") + "/labels"
	_, err := w.app.Requests.ShipRequest(t.Context(), v.actor, w.transfer("HCT 116").ID,
		request.ShipmentPatch{Conditions: exchange.Some("Dry ice, 3 kg")}, nil)
	w.must(err)
	const from = "12 Bank Street\r\nTel. +1 555 0100"
	a := v.get(path + "?from=" + url.QueryEscape(from)).want(http.StatusOK)
	for _, at := range []string{".parcel", ".slip"} {
		if text := a.text(at); !strings.Contains(text, "12 Bank Street") || !strings.Contains(text, "Tel. +1 555 0100") {
			t.Errorf("%s lacks the sender: %s", at, text)
		}
	}
	text := a.text(".parcel")
	for _, part := range []string{"TemperatureDry ice, 3 kg", "UN 1845, dry ice"} {
		if !strings.Contains(text, part) {
			t.Errorf("the label lacks %q: %s", part, text)
		}
	}
	if text := v.get(path).text(".parcel"); !strings.Contains(text, "Tel. +1 555 0100") {
		t.Errorf("the sender is typed again: %s", text)
	}
	if text := w.as("olivia").get(path).text(".parcel"); strings.Contains(text, "555 0100") {
		t.Errorf("another person has it too: %s", text)
	}
}

func TestStatuses_HaveTheSameNameInFiltersAndBadges(t *testing.T) {
	t.Parallel()
	w := alone(t)
	options := map[string]string{}
	w.as("mario").get("/requests?turn=all").doc.Find("#f-status option").Each(func(_ int, s *goquery.Selection) {
		options[s.AttrOr("value", "")] = s.Text()
	})
	for _, s := range []request.Status{request.Rejected, request.Cancelled, request.Verified} {
		list := w.requests(s)
		if len(list) == 0 {
			t.Fatalf("the demo has no request that is %s", s)
		}
		q := list[0]
		a := w.as("ada").get(fmt.Sprintf("/requests/%d", q.ID)).want(http.StatusOK)
		if badge := a.text("header .tag.no-print"); !strings.HasPrefix(badge, options[string(s)]) || options[string(s)] == "" {
			t.Errorf("%s is %q in the filter and %q on the page", s, options[string(s)], badge)
		}
	}
}

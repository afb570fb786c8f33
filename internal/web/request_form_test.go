package web_test

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
)

// pdf is the smallest thing that passes for a document.
const pdf = "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\n"

// askPath is where the form of a request for a material is. That for stem cells asks for everything.
func (w *world) askPath(title string) string {
	return fmt.Sprintf("/catalog/%d/request", w.material(title).ID)
}

const stemCells = "WA01 (H1) hESC"

// ofStemCells are the requests of somebody for stem cells.
func (v *visitor) ofStemCells() []request.Detail {
	v.Helper()
	id := v.material(stemCells).ID
	part, err := v.app.Requests.Requests(v.Context(), v.actor, exchange.Page{Limit: 50},
		request.Filter{Material: &id, Requester: &v.actor.ID})
	v.must(err)
	return part.Items
}

// filled is the form that a page shows, with more fields changed: names and values in turn.
func (a answer) filled(pairs ...string) []string {
	form := map[string]string{}
	a.doc.Find("form#request").Find("input, textarea, select").Each(func(_ int, s *selection) {
		name, kind := s.AttrOr("name", ""), s.AttrOr("type", "")
		_, checked := s.Attr("checked")
		if name == "" || kind == "file" || (kind == "radio" || kind == "checkbox") && !checked {
			return
		}
		form[name] = s.AttrOr("value", "")
		if s.Is("textarea") {
			form[name] = s.Text()
		}
	})
	for i := 0; i < len(pairs); i += 2 {
		form[pairs[i]] = pairs[i+1]
	}
	var list []string
	for name, value := range form {
		list = append(list, name, value)
	}
	return list
}

func TestRequestForm_IsFilledWithWhatWasUsedLast(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v, path := w.as("josiah"), w.askPath(stemCells)
		page := v.get(path).want(http.StatusOK)
		for _, part := range []string{"#h-why", "#h-where", "#h-pay", "#h-docs"} {
			if !page.has(part) {
				t.Errorf("no %s", part)
			}
		}
		if page.input("account") != "0000000" || page.input("courier") != "Sample courier" ||
			!page.has(`[name=address][checked]:not([value=new])`) {
			t.Errorf("not filled in: %s, %s", page.input("courier"), page.input("account"))
		}
		if got := page.text("#checklist header"); !strings.Contains(got, "2 of 3 ready") {
			t.Errorf("the checklist says %s", got)
		}
		sent := v.post(path, page.filled("requester_abstract", "Aim and method.", "quantity", "2 vials")...)
		if sent = sent.want(http.StatusSeeOther); !strings.HasPrefix(sent.location, "/requests/") ||
			v.cookies["__Host-note"] == "" {
			t.Errorf("to %s", sent.location)
		}
		made := v.ofStemCells()
		if len(made) != 1 || made[0].Abstract != "Aim and method." || made[0].Quantity != "2 vials" ||
			made[0].Address == nil ||
			made[0].Payment != "SHIPPING_CODE" || made[0].PaymentNotes != "Sample courier, account 0000000" {
			t.Errorf("%+v", made)
		}
	})
}

func TestRequestForm_SentTwiceIsOneRequest(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v, path := w.as("josiah"), w.askPath(stemCells)
		form := v.get(path).filled("requester_abstract", "Aim.")
		first := v.post(path, form...).want(http.StatusSeeOther)
		if second := v.post(path, form...).want(http.StatusSeeOther); second.location != first.location {
			t.Errorf("%s, then %s", first.location, second.location)
		}
		var together sync.WaitGroup
		fresh := v.get(path).filled("requester_abstract", "Another.")
		for range 4 {
			again := &visitor{world: w, actor: v.actor,
				cookies: map[string]string{"__Host-session": v.cookies["__Host-session"]}}
			together.Go(func() { again.post(path, fresh...) })
		}
		together.Wait()
		if made := v.ofStemCells(); len(made) != 2 {
			t.Errorf("%d requests of 2 forms", len(made))
		}
	})
}

func TestRequestForm_FailedRequestLeavesNothing(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v, path := w.as("josiah"), w.askPath(stemCells)
		addresses := func() int {
			part, err := w.app.Documents.Addresses(w.Context(), v.actor, v.actor.ID, exchange.Page{})
			w.must(err)
			return len(part.Items)
		}
		before := addresses()
		form := v.get(path).filled("address", "new", "address_line_1", "Gate 2", "locality", "Town", "country",
			"Atlantis", "requester_abstract", "",
			"note", `<script>alert("x")</script>`, "account", "7", "courier", "FedEx")
		page := v.post(path, form...).want(http.StatusUnprocessableEntity)
		if addresses() != before || len(v.ofStemCells()) > 0 {
			t.Error("something was kept")
		}
		if page.input("address_line_1") != "Gate 2" || page.input("note") != `<script>alert("x")</script>` ||
			page.input("account") != "7" || strings.Contains(page.body, "<script>alert") {
			t.Error("the form is not as it was typed")
		}
		links := page.doc.Find("#errors a")
		for i := range links.Length() {
			if to := links.Eq(i).AttrOr("href", ""); !page.has(to) {
				t.Errorf("%s leads nowhere", to)
			}
		}
		if got := page.text("#errors"); links.Length() != 2 || !strings.Contains(got, "Enter the research abstract") ||
			!strings.Contains(got, "The account number must be a number of FedEx: 9 digits") {
			t.Errorf("%s", got)
		}
		form = page.filled("requester_abstract", "Aim.", "account", "123 456 789")
		v.post(path, form...).want(http.StatusSeeOther)
		if made := v.ofStemCells(); addresses() != before+1 || len(made) != 1 || made[0].Address.Line1 != "Gate 2" ||
			made[0].PaymentNotes != "FedEx, account 123456789" {
			t.Errorf("%d addresses, %+v", addresses(), made)
		}
	})
}

func TestRequestForm_TakesDocumentsOrAsksForThemAgain(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v, path := w.as("josiah"), w.askPath(stemCells)
		page := v.upload(path, "irb_attachment", "irb.pdf", pdf,
			v.get(path).filled()...).want(http.StatusUnprocessableEntity)
		if !strings.Contains(page.text("main"), "Choose your files again") {
			t.Error("the page does not mention that the file is gone")
		}
		page = v.upload(path, "irb_attachment", "irb.pdf", "<!doctype html><html>",
			page.filled("requester_abstract", "Aim.")...).want(http.StatusUnprocessableEntity)
		if page.text("#f-irb_attachment-e") == "" || page.input("requester_abstract") != "Aim." {
			t.Errorf("a page of HTML: %s", page.text("#errors"))
		}
		page = v.upload(path, "irb_attachment", "irb.pdf", strings.Repeat("x", 1<<20+1),
			page.filled()...).want(http.StatusUnprocessableEntity)
		if page.text("#f-irb_attachment-e") == "" || len(v.ofStemCells()) > 0 {
			t.Errorf("too large a file: %s", page.text("#errors"))
		}
		v.upload(path, "irb_attachment", "irb.exe", pdf, page.filled()...).want(http.StatusUnprocessableEntity)
		v.upload(path, "irb_attachment", "irb.pdf", pdf, page.filled()...).want(http.StatusSeeOther)
		made := v.ofStemCells()
		if len(made) != 1 || len(made[0].Documents) != 1 || made[0].Documents[0].Slot != document.IRB {
			t.Errorf("%+v", made)
		}
	})
}

func TestRequestForm_ScriptGetsTheAddressOfTheRequest(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v, path := w.as("josiah"), w.askPath(stemCells)
	send := func(pairs ...string) answer {
		form := url.Values{}
		for i := 0; i < len(pairs); i += 2 {
			form.Add(pairs[i], pairs[i+1])
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://example.org"+path,
			strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Accept", "text/plain")
		return v.send(r)
	}
	page := v.get(path)
	if again := send(page.filled("requester_abstract",
		"")...).want(http.StatusUnprocessableEntity); !again.has("main#main form[data-sends] #errors, main#main #errors") {
		t.Errorf("what is wrong does not show: %s", again.text("main"))
	}
	sent := send(page.filled("requester_abstract", "Aim.")...).want(http.StatusCreated)
	if made := v.ofStemCells(); len(made) != 1 || sent.location != fmt.Sprintf("/requests/%d", made[0].ID) ||
		v.cookies["__Host-note"] == "" {
		t.Errorf("%d requests, at %q", len(made), sent.location)
	}
}

func TestRequestForm_EnterSendsIt(t *testing.T) {
	t.Parallel()
	w := alone(t)
	page := w.as("josiah").get(w.askPath(stemCells))
	if name, named := page.doc.Find("form#request button").First().Attr("name"); named ||
		!page.has("form#request button[name=reuse]") {
		t.Errorf("the first button, which Enter presses, is %q", name)
	}
}

func TestRequestForm_KeepsADraft(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v, path := w.as("josiah"), w.askPath(stemCells)
	page := v.get(path)
	v.post(path, page.filled("save", "1", "requester_abstract", "Half a thought", "address", "new", "locality",
		"Nowhere")...).want(http.StatusSeeOther)
	page = v.get(path).want(http.StatusOK)
	if page.input("requester_abstract") != "Half a thought" || page.input("locality") != "Nowhere" ||
		!page.has(`[name=address][value=new][checked]`) {
		t.Error("the draft is not as it was left")
	}
	if drafts := v.get("/drafts"); !drafts.has(`a[href="` + path + `"]`) {
		t.Error("the draft is not listed")
	}
	earlier := page.doc.Find("button[name=reuse]").First()
	v.post(path, page.filled("reuse", earlier.AttrOr("value", ""))...).want(http.StatusSeeOther)
	page = v.get(path).want(http.StatusOK)
	if got := page.input("requester_abstract"); got == "" || got == "Half a thought" ||
		page.input("locality") != "Nowhere" {
		t.Errorf("the earlier abstract is not there: %q", got)
	}
	choice := page.doc.Find(`[name=address]:not([value=new])`).First().AttrOr("value", "")
	v.post(path, page.filled("address", choice)...).want(http.StatusSeeOther)
	if _, kept, err := w.app.Materials.Draft(w.Context(), v.actor, fmt.Sprintf("ask %d", w.material(stemCells).ID)); err != nil ||
		kept {
		t.Errorf("the draft of what was sent is still there (%v)", err)
	}
}

func TestRequestForm_IsReplacedByTheReasonWhereNothingCanBeRequested(t *testing.T) {
	t.Parallel()
	w := alone(t)
	m := w.material("HT-29")
	path := w.askPath("HT-29")
	if a := w.as("").get(path); a.status != http.StatusSeeOther || !strings.HasPrefix(a.location, "/signin?next=") {
		t.Errorf("nobody: %d %s", a.status, a.location)
	}
	w.as("josiah").get("/catalog/999999/request").want(http.StatusNotFound)
	own := w.as("mario").get(path).want(http.StatusOK)
	if own.has("form#request") || !strings.Contains(own.text("h1"), "is yours") {
		t.Errorf("own: %s", own.text("h1"))
	}
	w.as("mario").post(path, "once", "1").want(http.StatusConflict)
	form := w.as("josiah").get(path).filled("note", "Typed before it was archived")
	_, err := w.app.Materials.UpdateMaterial(w.Context(), w.as("mario").actor, m.ID,
		material.Patch{EmbargoDate: exchange.NullOf(exchange.Date("2999-01-02"))}, nil)
	w.must(err)
	if a := w.as("josiah").get(path).want(http.StatusConflict); a.has("form#request") ||
		!strings.Contains(a.text("main"), "2999-01-02") {
		t.Errorf("embargoed: %s", a.text("main"))
	}
	_, err = w.app.Materials.UpdateMaterial(w.Context(), w.as("mario").actor, m.ID,
		material.Patch{EmbargoDate: exchange.Cleared[exchange.Date]()}, nil)
	w.must(err)
	w.must(w.app.Materials.ArchiveMaterial(w.Context(), w.as("mario").actor, m.ID, nil))
	if a := w.as("josiah").get(path).want(http.StatusOK); a.has("form#request") ||
		!strings.Contains(a.text("h1"), "no longer") {
		t.Errorf("archived: %s", a.text("h1"))
	}
	v := w.as("josiah")
	v.post(path, form...).want(http.StatusConflict)
	if d, kept, err := w.app.Materials.Draft(w.Context(), v.actor, fmt.Sprintf("ask %d", m.ID)); err != nil || !kept ||
		d.Form.Get("note") != "Typed before it was archived" {
		t.Errorf("what was typed is lost: %v, %v", d, err)
	}
}

func TestRequestForm_AsksOnlyForWhatTheMaterialNeeds(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v := w.as("josiah")
	page := v.get(w.askPath("01 PCR")).want(http.StatusOK)
	for _, part := range []string{"[name=requester_abstract]", "[name=quantity]", "[name=address]",
		"[name=payment_method]", "[type=file]"} {
		if page.has(part) {
			t.Errorf("a protocol asks for %s", part)
		}
	}
	v.post(w.askPath("01 PCR"), page.filled()...).want(http.StatusSeeOther)
	if under := v.get(w.askPath("01 PCR")); !strings.Contains(under.text("main"), "is still open") {
		t.Error("the page does not mention that a request is under way")
	}
}

func TestRequestForm_RunsAConstantNumberOfStatements(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v, path := w.as("josiah"), w.askPath(stemCells)
	count := func() int64 {
		before := w.db.Queries()
		v.get(path).want(http.StatusOK)
		return w.db.Queries() - before
	}
	v.post(path, v.get(path).filled("requester_abstract", "Aim.")...).want(http.StatusSeeOther)
	few := count()
	for range 15 {
		_, err := w.app.Documents.CreateAddress(w.Context(), v.actor, v.actor.ID,
			person.AddressPatch{Name: exchange.Some("N"), Line1: exchange.Some("L"),
				Locality: exchange.Some("T"), Country: exchange.Some("Italy"), SavedForUse: exchange.Some(true)})
		w.must(err)
		v.post(path, v.get(path).filled("requester_abstract", "Aim.")...).want(http.StatusSeeOther)
	}
	if many := count(); many != few {
		t.Errorf("%d statements, before %d", many, few)
	}
}

func TestRequestForm_CutOffOrTooLargeIsRefused(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v, path := w.as("josiah"), w.askPath(stemCells)
	send := func(body string) answer {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://example.org"+path,
			strings.NewReader(body))
		r.Header.Set("Content-Type", "multipart/form-data; boundary=B")
		return v.send(r)
	}
	file := "--B\r\nContent-Disposition: form-data; name=\"irb_attachment\"; filename=\"a.pdf\"\r\n\r\n" + pdf
	send(file).want(http.StatusBadRequest)
	send("--B\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\n" + strings.Repeat("x", 1<<20+1) +
		"\r\n--B--\r\n").want(http.StatusRequestEntityTooLarge)
	send(strings.Repeat(file+strings.Repeat("x", 1<<20-len(pdf))+"\r\n", 5) +
		"--B--\r\n").want(http.StatusRequestEntityTooLarge)
	send("no form").want(http.StatusBadRequest)
	if len(v.ofStemCells()) > 0 {
		t.Error("something was sent")
	}
}

// halting reads a body in two halves, with a pause between them.
type halting struct {
	io.Reader
	left  int
	pause time.Duration
}

func (h *halting) Read(p []byte) (int, error) {
	if h.left == 0 {
		time.Sleep(h.pause)
		h.left = -1
	}
	if h.left > 0 {
		p = p[:min(len(p), h.left)]
	}
	n, err := h.Reader.Read(p)
	if h.left > 0 {
		h.left -= n
	}
	return n, err
}

func TestRequestForm_WithFilesMayTakeLonger(t *testing.T) {
	t.Parallel()
	w := alone(t)
	const limit = 300 * time.Millisecond
	short := httptest.NewUnstartedServer(w.pages)
	short.Config.ReadTimeout, short.Config.WriteTimeout = limit, limit
	short.Start()
	t.Cleanup(short.Close)
	v, path := w.as("josiah"), w.askPath(stemCells)
	var body bytes.Buffer
	m := multipart.NewWriter(&body)
	for form := v.get(path).filled("requester_abstract", "Aim."); len(form) > 0; form = form[2:] {
		w.must(m.WriteField(form[0], form[1]))
	}
	part, err := m.CreateFormFile("irb_attachment", "irb.pdf")
	w.must(err)
	_, err = io.WriteString(part, pdf+strings.Repeat("%", 500_000))
	w.must(err)
	w.must(m.Close())
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, short.URL+path,
		&halting{Reader: &body, left: body.Len() / 2, pause: 3 * limit})
	w.must(err)
	r.Header.Set("Content-Type", m.FormDataContentType())
	r.AddCookie(&http.Cookie{Name: "__Host-session", Value: v.cookies["__Host-session"]})
	a, err := http.DefaultTransport.RoundTrip(r) // which follows nothing
	w.must(err)
	w.must(a.Body.Close())
	if a.StatusCode != http.StatusSeeOther || !strings.HasPrefix(a.Header.Get("Location"), "/requests/") {
		t.Errorf("%d, %s", a.StatusCode, a.Header.Get("Location"))
	}
}

package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"aliquot/internal/app/transfer"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/request"
	"aliquot/internal/job"
	"aliquot/internal/job/jobtest"
)

func TestRequestPage_IsForItsParties(t *testing.T) {
	t.Parallel()
	w := alone(t)
	path := w.at("HeLa")
	gets := []string{"", "/move?to=APPROVED", "/delete", "/documents/1", "/documents.zip", "/dossier", "/mta", "/labels"}
	posts := []string{"/move", "/delete", "/messages", "/details", "/shipment", "/assign", "/issues", "/issues/1/close",
		"/snooze", "/unsnooze", "/remind", "/active",
		"/documents/irb", "/documents/irb/review", "/documents/irb/withdraw"}
	fields := []string{"to", "CANCELLED", "text", "Hello", "form", "abstract", "abstract", "Mine", "assigned_to",
		w.as("nadia").actor.ID.String(), "until", "2999-01-01", "accept", "true"}
	for _, end := range gets {
		if a := w.as("").get(path + end); a.status != http.StatusSeeOther || !strings.HasPrefix(a.location, "/signin") {
			t.Errorf("GET %s by nobody: %d %s", end, a.status, a.location)
		}
		if a := w.as("nadia").get(path + end); a.status != http.StatusForbidden ||
			strings.Contains(a.text("main"), "Carberry") {
			t.Errorf("GET %s by a stranger: %d", end, a.status)
		}
		w.as("mario").get("/requests/999999" + end).want(http.StatusNotFound)
		w.as("mario").get("/requests/x" + end).want(http.StatusNotFound)
	}
	before := w.now(w.transfer("HeLa").ID)
	for _, end := range posts {
		if a := w.as("").post(path+end, fields...); a.status != http.StatusSeeOther ||
			!strings.HasPrefix(a.location, "/signin") {
			t.Errorf("POST %s by nobody: %d %s", end, a.status, a.location)
		}
		if a := w.as("nadia").post(path+end, fields...); a.status != http.StatusForbidden {
			t.Errorf("POST %s by a stranger: %d %s", end, a.status, a.text("main"))
		}
		w.as("mario").post("/requests/999999"+end, fields...).want(http.StatusNotFound)
	}
	if after := w.now(before.ID); after.Head != before.Head {
		t.Error("a stranger changed the request")
	}
}

func TestRequestPage_EachSideHasOnlyItsActions(t *testing.T) {
	t.Parallel()
	w := alone(t)
	path := w.at("HeLa")
	for _, c := range []struct {
		who, end string
		fields   []string
		want     int
	}{
		{"josiah", "/move", []string{"to", "APPROVED"}, http.StatusConflict},
		{"josiah", "/shipment", []string{"carrier", "DHL"}, http.StatusForbidden},
		{"josiah", "/assign", []string{"assigned_to", w.as("josiah").actor.ID.String()}, http.StatusForbidden},
		{"josiah", "/active", []string{"active", "false"}, http.StatusForbidden},
		{"josiah", "/delete", nil, http.StatusForbidden},
		{"josiah", "/snooze", []string{"until", "2999-01-01"}, http.StatusForbidden},
		{"mario", "/details", []string{"form", "abstract", "abstract", "Ours"}, http.StatusForbidden},
		{"mario", "/move", []string{"to", "CANCELLED"}, http.StatusConflict},
		{"mario", "/delete", nil, http.StatusForbidden},
		{"mario", "/remind", nil, http.StatusForbidden},
	} {
		if a := w.as(c.who).post(path+c.end, c.fields...); a.status != c.want {
			t.Errorf("%s by %s: %d, want %d: %s", c.end, c.who, a.status, c.want, a.text("main"))
		}
	}
	w.as("ada").post(path + "/delete").want(http.StatusSeeOther)
	w.as("josiah").get(path).want(http.StatusNotFound)
}

func TestRequestPage_ShowsCarrierAccountsOnlyToTheLabWhileNeeded(t *testing.T) {
	t.Parallel()
	w := alone(t)
	for _, c := range []struct {
		material, who string
		sees          bool
	}{{"HeLa", "mario", true}, {"HeLa", "josiah", false}, {"HeLa", "ada", false}, {"HEK293T", "mario", false},
		{"HEK293T", "josiah", false}} {
		if a := w.as(c.who).get(w.at(c.material)); strings.Contains(a.body, "0000000") != c.sees ||
			!strings.Contains(a.text("#requirement-payment"), "account") {
			t.Errorf("%s, to %s: %s", c.material, c.who, a.text("#requirement-payment"))
		}
	}
}

func TestRequestPage_EscapesText(t *testing.T) {
	t.Parallel()
	w := alone(t)
	const hostile = `<script>alert(1)</script><img src=x onerror=alert(1)>"'`
	q, josiah, mario := w.transfer("HeLa"), w.as("josiah"), w.as("mario")
	path := w.at("HeLa")
	josiah.post(path+"/messages", "text", hostile).want(http.StatusSeeOther)
	mario.post(path+"/shipment", "carrier", "x"+hostile, "conditions", hostile).want(http.StatusSeeOther)
	josiah.post(path+"/issues", "text", hostile).want(http.StatusSeeOther)
	josiah.post(path+"/details", "form", "abstract", "abstract", hostile).want(http.StatusSeeOther)
	mario.upload(path+"/documents/executed_mta", "file", `<img src=x onerror=alert(1)>.pdf`,
		paper).want(http.StatusSeeOther)
	_, err := w.app.Requests.UpdateRequest(t.Context(), mario.actor, q.ID,
		request.Patch{Status: exchange.Some(request.Rejected), Rejection: exchange.Some(hostile)}, nil)
	w.must(err)
	for _, at := range []string{path, path + "?show=messages", path + "/move?to=OPEN", path + "/labels"} {
		a := mario.get(at).want(http.StatusOK)
		if a.has("main script") || a.has("main [onerror]") {
			t.Errorf("%s has live text", at)
		}
	}
	a := mario.get(path)
	if !strings.Contains(a.text("#timeline"), "<script>alert(1)</script>") ||
		!strings.Contains(a.text("#next"), "<script>") {
		t.Errorf("%s", a.text("#timeline"))
	}
}

func TestRequestPage_TimelineIsFilteredAndPaged(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		q, path, josiah := w.transfer("HEK293T"), w.at("HEK293T"), w.as("josiah")
		lines := func(a answer) []string {
			var list []string
			for i := range a.doc.Find("#events > li").Length() {
				list = append(list, strings.Join(strings.Fields(a.doc.Find("#events > li").Eq(i).Text()), " "))
			}
			return list
		}
		for show, want := range map[string]string{"messages": "They arrived frozen",
			"documents": "submitted the executed MTA", "decisions": "confirmed receipt"} {
			a := josiah.get(path + "?show=" + show).want(http.StatusOK)
			list := lines(a)
			if !strings.Contains(strings.Join(list, "\n"), want) || len(list) >= len(lines(josiah.get(path))) ||
				a.text("#timeline nav [aria-current]") != strings.ToUpper(show[:1])+show[1:] {
				w.Errorf("%s: %q", show, list)
			}
		}
		for i := range 70 {
			_, err := w.app.Requests.SendMessage(w.Context(), josiah.actor, q.ID,
				request.TextBody{Text: exchange.Some(fmt.Sprintf("Message number %d.", i))})
			w.must(err)
		}
		a := josiah.get(path + "?show=messages")
		seen := lines(a)
		if !strings.Contains(seen[0], "number 69.") || len(seen) != 50 {
			w.Errorf("the first page has %d lines and begins with %q", len(seen), seen[0])
		}
		next := a.doc.Find("#timeline a[rel=next]").AttrOr("href", "")
		a = josiah.get(strings.TrimSuffix(next, "#timeline"))
		if rest := lines(a); len(rest) != 21 || !strings.Contains(rest[20], "They arrived frozen") ||
			a.has("#timeline a[rel=next]") {
			w.Errorf("the last page has %d lines: %q", len(rest), rest[len(rest)-1])
		}
	})
}

func TestRequestPage_KeepsADraftOfAMessage(t *testing.T) {
	t.Parallel()
	w := alone(t)
	path, josiah := w.at("HeLa"), w.as("josiah")
	key := josiah.get(path).doc.Find("#message").AttrOr("data-draft", "")
	josiah.post("/drafts/save", "draft", key, "draft_title", "A message", "text",
		"Half a sentence").want(http.StatusNoContent)
	if got := josiah.get(path).input("text"); got != "Half a sentence" {
		t.Errorf("the draft is %q", got)
	}
	if a := josiah.get("/drafts"); a.doc.Find("a[href^='"+path+"']").Length() == 0 {
		t.Error("the draft does not lead back")
	}
	josiah.post(path+"/messages", "text", "A whole one.").want(http.StatusSeeOther)
	if got := josiah.get(path).input("text"); got != "" {
		t.Errorf("after it was sent the draft is %q", got)
	}
}

func TestRequestPage_RunsAConstantNumberOfStatements(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		path, q := w.at("PDX model BL0269-F402"), w.transfer("PDX model BL0269-F402")
		people := []string{"josiah", "priya", "ada"}
		count := func(name string) int64 {
			v := w.as(name)
			before := w.db.Queries()
			v.get(path).want(http.StatusOK)
			return w.db.Queries() - before
		}
		few := map[string]int64{}
		for _, name := range people {
			few[name] = count(name)
		}
		josiah, priya := w.as("josiah"), w.as("priya")
		priya.post(path+"/shipment", "carrier", "DHL").want(http.StatusSeeOther)
		for i := range 12 {
			josiah.upload(path+"/documents/requester_signed_mta", "file", fmt.Sprintf("mta-%d.pdf", i),
				paper).want(http.StatusSeeOther)
			josiah.upload(path+"/documents/irb", "file", fmt.Sprintf("irb-%d.pdf", i), paper).want(http.StatusSeeOther)
			priya.post(path+"/documents/irb/review", "reason", "Once more").want(http.StatusSeeOther)
			priya.post(path+"/messages", "text", "Once more").want(http.StatusSeeOther)
			josiah.post(path+"/issues", "text", "It takes long").want(http.StatusSeeOther)
		}
		for _, name := range people {
			if n := count(name); n != few[name] {
				w.Errorf("request %d is shown to %s by %d statements, before by %d", q.ID, name, n, few[name])
			}
		}
		if few["josiah"] > 37 {
			w.Errorf("%d statements for one page", few["josiah"])
		}
	})
}

func TestRequestPage_RefusedActionSaysWhyUntilTheNext(t *testing.T) {
	t.Parallel()
	w := alone(t)
	q, path, mario := w.transfer("HeLa"), w.at("HeLa"), w.as("mario")
	mario.post(path+"/move", "to", "APPROVED").want(http.StatusSeeOther)
	w.as("josiah").post(path+"/move", "to", "CANCELLED", "reason", "We found a vial.").want(http.StatusSeeOther)
	d, err := w.app.Requests.PendingStatusOf(t.Context(), mario.actor, q)
	w.must(err)
	w.db.Clock = func() time.Time { return time.Now().Add(transfer.UndoTime + time.Second) }
	jobtest.Start(t, job.Config{DB: w.db, Handlers: w.app.Handlers()})
	jobtest.Wait(t, w.db, d.ID, exchange.JobFailed)
	a := mario.get(path).want(http.StatusOK)
	if text := a.text("main [role=alert]"); !strings.Contains(text, "Not done: Accept.") ||
		a.text("#next h2") != "Cancelled" {
		t.Errorf("%s; %s", text, a.text("#next"))
	}
	mario.post(path+"/messages", "text", "Good to hear.").want(http.StatusSeeOther)
	if a := mario.get(path); a.has("main [role=alert]") {
		t.Errorf("it is still said: %s", a.text("main [role=alert]"))
	}
}

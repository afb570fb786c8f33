package web_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/request"

	"github.com/PuerkitoBio/goquery"
)

// transfer is the demo's request for a material by its title.
func (w *world) transfer(material string) request.Detail {
	w.Helper()
	part, err := w.app.Requests.Requests(w.Context(), w.as("ada").actor, exchange.Page{Limit: 200}, request.Filter{})
	w.must(err)
	for _, q := range part.Items {
		if q.Material == material {
			return q
		}
	}
	w.Fatalf("the demo has no request for %q", material)
	return request.Detail{}
}

// at is the address of the page of the demo's request for a material.
func (w *world) at(material string) string {
	w.Helper()
	return fmt.Sprintf("/requests/%d", w.transfer(material).ID)
}

// now returns the current state of a request.
func (w *world) now(id int64) request.Detail {
	w.Helper()
	q, err := w.app.Requests.Request(w.Context(), w.as("ada").actor, id)
	w.must(err)
	return q
}

// TestRequestPage_NamesTheNextStepOfEachSide in every status: what, with which one filled button that leads where.
func TestRequestPage_NamesTheNextStepOfEachSide(t *testing.T) {
	t.Parallel()
	w := alone(t)
	const none = ""
	for _, c := range []struct{ material, who, head, button, leads string }{
		{"HeLa", "josiah", "New", none, none},
		{"HeLa", "mario", "Accept or decline", "Accept", "APPROVED"},
		{"HeLa", "ada", "New", none, none},
		{"C57BL/6J", "josiah", "Answer the lab", "Change the abstract", "#requirement-abstract"},
		{"C57BL/6J", "nadia", "Waiting for an answer", none, none},
		{"PDX model BL0269-F402", "josiah", "Upload the signed MTA", "Upload signed MTA", "#requirement-signed-mta"},
		{"PDX model BL0269-F402", "priya", "Waiting for documents", none, none},
		{"A-549", "josiah", "Upload a corrected signed MTA", "Upload signed MTA", "#requirement-signed-mta"},
		{"A-549", "tomas", "Waiting for documents", none, none},
		{"NOD.Cg-Prkdc<scid> Il2rg<tm1Wjl>/SzJ (NSG)", "nadia", "Check the signed MTA", "Check document",
			"#requirement-signed-mta"},
		{"NOD.Cg-Prkdc<scid> Il2rg<tm1Wjl>/SzJ (NSG)", "olivia", "The lab is checking it", none, none},
		{"K-562", "tomas", "Countersign the MTA", "Upload the executed MTA", "#requirement-executed-mta"},
		{"K-562", "mina", "Being countersigned", none, none},
		{"HCT 116", "mario", "Pack and ship", "Ship it", "/move?to=FULFILLED"},
		{"HCT 116", "gabriel", "Being prepared", none, none},
		{"MCF-7", "mario", "Resolve the reported problem", "See the problem", "#issues"},
		{"MCF-7", "josiah", "Problem reported", none, none},
		{"pSample-EGFP (made up)", "josiah", "Confirm that it arrived", "Confirm receipt", "VERIFIED_FULFILLED"},
		{"pSample-EGFP (made up)", "mina", "Shipped", none, none},
		{"HEK293T", "josiah", "Completed", none, none},
		{"HEK293T", "mario", "Completed", none, none},
		{"FVB/NJ", "josiah", "Declined", none, none},
		{"FVB/NJ", "nadia", "Declined", none, none},
		{"NIH 3T3", "josiah", "Cancelled", none, none},
		{"NIH 3T3", "mario", "Cancelled", none, none},
		{"Sf9", "josiah", "Withdrawn", none, none},
		{"Sf9", "mario", "Withdrawn", none, none},
	} {
		a := w.as(c.who).get(w.at(c.material)).want(http.StatusOK)
		big := a.doc.Find(".btn.main.big")
		leads := big.AttrOr("href", big.Closest("form").Find("[name=to]").AttrOr("value", ""))
		if got := a.text("#next h2"); got != c.head || strings.TrimSpace(big.Text()) != c.button || big.Length() > 1 ||
			!strings.HasSuffix(leads, c.leads) {
			t.Errorf("%s, to %s: %q, %q leads to %q", c.material, c.who, got, big.Text(), leads)
		}
		if strings.HasPrefix(c.leads, "#") && !a.has(c.leads) {
			t.Errorf("%s, to %s: there is no %s on the page", c.material, c.who, c.leads)
		}
		if mine := a.has("#next.mine"); mine != (c.button != none) ||
			strings.Contains(a.text("title"), "your turn") != mine {
			t.Errorf("%s, to %s: the title is %q", c.material, c.who, a.text("title"))
		}
	}
}

// TestRequestPage_EveryFormItShowsIsAccepted walks through requests by their pages alone: every form that is there is taken.
func TestRequestPage_EveryFormItShowsIsAccepted(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		walk := walker{world: w, sent: map[string]int{}}
		for _, material := range []string{"HeLa", "C57BL/6J", "PDX model BL0269-F402",
			"NOD.Cg-Prkdc<scid> Il2rg<tm1Wjl>/SzJ (NSG)", "K-562", "MCF-7", "FVB/NJ", "Sf9"} {
			q := w.transfer(material)
			lab := map[bool]string{true: "nadia",
				false: "mario"}[strings.Contains("C57BL/6J NOD.Cg-Prkdc<scid> Il2rg<tm1Wjl>/SzJ (NSG) FVB/NJ",
				material)]
			requester := map[string]string{"NOD.Cg-Prkdc<scid> Il2rg<tm1Wjl>/SzJ (NSG)": "olivia",
				"K-562": "mina"}[material]
			if requester == "" {
				requester = "josiah"
			}
			for step := range 14 {
				walk.step(w.as([]string{requester, lab, "ada"}[step%3]), q.ID)
			}
		}
		for _, form := range []string{"messages", "move APPROVED", "move REJECTED", "move OPEN", "review",
			"details abstract", "shipment", "assign", "issues", "close", "snooze",
			"active", "documents"} {
			if walk.sent[form] == 0 {
				w.Errorf("no page offered %s; sent were %v", form, walk.sent)
			}
		}
	})
}

// walker sends forms that pages offer, those first that were sent least.
type walker struct {
	*world
	sent map[string]int
}

func (w *walker) step(v *visitor, requestID int64) {
	w.Helper()
	path := fmt.Sprintf("/requests/%d", requestID)
	page := v.get(path).want(http.StatusOK)
	type form struct {
		*goquery.Selection
		name string
	}
	var forms []form
	page.doc.Find("main form[method=post]").Each(func(_ int, f *goquery.Selection) {
		name := f.AttrOr("action", "")
		// before which or behind which there is an id or a slot
		for _, end := range []string{"review", "withdraw", "close", "documents", "issues"} {
			if strings.HasSuffix(name, "/"+end) || strings.HasPrefix(name, path+"/"+end+"/") {
				name = path + "/" + end
			}
		}
		name = strings.TrimPrefix(name, path+"/")
		for _, field := range []string{"to", "form"} {
			if value := f.Find("[name="+field+"]").AttrOr("value", ""); value != "" {
				name += " " + value
			}
		}
		forms = append(forms, form{f, name})
	})
	page.doc.Find(`main a[href*="/move?to="]`).Each(func(_ int, a *goquery.Selection) {
		_, to, _ := strings.Cut(a.AttrOr("href", ""), "to=")
		asked := v.get(a.AttrOr("href", "")).want(http.StatusOK)
		forms = append(forms, form{asked.doc.Find("main form"), "move " + to})
	})
	slices.SortStableFunc(forms, func(a, b form) int { return w.sent[a.name] - w.sent[b.name] })
	f := forms[0]
	w.sent[f.name]++
	action := f.AttrOr("action", "")
	if f.name == "documents" {
		v.upload(action, "file", "paper.pdf", "%PDF-1.4 paper").want(http.StatusSeeOther)
		return
	}
	var fields []string
	f.Find("[name]").Each(func(_ int, field *goquery.Selection) {
		value := field.AttrOr("value", "")
		switch {
		case field.Is("select"):
			value = field.Find("option").Last().AttrOr("value", "")
		case field.Is("textarea"):
			value = fmt.Sprintf("Words %d", w.sent[f.name])
		case field.AttrOr("type", "") == "date":
			value = time.Now().AddDate(0, 0, 9).Format(time.DateOnly)
		}
		fields = append(fields, field.AttrOr("name", ""), value)
	})
	a := v.post(action, fields...)
	if a.status != http.StatusSeeOther {
		w.Fatalf("%s, which the page offered: %d %s", f.name, a.status, a.text("#errors, .lede"))
	}
	to := request.Status(strings.TrimPrefix(f.name, "move "))
	// nobody waits ten seconds here
	q, err := w.app.Requests.Request(w.Context(), v.actor, requestID)
	w.must(err)
	if d, err := w.app.Requests.PendingStatusOf(w.Context(), v.actor, q); err == nil && d != nil &&
		d.Action.Status == to {
		if shown := a.follow(); !shown.has(".toast form") || !shown.has(`#next form[action^="/undo/"]`) ||
			shown.has("a[href*='/move?']") {
			w.Errorf("%s: the page does not say that it waits", f.name)
		}
		v.post(fmt.Sprintf("/undo/%d", d.ID)).want(http.StatusSeeOther)
		p := request.Patch{Status: exchange.Some(to), Rejection: exchange.Some(d.Action.Reason)}
		if d.Action.Override != "" {
			p.Override = exchange.Some(d.Action.Override)
		}
		_, err := w.app.Requests.UpdateRequest(w.Context(), v.actor, requestID, p, nil)
		w.must(err)
	}
}

func TestRequestPage_AcceptingCanBeUndone(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		q := w.transfer("HeLa")
		path, v := w.at("HeLa"), w.as("mario")
		a := v.post(path+"/move", "to", "APPROVED").follow().want(http.StatusOK)
		accepted := fmt.Sprintf("Request %d will be accepted.", q.ID)
		if a.text("#next h2") != accepted || !strings.Contains(a.text(".toast"), accepted) || w.now(q.ID).Status != request.Open {
			w.Errorf("%s; %s", a.text("#next"), a.text(".toast"))
		}
		if other := w.as("josiah").get(path); strings.Contains(other.text("main"), "will be accepted") {
			w.Error("the requester is notified of it")
		}
		back := v.post(a.doc.Find(".toast form").AttrOr("action", "")).follow().want(http.StatusOK)
		if back.text("#next h2") != "Accept or decline" || back.has(`form[action^="/undo/"]`) {
			w.Errorf("after it was taken back: %s", back.text("#next"))
		}
	})
}

func TestRequestPage_OutdatedFormShowsTheStateAndKeepsTheText(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		q := w.transfer("HeLa")
		path, v := w.at("HeLa"), w.as("mario")
		seen := v.get(path).input("seen")
		_, err := w.app.Requests.SendMessage(w.Context(), w.as("josiah").actor, q.ID,
			request.TextBody{Text: exchange.Some("Two vials would be better.")})
		w.must(err)
		a := v.post(path+"/move", "to", "REJECTED", "reason", "Our incubator is full.", "seen",
			seen).want(http.StatusConflict)
		text := a.text("#errors")
		if !strings.Contains(text, "Two vials would be better.") || !strings.Contains(text, "Our incubator is full.") ||
			a.text("#next h2") != "Accept or decline" {
			w.Errorf("%s", text)
		}
		if d, err := w.app.Requests.PendingStatusOf(w.Context(), v.actor, q); d != nil || err != nil {
			w.Errorf("%+v waits, %v", d, err)
		}
		v.post(path+"/move", "to", "REJECTED", "reason", "Our incubator is full.", "seen",
			a.input("seen")).want(http.StatusSeeOther)
		// A move that the status no longer allows, and an act on a request that was closed.
		if a := w.as("josiah").post(path+"/move", "to",
			"VERIFIED_FULFILLED").want(http.StatusConflict); !a.has("#errors") || a.text("#next h2") != "New" {
			w.Errorf("a move that is not possible: %s", a.text("main"))
		}
		if a := v.post(w.at("Sf9")+"/issues", "text",
			"It is gone.").want(http.StatusConflict); !strings.Contains(a.text("#errors"), "It is gone.") {
			w.Errorf("a closed request: %s", a.text("#errors"))
		}
	})
}

func TestRequestPage_RefusedFormKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	w := alone(t)
	w.as("mario").post(w.at("HeLa")+"/shipment", "carrier", "DHL").want(http.StatusSeeOther)
	for _, c := range []struct {
		who, path string
		fields    []string
		field     string
		kept      string
	}{
		{"josiah", w.at("HeLa") + "/messages", []string{"text", " "}, "message-text", ""},
		{"josiah", w.at("HeLa") + "/issues", []string{"text", ""}, "issue-text", ""},
		{"mario", w.at("HeLa") + "/move", []string{"to", "REJECTED", "reason", ""}, "move-reason", ""},
		{"mario", w.at("HeLa") + "/move", []string{"to", "FULFILLED", "carrier", "DHL", "override", ""},
			"move-override", "DHL"},
		{"mario", w.at("HCT 116") + "/move", []string{"to", "FULFILLED", "carrier", "DHL", "sent_at", "soon"},
			"move-sent_at", "DHL"},
		{"mario", w.at("HCT 116") + "/shipment", []string{"carrier", "DHL", "sent_at", "32.1."}, "shipment-sent_at",
			"32.1."},
		{"mario", w.at("HCT 116") + "/snooze", []string{"until", "never", "reason", "Holidays"}, "snooze-until",
			"Holidays"},
		{"mario", w.at("HCT 116") + "/snooze", []string{"until", "1999-01-01"}, "snooze-until", "1999-01-01"},
		{"mario", w.at("HCT 116") + "/assign", []string{"assigned_to", "nobody"}, "assign-assigned_to", ""},
		{"mario", w.at("HCT 116") + "/assign", []string{"assigned_to", w.as("josiah").actor.ID.String()},
			"assign-assigned_to", ""},
		{"josiah", w.at("HeLa") + "/details", []string{"form", "address", "address", "x"}, "address-address", ""},
		{"josiah", w.at("HeLa") + "/details", []string{"form", "payment", "payment", "GOLD", "notes", "My account"},
			"payment-payment", "My account"},
		{"nadia", w.at("NOD.Cg-Prkdc<scid> Il2rg<tm1Wjl>/SzJ (NSG)") + "/documents/requester_signed_mta/review",
			[]string{"reason", " "}, "review-requester_signed_mta-reason", ""},
	} {
		a := w.as(c.who).post(c.path, c.fields...).want(http.StatusUnprocessableEntity)
		if !a.has("#f-"+c.field) || !a.has("#f-"+c.field+"-e") || !a.has(`#errors a[href="#f-`+c.field+`"]`) {
			t.Errorf("%s %v: it is not said at the field: %s", c.path, c.fields, a.text("#errors"))
		}
		if html, _ := a.doc.Find("main").Html(); c.kept != "" && !strings.Contains(html, c.kept) {
			t.Errorf("%s %v: %q is lost", c.path, c.fields, c.kept)
		}
	}
}

func TestClosingAProblem_AsksForTheAnswerAndTakesTheNewTracking(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		q := w.requestFor("MCF-7")
		path := fmt.Sprintf("/requests/%d", q.ID)
		josiah, mario := w.as("josiah"), w.as("mario")
		issue, err := w.app.Requests.OpenIssue(t.Context(), josiah.actor, q.ID,
			request.TextBody{Text: exchange.Some("It thawed")})
		w.must(err)
		action := fmt.Sprintf("%s/issues/%d/close", path, issue.ID)
		if !mario.get(path).has(`form[action="` + action + `"] textarea[name=text][required]`) {
			w.Fatal("the page does not ask for an answer")
		}
		field := fmt.Sprintf("#f-close-%d-text", issue.ID)
		a := mario.post(action, "text", " ", "tracking", "NEW-2").want(http.StatusUnprocessableEntity)
		if !a.has(`#errors a[href="`+field+`"]`) || a.input("tracking") != "NEW-2" {
			w.Errorf("without an answer: %s", a.text("#errors"))
		}
		if w.now(q.ID).OpenIssues != q.OpenIssues+1 {
			w.Fatal("it was closed without an answer")
		}
		mario.post(action, "text", "A new vial left today", "carrier", "FedEx", "tracking",
			"NEW-2").want(http.StatusSeeOther)
		now := w.now(q.ID)
		if now.OpenIssues != q.OpenIssues || now.Shipment == nil || now.Shipment.Tracking != "NEW-2" {
			w.Errorf("%+v", now.Shipment)
		}
		if text := josiah.get(path).text("#events"); !strings.Contains(text, "It thawed Answer: A new vial left today") {
			w.Error(text)
		}
	})
}

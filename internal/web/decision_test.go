package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/request"
)

// TestDecisionView_ShowsWhatToKnow: purpose, institution, whole address and earlier requests with their results, to the
// lab alone, with one filled button.
func TestDecisionView_ShowsWhatToKnow(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		q, mario := w.transfer("HeLa"), w.as("mario")
		a := mario.get(w.at("HeLa")).want(http.StatusOK)
		view := a.text("#decision")
		want := []string{q.Abstract, q.Note}
		if q.Address != nil {
			want = append(want, q.Address.Institution, q.Address.Line1, q.Address.Country)
		}
		earlier := 0
		part, err := w.app.Requests.Requests(w.Context(), mario.actor, exchange.Page{Limit: 200},
			request.Filter{Requester: &q.Requester})
		w.must(err)
		for _, other := range part.Items {
			if other.Organization == q.Organization && other.ID != q.ID && earlier < 10 {
				earlier++
				want = append(want, fmt.Sprintf("%s, request %d", other.Material, other.ID))
			}
		}
		if earlier == 0 {
			t.Error("the demo has no earlier request")
		}
		for _, text := range want {
			if !strings.Contains(view, strings.Join(strings.Fields(text), " ")) {
				t.Errorf("no %q in %s", text, view)
			}
		}
		if n := a.doc.Find("main .btn.main").Length(); n != 1 {
			t.Errorf("%d filled buttons", n)
		}
		if w.as("josiah").get(w.at("HeLa")).has("#decision") || mario.get(w.at("HCT 116")).has("#decision") {
			t.Error("it is shown to the requester, or after the decision")
		}
	})
}

// TestQuestion_IsTheRequestersTurnUntilTheyAnswer, and the lab can decide all the same.
func TestQuestion_IsTheRequestersTurnUntilTheyAnswer(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		path, mario, josiah := w.at("HeLa"), w.as("mario"), w.as("josiah")
		mario.post(path+"/messages", "text", "Which passage?", "question", "1").want(http.StatusSeeOther)
		a := josiah.get(path).want(http.StatusOK)
		if !strings.Contains(a.text("#next"), "Answer the lab Which passage?") || !a.has("#next.mine") {
			t.Errorf("the requester is told: %s", a.text("#next"))
		}
		if a := mario.get(path); a.text("#next h2") != "Waiting for an answer" ||
			!a.has(`#more-actions a[href$="to=APPROVED"]`) {
			t.Errorf("the lab is told: %s", a.text("#next"))
		}
		josiah.post(path+"/messages", "text", "Any below 20.").want(http.StatusSeeOther)
		if a := mario.get(path); a.text("#next h2") != "Accept or decline" {
			t.Errorf("after the answer: %s", a.text("#next"))
		}
		for who, status := range map[string]int{"josiah": http.StatusForbidden, "mario": http.StatusUnprocessableEntity} {
			text := map[string]string{"josiah": "What?"}[who]
			w.as(who).post(path+"/messages", "text", text, "question", "1").want(status)
		}
		mario.post(w.at("HCT 116")+"/messages", "text", "Which?", "question", "1").want(http.StatusConflict)
	})
}

// TestSavedReplies_AreTheLabsOwn: a member adds, changes and deletes them; they fill the fields of a decision.
func TestSavedReplies_AreTheLabsOwn(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		q, mario := w.transfer("HeLa"), w.as("mario")
		page, path := fmt.Sprintf("/labs/%d/replies", q.Organization), w.at("HeLa")
		before := mario.get(page).want(http.StatusOK).doc.Find("details form").Length()
		a := mario.post(page, "title", "", "text", "None left").want(http.StatusUnprocessableEntity)
		if !strings.Contains(a.text("#errors"), "Enter the title") || !strings.Contains(a.body, "None left") {
			t.Errorf("refused with %s", a.text("#errors"))
		}
		mario.post(page, "title", "Out of stock", "text", "None left until May.").want(http.StatusSeeOther)
		a = mario.get(page)
		if n := a.doc.Find("details form").Length(); n != before+1 {
			t.Fatalf("%d replies, want %d", n, before+1)
		}
		own := a.doc.Find("details form").Last().AttrOr("action", "")
		mario.post(own, "title", "Out of stock", "text", "None left until June.").want(http.StatusSeeOther)
		id := own[strings.LastIndex(own, "/")+1:]
		for _, address := range []string{path + "?reply=" + id, path + "/move?to=REJECTED&reply=" + id,
			path + "/move?to=APPROVED&reply=" + id} {
			a := mario.get(address).want(http.StatusOK)
			if text := a.text("textarea[name=text], textarea[name=reason]"); text != "None left until June." {
				t.Errorf("%s: %q", address, text)
			}
		}
		if w.as("josiah").get(path).has("[data-insert]") {
			t.Error("the requester sees them")
		}
		other := strings.Replace(own, number(q.Organization), number(w.transfer("C57BL/6J").Organization), 1)
		w.as("nadia").post(other, "title", "A", "text", "B").want(http.StatusNotFound)
		w.as("nadia").post(other, "do", "delete").want(http.StatusNotFound)
		mario.post(own, "do", "delete").want(http.StatusSeeOther)
		mario.post(own, "do", "delete").want(http.StatusNotFound)
		for range lab.MaxReplies - before {
			mario.post(page, "title", "A", "text", "B").want(http.StatusSeeOther)
		}
		mario.post(page, "title", "A", "text", "B").want(http.StatusConflict)
	})
}

// TestAcceptance_TakesAMessage, which the requester reads in the record.
func TestAcceptance_TakesAMessage(t *testing.T) {
	t.Parallel()
	w := alone(t)
	path, mario := w.at("HeLa"), w.as("mario")
	if !mario.get(path).has(`#next a[href="` + path + `/move?to=APPROVED"]`) {
		t.Error("no way to accept with a message")
	}
	mario.get(path + "/move?to=APPROVED").want(http.StatusOK)
	undo := mario.post(path+"/move", "to", "APPROVED", "reason", "Ships next week.").follow().
		doc.Find(".toast form").AttrOr("action", "")
	w.finish(undo)
	if a := w.as("josiah").get(path); !strings.Contains(a.text("#events"), "Ships next week.") {
		t.Errorf("the requester reads %s", a.text("#events"))
	}
}

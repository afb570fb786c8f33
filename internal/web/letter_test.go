package web_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"aliquot/internal/agreement/duty"
	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/term"
	"aliquot/internal/app/letters"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"

	"github.com/PuerkitoBio/goquery"
)

// providing makes the lab of HeLa, which olivia owns, one of an institution for which she signs.
func (w *world) providing() {
	w.Helper()
	ctx, ada, olivia := w.Context(), w.as("ada").actor, w.as("olivia").actor
	i, err := w.app.Institutions.Create(ctx, ada, patch[party.Institution](w, map[string]any{
		"legal_name": "Provider Institute", "country": "GB", "address": "1 Lab Lane", "confirmed": true,
		"kind": "NONPROFIT", "kind_evidence": "Statute", "kind_since": "1990-01-01"}))
	w.must(err)
	_, err = w.app.Institutions.Labs.Create(ctx, ada, i.ID, patch[party.Lab](w, map[string]any{
		"organization": w.material("HeLa").OrganizationID, "from": "2020-01-01", "confirmed": true}))
	w.must(err)
	position, err := w.app.Institutions.Positions.Create(ctx, ada, i.ID, patch[party.Position](w,
		map[string]any{"title": "Head of Contracts"}))
	w.must(err)
	_, err = w.app.Institutions.Authorities.Create(ctx, ada, i.ID, patch[party.Authority](w, map[string]any{
		"position": position.ID, "holder": olivia.ID, "direction": "BOTH", "largest_bsl": 2, "from": "2020-01-01"}))
	w.must(err)
}

// placed confirms, as an officer, that josiah is at Sample University.
func (w *world) placed() {
	w.Helper()
	tomas := w.as("tomas")
	office := tomas.get("/offices?q=sample").doc.Find(".lines a").First().AttrOr("href", "") + "/authority"
	claim := tomas.get(office).doc.Find(`section[aria-labelledby=h-claims] li:contains("Josiah") form`)
	tomas.post(claim.AttrOr("action", ""), "do", "confirm").want(http.StatusSeeOther)
}

// newMaterial is a new material of olivia's lab, of which she has stated what decides.
func (w *world) newMaterial(category, title string) int64 {
	w.Helper()
	olivia := w.as("olivia")
	m, _, err := w.app.Materials.CreateMaterial(w.Context(), olivia.actor, material.Patch{
		Category: exchange.Some(category), Title: exchange.Some(title), NeedsMTA: exchange.Some(category != "PROTOCOL"),
		Organization: exchange.Some(exchange.Ref(w.material("HeLa").OrganizationID))})
	w.must(err)
	if category == "PLASMID" {
		olivia.post(fmt.Sprintf("/catalog/%d/transfer", m.ID), "bsl", "1", "genetically_modified", "NO", "select_agent",
			"NO", "plant_genetic_resource", "NO", "export_class", "NO", "proprietary", "NO", "encumbered", "NO").
			want(http.StatusSeeOther)
	}
	return m.ID
}

// newRequest is a request of josiah for a new material of olivia's lab.
func (w *world) newRequest(category, title string) request.Detail {
	w.Helper()
	q, err := w.app.Requests.CreateRequest(w.Context(), w.as("josiah").actor, request.New{
		Material: exchange.Some(exchange.Ref(w.newMaterial(category, title))), Quantity: exchange.Some("1 vial")})
	w.must(err)
	return q
}

// drafted is a letter for a request of josiah, with a form that was chosen, or the usual one.
func (w *world) drafted(q request.Detail, choice string) letters.View {
	w.Helper()
	v, err := w.app.Letters.Draft(w.Context(), w.as("josiah").actor, letter.DraftNew{Terms: letter.Terms{
		Requests: exchange.Some([]exchange.Ref{exchange.Ref(q.ID)}), Choice: exchange.Some(choice)}})
	w.must(err)
	return v
}

// agreement is a letter that was sent to be signed by josiah alone.
func (w *world) agreement() letters.View {
	w.Helper()
	w.providing()
	w.placed()
	v, err := w.app.Letters.Send(w.Context(), w.as("josiah").actor,
		w.drafted(w.newRequest("PROTOCOL", "Staining"), "NONE").ID)
	w.must(err)
	return v
}

func TestLettersPage_ListsWhatTheVisitorMaySeeByStateAndInstitution(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		if a := w.as("gabriel").get("/letters").want(http.StatusOK); a.doc.Find("tbody tr").Length() != 1 {
			t.Errorf("the demo has one letter of Gabriel's requests: %s", a.text("main"))
		}
		if a := w.as("nora").get("/letters"); a.has("tbody") || !a.has(".empty h3") || !strings.Contains(
			a.text("main"), "No agreements yet") {
			t.Errorf("nora has none: %s", a.text("main"))
		}
		josiah, tomas := w.as("josiah"), w.as("tomas")
		sent := w.agreement()
		row := josiah.get("/letters").want(http.StatusOK).doc.Find("tbody tr").First().Text()
		for _, part := range []string{sent.Letter.Number, "Staining", "Provider Institute", "Sample University",
			"Being signed", "waiting for the scientist who receives"} {
			if !strings.Contains(row, part) {
				t.Errorf("the newest row lacks %q: %s", part, row)
			}
		}
		provider := fmt.Sprint(sent.Letter.Provider)
		of := "/letters?state=SENT&institution=" + provider
		if a := tomas.get(of).want(http.StatusOK); a.doc.Find("tbody tr").Length() != 1 ||
			a.doc.Find("#f-institution option[selected]").Text() != "Provider Institute" ||
			a.doc.Find("#f-state option[selected]").Text() != "Being signed" {
			t.Errorf("those with the provider that are being signed: %s", a.text("main"))
		}
		if a := tomas.get("/letters?state=DRAFT&institution=" + provider); a.has("tbody") ||
			!strings.Contains(a.text("main"), "No agreement is like that") {
			t.Errorf("it has no draft: %s", a.text("main"))
		}
		if a := tomas.get(of + fmt.Sprintf("&after=%d", sent.ID)); a.has("tbody") || !a.has(`a[rel=prev][href="`+
			strings.ReplaceAll(of, "state=SENT&institution="+provider, "institution="+provider+"&state=SENT")+`"]`) {
			t.Errorf("behind the last: %s", a.text("main"))
		}
	})
}

func TestHome_SaysWhyAnAgreementCannotBeSignedYet(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		const tasks = "section[aria-labelledby=h-wait]"
		tomas := w.as("tomas")
		if text := tomas.get("/").text(tasks); strings.Count(text, "Sign it") != 1 ||
			strings.Count(text, "Cannot be signed yet") != 1 ||
			!strings.Contains(text, "That Josiah Carberry is at Sample University is known from themselves alone") {
			t.Errorf("one of the demo waits for a confirmation: %s", text)
		}
		w.placed()
		if text := tomas.get("/").text(tasks); strings.Count(text, "Sign it") != 2 ||
			strings.Contains(text, "Cannot be signed yet") {
			t.Errorf("once it is confirmed: %s", text)
		}
	})
}

func TestLettersPage_HasPages(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		w.providing()
		w.placed()
		for i := range 26 {
			w.drafted(w.newRequest("PROTOCOL", fmt.Sprint("Staining ", i)), "NONE")
		}
		olivia, seen := w.as("olivia"), map[string]bool{}
		pages := 0
		for path := "/letters?state=DRAFT"; path != ""; pages++ {
			a := olivia.get(path).want(http.StatusOK)
			a.doc.Find("tbody th a").Each(func(_ int, s *goquery.Selection) { seen[s.Text()] = true })
			path = a.doc.Find("a[rel=next]").AttrOr("href", "")
		}
		if pages != 2 || len(seen) != 27 {
			t.Errorf("%d drafts on %d pages, want 26 and one of the demo on 2", len(seen), pages)
		}
	})
}

// TestLetterPage_LeadsFromTheRequestToTheExecutedAgreement by forms alone.
func TestLetterPage_LeadsFromTheRequestToTheExecutedAgreement(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		q := w.newRequest("PLASMID", "pUC19")
		josiah, olivia, tomas := w.as("josiah"), w.as("olivia"), w.as("tomas")
		page := fmt.Sprintf("/requests/%d", q.ID)
		if card := josiah.get(page).text("#agreement"); !strings.Contains(card, "of the same institution") {
			t.Errorf("the lab is of the requester’s institution: %s", card)
		}
		w.providing()
		drafted := josiah.post(page + "/agreement").want(http.StatusSeeOther)
		path := drafted.location
		a := drafted.follow().want(http.StatusOK)
		if !strings.Contains(a.text("#h-next"), "send it") || a.has(`form[action$="/sign"]`) ||
			!strings.Contains(a.text("section[aria-labelledby=h-why]"), "Why not the others") {
			t.Errorf("a draft: %s", a.text("main"))
		}
		if tag := josiah.get(page).text("#requirement-signed-mta"); !strings.Contains(tag, "By the agreement A-") {
			t.Errorf("the signed MTA of a request with an agreement: %s", tag)
		}
		josiah.post(path + "/send").want(http.StatusSeeOther)
		sign := func(v *visitor, role string) answer {
			t.Helper()
			ask := v.get(path + "/sign?role=" + role).want(http.StatusOK)
			if s := ask.text("#statement"); !strings.HasPrefix(s, "I sign version 1 of A-") ||
				!strings.Contains(s, ask.input("sha256")) || !strings.HasSuffix(s, "as "+party.Label(role)+".") {
				t.Errorf("the statement: %s", s)
			}
			return v.post(path+"/sign", "role", role, "version", ask.input("version"), "sha256", ask.input("sha256")).
				want(http.StatusSeeOther).follow()
		}
		sign(josiah, "RECIPIENT_SCIENTIST")
		if again := josiah.get(path + "/sign?role=RECIPIENT_SCIENTIST"); again.status != http.StatusSeeOther {
			t.Errorf("what was signed is offered again: %d", again.status)
		}
		if a := olivia.get(path); a.doc.Find(`a[href*="/sign?"]`).Length() != 2 {
			t.Errorf("the owner, who signs for the institution too, can sign %s", a.text(".next"))
		}
		sign(olivia, "PROVIDER_SCIENTIST")
		sign(tomas, "RECIPIENT_OFFICIAL")
		if card := josiah.get(page).text("#agreement"); strings.Count(card, "Signed") != 3 ||
			!strings.Contains(card, "Tomas Transfer, Director, Technology Transfer") {
			t.Errorf("before the last: %s", card)
		}
		if a := olivia.get(path); !strings.Contains(a.text(".next"), "known from themselves alone") ||
			a.has(`a[href*="/sign?"]`) || a.text("#h-next") != "You sign last, once this is settled" {
			t.Errorf("nobody has confirmed where the requester works: %s", a.text(".next"))
		}
		w.placed()
		a = sign(olivia, "PROVIDER_OFFICIAL")
		if !strings.Contains(a.text(".head"), "Executed") || a.has(".next") || a.has(`form[action$="/withdraw"]`) {
			t.Errorf("executed: %s", a.text("main"))
		}
		if pdf := tomas.get(path + "/document").want(http.StatusOK); !strings.HasPrefix(pdf.body, "%PDF-") ||
			pdf.header.Get("Content-Type") != "application/pdf" {
			t.Error("an official cannot download what they signed")
		}
		if card := josiah.get(page); !strings.Contains(card.text("#agreement"), "Executed") {
			t.Errorf("the request: %s", card.text("#agreement"))
		}
		if owed := josiah.get(path).text("#duties"); !strings.Contains(owed, "ask for no report") {
			t.Errorf("its terms make no duties: %s", owed)
		}
		w.owing(path)
		if a := josiah.get(path); !a.has(`#duties form[action$="/evidence"]`) || a.has(`#duties form[action$="/waive"]`) ||
			!strings.Contains(josiah.get("/").text("main"), "Report on the use of the material") {
			t.Errorf("what the requester owes: %s", a.text("#duties"))
		}
		form, _ := olivia.get(path).doc.Find(`#duties form[action$="/waive"]`).Attr("action")
		if a := olivia.post(form, "reason", " ").want(http.StatusUnprocessableEntity); !a.has("#duties .wrong") {
			t.Errorf("a waiver without a reason: %s", a.text("main"))
		}
		waived := olivia.post(form, "reason", "Told by mail").want(http.StatusSeeOther).follow().text("#duties")
		if !strings.Contains(waived, "Waived by Olivia Owner: Told by mail") {
			t.Errorf("after it was waived: %s", waived)
		}
	})
}

// owing makes a report of the executed agreement with a path due in ten days.
func (w *world) owing(path string) {
	w.Helper()
	var id int64
	_, err := fmt.Sscanf(path, "/letters/%d", &id)
	w.must(err)
	w.must(w.db.Tx(w.Context(), func(ctx context.Context, tx store.Conn) error {
		list := duty.Of(id, []term.Term{term.Report}, "", tx.Now)
		list[0].DueOn = exchange.DayOf(tx.Now.AddDate(0, 0, 10))
		return tx.Duties.Insert(ctx, list)
	}))
}

// TestLetterPage_KeepsWhatWasTypedWhenOthersWereFaster, and shows what they changed.
func TestLetterPage_KeepsWhatWasTypedWhenOthersWereFaster(t *testing.T) {
	t.Parallel()
	w := alone(t)
	w.providing()
	path := fmt.Sprintf("/letters/%d", w.drafted(w.newRequest("PLASMID", "pUC19"), "").ID)
	josiah, olivia := w.as("josiah"), w.as("olivia")
	olivia.post(path, "version", "1", "purpose", "RESEARCH", "field_provider_name", "The Institute").
		want(http.StatusSeeOther)
	late := josiah.post(path, "version", "1", "purpose", "RESEARCH", "field_provider_name", "Institute of Josiah").
		want(http.StatusConflict)
	if !strings.Contains(late.text("#errors"), "version 2") ||
		late.input("field_provider_name") != "Institute of Josiah" ||
		late.doc.Find(`#fields input[name=version]`).AttrOr("value", "") != "2" {
		t.Errorf("the late one: %s", late.text("main"))
	}
	a := josiah.get(path + "?version=2").want(http.StatusOK)
	if rows := a.text("#comparison tbody"); strings.Count(rows, "Changed") != 1 ||
		!strings.Contains(rows, "The Institute") {
		t.Errorf("version 2 next to version 1: %s", rows)
	}
	if bad := olivia.post(path+"/choice", "version", "2", "choice", "OPEN_MTA").want(http.StatusUnprocessableEntity); !strings.
		Contains(bad.text("#errors"), "why you choose it") {
		t.Errorf("a choice without a reason: %s", bad.text("#errors"))
	}
	why := olivia.post(path+"/choice", "version", "2", "choice", "OPEN_MTA", "choice_reason", "Others built on it").
		want(http.StatusSeeOther).follow().text("section[aria-labelledby=h-why]")
	if !strings.Contains(why, "Others built on it") {
		t.Errorf("why this form: %s", why)
	}
}

// TestLetterPage_SaysWhatKeepsItFromBeingSigned in words, with what helps.
func TestLetterPage_SaysWhatKeepsItFromBeingSigned(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v := w.agreement()
	path := fmt.Sprintf("/letters/%d", v.ID)
	tomas := w.as("tomas")
	form := []string{"version", "1", "sha256", v.SHA256, "role"}
	if a := tomas.post(path+"/sign", append(form, "RECIPIENT_SCIENTIST")...).want(http.StatusForbidden); !strings.
		Contains(a.text("#errors"), "no authority") {
		t.Errorf("signed in the place of the requester: %s", a.text("#errors"))
	}
	q := w.newRequest("OTHER", "Beads")
	card := w.as("josiah").get(fmt.Sprintf("/requests/%d", q.ID)).doc.Find("#agreement")
	if card.Find(`a[href$="#transfer"]`).Length() == 0 || card.Find("button").Length() != 0 {
		t.Errorf("facts are missing: %s", card.Text())
	}
}

// TestRequestPage_DraftsOneAgreementForWhatWasSentTogether unless some are left out.
func TestRequestPage_DraftsOneAgreementForWhatWasSentTogether(t *testing.T) {
	t.Parallel()
	w := alone(t)
	w.providing()
	josiah := w.as("josiah")
	var refs []exchange.Ref
	for _, title := range []string{"pUC18", "pUC19", "pBR322"} {
		refs = append(refs, exchange.Ref(w.newMaterial("PLASMID", title)))
	}
	v, err := w.app.Groups.CreateRequestGroup(t.Context(), josiah.actor,
		request.NewGroup{Materials: exchange.Some(refs)})
	w.must(err)
	page := fmt.Sprintf("/requests/%d", v.Requests[0].ID)
	form := josiah.get(page).doc.Find(`form[action$="/agreement"]`)
	if form.Find("input[type=checkbox][checked]").Length() != 2 {
		t.Fatalf("the form offers %s", form.Text())
	}
	other := form.Find("input[type=checkbox]").First().AttrOr("value", "")
	a := josiah.post(page+"/agreement", "request", other).want(http.StatusSeeOther).follow()
	if n := a.doc.Find("section[aria-labelledby=h-materials] li").Length(); n != 2 {
		t.Errorf("the agreement is for %d requests: %s", n, a.text("section[aria-labelledby=h-materials]"))
	}
}

// TestDesk_SignsManyAtOnceAndReportsEach: those that are refused with the reason, and none is lost.
func TestDesk_SignsManyAtOnceAndReportsEach(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		w.providing()
		w.placed()
		josiah, tomas := w.as("josiah"), w.as("tomas")
		var sent []letters.View
		for _, title := range []string{"pUC18", "pUC19", "pBR322"} {
			v, err := w.app.Letters.Send(w.Context(), josiah.actor, w.drafted(w.newRequest("PLASMID", title), "").ID)
			w.must(err)
			sent = append(sent, v)
		}
		office := tomas.get("/offices?q=sample").doc.Find(".lines a").First().AttrOr("href", "")
		if tab := tomas.get(office).text(`nav[aria-label=Institution] .count`); !strings.HasPrefix(tab, "5") {
			t.Errorf("the tab counts %q, two of the demo and three", tab)
		}
		desk := office + "/letters"
		simple := desk + "?form=SIMPLE_LETTER_1995"
		list := tomas.get(simple).want(http.StatusOK)
		if list.doc.Find("tbody tr").Length() != 3 || tomas.get(simple+"&show=them").doc.Find("tbody tr").Length() != 3 ||
			tomas.get(simple+"&show=lab&category=OTHER").has("tbody tr") || tomas.get(simple+"&days=7").has("tbody tr") {
			t.Errorf("the desk: %s", list.text("main"))
		}
		var chosen []string
		for _, v := range sent {
			chosen = append(chosen, "id", fmt.Sprint(v.ID))
		}
		ask := tomas.post(desk, chosen...).want(http.StatusOK)
		var confirmed []string
		ask.doc.Find("input[name=letter]").Each(func(_ int, s *goquery.Selection) {
			confirmed = append(confirmed, "letter", s.AttrOr("value", ""))
		})
		if len(confirmed) != 6 || strings.Count(ask.text("main"), "as "+party.Label("RECIPIENT_OFFICIAL")+".") != 3 {
			t.Fatalf("what is confirmed: %s", ask.text("main"))
		}
		josiah.post(fmt.Sprintf("/letters/%d", sent[1].ID), "version", "1", "field_provider_name", "The Institute").
			want(http.StatusSeeOther)
		report := tomas.post(desk, append(confirmed, "do", "sign")...).want(http.StatusOK)
		if got := report.text("section[aria-labelledby=h-signing]"); report.doc.Find(".lines .tag.good").Length() != 2 ||
			!strings.Contains(got, "1 of 3 agreements not signed") ||
			!strings.Contains(got, sent[1].Letter.Number+" is a draft") {
			t.Errorf("the report: %s", got)
		}
		if tomas.get(simple).has("tbody tr") || tomas.get(simple+"&show=all").doc.Find("tbody tr").Length() != 3 {
			t.Error("what was signed still waits, or is lost")
		}
		report = tomas.get(office + "/report").want(http.StatusOK)
		if row := report.text(`tbody tr:contains("Provider Institute")`); row != "Simple letterProvider Institute30003–" {
			t.Errorf("the report: %s", row)
		}
		if csv := tomas.get(office + "/report.csv").want(http.StatusOK).body; !strings.Contains(csv,
			"\nSimple letter,Provider Institute,3,0,0,0,3,\n") {
			t.Errorf("the report as CSV: %s", csv)
		}
		if home := josiah.get("/").text("section[aria-labelledby=h-wait]"); strings.Count(home, "Sign it") != 2 {
			t.Errorf("the tasks of the requester: %s", home)
		}
	})
}

// TestOffice_DraftsForRequestsThatNeedAnAgreement of its people; those to a lab are with the office of the lab's
// institution.
func TestOffice_DraftsForRequestsThatNeedAnAgreement(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		w.providing()
		w.placed()
		first, second := w.newRequest("PLASMID", "pUC18"), w.newRequest("PLASMID", "pUC19")
		w.newRequest("PROTOCOL", "Staining") // needs none
		tomas, olivia := w.as("tomas"), w.as("olivia")
		office := tomas.get("/offices?q=sample").doc.Find(".lines a").First().AttrOr("href", "")
		provider := olivia.get("/offices?q=provider").doc.Find(".lines a").First().AttrOr("href", "")
		for path, v := range map[string]*visitor{office + "/requests?side=receive": tomas,
			provider + "/requests": olivia} {
			list := v.get(path).want(http.StatusOK)
			for _, q := range []int64{first.ID, second.ID} {
				if !list.has(fmt.Sprintf("input[name=id][value='%d']", q)) {
					t.Errorf("%s lacks request %d: %s", path, q, list.text("main"))
				}
			}
			if strings.Contains(list.text("tbody"), "Staining") {
				t.Errorf("%s has what needs no agreement", path)
			}
		}
		for path, v := range map[string]*visitor{office + "/requests": tomas,
			provider + "/requests?side=receive": olivia} {
			if text := v.get(path).want(http.StatusOK).text("main"); strings.Contains(text, "pUC18") {
				t.Errorf("%s has requests of the other side: %s", path, text)
			}
		}
		olivia.get(office + "/requests").want(http.StatusForbidden)
		receiving := office + "/requests?side=receive"
		if a := tomas.post(receiving, "id", "999999").want(http.StatusUnprocessableEntity); !a.has("#f-id-e, .err") {
			t.Errorf("a request that does not exist: %s", a.text("main"))
		}
		drafted := tomas.post(receiving, "id", fmt.Sprint(first.ID), "id", fmt.Sprint(second.ID)).
			want(http.StatusSeeOther).header.Get("Location")
		if text := tomas.get(drafted).want(http.StatusOK).text("main"); !strings.Contains(text, "pUC18") ||
			!strings.Contains(text, "pUC19") {
			t.Errorf("the draft: %s", text)
		}
		if text := tomas.get(receiving).text("main"); strings.Contains(text, "pUC18") {
			t.Errorf("what has an agreement is listed: %s", text)
		}
		if a := tomas.post(receiving, "id", fmt.Sprint(first.ID)).want(http.StatusConflict); !strings.Contains(
			a.text("main"), "is in the letter") {
			t.Errorf("a second one: %s", a.text("main"))
		}
	})
}

func TestDesk_SignsManyWithOneTouchOfAPasskey(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		w.providing()
		w.placed()
		josiah, tomas := w.as("josiah"), w.as("tomas")
		var chosen []string
		for _, title := range []string{"pUC18", "pUC19"} {
			v, err := w.app.Letters.Send(w.Context(), josiah.actor, w.drafted(w.newRequest("PLASMID", title), "").ID)
			w.must(err)
			chosen = append(chosen, "id", fmt.Sprint(v.ID))
		}
		desk := tomas.get("/offices?q=sample").doc.Find(".lines a").First().AttrOr("href", "") + "/letters"
		device := w.device(tomas)
		role := tomas.post(desk, chosen...).want(http.StatusOK).doc.Find("button[name=role]")
		if role.Length() != 1 || role.AttrOr("value", "") != party.RecipientOfficial {
			t.Fatalf("passkeys are offered for %d roles", role.Length())
		}
		asked := tomas.post(desk, append(chosen, "role", party.RecipientOfficial)...).want(http.StatusOK).
			doc.Find("[data-passkey=get]")
		if strings.Count(asked.Find("pre").Text(), `"sha256"`) != 2 {
			t.Errorf("the statement: %s", asked.Find("pre").Text())
		}
		answer := string(device.Get(t, []byte(asked.AttrOr("data-options", "")), "http://example.org"))
		if text := tomas.post(desk, "credential", answer).want(http.StatusOK).text("main"); !strings.
			Contains(text, "2 agreements signed") {
			t.Errorf("the report: %s", text)
		}
		if text := tomas.post(desk, "credential", answer).want(http.StatusUnprocessableEntity).text("main"); !strings.
			Contains(text, "Nothing was signed. ") {
			t.Errorf("the same answer again: %s", text)
		}
	})
}

// TestMaterialPage_SaysUnderWhichAgreementItIsPassedOn, to whoever is signed in with their own institution.
func TestMaterialPage_SaysUnderWhichAgreementItIsPassedOn(t *testing.T) {
	t.Parallel()
	w := alone(t)
	path := fmt.Sprintf("/catalog/%d", w.newMaterial("PLASMID", "pUC19"))
	if line := w.as("josiah").get(path).text("#usual"); !strings.HasSuffix(line, "needs no agreement.") {
		t.Errorf("to the institution that provides it: %s", line)
	}
	w.providing()
	if line := w.as("").get(path).text("#usual"); line != "Most institutions get this under: Simple letter." {
		t.Errorf("to a visitor: %s", line)
	}
	if line := w.as("josiah").get(path).text("#usual"); !strings.HasSuffix(line, "Yours, Sample University: Simple letter.") {
		t.Errorf("to somebody at Sample University: %s", line)
	}
	if line := w.as("olivia").get(path).text("#usual"); !strings.HasSuffix(line,
		"State your institution to see what it has signed.") {
		t.Errorf("to somebody at none: %s", line)
	}
	ada := w.as("ada")
	office := ada.get("/offices?q=provider").doc.Find(".lines a").First().AttrOr("href", "")
	ada.post(office+"/masters", "family", "UBMTA", "version", "1995", "standing", "SIGNED", "signed_on", "2001-01-01").
		want(http.StatusSeeOther)
	if line := w.as("josiah").get(path).text("#usual"); !strings.Contains(line, "Implementing letter of the UBMTA") ||
		!strings.HasSuffix(line, "master agreement signed on 1995-06-01.") {
		t.Errorf("once both have signed the UBMTA: %s", line)
	}
}

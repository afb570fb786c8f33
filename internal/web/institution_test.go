package web_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestOffice_IsKeptByItsOfficers: of the demo, Tomas holds the authority of Sample University.
func TestOffice_IsKeptByItsOfficers(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		tomas, mario := w.as("tomas"), w.as("mario")
		list := mario.get("/offices?q=sample").want(http.StatusOK)
		path := list.doc.Find(".lines a").First().AttrOr("href", "")
		if list.doc.Find(".lines li").Length() != 1 || !strings.HasPrefix(path, "/offices/") {
			t.Fatalf("found %s", list.text(".lines"))
		}
		office := path + "/authority"
		if mario.get(path).want(http.StatusOK).has(`a[href="` + office + `"]`) {
			t.Error("others than officers find the office")
		}
		page := tomas.get(office).want(http.StatusOK)
		if who := page.text("section[aria-labelledby=h-signers] .lines"); !strings.Contains(who, "Tomas Transfer") ||
			strings.Contains(who, "Connie") {
			t.Errorf("who may sign: %s", who)
		}
		if who := tomas.get(office + "?direction=RECEIVE&family=UBMTA_LETTER&day=2026-02-01").
			text("section[aria-labelledby=h-signers] .lines"); !strings.Contains(who, "Connie") ||
			!strings.Contains(who, "Vera Vertretung, for Tomas Transfer") {
			t.Errorf("who may sign on receipt: %s", who)
		}
		a := tomas.post(path+"/authorities", "position", page.doc.Find("#f-authorities-position option").AttrOr("value", ""),
			"holder", "0000-0002-1825-0098", "direction", "BOTH", "largest_bsl", "9", "from", "").
			want(http.StatusUnprocessableEntity)
		if !strings.Contains(a.text("#errors"), "must be the id of somebody") {
			t.Errorf("a holder whom nobody knows: %s", a.text("#errors"))
		}
		position := page.doc.Find("#f-authorities-position option").AttrOr("value", "")
		a = tomas.post(path+"/authorities", "position", position, "name", "Nova", "mail", "nova@example.org", "direction",
			"BOTH", "largest_bsl", "4", "from", "2026-01-01").want(http.StatusUnprocessableEntity)
		if !strings.Contains(a.text("#errors"), "beyond what you may sign") || a.doc.Find("#f-authorities-name").AttrOr("value", "") != "Nova" {
			t.Errorf("beyond the own authority: %s", a.text("#errors"))
		}
		tomas.post(path+"/authorities", "position", position, "name", "Nova", "mail", "nova@example.org", "direction",
			"BOTH", "families", "ubmta; open_mta", "largest_bsl", "2", "from", "2026-01-01").want(http.StatusSeeOther)
		if !strings.Contains(tomas.get(office).text("section[aria-labelledby=h-authorities]"), "UBMTA, OPEN_MTA") {
			t.Error("the authority that was given is not there")
		}
		tomas.post(path+"/labs", "organization", "999999").want(http.StatusUnprocessableEntity)
		mario.post(path + "/affiliations").want(http.StatusUnprocessableEntity) // known already
		w.as("priya").post(path + "/affiliations").want(http.StatusSeeOther)
		claim := tomas.get(office).doc.Find("section[aria-labelledby=h-claims] form").Last().AttrOr("action", "")
		tomas.post(claim, "do", "confirm").want(http.StatusSeeOther)
		if !strings.Contains(w.as("priya").get(path).text("section[aria-labelledby=h-own]"), "Confirmed") {
			t.Error("what an officer confirmed is not shown")
		}
	})
}

func TestOffice_RegistersABilateralMasterAgreement(t *testing.T) {
	t.Parallel()
	w := alone(t)
	tomas := w.as("tomas")
	find := func(name string) string {
		return tomas.get("/offices?q="+name).doc.Find(".lines a").First().AttrOr("href", "")
	}
	sample, other := find("sample"), find("exemplar")
	add := func(counterparty string) answer {
		return tomas.post(sample+"/masters", "family", "BILATERAL", "standing", "BILATERAL", "signed_on", "2026-01-01",
			"counterparty", counterparty)
	}
	for _, wrong := range []string{"", "x", "999999", strings.TrimPrefix(sample, "/offices/")} {
		if a := add(wrong).want(http.StatusUnprocessableEntity); a.doc.Find("#f-masters-counterparty").Length() != 1 ||
			!a.has("#errors a[href='#f-masters-counterparty']") {
			t.Errorf("with %q: %s", wrong, a.text("#errors"))
		}
	}
	add(strings.TrimPrefix(other, "/offices/")).want(http.StatusSeeOther)
	if masters := tomas.get(sample).text("section[aria-labelledby=h-masters]"); !strings.Contains(masters,
		"bilateral with Exemplar National Data Centre") {
		t.Error(masters)
	}
}

// TestSignatories_AreCheckedBeforeTheyAreImported: errors are named by row and column; a clean file is imported as it
// was checked, without choosing it again.
func TestSignatories_AreCheckedBeforeTheyAreImported(t *testing.T) {
	t.Parallel()
	w := alone(t)
	ada := w.as("ada")
	send := func(content, do string) answer {
		return ada.upload("/offices/signatories", "file", "list.csv", content, "do", do)
	}
	bad := "institution,country,family,signed_on\nNew College,FR,UBMTA,soon\n"
	a := send(bad, "check").want(http.StatusOK)
	if row := strings.Join(strings.Fields(a.text("tbody tr")), " "); !strings.HasPrefix(row, "2signed_on") &&
		!strings.HasPrefix(row, "2 signed_on") {
		t.Errorf("the error is shown as %q", row)
	}
	send(bad, "import").want(http.StatusUnprocessableEntity)
	a = send(strings.Replace(bad, "soon", "2001-01-01", 1), "check").want(http.StatusOK)
	content := a.doc.Find("input[name=content]").AttrOr("value", "")
	if content == "" || ada.get("/offices?q=new+college").has(".lines a") {
		t.Fatalf("a check: %s", a.text("#main"))
	}
	ada.upload("/offices/signatories", "other", "x", "", "content", content, "do", "import").want(http.StatusSeeOther)
	path := ada.get("/offices?q=new+college").doc.Find(".lines a").AttrOr("href", "")
	if text := ada.get(path).text("section[aria-labelledby=h-masters]"); !strings.Contains(text, "Check again") {
		t.Errorf("imported, never checked: %s", text)
	}
	w.as("olivia").get("/offices/signatories").want(http.StatusForbidden)
}

package web_test

import (
	"encoding/json"
	"net/http"
	"path"
	"strconv"
	"strings"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
)

// listing is the address of a material of the demo.
func (w *world) listing(title string) string {
	w.Helper()
	return "/catalog/" + strconv.FormatInt(w.material(title).ID, 10)
}

func TestMaterialPage_ListsWhatARequestNeedsInOrder(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		a := w.as("").get(w.listing("WA09 (H9) hESC")).want(http.StatusOK)
		var names []string
		for _, n := range a.doc.Find(".need-list b").EachIter() {
			names = append(names, n.Text())
		}
		if got := strings.Join(names, ", "); got != "Research abstract, Delivery address, Shipping payment, Signed "+
			"MTA, IRB approval" {
			t.Errorf("needs: %s", got)
		}
		if !a.has(`a[href="`+w.listing("WA09 (H9) hESC")+`/request"]`) || !a.has(".cta a") {
			t.Error("it cannot be requested")
		}
		if !a.has(`#files a[href*="/uploaded-file/"]`) || !a.has(`.need-list a[href="#files"]`) {
			t.Error("no MTA to read")
		}
	})
}

func TestMaterialPage_HasFactsIdentifiersAndCitation(t *testing.T) {
	t.Parallel()
	w := alone(t)
	at := w.listing("HeLa")
	a := w.as("").get(at).want(http.StatusOK)
	if a.text("h1") != "HeLa" || a.text("title") != "HeLa, cell line, available – Aliquot" ||
		a.text("#about dd i") != "Homo sapiens" {
		t.Errorf("%s, %s, %s", a.text("h1"), a.text("title"), a.text("#about"))
	}
	if !a.has(`.idbox [data-copy="RRID:CVCL_0030"]`) ||
		!a.has(`.idbox a[href="https://www.cellosaurus.org/CVCL_0030"]`) {
		t.Errorf("identifiers: %s", a.text(".idbox"))
	}
	if !strings.Contains(a.text("#citation"), "RRID:CVCL_0030") ||
		!strings.Contains(a.text("#about"), "Endocervical Adenocarcinoma") {
		t.Errorf("%s %s", a.text("#citation"), a.text("#about"))
	}
	for _, format := range []string{"bibtex", "ris", "csl-json"} {
		if !a.has(`#cite a[href="/v1/materials/` + strings.TrimPrefix(at, "/catalog/") + `/citation?format=` + format +
			`"]`) {
			t.Errorf("no %s", format)
		}
	}
	var linked map[string]any
	w.must(json.Unmarshal([]byte(a.doc.Find(`head script[type="application/ld+json"]`).Text()), &linked))
	if linked["name"] != "HeLa" || linked["@context"] != "https://schema.org/" {
		t.Errorf("%v", linked)
	}
	for _, row := range a.foundLinks("#similar tbody th a") {
		if row == at {
			t.Error("it is similar to itself")
		}
	}
	if a.doc.Find("#similar tbody tr").Length() == 0 || a.doc.Find("h1").Length() != 1 {
		t.Error("nothing is similar")
	}
	if strings.Contains(a.body, "@example.org") {
		t.Error("an e-mail address in public")
	}
}

func TestMaterialPage_ShowsAnSTRProfileAsATable(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v := w.as("olivia")
	for profile, want := range map[string]string{
		"Amelogenin X\nCSF1PO 11,12\nD5S818: 11/12\nTH01 9.3": "Amelogenin X|CSF1PO 11, 12|D5S818 11, 12|TH01 9.3",
		"as in the report": "", "TH01 6": "",
	} {
		metadata, err := json.Marshal(map[string]string{"cell_line_name": "x", "str_profile": profile})
		w.must(err)
		m, _, err := w.app.Materials.CreateMaterial(t.Context(), v.actor,
			material.Patch{Category: exchange.Some("CELL_LINE"), Title: exchange.Some("x"),
				Organization: exchange.Some(exchange.Ref(v.actor.Owns[0])),
				Metadata:     exchange.Some(json.RawMessage(metadata))})
		w.must(err)
		a := v.get("/catalog/" + strconv.FormatInt(m.ID, 10)).want(http.StatusOK)
		var loci []string
		for _, n := range a.doc.Find(".loci > div").EachIter() {
			loci = append(loci, n.Find("dt").Text()+" "+n.Find("dd").Text())
		}
		if got := strings.Join(loci, "|"); got != want {
			t.Errorf("%q: %s", profile, got)
		}
		if want == "" && !strings.Contains(a.text("main"), profile) {
			t.Errorf("%q is not shown", profile)
		}
	}
}

func TestMaterialPage_OffersItsOwnLabToEditAndOthersToRequest(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		at := w.listing("LoVo")
		for name, want := range map[string]string{"": "/request", "josiah": "/request", "mario": "/edit", "olivia": "/edit"} {
			a := w.as(name).get(at).want(http.StatusOK)
			for _, button := range []string{".cta a", "a.main.wide-only"} {
				if got, _ := a.doc.Find(button).Attr("href"); got != at+want {
					t.Errorf("%q: the button leads to %q, not to %s", name, got, at+want)
				}
			}
		}
	})
}

func TestMaterialPage_UnderEmbargoIsForItsLab(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v := w.as("olivia")
		m, _, err := w.app.Materials.CreateMaterial(t.Context(), v.actor,
			material.Patch{Category: exchange.Some("OTHER"), Title: exchange.Some("Secret thing"),
				Organization: exchange.Some(exchange.Ref(v.actor.Owns[0])),
				EmbargoDate:  exchange.NullOf(exchange.Date(time.Now().AddDate(1, 0, 0).Format(time.DateOnly)))})
		w.must(err)
		at := "/catalog/" + strconv.FormatInt(m.ID, 10)
		for name, want := range map[string]int{"": 404, "josiah": 404, "nadia": 404, "mario": 200, "olivia": 200,
			"ada": 200} {
			a := w.as(name).get(at).want(want)
			if want == 404 && strings.Contains(a.body, "Secret") {
				t.Errorf("%q reads of it", name)
			}
			if want == 200 && (a.has(`script[type="application/ld+json"]`) || a.has(".cta") ||
				!strings.Contains(a.text("h1 ~ .tag"), "Embargo to") || !a.has(`meta[name=robots]`)) {
				t.Errorf("%q: %s", name, a.text("main"))
			}
		}
	})
}

func TestMaterialPage_ArchivesAndOffersAgain(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		at := w.listing("LoVo")
		for _, name := range []string{"", "josiah"} {
			if a := w.as(name).get(at); a.has(`form[action$="/archive"]`) || a.has(`a[href$="/edit"]`) ||
				a.has(`a[href$="/history"]`) {
				t.Errorf("%q may change it", name)
			}
		}
		w.as("josiah").post(at + "/archive").want(http.StatusForbidden)
		v := w.as("mario")
		a := v.get(at)
		if !a.has(`form[action$="/archive"]`) || !a.has(`a[href$="/edit"]`) || !a.has(`a[href$="/history"]`) {
			t.Error("a member may not change it")
		}
		if a := v.post(at + "/archive").follow(); !a.has(`.toast form[action^="/undo/"]`) || !a.has(".cta") {
			t.Errorf("not undoable: %s", a.text(".toast"))
		}
		// as the job does when the time is over
		w.must(w.app.Materials.ArchiveMaterial(t.Context(), v.actor, w.material("LoVo").ID, nil))
		a = w.as("").get(at).want(http.StatusOK)
		if a.has(".cta") || a.has("#files") || a.text("h1 ~ .tag") != "Archived" ||
			!strings.Contains(a.text("main"), "no longer request it") {
			t.Error(a.text("main"))
		}
		if a := v.post(at + "/offer").follow(); a.text("h1 ~ .tag") != "Available" {
			t.Error(a.text("main"))
		}
	})
}

func TestMaterialPage_WithOpenRequestsIsNotArchived(t *testing.T) {
	t.Parallel()
	w := alone(t)
	a := w.as("mario").post(w.listing("MCF-7") + "/archive").want(http.StatusConflict)
	if !strings.Contains(a.text("main"), "was not archived") || !a.has(`main li a[href^="/requests/"][href$="#next"]`) ||
		!a.has(`main li a[href$="#f-assign-assigned_to"]`) {
		t.Error(a.text("main"))
	}
}

func TestMaterialPage_LinksTheRequestOfThePerson(t *testing.T) {
	t.Parallel()
	w := alone(t)
	if a := w.as("josiah").get(w.listing("MCF-7")); len(a.foundLinks(`aside footer a[href^="/requests/"]`)) != 1 {
		t.Error(a.text("aside"))
	}
	if a := w.as("mario").get(w.listing("MCF-7")); a.has(`aside footer a[href^="/requests/"]`) {
		t.Error(a.text("aside"))
	}
}

func TestMaterialPage_ShowsThePatientNumberOnlyToTheLab(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v := w.as("olivia")
	m, _, err := w.app.Materials.CreateMaterial(t.Context(), v.actor,
		material.Patch{Category: exchange.Some("PDX"), Title: exchange.Some("x"),
			Organization: exchange.Some(exchange.Ref(v.actor.Owns[0])),
			Metadata:     exchange.Some(json.RawMessage(`{"submitter_patient_id": "patient-4711"}`))})
	w.must(err)
	at := "/catalog/" + strconv.FormatInt(m.ID, 10)
	for name, want := range map[string]bool{"": false, "josiah": false, "olivia": true, "ada": true} {
		if got := strings.Contains(w.as(name).get(at).body, "patient-4711"); got != want {
			t.Errorf("%q reads it: %v", name, got)
		}
	}
}

func TestMaterialPage_RunsFewStatements(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v := w.as("")
		most := int64(0)
		for _, title := range []string{"HeLa", "pUC19", "01 PCR", "pSample-EGFP (made up)", "PDX model BL0269-F402"} {
			at := w.listing(title)
			v.get(at)
			most = max(most, w.statementsOf(func() { v.get(at).want(http.StatusOK) }))
		}
		if most > 20 { // of which two searches for what is similar, which PostgreSQL looks for in parts
			t.Errorf("%d statements", most)
		}
	})
}

func TestMaterialPage_UnknownIsNotFound(t *testing.T) {
	t.Parallel()
	v := alone(t).as("")
	for _, path := range []string{"/catalog/99999", "/catalog/x", "/catalog/-1", "/catalog/0"} {
		v.get(path).want(http.StatusNotFound)
	}
}

func TestTransferFacts_AreStatedOnTheirPage(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		at, v := w.listing("LoVo"), w.as("mario")
		if a := w.as("").get(at); a.has(`#transfer a[href$="/transfer"]`) ||
			!strings.Contains(a.text("#transfer"), "Select agent") {
			t.Errorf("a visitor sees %s", a.text("#transfer"))
		}
		wrong := v.post(at+"/transfer", "export_class", "NO", "encumbered", "YES", "holder", "", "terms", "NO_REDISTRIBUTION",
			"data_uses", "general research").want(http.StatusUnprocessableEntity)
		if text := wrong.text(".errors"); !strings.Contains(text, "holder") || !strings.Contains(text, "DUO:0000042") {
			t.Errorf("the errors are %q", text)
		}
		if !wrong.has(`select[name="export_class"] option[value="NO"][selected]`) ||
			!wrong.has(`input[name="terms"][value="NO_REDISTRIBUTION"]`) {
			t.Error("what was typed is gone")
		}
		a := v.post(at+"/transfer", "export_class", "NO", "origin_country", "Brazil", "encumbered", "YES",
			"holder", "Institute X", "terms", "no_redistribution; attribution", "document", "MTA 7",
			"data_uses", "DUO:0000042").follow()
		for _, text := range []string{"Controlled for exportNo (stated by the lab)", "BR", "general research use",
			"Institute X: no redistribution, attribution (MTA 7)"} {
			if !strings.Contains(a.text("#transfer"), text) {
				t.Errorf("no %q in %s", text, a.text("#transfer"))
			}
		}
	})
}

func TestLineage_IsStatedOnItsPage(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		at, earlier, v := w.listing("LoVo"), w.listing("HeLa"), w.as("mario")
		if a := w.as("").get(at); a.has("#lineage") || a.has("#share") {
			t.Error("a visitor sees where it came from")
		}
		wrong := v.post(at+"/lineage", "stated", "RECEIVED", "relation", "PROGENY", "request", "x", "material", "").
			want(http.StatusUnprocessableEntity)
		if text := wrong.text(".errors"); !strings.Contains(text, "is not a number") ||
			!wrong.has(`input[name="request"][value="x"]`) {
			t.Errorf("the errors are %q, or what was typed is gone", text)
		}
		a := v.post(at+"/lineage", "stated", "RECEIVED", "relation", "PROGENY", "request", "", "material",
			path.Base(earlier)).follow()
		if text := a.text("#lineage"); !strings.Contains(text, "Progeny of it: HeLa") {
			t.Errorf("it came from %q", text)
		}
		share := v.get(at + "/lineage?to=university")
		if text := share.text("#share"); !strings.Contains(text, "Ask first") ||
			!strings.Contains(text, "Material "+path.Base(earlier)+": Nothing is known of where this material came from") {
			t.Errorf("it may be passed on: %q", text)
		}
		if text := v.get(at + "/lineage?to=nowhere").text("#share"); !strings.Contains(text, "No institution with this name") {
			t.Errorf("to nowhere: %q", text)
		}
	})
}

package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"aliquot/internal/agreement/instrument"
	"aliquot/internal/app/instruments"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// instrumentFile returns the file of an instrument of the box after a change.
func instrumentFile(t *testing.T, id string, change func(*instrument.Instrument)) instruments.File {
	t.Helper()
	box, err := instrument.Box()
	if err != nil {
		t.Fatal(err)
	}
	l, err := instrument.NewLibrary(box)
	if err != nil {
		t.Fatal(err)
	}
	i, _ := l.Newest(id, "2026-06-15")
	i.Template, i.Fields = "Agreement\n\n1. One.\n", nil
	change(&i)
	i.SHA256 = instrument.Hash(i.Template)
	b, err := json.Marshal(i)
	if err != nil {
		t.Fatal(err)
	}
	return instruments.File{Name: id + ".json", Content: b}
}

func TestInstruments_AreListedAndReadByEverybody(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, "members")
		all := s.anonymous().want(200, "GET", "/instruments/", nil)
		box, err := instrument.Box()
		if err != nil || len(all.List) != len(box) {
			t.Fatalf("%d of %d: %v", len(all.List), len(box), err)
		}
		var paged []any
		for next := "/instruments/?limit=5"; next != ""; {
			page := s.anonymous().want(200, "GET", next, nil)
			paged = append(paged, page.List...)
			next, _, _ = strings.Cut(strings.TrimPrefix(page.Header.Get("Link"), "<"), ">")
		}
		if fmt.Sprint(paged) != fmt.Sprint(all.List) {
			t.Errorf("pages have %v", paged)
		}
		one := s.anonymous().want(200, "GET", "/instruments/?family=UBMTA_LETTER", nil)
		if first, _ := one.List[0].(map[string]any); len(one.List) != 1 || first["id"] != "UBMTA_LETTER" {
			t.Errorf("of the family: %s", one.Raw)
		}
		for _, path := range []string{"/instruments/NOTHING", "/instruments/UBMTA_LETTER?version=99",
			"/instruments/ubmta_letter", "/instruments/1"} {
			s.anonymous().refused(404, "NOT_FOUND", "GET", path, nil)
		}
		s.anonymous().refused(400, "INVALID_INPUT", "GET", "/instruments/?families=UBMTA_LETTER", nil)
	})
}

func TestInstruments_OfTheOperatorTakeTheirPlaceAndAreNeverEdited(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, "members")
		read := func(path string) map[string]any { return s.anonymous().want(200, "GET", path, nil).Body }
		if was := read("/instruments/AUTM_HUMAN"); was["usable"] != false || was["sha256"] != nil {
			t.Errorf("before: %v", was)
		}
		official := instrumentFile(t, "AUTM_HUMAN", func(i *instrument.Instrument) { i.Reviewed = true })
		next := instrumentFile(t, "UBMTA_LETTER", func(i *instrument.Instrument) { i.Version, i.From = "2", "2090-01-01" })
		added, err := s.app.Instruments.Install(t.Context(), "root", official, next)
		if err != nil || len(added) != 2 {
			t.Fatalf("%v: %v", added, err)
		}
		if now := read("/instruments/AUTM_HUMAN"); now["usable"] != true || now["reviewed"] != true ||
			now["template"] != "Agreement\n\n1. One.\n" {
			t.Errorf("after: %v", now)
		}
		if now := read("/instruments/UBMTA_LETTER"); now["version"] != "1" || now["until"] != "2090-01-01" {
			t.Errorf("the next one does not end it: %v", now)
		}
		if now := read("/instruments/UBMTA_LETTER?version=2"); now["usable"] != false || now["until"] != nil {
			t.Errorf("the next one: %v", now)
		}
		if added, err := s.app.Instruments.Install(t.Context(), "root", official); err != nil || len(added) != 0 {
			t.Errorf("again: %v %v", added, err)
		}
		before := s.anonymous().want(200, "GET", "/instruments", nil).Raw
		for want, file := range map[string]instruments.File{
			"AUTM_HUMAN.json: version: 1 of AUTM_HUMAN has another text": instrumentFile(t, "AUTM_HUMAN",
				func(i *instrument.Instrument) { i.Template = "Another text" }),
			"UBMTA_LETTER.json: version: 1 of UBMTA_LETTER has another text": instrumentFile(t, "UBMTA_LETTER",
				func(*instrument.Instrument) {}),
			"UBMTA_LETTER.json: from: must be": instrumentFile(t, "UBMTA_LETTER",
				func(i *instrument.Instrument) { i.Version, i.From = "3", "2026-02-02" }),
			"UBMTA_LETTER.json: instrument UBMTA_LETTER, version 3: from: UBMTA_LETTER, version 2,": instrumentFile(t,
				"UBMTA_LETTER", func(i *instrument.Instrument) { i.Version, i.From = "3", "2090-01-01" }),
			"SMTA.json: template: has braces": instrumentFile(t, "SMTA",
				func(i *instrument.Instrument) { i.Version, i.Template = "2", "{{range .}}x{{end}}{" }),
			"SMTA.json: template: cannot be printed": instrumentFile(t, "SMTA",
				func(i *instrument.Instrument) { i.Version, i.From, i.Template = "2", "2090-01-01", "\u202eabc" }),
			"x.json: file: must be one instrument": {Name: "x.json", Content: []byte("{}{}")},
		} {
			good := instrumentFile(t, "SMTA", func(*instrument.Instrument) {})
			if _, err := s.app.Instruments.Install(t.Context(), "root", good, file); err == nil ||
				!strings.HasPrefix(err.Error(), want) {
				t.Errorf("%v, not %s", err, want)
			}
		}
		if after := s.anonymous().want(200, "GET", "/instruments", nil).Raw; string(after) != string(before) {
			t.Error("a refused file changed something")
		}
	})
}

func TestInstruments_AreRecordedInChains(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, "members")
		file := instrumentFile(t, "SMTA", func(*instrument.Instrument) {})
		if _, err := s.app.Instruments.Install(t.Context(), "root", file); err != nil {
			t.Fatal(err)
		}
		if faults := s.faults(); faults != "" {
			t.Fatal(faults)
		}
		if _, err := s.sql.ExecContext(t.Context(), "UPDATE instruments SET file = '{}'"); err != nil {
			t.Fatal(err)
		}
		if s.faults() == "" {
			t.Error("a text that was changed in the database is not found")
		}
	})
}

package material_test

import (
	"fmt"
	"strings"
	"testing"

	"aliquot/internal/exchange/exchangetest"
	"aliquot/internal/exchange/material"
)

func TestSavedSearch_HasANameOrThatOfItsQuery(t *testing.T) {
	t.Parallel()
	s, err := exchangetest.Body[material.SavedSearchPatch](t, `{}`).Create(exchangetest.RequesterID)
	if err != nil || !s.Alerts || s.Name != "All materials" || s.UserID != exchangetest.RequesterID {
		t.Fatalf("made %+v, %v", s, err)
	}
	for _, c := range []struct{ patch, name, address string }{
		{`{"search": " HeLa "}`, "HeLa", "/x?search=HeLa"},
		{`{"filters": {"organisms": ["Mus musculus", "Homo sapiens", "Mus musculus"], "category": []}}`,
			"HeLa, Organism: Homo sapiens or Mus musculus",
			"/x?organisms=Homo+sapiens&organisms=Mus+musculus&search=HeLa"},
		{`{"name": "Mine"}`, "Mine", "/x?organisms=Homo+sapiens&organisms=Mus+musculus&search=HeLa"},
		{`{"filters": {}, "search": "a&b=\"c\" +ü"}`, "Mine", "/x?search=a%26b%3D%22c%22+%2B%C3%BC"},
		{`{"name": ""}`, `a&b="c" +ü`, "/x?search=a%26b%3D%22c%22+%2B%C3%BC"},
		{`{"search": "", "alerts": false}`, "All materials", "/x"},
	} {
		if s, err = exchangetest.Body[material.SavedSearchPatch](t, c.patch).Patch(s); err != nil || s.Name != c.name ||
			s.Address("/x") != c.address {
			t.Errorf("%s: %q at %s, %v; want %q at %s", c.patch, s.Name, s.Address("/x"), err, c.name, c.address)
		}
	}
	if s.Alerts {
		t.Error("alerts are on")
	}
}

func TestSavedSearch_NamesEveryWrongField(t *testing.T) {
	t.Parallel()
	many := `"` + strings.Repeat("x", 1001) + `"`
	values := strings.Repeat(`"v", `, 3)
	for i := range 51 {
		values += fmt.Sprintf(`"%d", `, i)
	}
	for patch, field := range map[string]string{
		`{"search": ` + many + `}`: "search", `{"search": "a\u0000"}`: "search", `{"name": ` + many + `}`: "name",
		`{"filters": {"nothing": ["x"]}}`: "filters", `{"filters": {"organisms": [""]}}`: "filters",
		`{"filters": {"organisms": ["a\nb"]}}`:            "filters",
		`{"filters": {"organisms": [` + values + `"w"]}}`: "filters",
	} {
		_, err := exchangetest.Body[material.SavedSearchPatch](t, patch).Create(exchangetest.RequesterID)
		if got := exchangetest.FieldErrors(err); len(got) != 1 || len(got[field]) != 1 {
			t.Errorf("%.80s: %v, want one fault of %s", patch, err, field)
		}
	}
}

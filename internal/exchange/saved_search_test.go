package exchange_test

import (
	"fmt"
	"strings"
	"testing"

	"aliquot/internal/exchange"
)

func TestASavedSearchIsCalledWhatItLooksForUnlessItHasAName(t *testing.T) {
	t.Parallel()
	s, err := body[exchange.SavedSearchPatch](t, `{}`).Create(requesterID)
	if err != nil || !s.Alerts || s.Name != "All materials" || s.UserID != requesterID {
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
		if s, err = body[exchange.SavedSearchPatch](t, c.patch).Patch(s); err != nil || s.Name != c.name ||
			s.Address("/x") != c.address {
			t.Errorf("%s: %q at %s, %v; want %q at %s", c.patch, s.Name, s.Address("/x"), err, c.name, c.address)
		}
	}
	if s.Alerts {
		t.Error("alerts are on")
	}
}

func TestASavedSearchNamesEveryWrongField(t *testing.T) {
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
		_, err := body[exchange.SavedSearchPatch](t, patch).Create(requesterID)
		if got := faults(err); len(got) != 1 || len(got[field]) != 1 {
			t.Errorf("%.80s: %v, want one fault of %s", patch, err, field)
		}
	}
}

func TestNewsOfASavedSearchNameTheNewest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		count int
		want  string
	}{
		{1, "1 material is new in your saved search HeLa: No. 1."},
		{3, "3 materials are new in your saved search HeLa: No. 1; No. 2; No. 3."},
		{12, "12 materials are new in your saved search HeLa: No. 1; No. 2; No. 3; 9 more."},
	} {
		m := exchange.Match{Search: exchange.SavedSearch{ID: 7, Name: "HeLa"}, Count: c.count}
		for i := range min(c.count, exchange.MaxTold) {
			m.Materials = append(m.Materials, exchange.MaterialPayload{Title: fmt.Sprint("No. ", i+1)})
		}
		if got := exchange.DescribeAnnouncement(m.News(), "", ""); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	s := exchange.DefaultMail(requesterID)
	s.Delivery = exchange.Daily
	if got := s.MailFor(exchange.SearchNotif, "a@b.org"); got != exchange.MailDigest {
		t.Errorf("mail about a saved search: %s, want it in the digest", got)
	}
}

package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"aliquot/internal/exchange/category"

	"github.com/PuerkitoBio/goquery"
)

// TestForms_NoFieldThatIsOptionalIsRequired: what a label calls optional is not missing when the form is empty.
func TestForms_NoFieldThatIsOptionalIsRequired(t *testing.T) {
	t.Parallel()
	w := alone(t)
	lab, me := w.as("mario"), w.as("josiah")
	type form struct {
		by    *visitor
		path  string
		pairs []string
	}
	forms := []form{{me, w.listing("HeLa") + "/request", []string{"address", "new"}}, {me, "/account/addresses/new", nil},
		{me, "/labs/new", nil}}
	for _, c := range category.All() {
		forms = append(forms, form{lab, "/share/new", []string{"category", c.Code, "organization_id",
			fmt.Sprint(w.material("HT-29").OrganizationID)}})
	}
	for _, f := range forms {
		a := f.by.post(f.path, f.pairs...).want(http.StatusUnprocessableEntity)
		wrong := a.doc.Find(".wrong")
		if wrong.Length() == 0 {
			t.Errorf("%s %v takes an empty form", f.path, f.pairs)
		}
		wrong.Each(func(_ int, s *goquery.Selection) {
			label, problem := s.Find(".label").First().Text(), s.Find(".err").First().Text()
			if strings.Contains(label, "optional") && (strings.HasPrefix(strings.TrimSpace(problem), "Enter ") ||
				strings.Contains(problem, "required")) {
				t.Errorf("%s %v: %q is optional, but: %s", f.path, f.pairs, label, problem)
			}
		})
	}
}

package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"aliquot/internal/exchange/category"

	"github.com/PuerkitoBio/goquery"
)

// send posts a form with files' encoding left out.
func (v *visitor) form(path string, form url.Values) answer {
	v.Helper()
	var pairs []string
	for name, values := range form {
		for _, value := range values {
			pairs = append(pairs, name, value)
		}
	}
	return v.post(path, pairs...)
}

// filled is what the form of an answer would send.
func (a answer) filled(selector string) url.Values {
	form := url.Values{}
	a.doc.Find(selector).Find("[name]").Each(func(_ int, s *goquery.Selection) {
		name, kind := s.AttrOr("name", ""), s.AttrOr("type", "")
		switch {
		case s.Is("button") || kind == "file":
		case s.Is("textarea"):
			form.Add(name, s.Text())
		case s.Is("select"):
			o := s.Find("[selected]")
			if o.Length() == 0 {
				o = s.Find("option").First()
			}
			form.Add(name, o.AttrOr("value", o.Text()))
		case kind == "checkbox" || kind == "radio":
			if _, on := s.Attr("checked"); on {
				form.Add(name, s.AttrOr("value", "on"))
			}
		default:
			form.Add(name, s.AttrOr("value", ""))
		}
	})
	return form
}

func TestTheFormOfEachCategoryComesEmptyAndFull(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v := w.as("mario")
	for _, c := range category.All() {
		a := v.get("/share/new?category=" + c.Code).want(http.StatusOK)
		for _, f := range c.Fields {
			if !a.has(`[name="additional_metadata.` + f.Key + `"]`) {
				t.Errorf("%s asks for no %s", c.Code, f.Key)
			}
		}
		if !strings.Contains(a.text("h1"), "List a") {
			t.Error(a.text("h1"))
		}
	}
}

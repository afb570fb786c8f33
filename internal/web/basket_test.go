package web_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/request"

	"github.com/PuerkitoBio/goquery"
)

// listed is a material of the first lab of a person, with what it needs.
func (v *visitor) listed(title string, needs material.Patch) int64 {
	v.Helper()
	if needs.Title = exchange.Some(title); !needs.Category.Set {
		needs.Category = exchange.Some("OTHER")
	}
	needs.Organization = exchange.Some(exchange.Ref(v.actor.Organizations[0]))
	m, _, err := v.app.Materials.CreateMaterial(v.Context(), v.actor, needs)
	v.must(err)
	return m.ID
}

// says fails unless the text of the page has all parts.
func (a answer) says(parts ...string) {
	a.Helper()
	text := strings.Join(strings.Fields(a.doc.Find("body").Text()+" "+a.attributes()), " ")
	for _, part := range parts {
		if !strings.Contains(text, part) {
			a.Errorf("the page does not say %q: %.3000s", part, text)
		}
	}
}

// attributes are the names that the page gives to elements for those who do not see them.
func (a answer) attributes() (names string) {
	a.doc.Find("[aria-label]").Each(func(_ int, s *goquery.Selection) { names += s.AttrOr("aria-label", "") + " " })
	return names
}

// TestBasket_IsSentWithOneFormForEachLab: a person collects materials, sees what each asks for, and sends one form.
func TestBasket_IsSentWithOneFormForEachLab(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		lab, me := w.as("mario"), w.as("josiah")
		one := lab.listed("First of two", material.Patch{NeedsAbstract: exchange.Some(true)})
		two := lab.listed("Second of two", material.Patch{})
		gone := lab.listed("Gone meanwhile", material.Patch{})
		for _, id := range []int64{one, two, gone, two} {
			back := fmt.Sprintf("/catalog/%d", id)
			if !me.get(back).has("form[action='/basket'] button[name=material]") {
				w.Fatalf("%s does not offer the basket", back)
			}
			added := me.form("/basket", url.Values{"material": {fmt.Sprint(id)}, "back": {back}})
			if added.status != 303 || !strings.HasPrefix(added.location, back) {
				w.Fatalf("adding answered %d, %s", added.status, added.location)
			}
		}
		w.must(w.app.Materials.ArchiveMaterial(w.Context(), lab.actor, gone, nil))
		basket := me.get("/basket")
		if n := basket.doc.Find("main li").Length(); n != 3 {
			w.Errorf("the basket shows %d materials", n)
		}
		basket.says("Basket, 3 materials", "a research abstract", "This material is archived")
		form := fmt.Sprintf("/basket/%d", lab.actor.Organizations[0])
		me.get(form).says("First of two", "Second of two", "Gone meanwhile", "Send 2 requests")
		typed := url.Values{"once": {"a"}, "material": {fmt.Sprint(one), fmt.Sprint(two), fmt.Sprint(gone)},
			"quantity-" + fmt.Sprint(one): {"3 vials"}, "address": {"new"}, "name": {"Josiah"},
			"address_line_1": {"1 Main St"}, "locality": {"Providence"}, "country": {"CH"}, "postal_code": {"4051"}}
		wrong := me.form(form, typed)
		if wrong.status != 422 {
			w.Fatalf("an incomplete form answered %d", wrong.status)
		}
		wrong.says("remove it from your basket")
		typed.Set("skip_unavailable", "1")
		me.form(form, typed).says("Enter the research abstract")
		typed.Set("requester_abstract", "To map receptors.")
		sent := me.form(form, typed)
		if sent.status != 303 || !strings.HasPrefix(sent.location, "/requests?turn=all&group=") {
			w.Fatalf("the form answered %d, %s", sent.status, sent.location)
		}
		if again := me.form(form, typed); again.location != sent.location {
			w.Errorf("the form sent twice leads to %s, then to %s", sent.location, again.location)
		}
		me.get(sent.location).says("First of two", "3 vials", "Second of two", "Only requests sent together")
		if left := me.get("/basket"); left.doc.Find("main li").Length() != 1 {
			w.Errorf("the basket keeps %d materials", left.doc.Find("main li").Length())
		}
		me.post("/basket/remove", "material", fmt.Sprint(gone))
		me.get("/basket").says("Your basket is empty")
	})
}

// TestRequest_ShowsWhatWasSentTogether to both sides, with messages as one conversation, and the lab accepts all.
func TestRequest_ShowsWhatWasSentTogether(t *testing.T) {
	t.Parallel()
	w := alone(t)
	lab, me := w.as("mario"), w.as("josiah")
	one, two := lab.listed("First of two", material.Patch{}), lab.listed("Second of two", material.Patch{})
	group, err := w.app.Groups.CreateRequestGroup(w.Context(), me.actor,
		request.NewGroup{Materials: exchange.Some([]exchange.Ref{exchange.Ref(one), exchange.Ref(two)})})
	w.must(err)
	first, second := fmt.Sprintf("/requests/%d", group.Requests[0].ID),
		fmt.Sprintf("/requests/%d", group.Requests[1].ID)
	me.post(second+"/messages", "text", "Both on dry ice, please.")
	for _, v := range []*visitor{me, lab} {
		page := v.get(first)
		page.says("Sent together", "Second of two", "Both on dry ice, please.", "on request "+
			fmt.Sprint(group.Requests[1].ID))
		if page.doc.Find("#together a[href='"+second+"']").Length() != 1 {
			w.Errorf("%s does not link to the other request", first)
		}
	}
	if me.get(first).doc.Find("#together form").Length() != 0 {
		w.Error("the requester is offered to accept")
	}
	accept := lab.get(first).formOf("#together form")
	accept.Set("do", "accept")
	accepted := lab.form("/requests/bulk", accept)
	if accepted.status != 303 {
		w.Fatalf("accepting both answered %d", accepted.status)
	}
	if list := lab.get(accepted.location); list.doc.Find("form[action^='/undo/']").Length() != 2 {
		w.Errorf("%d of 2 requests can be undone: %s", list.doc.Find("form[action^='/undo/']").Length(), list.location)
	}
}

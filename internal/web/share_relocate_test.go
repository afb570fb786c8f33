package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
)

// ownLab creates another lab of a member.
func (v *visitor) ownLab(name string) lab.Organization {
	v.Helper()
	o, err := v.app.Labs.CreateOrganization(v.Context(), v.actor, lab.OrganizationPatch{Name: exchange.Some(name),
		Members: exchange.Some([]exchange.UserRef{})})
	v.must(err)
	return o.Organization
}

func TestListing_MovesToAnotherLabOfThePersonAfterAPreview(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v := w.as("mario")
		other := v.ownLab("Mario’s second lab")
		s, err := w.app.Documents.CreateShipping(t.Context(), v.actor, lab.ShippingPatch{
			Organization: exchange.Some(exchange.Ref(w.material("LoVo").OrganizationID)),
			NeedsPayment: exchange.Some(true), Restrictions: exchange.Some("On dry ice only")})
		w.must(err)
		id := w.material("LoVo").ID
		m, err := w.app.Materials.UpdateMaterial(t.Context(), v.actor, id,
			material.Patch{Shipping: exchange.NullOf(exchange.Ref(s.ID))}, nil)
		w.must(err)
		at := fmt.Sprintf("/catalog/%d/lab", id)
		if !v.get(fmt.Sprintf("/catalog/%d", id)).has(`a[href="` + at + `"]`) {
			w.Error("the listing does not offer to move")
		}
		if a := v.get(at).want(http.StatusOK); a.has(`form[method=post][action="` + at + `"]`) {
			w.Error("it moves before a lab is chosen")
		}
		a := v.get(fmt.Sprintf("%s?to=%d", at, other.ID)).want(http.StatusOK)
		text := a.text("main")
		for _, part := range []string{"What moves to Mario’s second lab", "earlier requests", "On dry ice only",
			"Contact"} {
			if !strings.Contains(text, part) {
				w.Errorf("the preview lacks %q: %s", part, text)
			}
		}
		if now := w.material("LoVo"); now.OrganizationID != m.OrganizationID {
			w.Error("the preview moved it")
		}
		form := a.formOf(`form[method=post][action="` + at + `"]`)
		if form.Get("contact_user_id") != v.actor.ID.String() {
			w.Errorf("the contact is %s", form.Get("contact_user_id"))
		}
		stale := form.Get("base")
		form.Set("base", "older")
		v.form(at, form).want(http.StatusConflict)
		form.Set("base", stale)
		v.form(at, form).want(http.StatusSeeOther)
		now := w.material("LoVo")
		copied, err := w.app.Documents.Shipping(t.Context(), *now.ShippingID)
		w.must(err)
		if now.OrganizationID != other.ID || now.ContactID != v.actor.ID || copied.OrganizationID != other.ID ||
			copied.Restrictions != "On dry ice only" || !copied.NeedsPayment {
			w.Errorf("%+v %+v", now.Material, copied)
		}
		v.post(at, "to", fmt.Sprint(w.material("Sf9").OrganizationID), "base", "x").want(http.StatusUnprocessableEntity)
		w.as("olivia").get(at).want(http.StatusForbidden) // she is a member of the first lab only
	})
}

func TestListing_WithAnOpenRequestNamesItInsteadOfMoving(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v := w.as("mario")
	other := v.ownLab("Mario’s second lab")
	m := w.material("MCF-7")
	at := fmt.Sprintf("/catalog/%d/lab", m.ID)
	a := v.get(fmt.Sprintf("%s?to=%d", at, other.ID)).want(http.StatusOK)
	if !strings.Contains(a.text("main"), "open request") || !a.has(`main li a[href^="/requests/"]`) ||
		!a.has("form[method=post] button[disabled]") {
		t.Error(a.text("main"))
	}
	form := a.formOf(`form[method=post][action="` + at + `"]`)
	v.form(at, form).want(http.StatusConflict)
	if now := w.material("MCF-7"); now.OrganizationID != m.OrganizationID {
		t.Error("it moved")
	}
}

func TestMaterialForm_DraftOfAnotherLabFollowsTheAddress(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v := w.as("mario")
	first, other := w.material("LoVo").OrganizationID, v.ownLab("Mario’s second lab").ID
	form := v.get(fmt.Sprintf("/share/new?category=PLASMID&lab=%d", first)).formOf("#edit")
	typed(form, must(category.Get("PLASMID")))
	form.Set("do", "draft")
	v.form("/share/new", form).want(http.StatusSeeOther)
	a := v.get(fmt.Sprintf("/share/new?category=PLASMID&lab=%d", other)).want(http.StatusOK)
	if a.input("organization_id") != fmt.Sprint(other) || a.input("title") != form.Get("title") ||
		!strings.Contains(a.text("main"), "Your draft was for another lab") {
		t.Errorf("lab %s, want %d: %s", a.input("organization_id"), other, a.text(".note"))
	}
	if a := v.get("/share/new?category=PLASMID"); a.input("organization_id") != fmt.Sprint(first) {
		t.Errorf("without a lab in the address, the draft's is %s, want %d", a.input("organization_id"), first)
	}
	if !v.get("/share").has(`form[action="/drafts/delete"] input[value="new PLASMID"]`) {
		t.Error("the draft cannot be deleted")
	}
}

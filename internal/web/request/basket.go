package request

import (
	"net/url"
	"slices"

	"aliquot/internal/app/transfer"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/request"
	"aliquot/internal/web/ui"
)

var basketPages = []ui.Route{
	ui.Get("/basket", (*basketRequest).basket).Private(),
	ui.Post("/basket", (*basketRequest).addToBasket),
	ui.Post("/basket/remove", (*basketRequest).removeFromBasket),
	ui.Get("/basket/{lab}", (*pageRequest).askFor).Private(),
	ui.Post("/basket/{lab}", (*pageRequest).sendAsk).TakesFiles(),
	ui.Post("/basket/{lab}/checklist", (*pageRequest).askChecklist),
}

// basketRequest is a request for the page of the basket. Its methods are the handlers.
type basketRequest struct{ *ui.PageRequest }

// basketPage shows the materials that the visitor means to request, lab by lab.
type basketPage struct {
	ui.Page
	Labs []transfer.BasketLab
}

// Icon returns the icon of a material's category.
func (p *basketPage) Icon(code string) string { return categoryOf(code).Icon }

// Kind returns the name of a material's category.
func (p *basketPage) Kind(code string) string { return categoryOf(code).Label }

func categoryOf(code string) category.Category {
	c, _ := category.Get(code)
	return c
}

// Needs returns what a material asks for, in words.
func (p *basketPage) Needs(item transfer.BasketItem) string { return needWords(item.Asked().Terms()) }

func needWords(t request.Terms) string {
	var list []string
	for _, n := range []struct {
		asked bool
		word  string
	}{{t.Abstract, "a research abstract"}, {t.Address, "a delivery address"}, {t.Payment, "shipping payment"},
		{t.MTA, "a signed MTA"}, {t.IRB, "an IRB approval"}} {
		if n.asked {
			list = append(list, n.word)
		}
	}
	if list == nil {
		return "nothing"
	}
	return ui.Listed(list)
}

func (v *basketRequest) basket() (ui.Response, error) {
	p := &basketPage{Page: ui.Page{Title: "Basket", Section: "basket"}}
	var err error
	if p.Labs, err = v.App.Groups.Basket(v.Context(), v.Who.Actor); err != nil {
		return ui.Response{}, err
	}
	return ui.Show("basket", p)
}

// addToBasket adds a material and returns to the page that the form is on, in a list to the material.
func (v *basketRequest) addToBasket() (ui.Response, error) {
	id := ui.ParseID(v.PostFormValue("material"))
	if id == nil {
		return ui.Response{}, ui.ErrNotWhole
	}
	m, err := v.App.Groups.AddToBasket(v.Context(), v.Who.Actor, *id)
	if err != nil {
		return ui.Response{}, err
	}
	back := ui.SeeOther(ui.LocalAddress(v.PostFormValue("back")) + "#material-" + number(*id))
	return back.Saying(m.Title + " is in your basket."), nil
}

func (v *basketRequest) removeFromBasket() (ui.Response, error) {
	var ids []int64
	for _, text := range v.PostForm["material"] {
		if id := ui.ParseID(text); id != nil {
			ids = append(ids, *id)
		}
	}
	if len(ids) == 0 {
		return ui.Response{}, ui.ErrNotWhole
	}
	return ui.SeeOther("/basket").Saying("Removed from your basket."),
		v.App.Groups.RemoveFromBasket(v.Context(), v.Who.Actor, ids...)
}

// Several reports whether the form requests several materials of a lab in one step.
func (p *askPage) Several() bool { return several(p.RequestFormView) }

func several(f transfer.RequestFormView) bool { return f.Material.ID == 0 }

// Path returns the address of the form.
func (p *askPage) Path() string { return askPath(p.RequestFormView) }

func askPath(f transfer.RequestFormView) string {
	if several(f) {
		return "/basket/" + number(f.Organization.ID)
	}
	return "/catalog/" + number(f.Material.ID) + "/request"
}

// DraftKey returns the key of the form's draft.
func (p *askPage) DraftKey() string { return askDraft(p.RequestFormView) }

func askDraft(f transfer.RequestFormView) string {
	if several(f) {
		return transfer.GroupDraftKey(f.Organization.ID)
	}
	return transfer.RequestDraftKey(f.Material.ID)
}

// askTitle returns what the form is called.
func askTitle(f transfer.RequestFormView) string {
	if several(f) {
		return "Request " + ui.Plural(len(f.Items), "material") + " from " + f.Organization.Name
	}
	return "Request " + f.Material.Title
}

// Needs returns what a material of the form asks for, in words.
func (p *askPage) Needs(item transfer.BasketItem) string { return needWords(item.Asked().Terms()) }

// QuantityField returns the name of the field with the quantity of a material.
func (p *askPage) QuantityField(id int64) string { return quantityField(id) }

func quantityField(id int64) string { return "quantity-" + number(id) }

// groupForm returns the form of several materials to the lab in the path: those that the form names, or those in the
// basket.
func groupForm(v *pageRequest, form url.Values) (transfer.RequestFormView, error) {
	organization, err := v.PathID("lab")
	if err != nil {
		return transfer.RequestFormView{}, err
	}
	var ids []int64
	for _, text := range form["material"] {
		if id := ui.ParseID(text); id != nil && !slices.Contains(ids, *id) && len(ids) < request.MaxGroup {
			ids = append(ids, *id)
		}
	}
	return v.App.Groups.GroupFormView(v.Context(), v.Who.Actor, organization, ids)
}

// nothingToAsk leads back to the basket if there is nothing to request from the lab, or not in one step.
func nothingToAsk(f transfer.RequestFormView) (ui.Response, bool) {
	switch {
	case f.Closed != nil:
		return ui.SeeOther("/basket").Saying(exchange.MessageOf(f.Closed)), true
	case len(f.Items) == 0:
		return ui.SeeOther("/basket").Saying("Nothing in your basket can be requested from this lab now."), true
	}
	return ui.Response{}, false
}

// submitGroup sends the form of several materials.
func submitGroup(v *pageRequest, f transfer.RequestFormView, n transfer.NewRequest, use askedUse,
	form url.Values) (ui.Response, error) {
	skip := form.Get("skip_unavailable") != ""
	if len(f.Refused) > 0 && !skip {
		return ui.Response{}, exchange.FieldErrors{"skip_unavailable": {"is required"}}.Err()
	}
	group := request.NewGroup{Skip: exchange.Some(skip)}
	add := func(id int64) {
		group.Materials = exchange.Some(append(group.Materials.Value, exchange.Ref(id)))
		group.Quantities = exchange.Some(append(group.Quantities.Value, form.Get(quantityField(id))))
	}
	for _, item := range f.Items {
		add(item.ID)
	}
	for _, u := range f.Refused {
		add(u.Material)
	}
	sent, err := v.App.Groups.SubmitRequestGroup(v.Context(), v.Who.Actor, n, group)
	if err == nil {
		err = stateUse(v, use, sent.Requests...)
	}
	if err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther(groupPath(sent.ID)).Saying(ui.Plural(len(sent.Requests), "request") +
		" sent. The lab aims to answer within " + ui.Days(f.Organization.Targets.Decide) + "."), nil
}

// groupPath returns the address of the list of a group's requests.
func groupPath(id int64) string { return "/requests?turn=all&group=" + number(id) }

// Together returns the requests that were sent in the same step as this one, for the page of a request.
func (p *requestPage) Together() []togetherLine {
	if len(p.R.Together) < 2 { // the others are not for the viewer, or were left out
		return nil
	}
	list := make([]togetherLine, len(p.R.Together))
	for i, q := range p.R.Together {
		list[i] = togetherLine{q, ui.StatusOf(q, p.viewer), q.ID == p.R.ID}
	}
	return list
}

// togetherLine is a request of the group, as the page of one of them shows it.
type togetherLine struct {
	request.Detail
	View ui.StatusView
	This bool
}

// Acceptable returns the ids of the requests of the group that the viewer could accept together.
func (p *requestPage) Acceptable() (ids []int64) {
	for _, q := range p.R.Together {
		if p.viewer.MemberOf(q.Organization) && q.Status == request.Open && q.Active {
			ids = append(ids, q.ID)
		}
	}
	return ids
}

package account

import (
	"net/http"
	"net/url"
	"strconv"

	"aliquot/internal/app/transfer"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
	"aliquot/internal/web/ui"
)

var draftPages = []ui.Route{
	ui.Get("/drafts", (*pageRequest).drafts).Private(),
	ui.Post("/drafts/save", (*pageRequest).saveDraft),
	ui.Post("/drafts/delete", (*pageRequest).deleteDraft),
}

type draftsPage struct {
	ui.Page
	Drafts []ui.DraftLine
}

func (v *pageRequest) drafts() (ui.Response, error) {
	list, err := v.App.Materials.Drafts(v.Context(), v.Who.Actor)
	if err != nil {
		return ui.Response{}, err
	}
	p := &draftsPage{Page: ui.Page{Title: "Drafts", Section: "account", Narrow: true}}
	for _, d := range list {
		p.Drafts = append(p.Drafts, ui.DraftLine{Draft: d, Address: ui.DraftAddress(d.Key)})
	}
	return ui.Show("drafts", p)
}

// draftOf returns the submitted form as a draft.
func (v *pageRequest) draftOf() person.Draft {
	form := url.Values{}
	for name, values := range v.PostForm {
		if name != ui.DraftKeyField && name != ui.DraftTitleField {
			form[name] = values
		}
	}
	return person.Draft{Key: v.PostFormValue(ui.DraftKeyField), Title: v.PostFormValue(ui.DraftTitleField),
		Form: form}
}

// saveDraft stores a draft, which the script sends while somebody types.
func (v *pageRequest) saveDraft() (ui.Response, error) {
	if err := v.App.Materials.SaveDraft(v.Context(), v.Who.Actor, v.draftOf()); err != nil {
		return ui.Response{}, err
	}
	return ui.Response{Serve: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }}, nil
}

func (v *pageRequest) deleteDraft() (ui.Response, error) {
	if err := v.App.Materials.DeleteDraft(v.Context(), v.Who.Actor, v.PostFormValue(ui.DraftKeyField)); err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther("/drafts").Saying("Draft deleted."), nil
}

var undoPages = []ui.Route{
	ui.PostID("/undo/{id}", (*pageRequest).undo),
}

// undo cancels a pending action of the visitor, and those that the form names in addition.
func (v *pageRequest) undo(id int64) (ui.Response, error) {
	d, err := v.App.Undo(v.Context(), v.Who.Actor, id)
	if err != nil {
		return ui.Response{}, err
	}
	if more := ui.ChosenIDs(v.PostForm); len(more) > 0 {
		return v.undoMore(d, more)
	}
	back := "/"
	switch {
	case d.Request != 0:
		back = "/requests/" + strconv.FormatInt(d.Request, 10)
	case d.Material != 0:
		back = "/catalog/" + strconv.FormatInt(d.Material, 10)
	case d.Organization != 0:
		back = "/labs/" + strconv.FormatInt(d.Organization, 10) + "/people"
	}
	return ui.SeeOther(back).Saying("Undone. No one was notified."), nil
}

// undoMore cancels the other actions of which first was one. Those that have run already are counted.
func (v *pageRequest) undoMore(first transfer.PendingAction, more []int64) (ui.Response, error) {
	if len(more) > ui.MaxInBulk {
		return v.Missing()
	}
	late := 0
	for _, id := range more {
		if _, err := v.App.Undo(v.Context(), v.Who.Actor, id); exchange.CodeOf(err) == exchange.Conflict {
			late++
		} else if err != nil {
			return ui.Response{}, err
		}
	}
	text := "Undone. No one was notified."
	if late > 0 {
		text = ui.Plural(len(more)+1-late, "action") + " undone; " + ui.Count(late) + " had been done already."
	}
	back := "/requests"
	if first.Material != 0 {
		m, err := v.App.Materials.Material(v.Context(), v.Who.Actor, first.Material)
		if err != nil {
			return ui.Response{}, err
		}
		back = "/labs/" + strconv.FormatInt(m.OrganizationID, 10)
	}
	return ui.SeeOther(back).Saying(text), nil
}

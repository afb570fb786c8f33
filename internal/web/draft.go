package web

import (
	"net/http"
	"net/url"
	"strings"

	"aliquot/internal/exchange"
)

var draftPages = []page{
	get("/drafts", (*pageRequest).drafts).private(),
	post("/drafts/save", (*pageRequest).saveDraft),
	post("/drafts/delete", (*pageRequest).deleteDraft),
}

type draftsPage struct {
	Page
	Drafts []draftLine
}

type draftLine struct {
	exchange.Draft
	Address string // of the form
}

// draftForm returns the address of a draft's form. The first word of the draft's key names the form.
func draftForm(key string) string {
	kind, rest, _ := strings.Cut(key, " ")
	switch kind {
	case "ask":
		return "/catalog/" + rest + "/request"
	case "material":
		return "/catalog/" + rest + "/edit"
	case "new":
		return "/share/new?category=" + url.QueryEscape(rest)
	case "message":
		return "/requests/" + rest + "#message"
	}
	return "/drafts"
}

func (v *pageRequest) drafts() (response, error) {
	list, err := v.app.Drafts(v.Context(), v.who.Actor)
	if err != nil {
		return response{}, err
	}
	p := &draftsPage{Page: Page{Title: "Drafts", Section: "account", Narrow: true}}
	for _, d := range list {
		p.Drafts = append(p.Drafts, draftLine{d, draftForm(d.Key)})
	}
	return show("drafts", p)
}

// The fields of a form that identify its draft; they are not stored in it.
const (
	draftKeyField   = "draft"
	draftTitleField = "draft_title"
)

// draftOf returns the submitted form as a draft.
func (v *pageRequest) draftOf() exchange.Draft {
	form := url.Values{}
	for name, values := range v.PostForm {
		if name != draftKeyField && name != draftTitleField {
			form[name] = values
		}
	}
	return exchange.Draft{Key: v.PostFormValue(draftKeyField), Title: v.PostFormValue(draftTitleField), Form: form}
}

// saveDraft stores a draft, which the script sends while somebody types.
func (v *pageRequest) saveDraft() (response, error) {
	if err := v.app.SaveDraft(v.Context(), v.who.Actor, v.draftOf()); err != nil {
		return response{}, err
	}
	return response{serve: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }}, nil
}

func (v *pageRequest) deleteDraft() (response, error) {
	if err := v.app.DeleteDraft(v.Context(), v.who.Actor, v.PostFormValue(draftKeyField)); err != nil {
		return response{}, err
	}
	return seeOther("/drafts").saying("The draft is deleted."), nil
}

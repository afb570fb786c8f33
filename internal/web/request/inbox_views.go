package request

import (
	"net/url"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/request"
	"aliquot/internal/web/ui"
)

// Kept returns the query of the address of the list as it is shown, from its first page.
func (p *inboxPage) Kept() string {
	query := inboxQuery(p.Query)
	query.Set("turn", p.Tab.Value)
	return query.Encode()
}

// saveView keeps what the inbox shows under a name.
func (v *pageRequest) saveView() (ui.Response, error) {
	asked, err := url.ParseQuery(v.PostFormValue("query"))
	if err != nil {
		asked = url.Values{} // an invalid address is that of the whole inbox
	}
	query := inboxQuery(asked)
	view := request.InboxView{Name: v.PostFormValue("name"), Query: query.Encode()}
	err = v.App.Requests.SaveInboxView(v.Context(), v.Who.Actor, view)
	if err == nil {
		return ui.SeeOther("/requests?" + view.Query).Saying("View saved."), nil
	}
	text := exchange.MessageOf(err)
	if fields, wrong := ui.FieldErrorsIn(err); wrong {
		text = strings.Join(ui.SentencesOf(fields, map[string]string{"name": "a name"})["name"], " ")
		if text == "" {
			text = "This view has too many filters to be kept."
		}
	} else if exchange.CodeOf(err) != exchange.Conflict {
		return ui.Response{}, err
	}
	p, err := v.inboxPage(query)
	if err != nil {
		return ui.Response{}, err
	}
	p.View, p.Errors = v.PostFormValue("name"), ui.FieldErrors{"name": {text}}
	return ui.Invalid("inbox", p)
}

// deleteView deletes the view that the form names.
func (v *pageRequest) deleteView() (ui.Response, error) {
	id := ui.ParseID(v.PostFormValue("id"))
	if id == nil {
		return v.Missing()
	}
	if err := v.App.Requests.DeleteInboxView(v.Context(), v.Who.Actor, *id); err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther("/requests").Saying("View deleted."), nil
}

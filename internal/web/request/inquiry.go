package request

import (
	"net/url"
	"strconv"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/request"
	"aliquot/internal/web/ui"
)

// inquiryRequest is a request for a page of inquiries. Its methods are the handlers.
type inquiryRequest struct{ *ui.PageRequest }

var inquiryPages = []ui.Route{
	ui.GetID("/catalog/{id}/inquiry", (*inquiryRequest).newInquiry).Private(),
	ui.PostID("/catalog/{id}/inquiry", (*inquiryRequest).ask),
	ui.Get("/inquiry", (*inquiryRequest).inquiries).Private(),
	ui.GetID("/inquiry/{id}", (*inquiryRequest).inquiry).Private(),
	ui.PostID("/inquiry/{id}", (*inquiryRequest).answer),
}

// askLabPage is the form of a new inquiry.
type askLabPage struct {
	ui.Page
	Material material.Shown
	Lab      exchange.Named
	Text     string
	Closed   string // why the lab cannot be asked; "": it can
}

func (v *inquiryRequest) askLabPage(id int64) (*askLabPage, error) {
	f, err := v.App.Requests.RequestFormView(v.Context(), v.Who.Actor, id)
	if exchange.CodeOf(err) == exchange.MaterialEmbargoed {
		err = core.NoMaterial() // there is nothing to ask about yet
	}
	if err != nil {
		return nil, err
	}
	p := &askLabPage{Page: ui.Page{Title: "Ask about " + f.Material.Title, Section: "catalog", Narrow: true},
		Material: f.Material, Lab: exchange.Named{ID: f.Organization.ID, Name: f.Organization.Name},
		Closed: exchange.MessageOf(f.Closed)}
	if f.Own {
		p.Closed = "This material belongs to your own lab."
	}
	return p, nil
}

func (v *inquiryRequest) newInquiry(id int64) (ui.Response, error) {
	p, err := v.askLabPage(id)
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Show("inquiry-new", p)
}

// ask sends the question. What cannot be sent stays in the form.
func (v *inquiryRequest) ask(id int64) (ui.Response, error) {
	text := v.PostFormValue("text")
	i, err := v.App.Inquiries.Ask(v.Context(), v.Who.Actor, id, request.TextBody{Text: exchange.Some(text)})
	if err == nil {
		return ui.SeeOther(inquiryPath(i.ID)).Saying("Question sent. You are notified when the lab answers."), nil
	}
	errs := refusedText(err, "your question")
	if errs == nil {
		return ui.Response{}, err
	}
	p, err := v.askLabPage(id)
	if err != nil {
		return ui.Response{}, err
	}
	p.Text, p.Errors = text, errs
	return ui.Invalid("inquiry-new", p)
}

// refusedText returns what is wrong with a text, or why it is not taken now; nil if err is something else.
func refusedText(err error, label string) ui.FieldErrors {
	if fields, wrong := ui.FieldErrorsIn(err); wrong {
		return ui.SentencesOf(fields, map[string]string{"text": label})
	}
	switch exchange.CodeOf(err) {
	case exchange.Conflict, exchange.RateLimited:
		return ui.FieldErrors{"text": {exchange.MessageOf(err)}}
	}
	return nil
}

// inquiriesPage lists inquiries: those that the visitor's labs have to answer, have answered, or that the visitor made.
type inquiriesPage struct {
	ui.Page
	Tabs        []ui.Tab
	Show        string
	Items       []request.ShownInquiry
	Total       exchange.Count
	Next, First string
}

// Excerpt returns the beginning of a question.
func (*inquiriesPage) Excerpt(text string) string { return ui.Excerpt(text) }

func (v *inquiryRequest) inquiries() (ui.Response, error) {
	p := &inquiriesPage{Page: ui.Page{Title: "Inquiries", Section: "requests"}, Show: v.URL.Query().Get("show")}
	waiting, err := v.App.Inquiries.ToAnswer(v.Context(), v.Who.Actor)
	if err != nil {
		return ui.Response{}, err
	}
	if p.Show != "asked" && p.Show != "answered" {
		if p.Show = "asked"; waiting > 0 || v.URL.Query().Get("show") == "waiting" {
			p.Show = "waiting"
		}
	}
	address := func(show string) string { return "/inquiry?show=" + show }
	tab := func(words, show string, count int64) {
		p.Tabs = append(p.Tabs, ui.Tab{Words: words, Address: address(show), Count: count, Hot: show == "waiting",
			Open: show == p.Show})
	}
	if len(v.Who.Organizations) > 0 {
		tab("To answer", "waiting", waiting)
		tab("Answered by your labs", "answered", 0)
	}
	tab("Asked by you", "asked", 0)
	f := request.InquiryFilter{}
	if p.Show != "asked" {
		f.Answered = new(p.Show == "answered")
	}
	at := exchange.Page{Limit: pageOfInquiries}
	if after := ui.ParseID(v.URL.Query().Get("after")); after != nil {
		at.After, p.First = &exchange.Position{ID: *after}, address(p.Show)
	}
	part, err := v.App.Inquiries.InquiryInbox(v.Context(), v.Who.Actor, p.Show != "asked", f, at)
	if err != nil {
		return ui.Response{}, err
	}
	p.Items, p.Total = part.Items, part.Total
	if part.Next != nil {
		p.Next = address(p.Show) + "&" + url.Values{"after": {number(part.Next.ID)}}.Encode()
	}
	return ui.Show("inquiries", p)
}

const pageOfInquiries = 50

// inquiryPage shows an inquiry with its answer, or with the form to answer it.
type inquiryPage struct {
	ui.Page
	request.ShownInquiry
	Mine   bool // the visitor asked it
	Answer bool // the visitor may answer it
	Text   string
}

func (v *inquiryRequest) inquiryPage(id int64) (*inquiryPage, error) {
	i, err := v.App.Inquiries.Inquiry(v.Context(), v.Who.Actor, id)
	if err != nil {
		return nil, err
	}
	p := &inquiryPage{Page: ui.Page{Title: "Inquiry about " + i.Material, Section: "requests", Narrow: true},
		ShownInquiry: i, Mine: v.Who.Is(i.UserID)}
	may, _ := v.App.Policy().Can(exchange.InquiryAnswer, i.RelationsOf(v.Who.Actor))
	p.Answer = may && i.AnsweredAt == nil
	return p, nil
}

func (v *inquiryRequest) inquiry(id int64) (ui.Response, error) {
	p, err := v.inquiryPage(id)
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Show("inquiry", p)
}

// answer sends the lab's answer. What cannot be sent stays on the page, below the answer of whoever was faster.
func (v *inquiryRequest) answer(id int64) (ui.Response, error) {
	p, err := v.inquiryPage(id)
	if err != nil {
		return ui.Response{}, err
	}
	if _, err := v.App.Can(v.Who.Actor, exchange.InquiryAnswer, p.RelationsOf(v.Who.Actor)); err != nil {
		return ui.Response{}, err
	}
	text := v.PostFormValue("text")
	_, err = v.App.Inquiries.Answer(v.Context(), v.Who.Actor, id, request.TextBody{Text: exchange.Some(text)})
	if err == nil {
		return ui.SeeOther(inquiryPath(id)).Saying("Answer sent."), nil
	}
	errs := refusedText(err, "your answer")
	if errs == nil {
		return ui.Response{}, err
	}
	if p, err = v.inquiryPage(id); err != nil { // with the answer of a colleague
		return ui.Response{}, err
	}
	p.Text, p.Errors = text, errs
	return ui.Invalid("inquiry", p)
}

// inquiryPath returns the address of the page of an inquiry.
func inquiryPath(id int64) string { return "/inquiry/" + strconv.FormatInt(id, 10) }

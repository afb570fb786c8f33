package lab

import (
	"strconv"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/web/ui"
)

// repliesPage has the replies that a lab keeps.
type repliesPage struct {
	labPage
	Replies []lab.Reply
	Form    lab.Reply // the form that was refused; ID 0: that of a new one
}

// New returns the form of a new reply.
func (p *repliesPage) New() lab.Reply {
	if p.Form.ID == 0 {
		return p.Form
	}
	return lab.Reply{}
}

// Shown returns a reply as its form shows it: what was typed if that form was refused.
func (p *repliesPage) Shown(r lab.Reply) lab.Reply {
	if p.Form.ID == r.ID {
		return p.Form
	}
	return r
}

func readReplies(v *pageRequest) (*repliesPage, error) {
	base, err := v.readLab("replies", "Saved replies")
	if err != nil {
		return nil, err
	}
	p := &repliesPage{labPage: base}
	p.Replies, err = v.App.Labs.Replies(v.Context(), v.Who.Actor, base.Lab.ID)
	return p, err
}

func replies(v *pageRequest) (ui.Response, error) {
	p, err := readReplies(v)
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Show("lab-replies", p)
}

// saveReply adds a reply, or changes or deletes the one whose id is in the path.
func saveReply(v *pageRequest) (ui.Response, error) {
	organization, err := v.labFor(exchange.ReplyWrite)
	if err != nil {
		return ui.Response{}, err
	}
	var id int64
	if v.PathValue("reply") != "" {
		if id, err = v.PathID("reply"); err != nil {
			return ui.Response{}, err
		}
	}
	back := ui.SeeOther(v.lab("/replies"))
	if id != 0 && v.PostFormValue("do") == "delete" {
		return back.Saying("Reply deleted."), v.App.Labs.DeleteReply(v.Context(), v.Who.Actor, organization, id)
	}
	form := lab.ReplyForm{Title: v.PostFormValue("title"), Text: v.PostFormValue("text")}
	err = v.App.Labs.SaveReply(v.Context(), v.Who.Actor, organization, id, form)
	if fields, wrong := ui.FieldErrorsIn(err); wrong {
		p, err := readReplies(v)
		if err != nil {
			return ui.Response{}, err
		}
		p.Form, p.Errors = lab.Reply{ID: id, Title: form.Title, Text: form.Text}, ui.FieldErrors{}
		for field, texts := range ui.SentencesOf(fields, nil) {
			p.Errors[field+"-"+strconv.FormatInt(id, 10)] = texts
		}
		return ui.Invalid("lab-replies", p)
	}
	return back.Saying("Reply saved."), err
}

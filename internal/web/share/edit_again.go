package share

import (
	"errors"
	"maps"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/web/ui"
)

// changedMeanwhile is the error of a form whose material somebody else has changed since the form was made.
type changedMeanwhile struct{ now material.Shown }

// Error describes what happened.
func (changedMeanwhile) Error() string { return "somebody saved it meanwhile" }

// errAlike is the error of a form that describes a material like others of the lab.
var errAlike = errors.New("the lab has materials like it")

// check returns all that is wrong with the form as one error: values that cannot be read, values that err refuses, what
// is missing, and the files that are marked already.
func (p *listingPage) check(wrong exchange.FieldErrors, err error, missing exchange.FieldErrors) error {
	refused, is := ui.FieldErrorsIn(err)
	if err != nil && !is {
		return err
	}
	all := exchange.FieldErrors{}
	for _, fields := range []map[string][]string{missing, refused, wrong} {
		maps.Copy(all, fields)
	}
	if len(all) == 0 && len(p.Errors) == 0 {
		return nil
	}
	return &exchange.Error{Code: exchange.InvalidInput, Message: all.Summary(), Fields: all}
}

// mark adds errors to the fields of the form.
func (p *listingPage) mark(fields exchange.FieldErrors) {
	if p.Named() && p.Get("title") == "" { // it is optional, since the name serves as the title
		delete(fields, "title")
	}
	own := p.Errors
	p.Errors = worded(p.Category.Code, fields)
	maps.Copy(p.Errors, own) // of files
}

// listingAgain shows the form again with what is wrong with it.
func (v *pageRequest) listingAgain(p *listingPage, err error) (ui.Response, error) {
	e, ok := errors.AsType[*exchange.Error](err)
	switch {
	case errors.Is(err, errAlike):
		return ui.Invalid("share_edit", p)
	case !ok || e.Code.ServerFault() || e.Code == exchange.NotAuthenticated:
		return ui.Response{}, err
	case e.Code == exchange.InvalidInput:
		p.mark(e.Fields)
	default:
		v.NoteRefusal(err)
		if field, is := e.Details["field"].(string); is {
			p.mark(exchange.FieldErrors{field: {"is refused: " + e.Message}})
		} else {
			p.Failed = e.Message
		}
	}
	p.build()
	return ui.Invalid("share_edit", p)
}

// confirm returns errAlike if the lab has similar materials, unless somebody said that this one is really different.
func (v *pageRequest) confirm(p *listingPage, m material.Material) error {
	if p.Get("different") == "true" {
		return nil
	}
	p.build()
	lines, err := v.alike(p, m)
	if err == nil && len(lines) > 0 {
		p.Alike, err = lines, errAlike
	}
	return err
}

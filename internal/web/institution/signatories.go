package institution

import (
	"encoding/base64"
	"errors"
	"io"
	"net/http"

	"aliquot/internal/app/institutions"
	"aliquot/internal/exchange"
	"aliquot/internal/web/ui"
)

// signatoriesPage has the form that imports signatories, and what the import would do.
type signatoriesPage struct {
	ui.Page
	Result  *institutions.SignatoryImport // of a check; nil: none was made
	Content string                        // the file that was checked, to import it as it is; "": it is too large
}

func newSignatoriesPage() *signatoriesPage {
	return &signatoriesPage{Page: ui.Page{Title: "Import signatories", Section: section}}
}

// signatories shows the form that imports signatories.
func (v *pageRequest) signatories() (ui.Response, error) {
	if err := v.App.Institutions.MayImportSignatories(v.Who.Actor); err != nil {
		return ui.Response{}, err
	}
	return ui.Show("signatories", newSignatoriesPage())
}

// maxCarried is the size of a file that the page of a check carries, so that it need not be chosen again.
const maxCarried = 256 << 10

// importSignatories checks a list of signatories, or imports it.
func (v *pageRequest) importSignatories() (ui.Response, error) {
	if err := v.App.Institutions.MayImportSignatories(v.Who.Actor); err != nil {
		return ui.Response{}, err
	}
	p := newSignatoriesPage()
	content, err := v.signatoryFile()
	check := v.FormValue("do") != "import"
	var done institutions.SignatoryImport
	if err == nil {
		done, err = v.App.Institutions.ImportSignatories(v.Context(), v.Who.Actor, content, check)
	}
	if wrong, refused := ui.FieldErrorsIn(err); refused {
		p.Errors = ui.SentencesOf(wrong, map[string]string{"file": "the file"})
		if len(wrong) == 0 {
			p.Errors = ui.FieldErrors{"file": {exchange.MessageOf(err)}}
		}
		return ui.Invalid("signatories", p)
	} else if err != nil {
		return ui.Response{}, err
	}
	if !check {
		return ui.SeeOther("/offices").Saying("Imported: " + ui.Plural(int64(done.Added), "master agreement") +
			" added, " + ui.Count(int64(done.Changed)) + " changed."), nil
	}
	if p.Result = &done; len(content) <= maxCarried {
		p.Content = base64.StdEncoding.EncodeToString(content)
	}
	return ui.Show("signatories", p)
}

// signatoryFile reads the file of the form, or the one that was checked before.
func (v *pageRequest) signatoryFile() ([]byte, error) {
	const room = 64 << 10 // for the rest of the form
	v.Body = http.MaxBytesReader(v.W, v.Body, institutions.MaxSignatoryFile+room)
	if err := v.ParseMultipartForm(institutions.MaxSignatoryFile + room); err != nil {
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			return nil, exchange.FieldErrors{"file": {"is too large"}}.Err()
		}
		return nil, ui.ErrNotWhole
	}
	if carried := v.FormValue("content"); carried != "" {
		content, err := base64.StdEncoding.DecodeString(carried)
		if err != nil {
			return nil, ui.ErrNotWhole
		}
		return content, nil
	}
	file, _, err := v.FormFile("file")
	if err != nil {
		return nil, exchange.FieldErrors{"file": {"is required: choose a CSV, XLSX or ODS file"}}.Err()
	}
	defer func() { _ = file.Close() }()
	return institutions.ReadSignatories(file)
}

// signatorySheet sends the signatories of all master agreements.
func (v *pageRequest) signatorySheet() (ui.Response, error) {
	return v.SendSheet("signatories.csv", func(out io.Writer) error {
		return v.App.Institutions.ExportSignatories(v.Context(), "", "csv", func() io.Writer { return out })
	})
}

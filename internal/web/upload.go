package web

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"aliquot/internal/exchange"
)

// sentForm is a submitted form. The content of its files is stored but not yet recorded: the caller of readForm records
// or discards it.
type sentForm struct {
	fields  url.Values
	files   map[string]sentFile        // by field
	refused map[string]*exchange.Error // why a file was refused, by field
}

// sentFile is a file of a form.
type sentFile struct {
	name    string // without folders
	content exchange.Content
}

// faults returns the errors of the files, by field.
func (f sentForm) faults() FieldErrors {
	list := FieldErrors{}
	for field, e := range f.refused {
		list[field] = []string{e.Message}
	}
	return list
}

// file returns the file of a field that the form requires.
func (f sentForm) file(field string) (sentFile, error) {
	if e := f.refused[field]; e != nil {
		return sentFile{}, e
	}
	file, sent := f.files[field]
	if !sent {
		return file, exchange.Errorf(exchange.InvalidInput, "Choose a file.")
	}
	return file, nil
}

// tooLarge reports whether a file was not read to its end because it is too large.
func (f sentForm) tooLarge() bool {
	for _, e := range f.refused {
		if e.Code == exchange.TooLarge || e.Code == exchange.QuotaExceeded {
			return true
		}
	}
	return false
}

// discard removes the files of a form, which have no record.
func (v *pageRequest) discard(f sentForm) {
	for _, file := range f.files {
		v.app.DiscardBulk(v.Context(), file.content, errNotTaken) // it may be a spreadsheet
	}
}

// The limits of a form: the size of its values, with their names, and the number of its fields. Files have the general
// limit.
const (
	maxForm  = 1 << 20
	maxParts = 3000
)

var (
	errNotTaken = exchange.Errorf(exchange.InvalidInput, "The form was not taken.")
	errNotForm  = exchange.Errorf(exchange.InvalidInput, "What was sent is no form. Send it from the page that has it.")
	errNotWhole = exchange.Errorf(exchange.InvalidInput, "The form did not arrive whole. Send it again.")
	errNotText  = exchange.Errorf(exchange.InvalidInput, "The form has something that is no text. Send it from the "+
		"page that has it.")
	errTooMuch = exchange.Errorf(exchange.TooLarge, "The form is too large: beside its files it may have %d fields "+
		"and %d KiB.", maxParts, maxForm>>10)
)

// store stores the content of a file, for a form that anyone may send.
func (v *pageRequest) store(_ url.Values, body io.Reader) (exchange.Content, error) {
	return v.app.Store(v.Context(), v.who.Actor, body)
}

// readForm reads a form while it arrives, with one file in each of some fields; files in other fields are ignored.
// keep stores the content of a file, given the values before it. A file that is refused is noted, and the rest of the
// form is read, so that nothing typed is lost. If readForm returns an error, there is nothing to discard.
func (v *pageRequest) readForm(keep func(typed url.Values, body io.Reader) (exchange.Content, error),
	files ...string) (f sentForm, err error) {
	kind, _, _ := mime.ParseMediaType(v.Header.Get("Content-Type"))
	parts, most := kind == "multipart/form-data", int64(maxForm)
	if parts && len(files) > 0 {
		most += int64(len(files)) * v.app.UploadLimit
		v.forFile(most)
	}
	v.Body = http.MaxBytesReader(v.w, v.Body, most)
	switch {
	case parts:
		f = sentForm{fields: url.Values{}, files: map[string]sentFile{}, refused: map[string]*exchange.Error{}}
		err = v.readParts(f, keep, files)
	case kind == "application/x-www-form-urlencoded", kind == "" && v.ContentLength == 0:
		if err = v.ParseForm(); err != nil {
			err = unread(err)
		}
		f.fields = v.PostForm
	default:
		err = errNotForm
	}
	for name, values := range f.fields {
		if err == nil && !utf8.ValidString(name+" "+strings.Join(values, " ")) {
			err = errNotText
		}
	}
	if err != nil {
		v.discard(f)
		return sentForm{}, err
	}
	return f, nil
}

// readUpload reads a form whose purpose is the file in its field "file".
func (v *pageRequest) readUpload() (f sentForm, file sentFile, err error) {
	if f, err = v.readForm(v.store, "file"); err == nil {
		file, err = f.file("file")
	}
	return f, file, err
}

// readParts reads the fields and files of a form into f.
func (v *pageRequest) readParts(f sentForm, keep func(url.Values, io.Reader) (exchange.Content, error),
	files []string) error {
	parts, err := v.MultipartReader()
	if err != nil {
		return errNotWhole
	}
	room := int64(maxForm)
	for range maxParts {
		part, err := parts.NextPart()
		if err == io.EOF { //nolint:errorlint // one that is wrapped is a form without its end
			return nil
		}
		if err != nil {
			if err = unread(err); errors.Is(err, errTooMuch) && f.tooLarge() {
				return nil // what is left is the rest of that file
			}
			return err
		}
		name := part.FormName()
		takes := slices.Contains(files, name)
		switch {
		case part.FileName() == "" && !takes:
			text, err := io.ReadAll(io.LimitReader(part, room+1))
			if err != nil {
				return unread(err)
			}
			if room -= int64(len(name) + len(text)); room < 0 {
				return errTooMuch
			}
			f.fields.Add(name, string(text))
		case part.FileName() != "" && takes: // otherwise a file that we do not want, or none was chosen
			if err := v.readFile(f, part, keep); err != nil {
				return err
			}
		}
	}
	return errTooMuch
}

// readFile stores a file of a form, or notes why it is refused.
func (v *pageRequest) readFile(f sentForm, part *multipart.Part,
	keep func(url.Values, io.Reader) (exchange.Content, error)) error {
	field := part.FormName()
	name := path.Base(strings.ReplaceAll(part.FileName(), `\`, "/"))
	if _, twice := f.files[field]; twice {
		return errTooMuch
	}
	if !utf8.ValidString(name) {
		f.refused[field] = exchange.Errorf(exchange.InvalidInput, "The name of the file is no text; rename it.")
		return nil
	}
	content, err := keep(f.fields, arriving{part})
	switch code := exchange.CodeOf(err); {
	case err == nil:
		f.files[field] = sentFile{name, content}
	case errors.Is(err, errNotWhole), errors.Is(err, errTooMuch):
		return err
	case code == exchange.TooLarge:
		f.refused[field] = exchange.Errorf(code, "The file is too large: it may have up to %s.",
			size(v.app.UploadLimit))
	case code == exchange.InvalidInput:
		f.refused[field] = exchange.Errorf(code, "The file is empty.")
	case code == exchange.UnsupportedMedia, code == exchange.QuotaExceeded:
		f.refused[field] = exchange.Errorf(code, "%s", messageOf(err))
	default:
		return err
	}
	return nil
}

// arriving is a file of a form; its read errors are not those of the store.
type arriving struct{ io.Reader }

func (r arriving) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = unread(err)
	}
	return n, err
}

// unread explains why a form could not be read on.
func unread(err error) error {
	if _, large := errors.AsType[*http.MaxBytesError](err); large || errors.Is(err, multipart.ErrMessageTooLarge) {
		return errTooMuch
	}
	return errNotWhole
}

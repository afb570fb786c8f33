package ui

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
	"time"
	"unicode/utf8"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
)

// slowest is the slowest connection over which a whole file can be sent, in bytes per second.
const slowest = 64 << 10

// ExtendDeadlines extends the deadlines of the connection to allow for n bytes; the server's defaults are meant for
// pages.
func (v *PageRequest) ExtendDeadlines(n int64) {
	until := time.Now().Add(time.Minute + time.Duration(n/slowest)*time.Second)
	connection := http.NewResponseController(v.W)
	_ = connection.SetReadDeadline(until)                   // fails only if a connection has no deadlines
	_ = connection.SetWriteDeadline(until.Add(time.Minute)) // the answer follows the file
}

// SentForm is a submitted form. The content of its files is stored but not yet recorded: the caller of ReadForm records
// or discards it.
type SentForm struct {
	Fields  url.Values
	Files   map[string]SentFile        // by field
	Refused map[string]*exchange.Error // why a file was refused, by field
}

// SentFile is a file of a form.
type SentFile struct {
	Name    string // without folders
	Content document.Content
}

// FileErrors returns the errors of the files, by field.
func (f SentForm) FileErrors() FieldErrors {
	list := FieldErrors{}
	for field, e := range f.Refused {
		list[field] = []string{e.Message}
	}
	return list
}

// File returns the file of a field that the form requires.
func (f SentForm) File(field string) (SentFile, error) {
	if e := f.Refused[field]; e != nil {
		return SentFile{}, e
	}
	file, sent := f.Files[field]
	if !sent {
		return file, exchange.Errorf(exchange.InvalidInput, "Choose a file.")
	}
	return file, nil
}

// tooLarge reports whether a file was not read to its end because it is too large.
func (f SentForm) tooLarge() bool {
	for _, e := range f.Refused {
		if e.Code == exchange.TooLarge || e.Code == exchange.QuotaExceeded {
			return true
		}
	}
	return false
}

// Discard removes the files of a form, which have no record.
func (v *PageRequest) Discard(f SentForm) {
	for _, file := range f.Files {
		v.App.Spreadsheets.DiscardBulk(v.Context(), file.Content, errNotTaken) // it may be a spreadsheet
	}
}

// The limits of a form: the size of its values, with their names, and the number of its fields. Files have the general
// limit.
const (
	maxForm  = 1 << 20
	maxParts = 3000
)

var (
	errNotTaken = exchange.Errorf(exchange.InvalidInput, "The form was not accepted.")
	errNotForm  = exchange.Errorf(exchange.InvalidInput, "This is not a form. Send it from its page.")
	// ErrNotWhole refuses a form of which a part is missing.
	ErrNotWhole = exchange.Errorf(exchange.InvalidInput, "The form did not arrive completely. Please send it again.")
	errNotText  = exchange.Errorf(exchange.InvalidInput,
		"The form contains something that is not text. Send it from its page.")
	errTooMuch = exchange.Errorf(exchange.TooLarge,
		"The form is too large: without files, it may have up to %d fields and %d KiB.", maxParts, maxForm>>10)
)

// Store stores the content of a file, for a form that anyone may send.
func (v *PageRequest) Store(_ url.Values, body io.Reader) (document.Content, error) {
	return v.App.Documents.Store(v.Context(), v.Who.Actor, body)
}

// ReadForm reads a form while it arrives, with one file in each of some fields; files in other fields are ignored.
// keep stores the content of a file, given the values before it. A file that is refused is noted, and the rest of the
// form is read, so that nothing typed is lost. If ReadForm returns an error, there is nothing to discard.
func (v *PageRequest) ReadForm(keep func(typed url.Values, body io.Reader) (document.Content, error),
	files ...string) (f SentForm, err error) {
	kind, _, _ := mime.ParseMediaType(v.Header.Get("Content-Type"))
	parts, most := kind == "multipart/form-data", int64(maxForm)
	if parts && len(files) > 0 {
		most += int64(len(files)) * v.App.UploadLimit
		v.ExtendDeadlines(most)
	}
	v.Body = http.MaxBytesReader(v.W, v.Body, most)
	switch {
	case parts:
		f = SentForm{Fields: url.Values{}, Files: map[string]SentFile{}, Refused: map[string]*exchange.Error{}}
		err = v.readParts(f, keep, files)
	case kind == "application/x-www-form-urlencoded", kind == "" && v.ContentLength == 0:
		if err = v.ParseForm(); err != nil {
			err = unread(err)
		}
		f.Fields = v.PostForm
	default:
		err = errNotForm
	}
	for name, values := range f.Fields {
		if err == nil && !utf8.ValidString(name+" "+strings.Join(values, " ")) {
			err = errNotText
		}
	}
	if err != nil {
		v.Discard(f)
		return SentForm{}, err
	}
	return f, nil
}

// readParts reads the fields and files of a form into f.
func (v *PageRequest) readParts(f SentForm, keep func(url.Values, io.Reader) (document.Content, error),
	files []string) error {
	parts, err := v.MultipartReader()
	if err != nil {
		return ErrNotWhole
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
			f.Fields.Add(name, string(text))
		case part.FileName() != "" && takes: // otherwise a file that we do not want, or none was chosen
			if err := v.readFile(f, part, keep); err != nil {
				return err
			}
		}
	}
	return errTooMuch
}

// readFile stores a file of a form, or notes why it is refused.
func (v *PageRequest) readFile(f SentForm, part *multipart.Part,
	keep func(url.Values, io.Reader) (document.Content, error)) error {
	field := part.FormName()
	name := path.Base(strings.ReplaceAll(part.FileName(), `\`, "/"))
	if _, twice := f.Files[field]; twice {
		return errTooMuch
	}
	if !utf8.ValidString(name) {
		f.Refused[field] = exchange.Errorf(exchange.InvalidInput,
			"The file name is not valid text. Please rename the file.")
		return nil
	}
	content, err := keep(f.Fields, arriving{part})
	switch code := exchange.CodeOf(err); {
	case err == nil:
		f.Files[field] = SentFile{name, content}
	case errors.Is(err, ErrNotWhole), errors.Is(err, errTooMuch):
		return err
	case code == exchange.TooLarge:
		f.Refused[field] = exchange.Errorf(code, "The file is too large. The limit is %s.",
			Bytes(v.App.UploadLimit))
	case code == exchange.InvalidInput:
		f.Refused[field] = exchange.Errorf(code, "The file is empty.")
	case code == exchange.UnsupportedMedia, code == exchange.QuotaExceeded:
		f.Refused[field] = exchange.Errorf(code, "%s", exchange.MessageOf(err))
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
	return ErrNotWhole
}

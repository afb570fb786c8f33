package web

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"aliquot/internal/app"
	"aliquot/internal/exchange"
)

// typed is what is in the fields of a form.
type typed struct{ Form url.Values }

// Val is what is in a field.
func (t typed) Val(name string) string { return t.Form.Get(name) }

// Country is how addresses are written in the country that the form names.
func (t typed) Country() exchange.Country { return exchange.CountryOf(t.Form.Get("country")) }

// Countries are those to choose from.
func (t typed) Countries() []exchange.Country { return exchange.Countries }

// sentForm is a form with files as it arrived. The files are taken in; whoever reads the form hands them on,
// or discards them.
type sentForm struct {
	values url.Values
	files  []app.Handed
	faults map[string][]string // of the files
}

// mostFiles is how many files a form has, each as large as a file may be.
const mostFiles = 3

// readAsk reads a form whose files are documents of a request, as they stream in. What is wrong with a file
// is a fault of its field, so that nothing else that was typed is lost.
func (v *visit) readAsk() (sentForm, error) {
	sent := sentForm{values: url.Values{}, faults: map[string][]string{}}
	if !strings.HasPrefix(v.Header.Get("Content-Type"), "multipart/form-data") {
		v.Body = http.MaxBytesReader(v.w, v.Body, mostForm)
		err := v.parse()
		sent.values = v.PostForm
		return sent, err
	}
	v.forFile(mostFiles * v.app.UploadLimit)
	v.Body = http.MaxBytesReader(v.w, v.Body, mostForm+mostFiles*v.app.UploadLimit)
	parts, err := v.MultipartReader()
	if err != nil {
		return sent, errNotWhole
	}
	room := int64(mostForm)
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return sent, nil
		}
		if err == nil {
			room, err = v.readPart(&sent, part, room)
		} else if _, large := errors.AsType[*http.MaxBytesError](err); !large {
			err = errNotWhole
		}
		_, large := errors.AsType[*http.MaxBytesError](err)
		switch {
		case err == nil:
			continue
		case large && len(sent.faults) > 0:
			return sent, nil // the rest of a file that is too large
		case large:
			err = exchange.Fail(exchange.TooLarge, "The form has more than %d files, or they are too large together.", mostFiles)
		case errors.Is(err, io.ErrUnexpectedEOF):
			err = errNotWhole
		}
		v.discard(sent)
		return sent, err
	}
}

var errNotWhole = exchange.Fail(exchange.InvalidInput, "The form did not arrive whole. Send it again.")

// readPart reads one field or file of a form; room is how much text there may still be.
func (v *visit) readPart(sent *sentForm, part *multipart.Part, room int64) (int64, error) {
	field := part.FormName()
	slot := exchange.Slot(strings.TrimSuffix(field, "_attachment"))
	if part.FileName() == "" || slot != exchange.SignedMTA && slot != exchange.IRB {
		text, err := io.ReadAll(io.LimitReader(part, room+1))
		if int64(len(text)) > room {
			return 0, exchange.Fail(exchange.TooLarge, "The form has more than %d KiB.", mostForm>>10)
		}
		if err != nil {
			return 0, errNotWhole
		}
		if utf8.Valid(text) && !slot.Valid() { // a file field without a file is none
			sent.values.Add(field, string(text))
		}
		return room - int64(len(text)) - int64(len(field)), nil
	}
	content, err := v.app.Store(v.Context(), v.who.Actor, part)
	switch exchange.CodeOf(err) {
	case exchange.TooLarge, exchange.UnsupportedMedia:
		sent.faults[field] = []string{messageOf(err)}
	case exchange.InvalidInput:
		sent.faults[field] = []string{"is an empty file"}
	default:
		if err != nil {
			return room, err
		}
		sent.files = append(sent.files, app.Handed{Slot: slot, Filename: part.FileName(), Content: content})
		return room, nil
	}
	_, err = io.Copy(io.Discard, part)
	return room, err
}

// discard forgets files of a form that could not be taken.
func (v *visit) discard(sent sentForm) {
	for _, f := range sent.files {
		v.app.Discard(v.Context(), f.Content, exchange.Fail(exchange.InvalidInput, "The form was not taken."))
	}
}

func messageOf(err error) string {
	if e, is := errors.AsType[*exchange.Error](err); is {
		return e.Message
	}
	return ""
}

// sentencesOf makes sentences for people of what is wrong with fields. labels are what the fields are called in
// one; one that begins with a capital is the whole sentence.
func sentencesOf(fields map[string][]string, labels map[string]string) Faults {
	list := Faults{}
	for field, texts := range fields {
		label := labels[field]
		if label == "" {
			label = "the " + strings.ReplaceAll(field, "_", " ")
		}
		for _, text := range texts {
			switch {
			case isCapital(label):
				text = label
			case isCapital(text): // it is a sentence
			case text == "is required":
				text = "Enter " + label
			default:
				text = capital(label) + " " + text
			}
			if !slices.Contains(list[field], text) {
				list[field] = append(list[field], text)
			}
		}
	}
	return list
}

func isCapital(text string) bool { return text != "" && text == capital(text) }

// capital begins a text with a capital.
func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

package rest

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"unicode/utf8"

	"aliquot/internal/exchange"
)

// The limits of a form's fields, apart from its file.
const (
	FieldLimit = 128 << 10 // bytes of one text field
	MaxParts   = 100
)

// ReadForm reads a form as a stream: file gets the part "file" when it arrives, text each field. All fields together
// may have most bytes.
func ReadForm(r *http.Request, most int, file func(*multipart.Part) error, text func(name, value string)) error {
	reader, err := r.MultipartReader()
	if err != nil {
		return Broken(err)
	}
	sent, total := false, 0
	for parts := 0; ; parts++ {
		part, err := reader.NextRawPart()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return Broken(err)
		case parts >= MaxParts:
			return exchange.Errorf(exchange.TooLarge, "A form may have at most %d parts.", MaxParts)
		}
		name := part.FormName()
		if name == "file" || part.FileName() != "" {
			if name != "file" || sent {
				return exchange.FieldErrors{"file": {"send exactly one file, in the part named file"}}.Err()
			}
			if err := file(part); err != nil {
				return err
			}
			sent = true
			continue
		}
		value, err := io.ReadAll(io.LimitReader(part, FieldLimit+1))
		if err != nil {
			return Broken(err)
		}
		if total += len(value); len(value) > FieldLimit || total > most {
			return exchange.Errorf(exchange.TooLarge, "The text fields of a form may be at most %d bytes.", FieldLimit)
		}
		if !utf8.Valid(value) {
			return exchange.FieldErrors{name: {"must be UTF-8 text"}}.Err()
		}
		text(name, string(value))
	}
}

// Broken returns the error for a body that is cut off or malformed, which the caller has to correct.
func Broken(err error) error {
	if _, ours := errors.AsType[*exchange.Error](err); ours {
		return err
	}
	return &exchange.Error{Code: exchange.InvalidInput, Message: "The body is broken or ended early.", Cause: err,
		Fields: map[string][]string{"body": {"is incomplete; please send it again"}}}
}

// Incoming reads a file from a body, and turns a read error into one of the caller's, so that it does not look like a
// storage error.
type Incoming struct{ io.Reader }

// Read reads the next bytes.
func (r Incoming) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = Broken(err)
	}
	return n, err
}

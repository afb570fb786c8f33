package web

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"time"
	"unicode/utf8"

	"aliquot/internal/exchange"
)

// incomingFile is a file of a form whose content is stored, and of which there is no record yet.
type incomingFile struct {
	Name    string
	Content exchange.Content
}

// mostFormParts bounds the parts of a form with files.
const mostFormParts = 3000

// slowestUpload is the pace in bytes a second below which a file is not waited for.
const slowestUpload = 32 << 10

// readForm reads a form that may have files as it comes in. store takes the content of a file in; a file that it
// refuses is a fault of its field, and the rest of the form is read on, so that nothing typed is lost.
func (v *visit) readForm(store func(field string, form url.Values, body io.Reader) (exchange.Content, error)) (url.Values, map[string]incomingFile, Faults, error) {
	kind, _, _ := mime.ParseMediaType(v.Header.Get("Content-Type"))
	if kind != "multipart/form-data" {
		v.Body = http.MaxBytesReader(v.w, v.Body, mostForm)
		err := v.parse()
		return v.PostForm, nil, nil, err
	}
	soon := time.Now().Add(time.Minute + time.Duration(v.app.UploadLimit/slowestUpload)*time.Second)
	c := http.NewResponseController(v.w)
	_, _ = c.SetReadDeadline(soon), c.SetWriteDeadline(soon.Add(time.Minute)) // a recorder of tests has none
	v.Body = http.MaxBytesReader(v.w, v.Body, 3*v.app.UploadLimit+mostForm)
	broken := exchange.Fail(exchange.InvalidInput, "The form did not arrive whole. Send it again.")
	reader, err := v.MultipartReader()
	if err != nil {
		return nil, nil, nil, broken
	}
	form, sent, wrong, left := url.Values{}, map[string]incomingFile{}, Faults{}, mostForm
	for range mostFormParts {
		part, err := reader.NextPart()
		if errors.Is(err, io.EOF) {
			return form, sent, wrong, nil
		} else if err != nil {
			return form, sent, wrong, broken
		}
		name := part.FormName()
		if part.FileName() != "" {
			content, err := store(name, form, part)
			if e, ok := errors.AsType[*exchange.Error](err); ok && (e.Code == exchange.TooLarge || e.Code == exchange.UnsupportedMedia || e.Code == exchange.InvalidInput) {
				wrong[name] = append(wrong[name], e.Message)
				continue
			} else if err != nil {
				return form, sent, wrong, err
			}
			sent[name] = incomingFile{part.FileName(), content}
			continue
		}
		text, err := io.ReadAll(io.LimitReader(part, int64(left)+1))
		if err != nil {
			return form, sent, wrong, broken
		}
		if left -= len(text) + len(name); left < 0 {
			break
		}
		if utf8.Valid(text) {
			form.Add(name, string(text))
		}
	}
	return form, sent, wrong, exchange.Fail(exchange.TooLarge, "The form has more than %d KiB beside its files.", mostForm>>10)
}

package api

import (
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
)

// createAttachment accepts JSON (a record whose content follows with PUT to its download_url) or multipart/form-data
// with the same fields and one part "file" (both at once).
func createAttachment(c *Call, _ document.AttachmentPatch) (Attachment, error) {
	kind, _, _ := mime.ParseMediaType(c.Header.Get("Content-Type"))
	var in document.AttachmentPatch
	var content *document.Content
	var err error
	if kind == "multipart/form-data" {
		in, content, err = readMultipart(c)
	} else {
		err = c.decode(&in)
	}
	var t document.Attachment
	if err == nil {
		t, err = c.App.Documents.CreateAttachment(c.Context(), c.Actor, in, content)
	}
	if err != nil && content != nil {
		c.App.Documents.Discard(c.Context(), *content, err)
	}
	c.location(err, "/attachments/%d", t.ID)
	return oneAttachment(c, t, asSent(c, in, err))
}

// multipart reads a form: the file is stored at once, wherever in the form it comes. The caller has to discard the
// returned content, also when there is an error.
func readMultipart(c *Call) (in document.AttachmentPatch, content *document.Content, err error) {
	// The form becomes the JSON object that it stands for, so that one decoder reads both.
	fields := map[string]any{}
	err = readForm(c.Request, bodyLimit, func(part *multipart.Part) (err error) {
		content, err = file(c, part, fields)
		return err
	}, func(name, text string) { fields[name] = formValue(name, text) })
	if err == nil && content == nil {
		err = exchange.FieldErrors{"file": {"is required: the part with the content"}}.Err()
	}
	if err != nil {
		return in, content, err
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		return in, content, broken(err)
	}
	return in, content, decodeObject(raw, &in, true)
}

// formValue returns the text of a form field as JSON: an empty reference becomes null, an object stays an object.
func formValue(name, text string) any {
	switch {
	case name == "filename" || name == "description":
		return text
	case text == "":
		return nil
	case strings.HasPrefix(text, "{") && json.Valid([]byte(text)):
		return json.RawMessage(text)
	default:
		return text
	}
}

func file(c *Call, part *multipart.Part, fields map[string]any) (*document.Content, error) {
	if !utf8.ValidString(part.FileName()) {
		return nil, exchange.FieldErrors{"filename": {"must be UTF-8 text"}}.Err()
	}
	if _, named := fields["filename"]; !named && part.FileName() != "" {
		// Part.FileName reduces a path to its last element, but only with this system's separator.
		fields["filename"] = path.Base(strings.ReplaceAll(part.FileName(), `\`, "/"))
	}
	content, err := c.App.Documents.Store(c.Context(), c.Actor, incoming{part})
	if err != nil {
		return nil, err
	}
	return &content, nil
}

func listAttachments(c *Call, _ None) ([]Attachment, error) {
	part, err := c.App.Documents.Attachments(c.Context(), c.Actor, c.list.page)
	if err != nil {
		return nil, err
	}
	views, err := c.App.Documents.ViewAttachments(c.Context(), c.Actor, part.Items...)
	return answerList(c, exchange.ListPage[core.AttachmentView]{Items: views, Total: part.Total, Next: part.Next}, err,
		showAttachment)
}

// oneAttachment returns an attachment as the caller may see it, or err.
func oneAttachment(c *Call, t document.Attachment, err error) (Attachment, error) {
	if err != nil {
		return Attachment{}, err
	}
	views, err := c.App.Documents.ViewAttachments(c.Context(), c.Actor, t)
	if err != nil {
		return Attachment{}, err
	}
	return showAttachment(views[0]), nil
}

func getAttachment(c *Call, _ None) (Attachment, error) {
	t, err := c.App.Documents.Attachment(c.Context(), c.Actor, c.id("id"))
	return oneAttachment(c, t, err)
}

func updateAttachment(c *Call, in document.AttachmentPatch) (Attachment, error) {
	t, err := c.App.Documents.UpdateAttachment(c.Context(), c.Actor, c.id("id"), in, ifMatch(c, showAttachment))
	return oneAttachment(c, t, err)
}

func deleteAttachment(c *Call, _ None) (None, error) {
	return None{}, c.App.Documents.DeleteAttachment(c.Context(), c.Actor, c.id("id"), ifMatch(c, showAttachment))
}

// contentID returns the id in /uploaded-file/attachment_<id>/<filename>.
func (c *Call) contentID() (int64, error) {
	digits, ok := strings.CutPrefix(c.PathValue("attachment"), "attachment_")
	if !ok {
		digits = ""
	}
	return idOf(digits)
}

// putContent accepts the bytes of an attachment as the whole body, with any content type.
func putContent(c *Call, _ None) (Attachment, error) {
	id, err := c.contentID()
	if err != nil {
		return Attachment{}, err
	}
	if c.ContentLength > c.App.UploadLimit {
		return Attachment{}, exchange.Errorf(exchange.TooLarge, "A file may be at most %d bytes.",
			c.App.UploadLimit).With("limit", c.App.UploadLimit)
	}
	t, err := c.App.Documents.PutContent(c.Context(), c.Actor, id, c.PathValue("filename"), incoming{c.Body},
		ifContentMatches(c))
	return oneAttachment(c, t, err)
}

// getContent sends the bytes of an attachment, with HTTP ranges and conditions. It is always a download in a sandbox:
// nothing uploaded runs under our origin.
func getContent(c *Call, _ None) (None, error) {
	id, err := c.contentID()
	if err != nil {
		return None{}, err
	}
	t, file, err := c.App.Documents.Content(c.Context(), c.Actor, id, c.PathValue("filename"))
	if err != nil {
		return None{}, err
	}
	return None{}, c.sendContent(t.Present(), t.UpdatedAt, file)
}

// getContentVersion sends the current or an earlier content of an attachment, as getContent does.
func getContentVersion(c *Call, _ None) (None, error) {
	v, file, err := c.App.Documents.ContentVersion(c.Context(), c.Actor, c.id("id"), c.id("version"))
	if err != nil {
		return None{}, err
	}
	return None{}, c.sendContent(v, time.Time{}, file)
}

func (c *Call) sendContent(v document.AttachmentVersion, modified time.Time, file io.ReadSeekCloser) error {
	defer func() { _ = file.Close() }()
	c.extendDeadlines(v.Size)
	h := c.w.Header()
	h.Set("Content-Type", v.MediaType)
	h.Set("Content-Disposition", download(v.Filename))
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	if c.Actor.Anonymous() { // otherwise no cache may store it
		h.Set("Cache-Control", "private, no-cache")
	}
	h.Set("ETag", contentTag(v.Content))
	w := &downloading{ResponseWriter: c.w}
	http.ServeContent(w, c.Request, "", modified, file)
	switch w.refused {
	case 0:
		c.written = true
		return nil
	case http.StatusPreconditionFailed:
		return exchange.Errorf(exchange.PreconditionFailed, "The content has changed.")
	default:
		return exchange.Errorf(rangeNotSatisfiable, "The content has no such range; its size is %d bytes.", v.Size)
	}
}

// download returns the Content-Disposition that makes a browser save an answer under a name rather than show it.
func download(filename string) string {
	return mime.FormatMediaType("attachment", map[string]string{"filename": filename})
}

// rangeNotSatisfiable is the error_code of a 416.
const rangeNotSatisfiable exchange.Code = "RANGE_NOT_SATISFIABLE"

// downloading intercepts the plain-text refusals of http.ServeContent, so that they get the shape of every other error.
type downloading struct {
	http.ResponseWriter
	refused int // the status; 0: not refused
}

// WriteHeader passes on every status but a refusal.
func (w *downloading) WriteHeader(status int) {
	if status >= 400 {
		w.refused = status
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write drops the text of a refusal.
func (w *downloading) Write(b []byte) (int, error) {
	if w.refused != 0 {
		return len(b), nil
	}
	return w.ResponseWriter.Write(b)
}

// ReadFrom lets the kernel send a file without copying it through this process.
func (w *downloading) ReadFrom(r io.Reader) (int64, error) { return io.Copy(w.ResponseWriter, r) }

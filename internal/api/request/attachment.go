package request

import (
	"encoding/json"
	"mime"
	"mime/multipart"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
)

// CreateAttachment accepts JSON (a record whose content follows with PUT to its download_url) or multipart/form-data
// with the same fields and one part "file" (both at once).
func CreateAttachment(c *rest.Call, _ document.AttachmentPatch) (shape.Attachment, error) {
	kind, _, _ := mime.ParseMediaType(c.Header.Get("Content-Type"))
	var in document.AttachmentPatch
	var content *document.Content
	var err error
	if kind == "multipart/form-data" {
		in, content, err = readMultipart(c)
	} else {
		err = c.Decode(&in)
	}
	var t document.Attachment
	if err == nil {
		t, err = c.App.Documents.CreateAttachment(c.Context(), c.Actor, in, content)
	}
	if err != nil && content != nil {
		c.App.Documents.Discard(c.Context(), *content, err)
	}
	c.Location(err, "/attachments/%d", t.ID)
	return oneAttachment(c, t, rest.AsSent(c, in, err))
}

// multipart reads a form: the file is stored at once, wherever in the form it comes. The caller has to discard the
// returned content, also when there is an error.
func readMultipart(c *rest.Call) (in document.AttachmentPatch, content *document.Content, err error) {
	// The form becomes the JSON object that it stands for, so that one decoder reads both.
	fields := map[string]any{}
	err = rest.ReadForm(c.Request, rest.BodyLimit, func(part *multipart.Part) (err error) {
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
		return in, content, rest.Broken(err)
	}
	return in, content, rest.DecodeObject(raw, &in, true)
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

func file(c *rest.Call, part *multipart.Part, fields map[string]any) (*document.Content, error) {
	if !utf8.ValidString(part.FileName()) {
		return nil, exchange.FieldErrors{"filename": {"must be UTF-8 text"}}.Err()
	}
	if _, named := fields["filename"]; !named && part.FileName() != "" {
		// Part.FileName reduces a path to its last element, but only with this system's separator.
		fields["filename"] = path.Base(strings.ReplaceAll(part.FileName(), `\`, "/"))
	}
	content, err := c.App.Documents.Store(c.Context(), c.Actor, rest.Incoming{Reader: part})
	if err != nil {
		return nil, err
	}
	return &content, nil
}

// ListAttachments serves GET /attachments.
func ListAttachments(c *rest.Call, _ rest.None) ([]shape.Attachment, error) {
	part, err := c.App.Documents.Attachments(c.Context(), c.Actor, c.List.Page)
	if err != nil {
		return nil, err
	}
	views, err := c.App.Documents.ViewAttachments(c.Context(), c.Actor, part.Items...)
	return rest.AnswerList(c, exchange.ListPage[core.AttachmentView]{Items: views, Total: part.Total,
		Next: part.Next}, err,
		shape.ShowAttachment)
}

// oneAttachment returns an attachment as the caller may see it, or err.
func oneAttachment(c *rest.Call, t document.Attachment, err error) (shape.Attachment, error) {
	if err != nil {
		return shape.Attachment{}, err
	}
	views, err := c.App.Documents.ViewAttachments(c.Context(), c.Actor, t)
	if err != nil {
		return shape.Attachment{}, err
	}
	return shape.ShowAttachment(views[0]), nil
}

// GetAttachment serves GET /attachments/{id}.
func GetAttachment(c *rest.Call, _ rest.None) (shape.Attachment, error) {
	t, err := c.App.Documents.Attachment(c.Context(), c.Actor, c.ID("id"))
	return oneAttachment(c, t, err)
}

// UpdateAttachment serves PUT and PATCH /attachments/{id}.
func UpdateAttachment(c *rest.Call, in document.AttachmentPatch) (shape.Attachment, error) {
	t, err := c.App.Documents.UpdateAttachment(c.Context(), c.Actor, c.ID("id"), in,
		rest.IfMatch(c, shape.ShowAttachment))
	return oneAttachment(c, t, err)
}

// DeleteAttachment serves DELETE /attachments/{id}.
func DeleteAttachment(c *rest.Call, _ rest.None) (rest.None, error) {
	return rest.None{}, c.App.Documents.DeleteAttachment(c.Context(), c.Actor, c.ID("id"),
		rest.IfMatch(c, shape.ShowAttachment))
}

// PutContent accepts the bytes of an attachment as the whole body, with any content type.
func PutContent(c *rest.Call, _ rest.None) (shape.Attachment, error) {
	id, err := c.ContentID()
	if err != nil {
		return shape.Attachment{}, err
	}
	if c.ContentLength > c.App.UploadLimit {
		return shape.Attachment{}, exchange.Errorf(exchange.TooLarge, "A file may be at most %d bytes.",
			c.App.UploadLimit).With("limit", c.App.UploadLimit)
	}
	t, err := c.App.Documents.PutContent(c.Context(), c.Actor, id, c.PathValue("filename"),
		rest.Incoming{Reader: c.Body},
		rest.IfContentMatches(c))
	return oneAttachment(c, t, err)
}

// Downloading is how content is to be sent.
type Downloading struct {
	Redirect *bool `query:"redirect" help:"Whether the answer may be 302 to the store of files, if it allows that."`
}

// GetContent sends the bytes of an attachment, with HTTP ranges and conditions. It is always a download in a sandbox:
// nothing uploaded runs under our origin. Whoever accepts that may be redirected to the bucket.
func GetContent(c *rest.Call, in Downloading) (rest.None, error) {
	id, err := c.ContentID()
	if err != nil {
		return rest.None{}, err
	}
	t, file, link, err := c.App.Documents.ContentOrLink(c.Context(), c.Actor, id, c.PathValue("filename"),
		in.Redirect != nil && *in.Redirect && c.MayRedirect())
	switch {
	case err != nil:
		return rest.None{}, err
	case link != "":
		c.Redirect(link)
		return rest.None{}, nil
	}
	return rest.None{}, c.SendContent(t.Present(), t.UpdatedAt, file)
}

// GetContentVersion sends the current or an earlier content of an attachment, as GetContent does.
func GetContentVersion(c *rest.Call, _ rest.None) (rest.None, error) {
	v, file, err := c.App.Documents.ContentVersion(c.Context(), c.Actor, c.ID("id"), c.ID("version"))
	if err != nil {
		return rest.None{}, err
	}
	return rest.None{}, c.SendContent(v, time.Time{}, file)
}

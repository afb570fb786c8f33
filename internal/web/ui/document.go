package ui

import (
	"path"
	"slices"
	"strings"

	"aliquot/internal/exchange"
)

// DocumentTypes are the media types that a document of a request may have: signed and executed MTAs, IRB documents.
// None means any.
type DocumentTypes []string

// typeNames are the names of media types for people.
var typeNames = map[string]string{
	"application/pdf": "PDF", "image/png": "PNG", "image/jpeg": "JPEG", "image/tiff": "TIFF", "image/gif": "GIF",
	"image/webp": "WebP", "image/heic": "HEIC", "text/plain": "text",
}

// wordEndings are those of text documents that a template of an MTA may be, so that it can be filled in.
var wordEndings = []string{".doc", ".docx", ".odt"}

// Kinds lists the types as in "PDF, PNG or JPEG", "" if any file is accepted.
func (t DocumentTypes) Kinds() string { return t.or(nil) }

// TemplateKinds is Kinds for a template of an MTA.
func (t DocumentTypes) TemplateKinds() string { return t.or([]string{"Word"}) }

func (t DocumentTypes) or(more []string) string {
	if len(t) == 0 {
		return ""
	}
	var names []string
	for _, mediaType := range t {
		names = append(names, typeName(mediaType))
	}
	names = slices.Compact(append(names, more...))
	if len(names) == 1 {
		return names[0]
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// Accept returns the types for the attribute of a file field.
func (t DocumentTypes) Accept() string { return strings.Join(t, ",") }

// TemplateAccept is Accept for a template of an MTA.
func (t DocumentTypes) TemplateAccept() string {
	if len(t) == 0 {
		return ""
	}
	return strings.Join(append(slices.Clone(t), wordEndings...), ",")
}

func typeName(mediaType string) string {
	if name := typeNames[mediaType]; name != "" {
		return name
	}
	_, name, _ := strings.Cut(mediaType, "/")
	return name
}

// DocumentField is the label of a form's field for a document, as the sentence begins that refuses a file.
type DocumentField struct {
	Label    string
	Template bool // it is a template of an MTA, which may be a Word document
}

// OnlyDocuments refuses the files of fields that are not of the types of documents, and removes their content.
func (v *PageRequest) OnlyDocuments(f SentForm, fields map[string]DocumentField) {
	types := DocumentTypes(v.App.DocumentTypes)
	for field, d := range fields {
		file, sent := f.Files[field]
		mediaType := file.Content.MediaType
		isWord := d.Template && slices.Contains(wordEndings, strings.ToLower(path.Ext(file.Name))) &&
			!strings.HasPrefix(mediaType, "text/")
		if !sent || len(types) == 0 || slices.Contains(types, mediaType) || isWord {
			continue
		}
		kinds := types.Kinds()
		if d.Template {
			kinds = types.TemplateKinds()
		}
		refusal := exchange.Errorf(exchange.UnsupportedMedia, "%s: “%s” is not a %s file.", d.Label, file.Name, kinds)
		v.App.Documents.Discard(v.Context(), file.Content, refusal)
		delete(f.Files, field)
		f.Refused[field] = refusal
	}
}

// ReadDocument reads a form whose purpose is the document in its field "file".
func (v *PageRequest) ReadDocument(d DocumentField) (f SentForm, file SentFile, err error) {
	if f, err = v.ReadForm(v.Store, "file"); err == nil {
		v.OnlyDocuments(f, map[string]DocumentField{"file": d})
		file, err = f.File("file")
	}
	return f, file, err
}

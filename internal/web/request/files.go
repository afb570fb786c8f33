package request

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/request"
	"aliquot/internal/web/ui"
)

// upload streams a document into a slot of a request. The script that shows the progress asks for the answer as
// text.
func (v *pageRequest) upload(id int64) (ui.Response, error) {
	slot, err := v.slot()
	if err != nil {
		return ui.Response{}, err
	}
	err = v.handIn(id, slot)
	if v.Header.Get("Accept") == "text/plain" {
		return v.plainly(err)
	}
	if err != nil {
		return v.refused(string(slot), err)
	}
	return ui.SeeOther(requestPath(id) + "#" + anchor(string(slot))).Saying("Document submitted."), nil
}

func (v *pageRequest) handIn(id int64, slot document.Slot) error {
	q, err := v.App.Requests.Request(v.Context(), v.Who.Actor, id)
	if err != nil {
		return err
	}
	if !q.AvailableActions(v.Who.Actor, v.App.DB.Read().Now).Upload[slot] {
		if !q.Active {
			return exchange.Errorf(exchange.RequestClosed, "The request is closed, so no documents can be added.")
		}
		return exchange.Errorf(exchange.FieldForbidden, "The other side submits this document.")
	}
	_, file, err := v.ReadDocument(ui.DocumentField{Label: needNames[request.Need(slot)]})
	if err != nil {
		return err
	}
	_, err = v.App.Requests.HandIn(v.Context(), v.Who.Actor, id, slot, file.Name, file.Content)
	return renamed(err, map[string]string{"filename": "file"})
}

// plainly answers an upload with one line of text.
func (v *pageRequest) plainly(err error) (ui.Response, error) {
	status, text := http.StatusCreated, "Document submitted."
	if e, ours := errors.AsType[*exchange.Error](err); ours {
		status, text = http.StatusConflict, e.Message
		switch e.Code {
		case exchange.InvalidInput, exchange.UnsupportedMedia:
			status = http.StatusUnprocessableEntity
		case exchange.TooLarge, exchange.QuotaExceeded:
			status = http.StatusRequestEntityTooLarge
		case exchange.Forbidden, exchange.FieldForbidden:
			status = http.StatusForbidden
		case exchange.NotFound:
			status = http.StatusNotFound
		case exchange.Internal, exchange.Unavailable, exchange.StorageFull:
			return ui.Response{}, err
		}
		v.NoteRefusal(err)
		if list := e.Fields["file"]; len(list) > 0 {
			text = strings.Join(ui.AsSentences(list), " ")
		}
	} else if err != nil {
		return ui.Response{}, err
	}
	return ui.Response{Serve: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}}, nil
}

// forScript turns a redirect into text for the script that shows an upload's progress; the script follows it.
func (v *pageRequest) forScript(r ui.Response) ui.Response {
	if v.Header.Get("Accept") != "text/plain" {
		return r
	}
	to := r.Location
	r.Location, r.Serve = "", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusCreated)
	}
	return r
}

// shownTypes are the media types that a browser may show; all others are downloaded.
var shownTypes = []string{"application/pdf", "image/png", "image/jpeg", "image/gif", "image/webp"}

// document shows a document of a request or sends it as a download.
func (v *pageRequest) document(id int64) (ui.Response, error) {
	attachment, err := v.PathID("attachment")
	if err != nil {
		return ui.Response{}, err
	}
	f, err := v.App.Requests.RequestFile(v.Context(), v.Who.Actor, id, attachment)
	if err != nil {
		return ui.Response{}, err
	}
	content, err := f.Open(v.Context())
	if err != nil {
		return ui.Response{}, err
	}
	return showFile(v.PageRequest, f.Attachment, content), nil
}

// showFile shows a document or sends it as a download. No script in it runs in our origin.
func showFile(v *ui.PageRequest, t document.Attachment, content io.ReadSeekCloser) ui.Response {
	disposition := "attachment"
	if slices.Contains(shownTypes, t.Content.MediaType) && v.URL.Query().Get("download") == "" {
		disposition = "inline"
	}
	v.ExtendDeadlines(t.Content.Size)
	return ui.Response{Serve: func(w http.ResponseWriter, r *http.Request) {
		defer func() { _ = content.Close() }()
		h := w.Header()
		h.Set("Content-Security-Policy", "sandbox; default-src 'none'; style-src 'unsafe-inline'")
		h.Set("Content-Type", t.Content.MediaType)
		h.Set("Content-Disposition", mime.FormatMediaType(disposition, map[string]string{"filename": t.Filename}))
		h.Set("ETag", `"`+t.Content.SHA256+`"`)
		http.ServeContent(w, r, "", t.UpdatedAt, content)
	}}
}

// agreedMTA sends the blank MTA as it was when the request was made. If that has no content, it redirects to the
// material's.
func (v *pageRequest) agreedMTA(id int64) (ui.Response, error) {
	q, err := v.App.Requests.Request(v.Context(), v.Who.Actor, id)
	if err != nil {
		return ui.Response{}, err
	}
	if q.MTA == nil {
		return ui.Response{}, exchange.Errorf(exchange.NotFound, "This request has no MTA template.")
	}
	t, content, err := v.App.Documents.ContentVersion(v.Context(), v.Who.Actor, q.MTA.Attachment, q.MTA.Version)
	if exchange.CodeOf(err) == exchange.NotFound {
		return ui.SeeOther(fmt.Sprintf("/catalog/%d#files", q.MaterialID)), nil
	}
	if err != nil {
		return ui.Response{}, err
	}
	v.ExtendDeadlines(t.Size)
	return ui.Response{Serve: func(w http.ResponseWriter, r *http.Request) {
		ui.SendFile(w, r, document.Attachment{Filename: t.Filename, Content: &t.Content}, content)
	}}, nil
}

// documents sends all documents of a request, with old versions, as one ZIP file that is made while it is sent.
func (v *pageRequest) documents(id int64) (ui.Response, error) {
	list, err := v.App.Requests.RequestFiles(v.Context(), v.Who.Actor, id)
	if err != nil {
		return ui.Response{}, err
	}
	if len(list) == 0 {
		return ui.Response{}, exchange.Errorf(exchange.NotFound, "This request has no documents.")
	}
	total := int64(0)
	for _, f := range list {
		total += f.Content.Size
	}
	v.ExtendDeadlines(total)
	return ui.Response{Serve: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/zip")
		w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="request-%d-documents.zip"`, id))
		z := zip.NewWriter(w)
		for _, f := range list {
			name := fmt.Sprintf("%s/version %d/%s", needNames[request.Need(f.Slot)], f.Version, f.Filename)
			out, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store, Modified: f.AddedAt})
			if err == nil {
				err = copyOut(r.Context(), out, f.Open)
			}
			if err != nil { // the status is already sent: a truncated file shows that it is incomplete
				v.App.Log.WarnContext(r.Context(), "documents of a request", "request", id, "error", err)
				panic(http.ErrAbortHandler)
			}
		}
		_ = z.Close()
	}}, nil
}

// dossier sends the record of a request as a file that proves itself.
func (v *pageRequest) dossier(id int64) (ui.Response, error) {
	ready, err := v.App.Evidence.RequestDossier(v.Context(), v.Who.Actor, id)
	if err != nil {
		return ui.Response{}, err
	}
	v.ExtendDeadlines(ready.Size())
	return ui.Response{Serve: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/zip")
		w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="request-%d-record.zip"`, id))
		w.Header().Set("Cache-Control", "private, no-store")
		if err := ready.Write(w); err != nil { // as documents
			v.App.Log.WarnContext(r.Context(), "record of a request", "request", id, "error", err)
			panic(http.ErrAbortHandler)
		}
	}}, nil
}

// copyOut writes the content that open returns.
func copyOut[File io.ReadCloser](ctx context.Context, out io.Writer, open func(context.Context) (File, error)) error {
	file, err := open(ctx)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, file)
	return errors.Join(err, file.Close())
}

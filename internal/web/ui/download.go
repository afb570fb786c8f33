package ui

import (
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"aliquot/internal/exchange/document"
)

// SendFile sends an uploaded file as a download.
func SendFile(w http.ResponseWriter, r *http.Request, t document.Attachment, file io.ReadSeekCloser) {
	defer func() { _ = file.Close() }()
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Content-Type", t.Content.MediaType)
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": t.Filename}))
	http.ServeContent(w, r, "", t.UpdatedAt, file)
}

// SendSheet sends a file while write makes it. If that fails after it began, the connection is cut, so that nobody
// mistakes a part for the whole.
func (v *PageRequest) SendSheet(name string, write func(io.Writer) error) (Response, error) {
	return Response{Serve: func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", SheetTypes[name[strings.LastIndexByte(name, '.')+1:]])
		h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
		h.Set("Cache-Control", "private, no-store")
		if err := write(patientWriter{w}); err != nil {
			v.App.Log.ErrorContext(r.Context(), "sheet", "path", r.URL.Path, "error", err)
			panic(http.ErrAbortHandler)
		}
	}}, nil
}

// SheetTypes are the media types of spreadsheets by file name extension.
var SheetTypes = map[string]string{"csv": "text/csv; charset=utf-8",
	"xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"}

// patientWriter extends the connection's deadline for each part of a file of unknown size.
type patientWriter struct{ http.ResponseWriter }

func (p patientWriter) Write(b []byte) (int, error) {
	// a test's recorder has no deadlines
	_ = http.NewResponseController(p.ResponseWriter).SetWriteDeadline(time.Now().Add(time.Minute))
	return p.ResponseWriter.Write(b)
}

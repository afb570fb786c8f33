package rest

import (
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"aliquot/internal/api/shape"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
)

// SendContent sends a version of an attachment from its file, and closes the file.
func (c *Call) SendContent(v document.AttachmentVersion, modified time.Time, file io.ReadSeekCloser) error {
	defer func() { _ = file.Close() }()
	c.extendDeadlines(v.Size)
	h := c.Writer.Header()
	h.Set("Content-Type", v.MediaType)
	h.Set("Content-Disposition", download(v.Filename))
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	if c.Actor.Anonymous() { // otherwise no cache may store it
		h.Set("Cache-Control", "private, no-cache")
	}
	h.Set("ETag", contentTag(v.Content))
	w := &downloading{ResponseWriter: c.Writer}
	http.ServeContent(w, c.Request, "", modified, file)
	switch w.refused {
	case 0:
		c.Written = true
		return nil
	case http.StatusPreconditionFailed:
		return exchange.Errorf(exchange.PreconditionFailed, "The content has changed.")
	default:
		return exchange.Errorf(shape.RangeNotSatisfiable, "The content has no such range; its size is %d bytes.",
			v.Size)
	}
}

// MayRedirect reports whether a link can be the answer: it is signed for GET, and the other server does not know our
// ETags.
func (c *Call) MayRedirect() bool {
	for _, condition := range []string{"If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
		"If-Range"} {
		if c.Header.Get(condition) != "" {
			return false
		}
	}
	return c.Method == http.MethodGet
}

// Redirect sends the caller to a link that is for them alone, and for a short time.
func (c *Call) Redirect(link string) {
	h := c.Writer.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Location", link)
	c.Writer.WriteHeader(http.StatusFound)
	c.Written = true
}

// download returns the Content-Disposition that makes a browser save an answer under a name rather than show it.
func download(filename string) string {
	return mime.FormatMediaType("attachment", map[string]string{"filename": filename})
}

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

// mediaTypes are the content types of the files that are made as they are sent.
var mediaTypes = map[string]string{"csv": "text/csv; charset=utf-8", "json": "application/json",
	"zip":  "application/zip",
	"xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"}

// SendFile sends a file that write produces as it goes. If write fails after it began, the connection is cut, so that
// nobody takes a part for the whole.
func (c *Call) SendFile(name string, write func(begin func() io.Writer) error) error {
	begun := false
	err := write(func() io.Writer {
		begun = true
		c.extendDeadlines(0)
		h := c.Writer.Header()
		h.Set("Content-Type", mediaTypes[name[strings.LastIndexByte(name, '.')+1:]])
		h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "private, no-store")
		c.Writer.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(c.Writer).Flush() // sent in chunks: its length is not known
		return uploadDeadline{c}
	})
	if c.Written = begun; begun && err != nil {
		panic(http.ErrAbortHandler)
	}
	return err
}

// patientWriter extends the deadline of the connection for each part of a file whose size is not known.
type uploadDeadline struct{ *Call }

func (s uploadDeadline) Write(p []byte) (int, error) {
	s.extendDeadlines(int64(len(p)))
	return s.Writer.Write(p)
}

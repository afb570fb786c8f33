package server

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// minZipSize is the size in bytes from which compressing a body is worthwhile.
const minZipSize = 1 << 10

// takesGzip reports whether a client accepts gzip (RFC 9110 section 12.5.3).
func takesGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(strings.Join(r.Header["Accept-Encoding"], ","), ",") {
		name, q, _ := strings.Cut(part, ";")
		if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
			continue
		}
		_, q, weighed := strings.Cut(q, "=")
		weight, err := strconv.ParseFloat(strings.TrimSpace(q), 64)
		return !weighed || err == nil && weight > 0
	}
	return false
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

var zips = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // fails only for an invalid level
	return z
}}

// Zip returns a writer that compresses bodies that are large enough, if the client accepts gzip. A handler that uses it
// sets Content-Length and sends the body in one Write.
func Zip(w http.ResponseWriter, r *http.Request) http.ResponseWriter {
	if takesGzip(r) {
		return &gzipWriter{ResponseWriter: w}
	}
	return w
}

// ZippedTag returns the tag of the same body compressed, which is another representation (RFC 9110 section 8.8.3.3). A
// weak tag covers both.
func ZippedTag(tag string) string {
	if strings.HasPrefix(tag, "W/") {
		return tag
	}
	return strings.TrimSuffix(tag, `"`) + `-gzip"`
}

// gzipWriter compresses a body that is large enough. The body comes in one Write, so that its compressed length is
// known before the status is sent.
type gzipWriter struct {
	http.ResponseWriter
	status int // not sent yet
}

// WriteHeader delays the status of a large body until its Write.
func (w *gzipWriter) WriteHeader(status int) {
	if size, _ := strconv.Atoi(w.Header().Get("Content-Length")); size >= minZipSize {
		w.status = status
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write compresses a body whose status was delayed.
func (w *gzipWriter) Write(b []byte) (int, error) {
	if w.status == 0 {
		return w.ResponseWriter.Write(b)
	}
	buf, z := buffers.Get().(*bytes.Buffer), zips.Get().(*gzip.Writer)
	defer func() {
		buffers.Put(buf)
		zips.Put(z)
	}()
	buf.Reset()
	z.Reset(buf)
	_, _ = z.Write(b) // writing to memory does not fail
	_ = z.Close()
	h := w.Header()
	h.Set("Content-Encoding", "gzip")
	h.Set("Content-Length", strconv.Itoa(buf.Len()))
	if tag := h.Get("ETag"); tag != "" {
		h.Set("ETag", ZippedTag(tag))
	}
	w.ResponseWriter.WriteHeader(w.status)
	if _, err := w.ResponseWriter.Write(buf.Bytes()); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Unwrap lets http.ResponseController reach the connection.
func (w *gzipWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

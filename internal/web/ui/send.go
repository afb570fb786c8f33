package ui

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"

	"aliquot/internal/server"
)

// Send writes a page, compressed if the caller accepts that, or 304 if the caller has it.
func Send(w http.ResponseWriter, r *http.Request, status int, content []byte) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Add("Vary", "Accept-Encoding")
	if status == http.StatusOK && r.Method != http.MethodPost {
		weak := "W/" + ETag(content) // the tag of the compressed page, too
		h.Set("ETag", weak)
		if strings.Contains(r.Header.Get("If-None-Match"), weak) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	h.Set("Content-Length", strconv.Itoa(len(content)))
	if r.Method == http.MethodHead {
		w.WriteHeader(status)
		return
	}
	w = server.Zip(w, r)
	w.WriteHeader(status)
	_, _ = w.Write(content) // the client may have disconnected
}

// ETag returns the tag of a content.
func ETag(content []byte) string { return `"` + ContentHash(content) + `"` }

// ContentHash returns the first half of the hash of a content.
func ContentHash(content []byte) string {
	hash := sha256.Sum256(content)
	return hex.EncodeToString(hash[:8])
}

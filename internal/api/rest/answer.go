package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"

	"aliquot/internal/api/shape"
	"aliquot/internal/exchange"
	"aliquot/internal/server"
)

// retryAfter is the Retry-After of a 503, in seconds, if nothing better is known.
const retryAfter = 5

// fail answers with the error shape of contract.md section 2. The cause goes only to the log.
func (a *API) fail(w http.ResponseWriter, r *http.Request, err error) {
	e, known := errors.AsType[*exchange.Error](err)
	switch {
	case !known && server.TimedOut(r.Context()):
		e = exchange.Errorf(exchange.Unavailable, "This took longer than the server allows; try again in a moment.")
		a.Log.WarnContext(r.Context(), "too slow", "request_id", w.Header().Get(RequestID), "path", r.URL.Path,
			"error", err)
	case !known && r.Context().Err() != nil: // the client disconnected; nobody reads the answer
		e = exchange.Errorf(exchange.Unavailable, "The request was cancelled.")
	case !known:
		e = exchange.Errorf(exchange.Internal,
			"Something went wrong on our side; the error is logged under this request id.")
		a.Log.ErrorContext(r.Context(), "internal error", "request_id", w.Header().Get(RequestID), "path", r.URL.Path,
			"error", err)
	case e.Cause != nil:
		a.Log.WarnContext(r.Context(), string(e.Code), "request_id", w.Header().Get(RequestID), "path", r.URL.Path,
			"error", err)
	}
	body := map[string]any{"error": e.Message, "error_code": e.Code, "request_id": w.Header().Get(RequestID)}
	for key, value := range e.Details {
		body[key] = value
	}
	if len(e.Fields) > 0 {
		body["fields"] = e.Fields
	}
	status := shape.Statuses[e.Code]
	switch status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Token")
	case http.StatusServiceUnavailable:
		seconds, ok := e.Details["retry_after"].(int)
		if !ok {
			seconds = retryAfter
		}
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
	case http.StatusTooManyRequests:
		if seconds, ok := e.Details["retry_after"].(int); ok { // otherwise the limiter has set it
			w.Header().Set("Retry-After", strconv.Itoa(seconds))
		}
	}
	if r.ContentLength < 0 || r.ContentLength > BodyLimit {
		w.Header().Set("Connection", "close") // otherwise net/http waits for the rest of the body
	}
	if err := Answer(w, status, body); err != nil {
		a.Log.ErrorContext(r.Context(), "encode error", "error", err)
	}
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// Answer sends a body as JSON. The whole body is encoded before the status is sent.
func Answer(w http.ResponseWriter, status int, body any) error {
	return Encoded(body, func(raw []byte) error {
		send(w, status, Body{Type: jsonType, Bytes: raw})
		return nil
	})
}

// Encoded encodes a body as JSON and passes it to use; the bytes are valid only until use returns.
func Encoded(body any, use func(raw []byte) error) error {
	buf := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(buf)
	buf.Reset()
	if raw, err := shape.AppendMaterials(buf.AvailableBuffer(), body); raw != nil || err != nil {
		if err != nil {
			return err
		}
		_, _ = buf.Write(raw) // never fails; what had to grow is kept for the next body
		return use(buf.Bytes())
	}
	encoder := json.NewEncoder(buf)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		return err
	}
	return use(buf.Bytes())
}

const jsonType = "application/json"

// Values of headers that every answer has. net/http copies them and nothing changes them in place, so they are
// allocated once. The names are in the form of http.CanonicalHeaderKey.
var (
	jsonHeader    = []string{jsonType}
	noSniffHeader = []string{"nosniff"}
	noStoreHeader = []string{"no-store"}
	varyHeader    = []string{"Accept-Encoding, Authorization"}
)

// send writes a body in one Write.
func send(w http.ResponseWriter, status int, b Body) {
	h := w.Header()
	if b.Type == jsonType {
		h["Content-Type"] = jsonHeader
	} else {
		h.Set("Content-Type", b.Type)
	}
	h["Content-Length"] = []string{strconv.Itoa(len(b.Bytes))}
	h["X-Content-Type-Options"] = noSniffHeader
	if b.Name != "" {
		h.Set("Content-Disposition", download(b.Name))
	}
	vary(h)
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes) // the client may have disconnected
}

// vary names the headers of a request that answers depend on, besides the origin that cors.go may have named.
func vary(h http.Header) {
	if others := h["Vary"]; others != nil {
		h["Vary"] = append(others, varyHeader...)
		return
	}
	h["Vary"] = varyHeader
}

// AnswerList answers with one part of a list as a bare array; X-Total-Count or X-Total-Count-At-Least has the number of
// all items (contract.md section 11), and Link the address of the next part (RFC 8288).
func AnswerList[T, Out any](c *Call, part exchange.ListPage[T], err error, show func(T) Out) ([]Out, error) {
	if err != nil {
		return nil, err
	}
	h := c.Writer.Header()
	count := "X-Total-Count"
	if part.Total.AtLeast {
		count = "X-Total-Count-At-Least"
	}
	h.Set(count, strconv.FormatInt(part.Total.N, 10))
	if part.Next != nil {
		c.List.values.Set("cursor", cursor(c.List.name, *part.Next))
		h.Set("Link", fmt.Sprintf("<%s?%s>; rel=\"next\"", c.URL.EscapedPath(), c.List.values.Encode()))
	}
	return shape.List(part.Items, show), nil
}

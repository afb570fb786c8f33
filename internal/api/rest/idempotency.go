package rest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"strings"
	"unicode/utf8"

	"aliquot/internal/app"
	"aliquot/internal/exchange"
)

const (
	IdempotencyKey = "Idempotency-Key"
	LongestKey     = 255 // characters
)

// storedHeaders are the headers stored with an answer. The request id is that of the call that ran, whose log record
// has the details.
var storedHeaders = []string{"Content-Type", "Location", "Cache-Control", RequestID}

// answersSecret reports whether the answer to a POST contains a secret of its caller, which is never stored.
func answersSecret(action exchange.Action) bool {
	return action == exchange.Login || action == exchange.Register || action == exchange.TokenCreate
}

// retry returns the key of a POST that may be sent again safely (contract.md section 1). A POST that answers a secret
// has none.
func (c *Call) retry(action exchange.Action) (k exchange.IdempotentCall, ok bool, err error) {
	values := c.Header[IdempotencyKey]
	if values == nil || c.Method != http.MethodPost || answersSecret(action) {
		return k, false, nil
	}
	k.Key = values[0]
	if n := utf8.RuneCountInString(k.Key); len(values) > 1 || n < 1 || n > LongestKey || !utf8.ValidString(k.Key) {
		return k, false, exchange.FieldErrors{IdempotencyKey: {fmt.Sprintf("must be one string of 1 to %d characters",
			LongestKey)}}.Err()
	}
	k.Caller = "user " + c.Actor.ID.String()
	if c.Actor.Lab != 0 { // a token with fewer rights must not get the answer given to another token of the user
		k.Caller += fmt.Sprintf(" in %d", c.Actor.Lab)
	}
	if c.Actor.Anonymous() {
		address, _, _ := net.SplitHostPort(c.RemoteAddr)
		k.Caller = "address " + address
	}
	k.Fingerprint, err = c.fingerprint()
	return k, err == nil, err
}

// fingerprint identifies a call by path, query and JSON body. The body of a form does not count, because its boundary
// differs each time; nor does that of a file, which may be long.
func (c *Call) fingerprint() (string, error) {
	hash := sha256.New()
	fmt.Fprintf(hash, "%s?%s\n", strings.TrimSuffix(strings.TrimPrefix(c.URL.Path, "/v1"), "/"), c.URL.RawQuery)
	kind, _, _ := mime.ParseMediaType(c.Header.Get("Content-Type"))
	if kind != "multipart/form-data" && !(c.stream && kind != "" && kind != "application/json") {
		raw, err := io.ReadAll(io.LimitReader(c.Body, BodyLimit+1))
		if err != nil {
			return "", &exchange.Error{Code: exchange.MalformedJSON, Message: "The body ended before it was complete.",
				Cause: err}
		}
		if len(raw) > BodyLimit {
			return "", tooLarge()
		}
		hash.Write(raw)
		c.Body = io.NopCloser(bytes.NewReader(raw))
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// runIdempotent runs a call unless an earlier call had the same key; then it repeats the earlier answer.
func (a *API) runIdempotent(c *Call, route Route, k exchange.IdempotentCall) error {
	w, held := c.Writer, &deferredAnswer{ResponseWriter: c.Writer, header: c.Writer.Header().Clone()}
	// A client that disconnects is likely to retry.
	c.Writer, c.Request = held, c.WithContext(context.WithoutCancel(c.Context()))
	long := c.stream || route.AsksSource()
	answer, replayed, err := a.App.Once(c.Context(), k, long, func(within *app.App) (exchange.IdempotentCall, bool) {
		c.App = within
		if err := route.serve(c); err != nil {
			a.refused(c, route, err)
			a.fail(held, c.Request, err)
		}
		k.Status, k.Body, k.Headers = held.status, held.body.String(), map[string]string{}
		for _, name := range storedHeaders {
			if value := held.header.Get(name); value != "" {
				k.Headers[name] = value
			}
		}
		// A form that was refused may have been cut off, so it may be sent again; and so may a call whose token ended
		// in the meantime, with another token.
		return k, k.Status < 400 || k.Status < 500 && !c.stream && k.Status != http.StatusUnauthorized
	})
	if err != nil {
		return err
	}
	if !replayed {
		maps.Copy(w.Header(), held.header)
		w.WriteHeader(answer.Status)
		_, _ = io.WriteString(w, answer.Body) // the client may have disconnected
		return nil
	}
	if c.stream { // a client that uploads a file reads the answer after it has sent everything
		_, _ = io.Copy(io.Discard, io.LimitReader(c.Body, a.App.UploadLimit))
	}
	for name, value := range answer.Headers {
		w.Header().Set(name, value)
	}
	w.Header().Set("Idempotency-Replayed", "true")
	if answer.Body == "" {
		w.WriteHeader(answer.Status)
		return nil
	}
	send(w, answer.Status, Body{Type: jsonType, Bytes: []byte(answer.Body)})
	return nil
}

// deferredAnswer holds an answer back until it is stored; it is dropped if an earlier answer is repeated.
type deferredAnswer struct {
	http.ResponseWriter
	header http.Header
	status int
	body   bytes.Buffer
}

// Header returns the headers of the deferred answer.
func (w *deferredAnswer) Header() http.Header { return w.header }

// WriteHeader records the status.
func (w *deferredAnswer) WriteHeader(status int) { w.status = status }

// Write records the body.
func (w *deferredAnswer) Write(b []byte) (int, error) { return w.body.Write(b) }

// Unwrap lets http.ResponseController reach the connection.
func (w *deferredAnswer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

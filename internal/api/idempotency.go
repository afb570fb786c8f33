package api

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

	"aliquot/internal/exchange"
)

const (
	idempotencyKey = "Idempotency-Key"
	longestKey     = 255 // characters
)

// kept are the headers that belong to a stored answer. The request id is that of the call that
// ran: its log record is the one that tells.
var kept = []string{"Content-Type", "Location", "Cache-Control", requestID}

// answersSecret reports whether what a POST answers is a secret of its caller, which is never kept.
func answersSecret(action exchange.Action) bool {
	return action == exchange.Login || action == exchange.Register || action == exchange.TokenCreate
}

// retry is the key of a POST that may be sent again safely (contract.md section 1). A POST that answers a secret has
// none.
func (c *Call) retry(action exchange.Action) (k exchange.IdempotentCall, ok bool, err error) {
	values := c.Header[idempotencyKey]
	if values == nil || c.Method != http.MethodPost || answersSecret(action) {
		return k, false, nil
	}
	k.Key = values[0]
	if n := utf8.RuneCountInString(k.Key); len(values) > 1 || n < 1 || n > longestKey || !utf8.ValidString(k.Key) {
		return k, false, exchange.FieldErrors{idempotencyKey: {fmt.Sprintf("must be one string of 1 to %d characters",
			longestKey)}}.Err()
	}
	k.Caller = "user " + c.Actor.ID.String()
	if c.Actor.Lab != 0 { // who sees less is not given what another token of the user was answered
		k.Caller += fmt.Sprintf(" in %d", c.Actor.Lab)
	}
	if c.Actor.Anonymous() {
		address, _, _ := net.SplitHostPort(c.RemoteAddr)
		k.Caller = "address " + address
	}
	k.Fingerprint, err = c.fingerprint()
	return k, err == nil, err
}

// fingerprint is what makes two calls the same: path, query and a JSON body. A form differs at
// each sending, in its boundary, so its body does not count; nor does that of a file, which may be long.
func (c *Call) fingerprint() (string, error) {
	hash := sha256.New()
	fmt.Fprintf(hash, "%s?%s\n", strings.TrimSuffix(strings.TrimPrefix(c.URL.Path, "/v1"), "/"), c.URL.RawQuery)
	kind, _, _ := mime.ParseMediaType(c.Header.Get("Content-Type"))
	if kind != "multipart/form-data" && !(c.stream && kind != "" && kind != "application/json") {
		raw, err := io.ReadAll(io.LimitReader(c.Body, bodyLimit+1))
		if err != nil {
			return "", &exchange.Error{Code: exchange.MalformedJSON, Message: "The body ended before it was whole.",
				Cause: err}
		}
		if len(raw) > bodyLimit {
			return "", tooLarge()
		}
		hash.Write(raw)
		c.Body = io.NopCloser(bytes.NewReader(raw))
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// once runs a call unless an earlier one has its key; then it gives the earlier one's answer.
func (a *API) runIdempotent(c *Call, route route, k exchange.IdempotentCall) error {
	w, held := c.w, &deferredAnswer{ResponseWriter: c.w, header: c.w.Header().Clone()}
	ctx := context.WithoutCancel(c.Context()) // who hung up is who sends it again
	long := c.stream || route.asksSource()
	answer, replayed, err := a.App.Once(ctx, k, long, func(ctx context.Context) (exchange.IdempotentCall, bool) {
		c.w, c.Request = held, c.WithContext(ctx)
		if err := route.serve(a, c); err != nil {
			a.refused(c, route, err)
			a.fail(held, c.Request, err)
		}
		k.Status, k.Body, k.Headers = held.status, held.body.String(), map[string]string{}
		for _, name := range kept {
			if value := held.header.Get(name); value != "" {
				k.Headers[name] = value
			}
		}
		// A form that was refused may have been cut off on its way, so it may come again; and so may a call whose
		// token ended meanwhile, with another token.
		return k, k.Status < 400 || k.Status < 500 && !c.stream && k.Status != http.StatusUnauthorized
	})
	if err != nil {
		return err
	}
	if !replayed {
		maps.Copy(w.Header(), held.header)
		w.WriteHeader(answer.Status)
		_, _ = io.WriteString(w, answer.Body) // the caller may have hung up
		return nil
	}
	if c.stream { // who sends a file reads the answer when all of it is sent
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

// holding keeps an answer back until it is stored; it is dropped where an earlier one is given.
type deferredAnswer struct {
	http.ResponseWriter
	header http.Header
	status int
	body   bytes.Buffer
}

// Header gives the headers that are kept back.
func (w *deferredAnswer) Header() http.Header { return w.header }

// WriteHeader notes the status.
func (w *deferredAnswer) WriteHeader(status int) { w.status = status }

// Write notes the body.
func (w *deferredAnswer) Write(b []byte) (int, error) { return w.body.Write(b) }

// Unwrap lets http.ResponseController reach the connection.
func (w *deferredAnswer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

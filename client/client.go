// Package client calls the API of an Aliquot from Go.
//
//	c, err := client.New("https://aliquot.example", token, nil)
//	found, err := c.GetMaterialWithResponse(ctx, 7)
//	fmt.Println(found.JSON200.Title)
//
// What is in client.gen.go is made of docs/openapi.json: a method for each call, with
// "WithResponse" one that reads the answer. A refusal is an error of type *Error.
package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// New makes a client of the Aliquot at an address. Without a token it calls as nobody; web is
// http.DefaultClient where it is nil.
func New(address, token string, web *http.Client) (*ClientWithResponses, error) {
	if web == nil {
		web = http.DefaultClient
	}
	return NewClientWithResponses(address, WithHTTPClient(refusing{web}),
		WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
			if token != "" {
				r.Header.Set("Authorization", "Token "+token)
			}
			return nil
		}))
}

// refusing makes an error of an answer that is one.
type refusing struct{ *http.Client }

// errorLimit is how much of the body of an error is read, in bytes.
const errorLimit = 1 << 20

// Do sends a request.
func (c refusing) Do(r *http.Request) (*http.Response, error) {
	response, err := c.Client.Do(r)
	if err != nil || response.StatusCode < 400 {
		return response, err
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(response.Body, errorLimit))
	if err != nil {
		return nil, err
	}
	var refusal Error
	if err := json.Unmarshal(raw, &refusal); err != nil || refusal.Code == "" {
		return nil, fmt.Errorf("%s %s: %s, and no error of Aliquot: %.200q", r.Method, r.URL.Path, response.Status, raw)
	}
	return nil, &refusal
}

// Error says what went wrong, and with each field.
func (e *Error) Error() string {
	text := e.Message
	for _, name := range slices.Sorted(maps.Keys(e.Fields)) {
		text += " " + name + ": " + strings.Join(e.Fields[name], ", ") + "."
	}
	return fmt.Sprintf("%s (%s, request %s)", text, e.Code, e.RequestID)
}

// Time is a moment as Aliquot writes it, in whole seconds: 2020-05-11T14:13:39+0000.
type Time struct{ time.Time }

const layout = `"2006-01-02T15:04:05-0700"`

// MarshalJSON writes the moment in UTC.
func (t Time) MarshalJSON() ([]byte, error) { return []byte(t.UTC().Format(layout)), nil }

// UnmarshalJSON reads the one form in which moments come.
func (t *Time) UnmarshalJSON(raw []byte) (err error) {
	t.Time, err = time.Parse(layout, string(raw))
	return err
}

var next = regexp.MustCompile(`<([^>]*)>; rel="next"`)

// Next is the cursor of the page after the one that an answer holds; nil where that is the last.
func Next(page *http.Response) *string {
	found := next.FindStringSubmatch(page.Header.Get("Link"))
	if found == nil {
		return nil
	}
	link, err := url.Parse(found[1])
	if err != nil || !link.Query().Has("cursor") {
		return nil
	}
	return new(link.Query().Get("cursor"))
}

// IfMatch makes a change only of the version with an ETag; of another one it is refused with
// PRECONDITION_FAILED.
func IfMatch(tag string) RequestEditorFn { return header("If-Match", tag) }

// IdempotencyKey makes a POST safe to send again: with the same key it happens once.
func IdempotencyKey(key string) RequestEditorFn { return header("Idempotency-Key", key) }

func header(name, value string) RequestEditorFn {
	return func(_ context.Context, r *http.Request) error {
		r.Header.Set(name, value)
		return nil
	}
}

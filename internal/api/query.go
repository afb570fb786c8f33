package api

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

// pathID is an integer id in the path.
func (c *Call) pathID(name string) (int64, error) { return idOf(c.PathValue(name)) }

// idOf reads an id as we write it. Whatever is none names no object, +1 and 01 too: an object has
// one address.
func idOf(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 || strconv.FormatInt(id, 10) != text {
		return 0, exchange.Fail(exchange.NotFound, "There is no such object.")
	}
	return id, nil
}

// pathUser is a user id in the path.
func (c *Call) pathUser() (uuid.UUID, error) {
	id, err := uuid.Parse(c.PathValue("id"))
	if err != nil || len(c.PathValue("id")) != 36 {
		return uuid.Nil, exchange.Fail(exchange.NotFound, "There is no such user.")
	}
	return id, nil
}

// The bounds of a page (contract.md section 1, "Lists").
const (
	defaultLimit = 50
	mostLimit    = 200
)

// query reads the parameters of a list; every wrong one is named.
type query struct {
	values url.Values
	faults exchange.Faults
}

func (c *Call) query() *query {
	values, err := url.ParseQuery(c.URL.RawQuery)
	q := &query{values: values}
	if err != nil {
		q.faults.Add("query", "must be written as name=value, with %%XX for special characters")
	}
	return q
}

// text is a parameter, nil where it is absent.
func (q *query) text(name string) *string {
	if !q.values.Has(name) {
		return nil
	}
	s := q.values.Get(name)
	if !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) || len(s) > 1000 {
		q.faults.Add(name, "must be short text without control characters")
		return nil
	}
	return &s
}

func (q *query) integer(name string) *int64 {
	s := q.text(name)
	if s == nil {
		return nil
	}
	n, err := strconv.ParseInt(*s, 10, 64)
	if err != nil {
		q.faults.Add(name, "must be an integer")
		return nil
	}
	return &n
}

func (q *query) boolean(name string) *bool {
	s := q.text(name)
	if s == nil {
		return nil
	}
	switch *s {
	case "true", "1":
		return new(true)
	case "false", "0":
		return new(false)
	}
	q.faults.Add(name, "must be true or false")
	return nil
}

func (q *query) user(name string) *uuid.UUID {
	s := q.text(name)
	if s == nil {
		return nil
	}
	id, err := uuid.Parse(*s)
	if err != nil {
		q.faults.Add(name, "must be the id of a user: a UUID")
		return nil
	}
	return &id
}

// page is the part of a list that is asked for.
func (q *query) page() exchange.Page {
	p := exchange.Page{Limit: defaultLimit}
	if n := q.integer("limit"); n != nil {
		if *n < 1 || *n > mostLimit {
			q.faults.Add("limit", "must be from 1 to %d", mostLimit)
		}
		p.Limit = int(*n)
	}
	if s := q.text("cursor"); s != nil {
		raw, err := base64.RawURLEncoding.DecodeString(*s)
		before, errNumber := strconv.ParseInt(string(raw), 10, 64)
		if err != nil || errNumber != nil || before < 1 {
			q.faults.Add("cursor", "must be one that a Link header gave")
		}
		p.Before = before
	}
	return p
}

// listed answers with one part of a list as a bare array; X-Total-Count tells the number of all
// and Link where the next part is (RFC 8288). q has read the filters already.
func listed[T, Out any](c *Call, q *query, read func(exchange.Page) (exchange.Part[T], error), show func(T) Out) ([]Out, error) {
	page := q.page()
	if err := q.faults.Err(); err != nil {
		return nil, err
	}
	part, err := read(page)
	if err != nil {
		return nil, err
	}
	h := c.w.Header()
	h.Set("X-Total-Count", strconv.FormatInt(part.Total, 10))
	if part.Next != 0 {
		q.values.Set("cursor", base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(part.Next, 10))))
		h.Set("Link", fmt.Sprintf("<%s?%s>; rel=\"next\"", c.URL.EscapedPath(), q.values.Encode()))
	}
	return list(part.Items, show), nil
}

// location tells where the object is that a POST made, unless it failed with err.
func (c *Call) location(err error, format string, args ...any) {
	if err == nil {
		c.w.Header().Set("Location", "/v1"+fmt.Sprintf(format, args...))
	}
}

// noStore keeps an answer with a secret out of caches.
func (c *Call) noStore() { c.w.Header().Set("Cache-Control", "no-store") }

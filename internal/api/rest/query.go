package rest

import (
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/api/jsonschema"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"

	"github.com/google/uuid"
)

// ContentID returns the id in /uploaded-file/attachment_<id>/<filename>.
func (c *Call) ContentID() (int64, error) {
	digits, ok := strings.CutPrefix(c.PathValue("attachment"), "attachment_")
	if !ok {
		digits = ""
	}
	return idOf(digits)
}

// ID returns an integer id in the path, which checkPath has found valid.
func (c *Call) ID(name string) int64 {
	id, _ := idOf(c.PathValue(name))
	return id
}

// idOf parses an id in canonical form. Anything else names no object, including +1 and 01: an object has one address.
func idOf(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 || strconv.FormatInt(id, 10) != text {
		return 0, exchange.Errorf(exchange.NotFound, "There is no such object.")
	}
	return id, nil
}

// checkPath reads what stands in the places of a path, and refuses what names nothing.
func (c *Call) checkPath(places []string) error {
	for _, place := range places {
		var err error
		switch value := c.PathValue(place); {
		case place == userPlace && c.PathValue("id") == Me && !c.Actor.Anonymous(): // anonymous ones are refused before
			c.User = c.Actor.ID
		case place == userPlace:
			if c.User, err = uuid.Parse(c.PathValue("id")); err != nil || len(c.PathValue("id")) != 36 {
				return exchange.Errorf(exchange.NotFound, "There is no such user.")
			}
		case place == "document":
			if !document.Slot(value).Valid() {
				return exchange.Errorf(exchange.NotFound, "There is no such document; it is one of %v.", document.Slots)
			}
		default:
			if _, err = idOf(value); err != nil {
				return err
			}
		}
	}
	return nil
}

// userPlace is the id of a path of /users, which is that of a user.
const userPlace = "user"

// placesOf returns the places of a path that checkPath reads. The content of an attachment, an instrument and a tile of
// the log have addresses that are read by their handlers.
func placesOf(path string) (places []string) {
	for part := range strings.SplitSeq(path, "/") {
		place, ok := strings.CutPrefix(part, "{")
		place = strings.TrimSuffix(place, "}")
		switch {
		case !ok, slices.Contains([]string{"attachment", "filename", "instrument", "level", "tile..."}, place):
		case place == "id" && strings.HasPrefix(path, "/users/"):
			places = append(places, userPlace)
		case place == "document": // a wrong one is reported before a wrong id
			places = append([]string{place}, places...)
		default:
			places = append(places, place)
		}
	}
	return places
}

// listQuery selects which part of a list a call asks for.
type listQuery struct {
	values url.Values
	name   string // of the list, see listName
	Page   exchange.Page
}

// readList reads the parameters of a list: filters into the fields of a struct whose tags name them, and the page. The
// error names every wrong parameter.
func (c *Call) readList(filter any) error {
	q := c.query()
	var page jsonschema.ListPage
	q.read(filter)
	order, matches := q.order(c.fields), q.matches(c.filters)
	q.read(&page)
	name := listName(c.Request, order, []any{filter, matches})
	c.List = listQuery{q.values, name,
		exchange.Page{Limit: int(page.Limit), Order: order, After: q.cursor(page.Cursor, name, order), Where: matches,
			CountAll: page.Count != nil}}
	return q.faults.Err()
}

// narrowed reports whether a list is filtered or in another order than the default, which may take long.
func (c *Call) narrowed() bool {
	for name := range c.List.values {
		if name != "limit" && name != "cursor" {
			return true
		}
	}
	return false
}

// ReadQuery reads the parameters of a GET that is not a list into a struct whose tags name them.
func (c *Call) ReadQuery(in any) error {
	q := c.query()
	q.read(in)
	return q.faults.Err()
}

func (c *Call) query() *query {
	values, err := url.ParseQuery(c.URL.RawQuery)
	q := &query{values: values}
	if err != nil {
		q.faults.Add("query", "must be written as name=value, with %%XX for special characters")
	}
	known := "this path has none"
	if len(c.parameters) > 0 {
		known = "this path takes " + strings.Join(c.parameters, ", ")
	}
	for name := range values {
		if !slices.Contains(c.parameters, name) && len(q.faults) < maxUnknown {
			q.faults.Add(clipped(name), "is not a parameter; %s", known)
		}
	}
	return q
}

// maxUnknown is how many unknown parameters are named in one answer, longestUnknown how much of each, in bytes.
const maxUnknown, longestUnknown = 20, 100

func clipped(name string) string {
	if len(name) > longestUnknown {
		return strings.ToValidUTF8(name[:longestUnknown], "") + "…"
	}
	return name
}

// query reads parameters and records what is wrong with them.
type query struct {
	values url.Values
	faults exchange.FieldErrors
}

// text returns a parameter, nil if it is absent.
func (q *query) text(name string) *string {
	if !q.values.Has(name) {
		return nil
	}
	s := q.values.Get(name)
	if !q.short(name, s) {
		return nil
	}
	return &s
}

func (q *query) short(name, s string) bool {
	return q.faults.Short(name, s)
}

// anything returns a parameter with any text; one that is repeated becomes one text.
func (q *query) anything(name string) string { return strings.Join(q.values[name], " ") }

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

// between parses an integer within the bounds of a tag, which also has its default.
func (q *query) between(name string, tag reflect.StructTag) int64 {
	bound := func(key string) int64 {
		n, _ := strconv.ParseInt(tag.Get(key), 10, 64)
		return n
	}
	n := q.integer(name)
	switch {
	case n == nil:
		return bound("default")
	case *n < bound("least") || *n > bound("most"):
		q.faults.Add(name, "must be from %d to %d", bound("least"), bound("most"))
	}
	return *n
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

// instant parses a time. The + of its zone may not be escaped, and is then read as a blank.
func (q *query) instant(name string) *exchange.Instant {
	s := q.text(name)
	if s == nil {
		return nil
	}
	raw, _ := json.Marshal(strings.ReplaceAll(*s, " ", "+")) // cannot fail: it is UTF-8
	var i exchange.Instant
	if err := i.UnmarshalJSON(raw); err != nil {
		q.faults.Add(name, "%s", err)
		return nil
	}
	return &i
}

// read fills a struct whose tags name the parameters. A pointer stays nil if its parameter is absent; what is no
// pointer gets the default of its tag.
func (q *query) read(into any) {
	v := reflect.ValueOf(into).Elem()
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		name := tag.Get("query")
		switch field := v.Field(i).Addr().Interface().(type) {
		case **int64:
			*field = q.integer(name)
		case *int64:
			*field = q.between(name, tag)
		case *jsonschema.PageSize:
			*field = jsonschema.PageSize(q.between(name, tag))
		case *jsonschema.HitOffset:
			*field = q.offset(name)
		case *jsonschema.CursorText:
			*field = jsonschema.CursorText(q.values.Get(name))
		case **bool:
			*field = q.boolean(name)
		case *bool:
			if *field = tag.Get("default") == "true"; q.values.Has(name) {
				if sent := q.boolean(name); sent != nil {
					*field = *sent
				}
			}
		case **uuid.UUID:
			*field = q.user(name)
		case **exchange.Date:
			if day, ok := q.day(name).(string); ok {
				*field = new(exchange.Date(day))
			}
		case **exchange.Instant:
			*field = q.instant(name)
		case **exchange.SearchText:
			if q.values.Has(name) {
				*field = new(exchange.SearchText(q.anything(name)))
				q.faults.SearchSize(name, q.anything(name), nil)
			}
		default: // text
			if s := q.word(name, v.Field(i).Type().Elem()); s != nil {
				text := reflect.New(v.Field(i).Type().Elem())
				text.Elem().SetString(*s)
				v.Field(i).Set(text)
			}
		}
	}
}

// word returns a text; if the values of its name or type are limited, it has to be one of them.
func (q *query) word(name string, t reflect.Type) *string {
	s := q.text(name)
	e, limited := jsonschema.EnumOf(name, t)
	if s != nil && limited && !slices.Contains(e.Words, *s) {
		q.faults.Add(name, "must be one of %v", e.Words)
		return nil
	}
	return s
}

// order parses the name of a field, with - before it for descending order.
func (q *query) order(fields []exchange.Field) exchange.Order {
	s := q.text("ordering")
	if s == nil {
		return exchange.Order{}
	}
	name, descending := strings.CutPrefix(*s, "-")
	i := slices.IndexFunc(fields, func(f exchange.Field) bool { return f.Name == name })
	if i < 0 {
		names := make([]string, len(fields))
		for i, f := range fields {
			names[i] = f.Name
		}
		q.faults.Add("ordering", "must be one of %s, with - before it for the reverse", strings.Join(names, ", "))
		return exchange.Order{}
	}
	return exchange.Order{Field: fields[i], Ascending: !descending}
}

// Location sets the address of the object that a POST created, unless it failed with err.
func (c *Call) Location(err error, format string, args ...any) {
	if err == nil {
		c.Writer.Header().Set("Location", "/v1"+fmt.Sprintf(format, args...))
	}
}

// NoStore keeps an answer out of shared caches; its tag still helps clients that store it themselves.
func (c *Call) NoStore() { c.Writer.Header()["Cache-Control"] = noStoreHeader }

// Me in a path stands for the id of the caller.
const Me = "me"

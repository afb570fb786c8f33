package rest

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"aliquot/internal/api/jsonschema"
	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

// listName returns a name that differs between lists, orders of one list, and filters.
func listName(r *http.Request, o exchange.Order, filter any) string {
	hash := sha256.New()
	raw, _ := json.Marshal(filter) // cannot fail: a struct of pointers to plain values
	fmt.Fprintln(hash, strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/v1"), "/"), o.Name, o.Ascending, string(raw))
	return base64.RawURLEncoding.EncodeToString(hash.Sum(nil)[:9])
}

func cursor(list string, p exchange.Position) string { return packed(list, p.ID, p.Value) }

func packed(parts ...any) string {
	raw, _ := json.Marshal(parts) // cannot fail: integers, times and strings
	return base64.RawURLEncoding.EncodeToString(raw)
}

// unpacked returns the parts of a cursor after the name of the list, which has to be list; nil if there is no cursor or
// an invalid one.
func (q *query) unpacked(c jsonschema.CursorText, list string) []json.RawMessage {
	if !q.values.Has("cursor") {
		return nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(string(c))
	var parts []json.RawMessage
	if err != nil || len(raw) > jsonschema.MaxCursorLength || json.Unmarshal(raw, &parts) != nil || len(parts) != 3 {
		q.badCursor()
		return nil
	}
	of, err := decodeValue[string](parts[0])
	switch {
	case err != nil:
		q.badCursor()
		return nil
	case of != list && len(q.faults) == 0:
		q.faults.Add("cursor",
			"belongs to another list: path, ordering and filters must match the address it came with")
		return nil
	}
	return parts[1:]
}

func (q *query) badCursor() { q.faults.Add("cursor", "must be one from an earlier response") }

// cursor returns the position after which the page begins, nil for the beginning.
func (q *query) cursor(c jsonschema.CursorText, list string, o exchange.Order) *exchange.Position {
	parts := q.unpacked(c, list)
	if parts == nil {
		return nil
	}
	id, err := decodeValue[int64](parts[0])
	value, errValue := keyOf(o, parts[1])
	if err != nil || errValue != nil || id < 1 {
		q.badCursor()
		return nil
	}
	return &exchange.Position{Value: value, ID: id}
}

// keyOf reads the value of a row in the field of an order.
func keyOf(o exchange.Order, raw json.RawMessage) (any, error) {
	if o.Name == "" || o.Nullable && bytes.Equal(raw, []byte("null")) {
		return nil, nil
	}
	switch o.Kind {
	case exchange.Number:
		return decodeValue[int64](raw)
	case exchange.Moment:
		return decodeValue[time.Time](raw)
	}
	s, err := decodeValue[string](raw)
	if err != nil || strings.ContainsRune(s, 0) || o.Kind == exchange.UserID && uuid.Validate(s) != nil {
		return nil, errKey
	}
	return s, nil
}

var errKey = errors.New("not a value of this field")

// decodeValue decodes a value that is not null.
func decodeValue[T any](raw json.RawMessage) (T, error) {
	var v *T
	if err := json.Unmarshal(raw, &v); err != nil || v == nil {
		return *new(T), errKey
	}
	return *v, nil
}

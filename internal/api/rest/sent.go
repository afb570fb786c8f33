package rest

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"aliquot/internal/app/catalog"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/field"

	"github.com/google/uuid"
)

// AsSent completes the refusal of a body: it adds the references that do not exist, and names each field as the caller
// sent it.
func AsSent(c *Call, body any, err error) error {
	e, is := errors.AsType[*exchange.Error](err)
	if !is || e.Code != exchange.InvalidInput && e.Details["field"] == nil {
		return err
	}
	if references := c.references(body); len(references) > 0 {
		err = c.App.Materials.AlsoMissing(c.Context(), c.Actor, err, references)
		if e, is = errors.AsType[*exchange.Error](err); !is {
			return err
		}
	}
	for name, sent := range c.otherNames(body) {
		e = renamed(e, name, sent)
	}
	return e
}

// references returns the references in a body.
func (c *Call) references(body any) (list []catalog.Reference) {
	v := reflect.ValueOf(body)
	values := map[string]any{}
	for _, field := range fieldsOf(v.Type()) {
		values[field.name] = v.FieldByIndex(field.index).Interface()
	}
	of := reflect.New(v.Type())
	of.Elem().Set(v)
	if table, ok := of.Interface().(field.Body); ok {
		for name, slot := range table.Others() {
			values[name] = reflect.ValueOf(slot).Elem().Interface()
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		switch value := values[name].(type) {
		case exchange.Opt[exchange.Ref]:
			if value.Set && value.Value > 0 {
				list = append(list, catalog.Reference{Field: name, ID: int64(value.Value)})
			}
		case exchange.Null[exchange.Ref]:
			// The address of a request belongs to its requester, whoever changes the request.
			if value.Value != nil && *value.Value > 0 && (name != "address" || c.Method == http.MethodPost) {
				list = append(list, catalog.Reference{Field: name, ID: int64(*value.Value)})
			}
		case exchange.Opt[exchange.UserRef]:
			if value.Value != exchange.UserRef(uuid.Nil) {
				list = append(list, catalog.Reference{Field: name, User: uuid.UUID(value.Value)})
			}
		case exchange.Null[exchange.UserRef]:
			if value.Value != nil {
				list = append(list, catalog.Reference{Field: name, User: uuid.UUID(*value.Value)})
			}
		case exchange.Opt[[]exchange.UserRef]:
			for _, user := range value.Value {
				list = append(list, catalog.Reference{Field: name, User: uuid.UUID(user)})
			}
		}
	}
	return list
}

// otherNames returns the aliases that the caller used, by the names of the fields.
func (c *Call) otherNames(body any) map[string]string {
	names, members := map[string]string{}, map[string]json.RawMessage{}
	if json.Unmarshal(c.body, &members) != nil {
		return nil // not JSON: there are no names
	}
	for _, field := range fieldsOf(reflect.TypeOf(body)) {
		_, sent := members[field.name]
		_, other := members[field.alias]
		switch {
		case field.alias != "" && other && !sent:
			names[field.name] = field.alias
		case field.same != "" && sent && members[field.same] == nil:
			names[field.same] = field.name
		}
	}
	return names
}

// renamed returns a copy of a refusal with another name for a field.
func renamed(e *exchange.Error, name, sent string) *exchange.Error {
	shown := *e
	if e.Code == exchange.InvalidInput {
		faults := exchange.FieldErrors{}
		for field, texts := range e.Fields {
			if rest, ok := strings.CutPrefix(field, name); ok && (rest == "" || rest[0] == '.') {
				field = sent + rest
			}
			faults[field] = texts
		}
		shown.Fields, shown.Message = faults, faults.Summary()
		return &shown
	}
	if e.Details["field"] == name {
		shown.Message = regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+`\b`).ReplaceAllLiteralString(e.Message, sent)
		return shown.With("field", sent)
	}
	return e
}

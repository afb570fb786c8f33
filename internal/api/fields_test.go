package api_test

import (
	"encoding/json"
	"strings"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/field"

	"github.com/google/uuid"
)

// withNewFields returns the promised fields of an object, in the notation of contract_test.go, and those that a table
// of descriptors has beside them: what is promised may not go, and what is new is of the type that the table says.
func withNewFields[T any](table []field.Descriptor[T], promised string) string {
	known := members(promised)
	var fields strings.Builder
	fields.WriteString(promised)
	for _, d := range table {
		if name := d.ShownName(); d.At != nil && !d.Hidden && known[name] == "" && name != "contact_user" {
			fields.WriteString(" " + name + ":" + typeOf(d))
		}
	}
	return fields.String()
}

// typeOf returns the type of a field in answers.
func typeOf[T any](d field.Descriptor[T]) string {
	switch d.At(new(T)).(type) {
	case *string:
		return "string"
	case **string:
		return "string?"
	case *bool:
		return "bool"
	case *int64:
		return "int"
	case **int64:
		return "int?"
	case *[]string:
		return "[string]?"
	case **exchange.Date:
		return "date?"
	case *time.Time:
		return "time"
	case *uuid.UUID:
		return "uuid"
	case *json.RawMessage:
		return "object"
	}
	return "unknown"
}

package exchange

import (
	"encoding/json"
	"errors"
	"math/big"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// Opt is a field of an update that may be absent but not null; absent keeps the old value (contract.md section 1, "PUT
// and PATCH").
type Opt[T any] struct {
	Set   bool
	Value T
}

// Some returns a field that is present.
func Some[T any](v T) Opt[T] { return Opt[T]{Set: true, Value: v} }

// UnmarshalJSON accepts any JSON value but null.
func (o *Opt[T]) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return errors.New("must not be null; leave the field out to keep its value")
	}
	o.Set = true
	return unmarshal(b, &o.Value)
}

// unmarshal is json.Unmarshal, but accepts 316.0 and 3.16e2 for the integer 316, as JSON Schema does.
func unmarshal(b []byte, to any) error {
	switch to.(type) {
	case *int, *int64:
		if whole := integral(string(b)); whole != "" {
			b = []byte(whole)
		}
	}
	return json.Unmarshal(b, to)
}

// maxIntegral limits the length, and the exponent, of numbers that are read as integers: longer ones are expensive and
// never meant.
const maxIntegral = 40

// integral returns a JSON number that is an integer without fraction and exponent; "" if it is not an integer.
func integral(number string) string {
	at := strings.IndexAny(number, "eE")
	exponent := 0
	if at >= 0 {
		var err error
		if exponent, err = strconv.Atoi(number[at+1:]); err != nil {
			return ""
		}
	}
	if len(number) > maxIntegral || exponent > maxIntegral || exponent < -maxIntegral {
		return ""
	}
	value, ok := new(big.Rat).SetString(number)
	if !ok || !value.IsInt() || !json.Valid([]byte(number)) {
		return ""
	}
	return value.Num().String()
}

// Or returns the new value, or old if the field was left out.
func (o Opt[T]) Or(old T) T {
	if o.Set {
		return o.Value
	}
	return old
}

// Null is a field of an update that may be absent, null or a value; null clears it.
type Null[T any] struct {
	Set   bool
	Value *T
}

// NullOf returns a nullable field that is present, with a value.
func NullOf[T any](v T) Null[T] { return Null[T]{Set: true, Value: &v} }

// Cleared returns a nullable field that is present and null.
func Cleared[T any]() Null[T] { return Null[T]{Set: true} }

// UnmarshalJSON accepts null or a value.
func (o *Null[T]) UnmarshalJSON(b []byte) error {
	o.Set = true
	if string(b) == "null" {
		o.Value = nil
		return nil
	}
	o.Value = new(T)
	return unmarshal(b, o.Value)
}

// Or returns the new value, or old if the field was left out.
func (o Null[T]) Or(old *T) *T {
	if o.Set {
		return o.Value
	}
	return old
}

// Ref is a reference to an object by its integer id. In JSON it may be written as 7, "7" or
// {"id": 7}, so that what a GET returned can be sent back (contract.md section 1).
type Ref int64

// UnmarshalJSON accepts the three forms.
func (r *Ref) UnmarshalJSON(b []byte) error {
	text, err := refText(b)
	if err != nil {
		return err
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return errors.New("must be the id of an object: a positive integer")
	}
	*r = Ref(id)
	return nil
}

// UserRef is a reference to a user, written as a UUID string or {"id": "..."}.
type UserRef uuid.UUID

// UnmarshalJSON accepts both forms.
func (r *UserRef) UnmarshalJSON(b []byte) error {
	text, err := refText(b)
	if err != nil {
		return err
	}
	id, err := uuid.Parse(text)
	if err != nil || len(text) != 36 || id == uuid.Nil {
		return errors.New("must be the id of a user: a UUID")
	}
	*r = UserRef(id)
	return nil
}

// refText returns the id in any written form of a reference.
func refText(b []byte) (string, error) {
	wrong := errors.New("must be an id, or an object with an id")
	if len(b) > 0 && b[0] == '{' {
		var object struct {
			ID json.RawMessage `json:"id"`
		}
		if err := json.Unmarshal(b, &object); err != nil || len(object.ID) == 0 {
			return "", wrong
		}
		b = object.ID
	}
	var text string
	if len(b) > 0 && b[0] == '"' {
		if err := json.Unmarshal(b, &text); err != nil {
			return "", wrong
		}
		return strings.TrimSpace(text), nil
	}
	var number json.Number
	if err := json.Unmarshal(b, &number); err != nil || number == "" {
		return "", wrong
	}
	if whole := integral(number.String()); whole != "" {
		return whole, nil
	}
	return number.String(), nil
}

// Names is a list of texts, none of which may be null.
type Names []string

// UnmarshalJSON accepts a list of strings. encoding/json by itself reads null as "".
func (n *Names) UnmarshalJSON(b []byte) error {
	var list []Opt[string]
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	*n = Names{}
	for _, name := range list {
		*n = append(*n, name.Value)
	}
	return nil
}

// IDs is a list of ids of objects, none of which may be null.
type IDs []int64

// UnmarshalJSON accepts a list of references.
func (n *IDs) UnmarshalJSON(b []byte) error {
	var list []Ref
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	*n = IDs{}
	for _, id := range list {
		*n = append(*n, int64(id))
	}
	return nil
}

func RefID(o Null[Ref], old *int64) *int64 {
	if !o.Set {
		return old
	}
	return (*int64)(o.Value)
}

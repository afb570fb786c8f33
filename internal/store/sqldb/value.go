package sqldb

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// JSON returns v as JSON text, without HTML escapes; SQL never parses it.
func JSON(v any) (string, error) {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// FromJSON returns a destination for JSON text; NULL leaves the value unchanged.
func FromJSON(into any) sql.Scanner { return fromJSON{into} }

// IDs returns a destination for integers that SQL joined with commas; NULL is an empty list.
func IDs(into *[]int64) sql.Scanner { return ids{into} }

// UTC returns a destination for a time, which is converted to UTC, whichever the database.
func UTC(into *time.Time) sql.Scanner { return utc{into} }

// UTCOrNull returns a destination for a time or NULL.
func UTCOrNull(into **time.Time) sql.Scanner { return utcNull{into} }

// fromJSON scans JSON text into a value; NULL leaves the value unchanged.
type fromJSON struct{ into any }

// Scan takes text or NULL.
func (j fromJSON) Scan(src any) error {
	switch s := src.(type) {
	case nil:
		return nil
	case string:
		return json.Unmarshal([]byte(s), j.into)
	case []byte:
		return json.Unmarshal(s, j.into)
	}
	return fmt.Errorf("JSON text expected, not %T", src)
}

// ids scans a list of integers that SQL joined with commas; NULL is an empty list.
type ids struct{ into *[]int64 }

// Scan takes text or NULL.
func (l ids) Scan(src any) error {
	s, _ := src.(string)
	if b, ok := src.([]byte); ok {
		s = string(b)
	}
	for part := range strings.SplitSeq(s, ",") {
		if part == "" {
			continue
		}
		id, err := strconv.ParseInt(part, 10, 64)
		if err != nil {
			return err
		}
		*l.into = append(*l.into, id)
	}
	return nil
}

// utc scans a time and converts it to UTC, whichever the database.
type utc struct{ into *time.Time }

// Scan takes a time.
func (u utc) Scan(src any) error {
	t, ok := src.(time.Time)
	if !ok {
		return fmt.Errorf("time expected, not %T", src)
	}
	*u.into = t.UTC()
	return nil
}

// utcNull scans a time or NULL.
type utcNull struct{ into **time.Time }

// Scan takes a time or NULL.
func (u utcNull) Scan(src any) error {
	if src == nil {
		*u.into = nil
		return nil
	}
	*u.into = new(time.Time)
	return utc{*u.into}.Scan(src)
}

// Package exchangetest holds what the tests of the packages of rules share.
package exchangetest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/field"
	"aliquot/internal/exchange/material"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// The people of these tests.
var (
	RequesterID = uuid.MustParse("01890000-0000-7000-8000-000000000001")
	MemberID    = uuid.MustParse("01890000-0000-7000-8000-000000000002")
	OwnerID     = uuid.MustParse("01890000-0000-7000-8000-000000000003")
	AdminID     = uuid.MustParse("01890000-0000-7000-8000-000000000004")
	StrangerID  = uuid.MustParse("01890000-0000-7000-8000-000000000005")
)

var (
	Start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	Later = Start.Add(26 * time.Hour)
)

// WantCode checks how an action was refused; field is the field it is about, "" for none.
func WantCode(t *testing.T, err error, want exchange.Code, field string) {
	t.Helper()
	if err == nil || exchange.CodeOf(err) != want {
		t.Errorf("got %v, want %s", err, want)
		return
	}
	if field == "" {
		return
	}
	if want == exchange.InvalidInput {
		WantFieldErrors(t, err, field)
	} else if got := Details(err)["field"]; got != field {
		t.Errorf("got a refusal of field %v, want %q (%v)", got, field, err)
	}
}

func Details(err error) map[string]any {
	if e, ok := err.(*exchange.Error); ok { //nolint:errorlint // the rules return it unwrapped
		return e.Details
	}
	return nil
}

// WantFieldErrors checks exactly which fields an error names.
func WantFieldErrors(t *testing.T, err error, want ...string) {
	t.Helper()
	got := []string{}
	for name := range FieldErrors(err) {
		got = append(got, name)
	}
	slices.Sort(got)
	slices.Sort(want)
	if exchange.CodeOf(err) != exchange.InvalidInput || !slices.Equal(got, want) {
		t.Errorf("got %v, which names %v, want %v", err, got, want)
	}
}

func FieldErrors(err error) map[string][]string {
	if e, ok := err.(*exchange.Error); ok { //nolint:errorlint // the rules return it unwrapped
		return e.Fields
	}
	return nil
}

// Body reads a JSON body into a patch, and into the slots of the fields that it has no member for.
func Body[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("body %s: %v", text, err)
	}
	if body, tabled := any(&v).(field.Body); tabled {
		var members map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &members); err != nil {
			t.Fatalf("body %s: %v", text, err)
		}
		for name, slot := range body.Others() {
			if value := members[name]; value != nil {
				if err := json.Unmarshal(value, slot); err != nil {
					t.Fatalf("body %s: %v", text, err)
				}
			}
		}
	}
	return v
}

// Same checks that two values are exactly equal.
func Same(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", what, diff)
	}
}

// Rows reads a table in the contract's form: one row per line, cells between bars.
func Rows(table string) [][]string {
	var list [][]string
	for line := range strings.Lines(strings.TrimSpace(table)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		list = append(list, cells)
	}
	return list
}

// Cells returns a listed material.
func Cells() material.Material {
	return material.Material{
		ID: 8, OrganizationID: 7, Category: "CELL_LINE", Title: "HeLa", Metadata: []byte(`{"sex":"female"}`),
		ContactID: MemberID,
		CreatedAt: Start, UpdatedAt: Start,
	}
}

// File returns the record of a document.
func File() document.Attachment {
	return document.Attachment{ID: 5, Filename: "mta.pdf", OwnedByUser: new(OwnerID)}
}

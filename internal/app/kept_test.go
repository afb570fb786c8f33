package app_test

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"reflect"
	"testing"
	"time"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// TestVersions_OldJSONStaysReadable pins the JSON in which the history stores objects. If it fails, a field was renamed, or
// one was added that is not null where it is missing: databases hold the old form, so read both or migrate.
func TestVersions_OldJSONStaysReadable(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 12, 0, 0, 123456000, time.UTC)
	user := person.User{ID: uuid.UUID{1}, Username: "ada", FirstName: "Ada", LastName: "Lovelace",
		RegistryID: "0000-0001-2345-6789",
		Admin:      true, CreatedAt: at, UpdatedAt: at}
	material := material.Shown{
		Material: material.Material{
			ID: 1, OrganizationID: 2, Category: "DATASET", Reference: new("r"), Title: "t", URL: "https://example.org",
			PubMedID: "3", Metadata: json.RawMessage(`{"num_samples":4}`),
			NeedsMTA: true, NeedsIRB: true, NeedsAbstract: true, MTAAttachmentID: new(int64(5)),
			ShippingID: new(int64(6)), Imported: true,
			ImportSource: material.SourceGEO, ImportIdentifier: new("GSE7"), Organisms: []string{"Mus musculus"},
			PublicationTitle: new("p"),
			PrePrintDOI:      new("10.1101/8"), PrePrintTitle: new("q"), Citation: new("c"), AdditionalInfo: new("i"),
			EmbargoDate: new(exchange.Date("2030-01-02")),
			ContactID:   user.ID, Archived: true, CreatedAt: at, UpdatedAt: at,
		},
		Contact: user, Grants: []int64{9},
	}
	organization := core.OrganizationView{
		Organization: lab.Organization{ID: 2, Name: "n", Description: "d", Owner: user.ID,
			Targets: lab.DefaultTargets, CreatedAt: at, UpdatedAt: at},
		OwnerUser: user, Members: []person.User{user},
	}
	pin(t, "testdata/material.json", material)
	pin(t, "testdata/organization.json", organization)
}

func pin[T any](t *testing.T, file string, object T) {
	t.Helper()
	for field, value := range reflect.ValueOf(object).Fields() {
		if value.IsZero() && field.Tag.Get("json") != "-" {
			t.Errorf("%s: fill in %s", file, field.Name)
		}
	}
	kept, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var read T
	if err := json.Unmarshal(kept, &read); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(object, read); diff != "" {
		t.Errorf("%s reads as (-want +got): %s", file, diff)
	}
	got, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	var was, is map[string]any
	if err := errors.Join(json.Unmarshal(kept, &was), json.Unmarshal(got, &is)); err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(is, func(name string, value any) bool { // a field since then, which nobody has filled in
		_, known := was[name]
		return !known && value == nil
	})
	if diff := cmp.Diff(was, is); diff != "" {
		t.Errorf("%s is kept as (-want +got): %s", file, diff)
	}
}

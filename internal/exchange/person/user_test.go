package person_test

import (
	"strings"
	"testing"

	"aliquot/internal/exchange/exchangetest"
	"aliquot/internal/exchange/person"
)

func TestUser_IsCalledByNameElseByUsername(t *testing.T) {
	t.Parallel()
	for want, u := range map[string]person.User{
		"Ada Mora": {FirstName: "Ada", LastName: "Mora", Username: "0000-0002-1825-0097"},
		"Mora":     {LastName: "Mora", Username: "x"},
		"x":        {Username: "x"},
	} {
		if got := u.Name(); got != want {
			t.Errorf("%+v: got %q, want %q", u, got, want)
		}
	}
}

func TestUser_MayChangeNameAndEmail(t *testing.T) {
	t.Parallel()
	old := person.User{ID: exchangetest.OwnerID, Username: "x", FirstName: "Ada", LastName: "Mora",
		Email: "not checked when it came", RegistryID: "0000-0002-1825-0097"}
	u, err := exchangetest.Body[person.UserPatch](t,
		`{"username": "y", "registry_id": "z", "email": "not checked when it came"}`).Patch(old)
	if err != nil || u != old {
		t.Errorf("got %+v, %v, want %+v", u, err, old)
	}
	u, err = exchangetest.Body[person.UserPatch](t,
		`{"first_name": "", "last_name": " Moré ", "email": " ada@example.org "}`).Patch(old)
	if err != nil || u.FirstName != "" || u.LastName != "Moré" || u.Email != "ada@example.org" {
		t.Errorf("got %+v, %v", u, err)
	}
	if u, err = exchangetest.Body[person.UserPatch](t, `{"email": ""}`).Patch(old); err != nil || u.Email != "" {
		t.Errorf("got e-mail %q, %v, want none", u.Email, err)
	}
}

func TestUser_NamesEveryWrongField(t *testing.T) {
	t.Parallel()
	for _, email := range []string{"ada", "ada@", "Ada <ada@example.org>", "ada@example.org, eve@example.org",
		"a b@example.org"} {
		_, err := exchangetest.Body[person.UserPatch](t, `{"first_name": "a\nb", "last_name": "`+
			strings.Repeat("x", 256)+
			`", "email": "`+email+`"}`).Patch(person.User{})
		exchangetest.WantFieldErrors(t, err, "first_name", "last_name", "email")
	}
}

package lab

import (
	"testing"

	"aliquot/internal/exchange/fulltext"
	"aliquot/internal/exchange/person"

	"github.com/google/uuid"
)

func TestSearchDocument_HasOnlyWhatIsShown(t *testing.T) {
	t.Parallel()
	o := Organization{Name: "Müller lab", Description: "We study growth"}.SearchDocument().Doc
	u := person.User{ID: uuid.New(), Username: "ada", FirstName: "Ada", LastName: "Löwe", Email: "private@example.org",
		VerifiedEmail: "private@example.org", RegistryID: "0000-0002-1825-0097"}.SearchDocument().Doc
	for query, found := range map[string][2]bool{
		"muller": {true, false}, "studies": {true, false}, "lowe ada": {false, true},
		"https://orcid.org/0000-0002-1825-0097": {false, true},
		"0000000218250097":                      {false, true}, "private": {false, false}, "example": {false, false},
		"private@example.org": {false, false},
	} {
		e := fulltext.Parse(query).Expr()
		if got := [2]bool{e.Match(o), e.Match(u)}; got != found {
			t.Errorf("%q finds organization and user: %v", query, got)
		}
	}
}

package person_test

import (
	"strings"
	"testing"

	"aliquot/internal/exchange/person"
)

func TestAddress_IsWrittenAsInItsCountry(t *testing.T) {
	t.Parallel()
	at := func(locality, state, postal, country string) person.Address {
		return person.Address{Name: "N", Line1: "1 Street", Locality: locality, State: state, PostalCode: postal,
			Country: country}
	}
	for want, a := range map[string]person.Address{
		"1 Street|Providence, RI 02912|United States": at("Providence", "RI", "02912", "United States"),
		"1 Street|Providence, 02912|united states":    at("Providence", "", "02912", "united states"),
		"1 Street|1012 AB Amsterdam|Netherlands":      at("Amsterdam", "", "1012 AB", "Netherlands"),
		"1 Street|Cambridge|CB2 1TN|United Kingdom":   at("Cambridge", "", "CB2 1TN", "United Kingdom"),
		"1 Street|Toronto ON M5S 1A1|Canada":          at("Toronto", "ON", "M5S 1A1", "Canada"),
		"1 Street|Singapore 138673|Central|Singapore": at("Singapore", "Central", "138673", "Singapore"),
		"1 Street|Nowhere Part 7|Atlantis":            at("Nowhere", "Part", "7", "Atlantis"),
		"1 Street|Campinas - SP|13083-970|Brazil":     at("Campinas", "SP", "13083-970", "Brazil"),
		"1 Street|Campinas|Brazil":                    at("Campinas", "", "", "Brazil"),
		"1 Street|69117 Heidelberg|Baden|Germany":     at("Heidelberg", "Baden", "69117", "Germany"),
	} {
		if got := strings.Join(a.Lines(), "|"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// In every country, nothing that was typed is left out.
func TestAddress_LosesNoPart(t *testing.T) {
	t.Parallel()
	if len(person.Countries) < 190 {
		t.Errorf("%d countries", len(person.Countries))
	}
	for _, c := range person.Countries {
		a := person.Address{Institution: "Inst", Line1: "Line", Line2: "Room", Locality: "Town", State: "Part",
			PostalCode: "123", Country: c.Name}
		lines := strings.Join(a.Lines(), "|")
		for _, part := range []string{"Inst", "Line", "Room", "Town", "Part", "123", c.Name} {
			if !strings.Contains(lines, part) {
				t.Errorf("%s: %q is not in %s", c.Name, part, lines)
			}
		}
	}
}

package person

import (
	_ "embed"
	"slices"
	"strings"
)

// Country describes how addresses are written in a country.
type Country struct {
	Name   string
	State  string // name of its administrative division; "": addresses have none
	Postal string // name of the postal code; "": there is none
	form   string // of the lines with the town: L town, S state, P postal code, / a new line
}

//go:embed countries.txt
var countryText string

// Countries lists all countries in alphabetical order.
var Countries = func() []Country {
	var list []Country
	for line := range strings.Lines(countryText) {
		c := Country{Postal: "Postal code", form: "P L/S", State: "State, province or region"}
		parts := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if c.Name = parts[0]; len(parts) == 4 {
			c.State, c.Postal, c.form = parts[1], parts[2], parts[3]
		}
		list = append(list, c)
	}
	return list
}()

// anywhere stands for a country that is not on the list.
var anywhere = Country{State: "State, province or region", Postal: "Postal code", form: "L S P"}

// CountryOf returns the country with a name as people write it.
func CountryOf(name string) Country {
	if i := slices.IndexFunc(Countries, func(c Country) bool { return strings.EqualFold(c.Name, name) }); i >= 0 {
		return Countries[i]
	}
	return anywhere
}

// Lines returns the lines of an address below the name, in the format of its country.
func (a Address) Lines() []string {
	lines := []string{a.Institution, a.Line1, a.Line2}
	country := CountryOf(a.Country).form
	for form := range strings.SplitSeq(country, "/") {
		line := ""
		for _, letter := range form {
			part := map[rune]string{'L': a.Locality, 'S': a.State, 'P': a.PostalCode}[letter]
			if strings.ContainsRune("LSP", letter) {
				line += part
			} else {
				line += string(letter)
			}
		}
		lines = append(lines, strings.Trim(strings.ReplaceAll(strings.Join(strings.Fields(line), " "), " ,", ","),
			" ,-"))
	}
	if !strings.Contains(country, "S") { // its owner may have entered one anyway
		lines = append(lines, a.State)
	}
	if !strings.Contains(country, "P") {
		lines = append(lines, a.PostalCode)
	}
	lines = append(lines, a.Country)
	return slices.DeleteFunc(lines, func(line string) bool { return line == "" })
}

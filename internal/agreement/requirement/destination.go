package requirement

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/identifier"
)

// Destinations is a list of countries and parties to which nothing must go, as of a day.
type Destinations struct {
	Name      string
	Source    string // where it comes from
	Published exchange.Date
	Countries []string // ISO 3166-1
	Parties   []string // names, as exchange.SortKey folds them
}

// Destination is where something would go.
type Destination struct {
	Country string   // ISO 3166-1; "": unknown
	Parties []string // the names of whoever would get it
}

// Blocked returns why nothing may go to the destination on the day: of each list, the edition of that day counts.
func Blocked(lists []Destinations, to Destination, day exchange.Date) (reasons []string) {
	current := map[string]Destinations{}
	for _, l := range lists {
		if l.Published <= day && l.Published >= current[l.Name].Published {
			current[l.Name] = l
		}
	}
	for _, l := range current {
		on := func(name string) {
			reasons = append(reasons, fmt.Sprintf("%s is on the list %q of %s", name, l.Name, l.Published))
		}
		if slices.Contains(l.Countries, to.Country) {
			on(to.Country)
		}
		for _, name := range to.Parties {
			if name != "" && slices.Contains(l.Parties, exchange.SortKey(name)) {
				on(name)
			}
		}
	}
	slices.Sort(reasons)
	return slices.Compact(reasons)
}

// destinationColumns are the columns of a file of destinations, in their order.
var destinationColumns = []string{"list", "published", "source", "country", "party"}

// The largest sizes of a file of destinations.
const (
	maxDestinationRows = 100_000
	maxDestinationSize = 16 << 20
)

// ReadDestinations reads lists of destinations from CSV with the columns list, published, source, country and party: a
// line for each country or party of a list. An error names the line and the column.
func ReadDestinations(r io.Reader) (lists []Destinations, err error) {
	bounded := &io.LimitedReader{R: r, N: maxDestinationSize}
	table := csv.NewReader(bounded)
	table.FieldsPerRecord = len(destinationColumns)
	header, err := table.Read()
	if err != nil || !slices.Equal(header, destinationColumns) {
		return nil, fmt.Errorf("line 1: must be %s", strings.Join(destinationColumns, ","))
	}
	for row := 1; ; row++ {
		cells, err := table.Read()
		switch {
		case bounded.N == 0 || row > maxDestinationRows:
			return nil, fmt.Errorf("must have at most %d lines and %d MiB", maxDestinationRows, maxDestinationSize>>20)
		case errors.Is(err, io.EOF) && row == 1:
			return nil, errors.New("line 2: there is no destination")
		case errors.Is(err, io.EOF):
			return lists, nil
		case err != nil:
			return nil, err // it names the line
		}
		if lists, err = withDestination(lists, cells); err != nil {
			line, _ := table.FieldPos(0)
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// withDestination adds what a line has to the list that it names.
func withDestination(lists []Destinations, cells []string) ([]Destinations, error) {
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	name, published, source, country, party := cells[0], cells[1], cells[2], cells[3], cells[4]
	if name == "" {
		return nil, errors.New("list: the name of the list is required")
	}
	if _, err := time.Parse(time.DateOnly, published); err != nil {
		return nil, fmt.Errorf("published: %q must be a day, such as 2026-01-31", published)
	}
	if (country == "") == (party == "") {
		return nil, errors.New("country: a line has either a country or a party")
	}
	same := func(l Destinations) bool { return l.Name == name && string(l.Published) == published }
	i := slices.IndexFunc(lists, same)
	if i < 0 {
		i, lists = len(lists), append(lists, Destinations{Name: name, Source: source,
			Published: exchange.Date(published)})
	}
	if l := &lists[i]; party != "" {
		l.Parties = append(l.Parties, exchange.SortKey(party))
	} else {
		code, err := identifier.Country(country)
		if err != nil {
			return nil, fmt.Errorf("country: %q is none: %w", country, err)
		}
		l.Countries = append(l.Countries, code)
	}
	return lists, nil
}

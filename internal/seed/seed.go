// Package seed generates labs, people, materials and requests from two numbers, for load tests: the same numbers
// result in the same rows. The words are real ones, with the frequencies that words have; the objects are made up. A
// material has no history, and no one is notified of anything.
package seed

import (
	"context"
	"fmt"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/search"
	"aliquot/internal/store"
)

// Size is how much to generate.
type Size struct{ Materials, Requests int }

// String returns the label that the database keeps of what it was filled with.
func (s Size) String() string {
	return fmt.Sprintf("%d materials, %d requests", s.Materials, s.Requests)
}

const (
	perLab    = 200 // materials of a lab on average
	leastLabs = 3
	batch     = 512 // things that are given to the loader at once
)

// Everything is dated between these, whenever it is generated.
var (
	begin = time.Date(2021, time.January, 4, 8, 0, 0, 0, time.UTC)
	end   = begin.AddDate(5, 0, 0)
)

// at returns the date of the number-th of so many objects.
func at(number, of int) time.Time {
	return begin.Add(time.Duration(float64(end.Sub(begin)) * float64(number+1) / float64(of+1))).Truncate(time.Second)
}

// maker generates the objects of a size, each from its number, which counts from 0.
type maker struct {
	Size
	labs int
	dice
	ways dice // of requests, while other things are made for them
}

func newMaker(s Size) *maker {
	return &maker{Size: s, labs: max(leastLabs, s.Materials/perLab), dice: newDice(), ways: newDice()}
}

// Fill passes everything of a size to a loader, and reports its progress.
func Fill(ctx context.Context, l *store.Loader, s Size, progress func(exchange.Progress)) error {
	m := newMaker(s)
	names := make([]string, m.labs)
	for number := range m.labs {
		progress(exchange.Progress{Note: "labs", Done: int64(number), Total: int64(m.labs)})
		lab := m.lab(number)
		names[number] = lab.Name
		if err := l.Do(ctx, begin, lab.keep); err != nil {
			return err
		}
	}
	err := inBatches(s.Materials, func(first, n int) error {
		progress(exchange.Progress{Note: "materials", Done: int64(first), Total: int64(s.Materials)})
		list := make([]material.Material, n)
		for i := range list {
			list[i] = m.material(first + i)
		}
		return l.Materials(ctx, list)
	})
	if err != nil {
		return err
	}
	if err := m.index(ctx, l, names, progress); err != nil {
		return err
	}
	err = inBatches(s.Requests, func(first, n int) (err error) {
		progress(exchange.Progress{Note: "requests", Done: int64(first), Total: int64(s.Requests)})
		list := make([]store.LoadedRequest, n)
		for i := range list {
			if list[i], err = m.request(first + i); err != nil {
				return fmt.Errorf("request %d: %w", first+i+1, err)
			}
		}
		return l.Requests(ctx, list)
	})
	progress(exchange.Progress{Note: "indexes", Done: 0, Total: 1})
	return err
}

// index generates the materials again, in the order of the index.
func (m *maker) index(ctx context.Context, l *store.Loader, organizations []string,
	progress func(exchange.Progress)) error {
	var list []material.Material
	var archived []int // their numbers
	done := 0
	flush := func(some []material.Material) error {
		progress(exchange.Progress{Note: "materials to be found", Done: int64(done), Total: int64(m.Materials)})
		done += len(some)
		return l.IndexMaterials(ctx, some, func(id int64) lab.Organization {
			return lab.Organization{Name: organizations[id-1]}
		})
	}
	ids, err := search.InOrderOfRank(m.Materials)
	if err != nil {
		return err
	}
	for _, id := range ids {
		x := m.material(int(id) - 1)
		if x.Archived {
			archived = append(archived, int(id)-1)
			continue
		}
		if list = append(list, x); len(list) == batch {
			if err := flush(list); err != nil {
				return err
			}
			list = nil
		}
	}
	if err := flush(list); err != nil {
		return err
	}
	return inBatches(len(archived), func(first, n int) error {
		list := make([]material.Material, n)
		for i := range list {
			list[i] = m.material(archived[first+i])
		}
		return flush(list)
	})
}

// inBatches calls do with ranges of the numbers of n objects.
func inBatches(n int, do func(first, n int) error) error {
	for first := 0; first < n; first += batch {
		if err := do(first, min(batch, n-first)); err != nil {
			return err
		}
	}
	return nil
}

// The largest numbers of each: up to here, identifiers are unique.
const (
	maxMaterials = 1_600_000
	maxRequests  = 100_000_000
)

// Check returns an error if so much cannot be generated.
func (s Size) Check() error {
	switch {
	case s.Materials < 1 || s.Materials > maxMaterials:
		return fmt.Errorf("--materials must be between 1 and %d", maxMaterials)
	case s.Requests < 0 || s.Requests > maxRequests:
		return fmt.Errorf("--requests must be between 0 and %d", maxRequests)
	}
	return nil
}

// Package instruments has the use cases of the instruments that agreements are made of.
package instruments

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"aliquot/internal/agreement/instrument"
	"aliquot/internal/agreement/letter"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/store"
)

// Instruments are the use cases of instruments.
type Instruments struct{ *core.Core }

// New returns the use cases of c.
func New(c *core.Core) Instruments { return Instruments{c} }

// View is an instrument, and whether it may be used today: it has a text and is in force.
type View struct {
	instrument.Instrument
	Usable bool
}

func view(i instrument.Instrument, now time.Time) View {
	return View{i, i.Template != "" && i.InForce(exchange.DayOf(now))}
}

// List lists the instruments that wants is true for, by id and first day. The position of one is its number in the
// list.
func (a Instruments) List(ctx context.Context, wants func(View) bool,
	p exchange.Page) (page exchange.ListPage[View], err error) {
	c := a.DB.Read()
	l, err := a.Library(ctx, c)
	if err != nil {
		return page, err
	}
	var list []View
	for _, i := range l.Instruments() {
		if v := view(i, c.Now); wants(v) {
			list = append(list, v)
		}
	}
	page.Total.N = int64(len(list))
	begin, end := 0, len(list)
	if p.After != nil {
		begin = int(min(p.After.ID, page.Total.N))
	}
	if p.Limit > 0 && p.Limit < end-begin {
		end = begin + p.Limit
		page.Next = &exchange.Position{ID: int64(end)}
	}
	page.Items = list[begin:end]
	return page, nil
}

// Get reads an instrument in a version; version "" is the one in force today or, if none is, the last one.
func (a Instruments) Get(ctx context.Context, id, version string) (View, error) {
	c := a.DB.Read()
	l, err := a.Library(ctx, c)
	if err != nil {
		return View{}, err
	}
	i, known := l.Newest(id, exchange.DayOf(c.Now))
	if version != "" {
		i, known = l.Find(id, version)
	}
	if !known {
		return View{}, exchange.Errorf(exchange.NotFound, "There is no such instrument.")
	}
	return view(i, c.Now), nil
}

// File is the file of an instrument to install.
type File struct {
	Name    string
	Content []byte
}

// Install adds instruments in the name of an operator: all of them or, if one is wrong, none. One that is installed
// already stays as it is. It returns those that it added. An error names the file and the fields.
func (a Instruments) Install(ctx context.Context, by string, files ...File) (added []instrument.Instrument, err error) {
	err = a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
		added = nil
		installed, err := tx.Instruments.All(ctx)
		if err != nil {
			return err
		}
		for _, f := range files {
			if slices.ContainsFunc(installed, func(i instrument.Installed) bool {
				return string(i.File) == string(f.Content)
			}) {
				continue
			}
			one := instrument.Installed{File: f.Content, By: by}
			if one.Instrument, err = check(installed, f.Content, exchange.DayOf(tx.Now)); err != nil {
				return named(f.Name, err)
			}
			installed, added = append(installed, one), append(added, one.Instrument)
			if err := tx.Instruments.Insert(ctx, len(installed), one); err != nil {
				return err
			}
			if err := tx.Audit.Insert(ctx, nil, exchange.InstrumentInstall, core.Object("instrument", len(installed)),
				true, one.ID+" "+one.Version); err != nil {
				return err
			}
		}
		return nil
	})
	return added, err
}

// check reads the file of an instrument, and checks it beside those that are installed.
func check(installed []instrument.Installed, file []byte, today exchange.Date) (instrument.Instrument, error) {
	i, err := instrument.Parse(file)
	if err != nil {
		return i, err
	}
	l, err := instrument.WithBox(installed)
	if err != nil {
		return i, err
	}
	if err := l.Add(i, today); err != nil {
		return i, err
	}
	if _, err := instrument.WithBox(append(slices.Clone(installed), instrument.Installed{Instrument: i})); err != nil {
		return i, err
	}
	if _, err := letter.New("A-1", today, i, 0, 0, nil, nil).PDF(i); err != nil {
		return i, core.FieldError("template", "cannot be printed: %v", err)
	}
	return i, nil
}

// named returns an error about a file, with a line for each fault of a field.
func named(file string, err error) error {
	fields := exchange.FieldsOf(err)
	if fields == nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	var lines []error
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		for _, text := range fields[field] {
			lines = append(lines, fmt.Errorf("%s: %s: %s", file, field, text))
		}
	}
	return errors.Join(lines...)
}

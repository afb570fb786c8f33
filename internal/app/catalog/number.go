package catalog

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/fulltext"
	"aliquot/internal/exchange/identifier"
	"aliquot/internal/exchange/material"
	"aliquot/internal/store"
)

// NumberedMaterial is what is known of the material that a number names.
type NumberedMaterial struct {
	Material material.Material // without a category if nothing says what it is
	From     string            // who says so, such as "the Cellosaurus"; "" if nothing is known but the number
	Notes    []string          // what to watch out for, and why nothing is known
}

// ByNumber describes the material that a number names, as far as a public source, the Cellosaurus or a listing that who
// can see describes it. A source that fails is a note, not an error. Category is what it is if the number does not say.
func (a Materials) ByNumber(ctx context.Context, who exchange.Actor, text, category string) (NumberedMaterial, error) {
	if _, err := a.Can(who, exchange.MaterialPreview, who.ToUser(who.ID)); err != nil {
		return NumberedMaterial{}, err
	}
	n := material.ParseNumber(text)
	if n.Text == "" || len(n.Text) > exchange.LineLength {
		var f exchange.FieldErrors
		f.Add("number", "paste an RRID, an accession, a DOI or a catalogue number")
		return NumberedMaterial{}, f.Err()
	}
	var all NumberedMaterial
	for _, ask := range []func(context.Context, exchange.Actor, material.Number) (NumberedMaterial, error){
		a.fromSource, a.fromCellosaurus, a.fromListing, a.fromPublication} {
		found, err := ask(ctx, who, n)
		if err != nil {
			return found, err
		}
		if found.From != "" {
			if found.Material.Category == "" {
				found.Material.Category = category
			}
			return found, nil
		}
		all.Notes = append(all.Notes, found.Notes...)
	}
	if len(all.Notes) == 0 {
		all.Notes = []string{n.Canonical() +
			" is in no catalogue of this server. The number is kept; fill in the rest."}
	}
	if all.Material = (material.Material{Category: n.Category}); n.Category == "" {
		all.Material.Category = category
	}
	n.AddTo(&all.Material)
	return all, nil
}

// fromSource asks the public source of an accession.
func (a Materials) fromSource(ctx context.Context, who exchange.Actor, n material.Number) (v NumberedMaterial,
	err error) {
	o, err := material.ParseImportIdentifier(n.Text)
	if err != nil {
		return v, nil
	}
	found, err := a.preview(ctx, who, o)
	if e, ok := errors.AsType[*exchange.Error](err); ok {
		v.Notes = []string{e.Message + " The number is kept; fill in the rest."}
		return v, nil
	} else if err != nil {
		return v, err
	}
	v = NumberedMaterial{Material: found.Material, From: "the public record of " + *found.Material.ImportIdentifier,
		Notes: found.Warnings}
	if found.Existing != nil && found.Existing.ID != 0 {
		v.Notes = append(slices.Clone(v.Notes), "Already listed as “"+found.Existing.Title+"”; not listed again.")
	}
	return v, nil
}

// fromCellosaurus looks a cell line up by its accession, or by the number of a collection.
func (a Materials) fromCellosaurus(ctx context.Context, _ exchange.Actor, n material.Number) (v NumberedMaterial,
	err error) {
	text := n.Text
	if n.Category == "CELL_LINE" {
		text = n.Canonical()
	}
	key := material.NumberKey(text)
	if key == "" || n.Category != "" && n.Category != "CELL_LINE" {
		return v, nil
	}
	c := a.DB.Read()
	lines, err := c.CellLines.ByKey(ctx, key)
	switch {
	case err != nil || len(lines) == 0 && n.Category == "":
		return v, err
	case len(lines) == 0:
		loaded, err := c.CellLines.Loaded(ctx)
		v.Notes = []string{n.Canonical() + " is not in the Cellosaurus as it was last loaded here. The number is " +
			"kept; fill in the rest."}
		if !loaded {
			v.Notes = []string{"The Cellosaurus is not loaded on this server, so " + n.Canonical() +
				" cannot be looked up. The number is kept; fill in the rest."}
		}
		return v, err
	case len(lines) > 1:
		var names []string
		for _, l := range lines {
			names = append(names, fmt.Sprintf("%s (RRID:%s)", l.Name, l.Accession))
		}
		v.Notes = []string{n.Text + " is the number of several cell lines: " + strings.Join(names, ", ") +
			". Look it up again by the RRID of the right one."}
		return v, nil
	}
	v = NumberedMaterial{Material: lines[0].Material(), From: "the Cellosaurus, " + lines[0].Accession}
	if problem := lines[0].Problem; problem != "" {
		v.Notes = []string{"The Cellosaurus calls this line problematic: " + problem + "."}
	}
	return v, nil
}

// fromListing describes a material as another listing of the same does.
func (a Materials) fromListing(ctx context.Context, who exchange.Actor, n material.Number) (v NumberedMaterial,
	err error) {
	for _, id := range n.IDs {
		found, err := a.DB.Read().Materials.Search(ctx, exchange.Search{Query: fulltext.Parse(id.Canonical),
			Viewer: who.ID, Page: exchange.SearchPage{Limit: maxAlike}})
		if err != nil {
			return v, err
		}
		for _, m := range found.Items {
			if named(m.Material, id) {
				labs, err := a.DB.Read().Organizations.ByIDs(ctx, []int64{m.OrganizationID})
				if err != nil || len(labs) == 0 {
					return v, err
				}
				v = NumberedMaterial{Material: m.Described(), From: "a listing of " + labs[0].Name}
				return v, nil
			}
		}
	}
	return v, nil
}

// named reports whether id is one of the identifiers of m in its category.
func named(m material.Material, id identifier.ID) bool {
	c, _ := category.Get(m.Category)
	form := m.Form()
	return slices.ContainsFunc(c.Fields, func(f category.Field) bool {
		value := form.Get("additional_metadata." + f.Key)
		return f.Type == category.Identifier && value != "" &&
			slices.Contains(identifier.Same(identifier.ID{Kind: f.Vocabulary, Canonical: value}), id)
	})
}

// fromPublication looks up the publication of a material, which does not say what the material is.
func (a Materials) fromPublication(ctx context.Context, who exchange.Actor, n material.Number) (v NumberedMaterial,
	err error) {
	var pmid, doi *string
	for _, id := range n.IDs {
		switch id.Kind {
		case "pmid":
			pmid = &id.Canonical
		case "doi":
			doi = &id.Canonical
		}
	}
	if (pmid == nil) == (doi == nil) || n.Category != "" {
		return v, nil
	}
	p, err := a.Publication(ctx, who, pmid, doi)
	if e, ok := errors.AsType[*exchange.Error](err); ok && e.Code != exchange.Forbidden {
		v.Notes = []string{e.Message + " The number is kept; fill in the rest."}
		return v, nil
	} else if err != nil {
		return v, err
	}
	v.From = "the record of “" + p.Title + "”"
	p.AddTo(&v.Material)
	return v, nil
}

// cellLinesAtOnce is how many cell lines a transaction stores, so that others can write meanwhile.
const cellLinesAtOnce = 500

// LoadCellLines stores the cell lines of the Cellosaurus in place of those that were loaded before, and returns how
// many they are. If it fails, those that it stored stay, and so do those of before.
func (a Materials) LoadCellLines(ctx context.Context, lines iter.Seq2[material.CellLine, error],
	show func(done int)) (n int, err error) {
	began := a.DB.Read().Now
	batch := make([]material.CellLine, 0, cellLinesAtOnce)
	put := func() error {
		err := a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
			for _, l := range batch {
				if err := tx.CellLines.Put(ctx, l, began); err != nil {
					return err
				}
			}
			return nil
		})
		n, batch = n+len(batch), batch[:0]
		show(n)
		return err
	}
	for l, err := range lines {
		if err != nil {
			return n, err
		}
		if batch = append(batch, l); len(batch) == cellLinesAtOnce {
			if err := put(); err != nil {
				return n, err
			}
		}
	}
	if err := put(); err != nil {
		return n, err
	}
	return n, a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
		return tx.CellLines.DeleteLoadedBefore(ctx, began)
	})
}

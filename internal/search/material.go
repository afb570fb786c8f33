package search

import (
	"context"
	"errors"
	"slices"

	"aliquot/internal/exchange/datause"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/store/sqldb"
)

// MaterialState is what the index row of a material depends on besides the material: its lab, what this stated, and
// the present row.
type MaterialState struct {
	id           int64
	organization lab.Organization
	uses         []datause.Term
	was          indexedRow
}

// Fields are the destinations of the columns of a MaterialState: the id of the material, the name and the public keys
// of its organization, the terms of data use that its lab stated, and rank, digest and weights of its index row, NULL
// if it has none.
func (s *MaterialState) Fields() []any {
	return []any{&s.id, &s.organization.Name, sqldb.FromJSON(&s.organization.PublicKeys), sqldb.FromJSON(&s.uses),
		&s.was.rank, &s.was.digest, &s.was.weights}
}

// UpdateMaterials updates the index rows of materials, whose own rows must be written before.
func (c Writer) UpdateMaterials(ctx context.Context, list []material.Material) error {
	for some := range slices.Chunk(list, sqldb.MaxIn) {
		ids := make([]int64, len(some))
		for i, m := range some {
			ids[i] = m.ID
		}
		places, args := sqldb.In(nil, ids)
		scan := func(r sqldb.Row, s *MaterialState) error { return r.Scan(s.Fields()...) }
		states, err := sqldb.All(ctx, c.Conn, scan,
			`SELECT m.id, n.name, n.public_metadata_keys, f.data_uses, x.rank, x.digest, x.weights FROM materials m
			JOIN organizations n ON n.id = m.organization_id
			LEFT JOIN transfer_facts f ON f.material_id = m.id
			LEFT JOIN material_index x ON x.id = m.id WHERE m.id IN (`+places+")", args...)
		if err != nil {
			return err
		}
		if err := c.UpdateMaterialsFrom(ctx, some, states); err != nil {
			return err
		}
	}
	return nil
}

// UpdateMaterialsFrom is UpdateMaterials where the state of each material is known.
func (c Writer) UpdateMaterialsFrom(ctx context.Context, list []material.Material, states []MaterialState) error {
	byID := make(map[int64]material.Material, len(list))
	for _, m := range list {
		byID[m.ID] = m
	}
	var spelt []string
	entries, errs := make([]entry, len(states)), make([]error, len(states))
	sqldb.Parallel(len(states), func(i int) {
		entries[i].was = states[i].was
		errs[i] = entries[i].material(byID[states[i].id], states[i].organization, states[i].uses)
	})
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for i := range entries {
		spelt = append(spelt, entries[i].newSpellings()...)
	}
	if err := c.writeIndex(ctx, Materials, entries); err != nil {
		return err
	}
	return c.addWords(ctx, spelt)
}

// material makes e the index entry of a material of an organization, which stated terms of data use of it.
func (e *entry) material(m material.Material, of lab.Organization, uses []datause.Term) (err error) {
	visible := ""
	if m.EmbargoDate != nil {
		visible = string(*m.EmbargoDate)
	}
	e.id, e.extra = m.ID, []any{m.OrganizationID, visible}
	e.SearchDocument = m.SearchDocument(of.Name, of.PublicKeys, uses)
	e.rank, err = RankOf(m.ID, m.Archived)
	return err
}

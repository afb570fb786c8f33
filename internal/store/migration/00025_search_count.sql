-- +goose Up

-- The rows of the search index that an embargo may hide, which a count looks up.
CREATE INDEX material_index_hideable ON material_index (rank, visible_from, organization_id) WHERE visible_from <> '';

-- +goose Up

-- The import or spreadsheet that listed a material; NULL: it was listed alone. The job may be gone.
ALTER TABLE materials ADD COLUMN listed_by {ref};
CREATE INDEX materials_listed_by ON materials (listed_by, id) WHERE listed_by IS NOT NULL;

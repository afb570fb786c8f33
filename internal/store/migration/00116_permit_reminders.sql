-- +goose Up

-- How many days before the end of a permit people were last reminded of it; 0: not yet.
ALTER TABLE permits ADD COLUMN reminded {ref} NOT NULL DEFAULT 0;

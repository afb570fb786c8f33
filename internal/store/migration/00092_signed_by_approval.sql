-- +goose Up

-- The standing approval, in its version, that made a signature; NULL: a person made it.
ALTER TABLE agreement_signatures ADD COLUMN approval {ref} REFERENCES approvals (id);
ALTER TABLE agreement_signatures ADD COLUMN approval_version {ref};

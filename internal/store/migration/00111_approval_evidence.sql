-- +goose Up

-- What a passkey signed when a standing approval was signed with one, as JSON; '': it was signed otherwise.
ALTER TABLE approvals ADD COLUMN evidence TEXT NOT NULL DEFAULT '';

-- +goose Up
-- What a token may do at most. Those that people named before are of programs, which may write.
ALTER TABLE tokens ADD COLUMN scope {word} NOT NULL DEFAULT ''; -- read or write; '' of a login, which is its user
ALTER TABLE tokens ADD COLUMN organization_id {ref} REFERENCES organizations (id) ON DELETE CASCADE; -- the only one that it reaches; NULL: all of its user's
UPDATE tokens SET scope = 'write' WHERE kind = 'API' AND name <> '';

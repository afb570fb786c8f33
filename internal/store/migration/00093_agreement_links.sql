-- +goose Up

-- Links by which people without an account sign. Token and code are kept as hashes.
CREATE TABLE agreement_links (
  id {id},
  agreement {ref} NOT NULL REFERENCES agreements (id),
  version {ref} NOT NULL,
  sha256 {word} NOT NULL, -- of that version
  role {word} NOT NULL,
  name TEXT NOT NULL,
  title TEXT NOT NULL,
  mail TEXT NOT NULL,
  hash {word} NOT NULL, -- of the token; '': it was not mailed yet
  mail_state {word} NOT NULL,
  expires_at {time} NOT NULL,
  used_at {time},
  codes {ref} NOT NULL, -- how many codes were asked for
  code_asked_at {time},
  code_hash {word} NOT NULL, -- '': no code was sent
  code_expires_at {time},
  code_attempts {ref} NOT NULL,
  made_by {uuid} NOT NULL REFERENCES users (id),
  created_at {time} NOT NULL
);
CREATE UNIQUE INDEX agreement_links_hash ON agreement_links (hash) WHERE hash <> '';
CREATE INDEX agreement_links_agreement ON agreement_links (agreement, id);

-- +goose Up

-- What was found in the signed and the executed MTA of each request; a later document of the slot takes the row over.
CREATE TABLE paper_checks (
  id {id},
  request {ref} NOT NULL REFERENCES material_requests (id),
  slot {word} NOT NULL,
  attachment {ref} NOT NULL REFERENCES attachments (id),
  state {word} NOT NULL,
  problem TEXT NOT NULL, -- why it could not be read
  findings TEXT NOT NULL, -- JSON
  checked_at {time}, -- NULL: not yet
  UNIQUE (request, slot)
);
CREATE INDEX paper_checks_attachment ON paper_checks (attachment);

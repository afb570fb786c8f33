-- +goose Up

-- Decisions of officials that fulfil requirements for a time: of a lab, of an institution, or else of a person.
CREATE TABLE permits (
  id {id},
  regime {word} NOT NULL,
  number TEXT NOT NULL,
  authority TEXT NOT NULL,
  country {word} NOT NULL,
  from_day {word} NOT NULL,
  until_day {word} NOT NULL,
  materials TEXT NOT NULL, -- JSON, like the next two; an empty list is all
  categories TEXT NOT NULL,
  institutions TEXT NOT NULL,
  document {ref} REFERENCES attachments (id),
  organization {ref} REFERENCES organizations (id),
  institution {ref} REFERENCES institutions (id),
  person {uuid} NOT NULL REFERENCES users (id), -- who added it; whose it is, without a lab and an institution
  created_at {time} NOT NULL,
  updated_at {time} NOT NULL
);
CREATE INDEX permits_person ON permits (person, id) WHERE organization IS NULL AND institution IS NULL;
CREATE INDEX permits_organization ON permits (organization, id);
CREATE INDEX permits_institution ON permits (institution, id);
CREATE INDEX permits_document ON permits (document);
CREATE INDEX permits_added ON permits (person);
CREATE INDEX permits_until ON permits (until_day) WHERE until_day <> '';

-- For which requests which permits are used.
CREATE TABLE request_permits (
  id {id},
  request {ref} NOT NULL REFERENCES material_requests (id),
  permit {ref} NOT NULL REFERENCES permits (id),
  added_by {uuid} NOT NULL REFERENCES users (id),
  added_at {time} NOT NULL,
  UNIQUE (request, permit)
);
CREATE INDEX request_permits_permit ON request_permits (permit);
CREATE INDEX request_permits_added_by ON request_permits (added_by);

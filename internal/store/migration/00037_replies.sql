-- +goose Up

-- Texts that a lab keeps to use again in messages and decisions about requests.
CREATE TABLE replies (
  id {id},
  organization_id {ref} NOT NULL REFERENCES organizations (id),
  title TEXT NOT NULL,
  text TEXT NOT NULL,
  created_at {time} NOT NULL,
  updated_at {time} NOT NULL
);
CREATE INDEX replies_organization ON replies (organization_id, id);

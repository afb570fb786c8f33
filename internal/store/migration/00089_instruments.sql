-- +goose Up

-- Instruments that the operator installed, in the order of number, from 1 without gaps. They are never changed.
CREATE TABLE instruments (
  number {ref} NOT NULL,
  id {word} NOT NULL,
  version {word} NOT NULL,
  file TEXT NOT NULL, -- as it was installed
  sha256 {word} NOT NULL, -- of the file
  installed_by TEXT NOT NULL,
  installed_at {time} NOT NULL,
  PRIMARY KEY (id, version)
);
CREATE UNIQUE INDEX instruments_number ON instruments (number);

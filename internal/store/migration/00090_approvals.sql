-- +goose Up

-- What officers sign in advance, within limits, for at most a year. A signed one changes in withdrawn_on alone.
CREATE TABLE approvals (
  id {id},
  institution {ref} NOT NULL REFERENCES institutions (id),
  version {ref} NOT NULL, -- counts the changes before the signature
  direction {word} NOT NULL,
  families TEXT NOT NULL, -- JSON
  categories TEXT NOT NULL, -- JSON
  largest_bsl {ref} NOT NULL,
  human {word} NOT NULL,
  members TEXT NOT NULL, -- JSON; an empty list allows everybody
  counterparties TEXT NOT NULL, -- JSON; an empty list allows all with the master agreement in force
  from_day {word} NOT NULL,
  until_day {word} NOT NULL,
  officer {uuid} NOT NULL REFERENCES users (id),
  signed_on {word} NOT NULL,
  level {word} NOT NULL,
  identified TEXT NOT NULL, -- who the provider of identities says the officer is
  texts TEXT NOT NULL, -- JSON; the SHA-256 of the texts that were in force
  withdrawn_on {word} NOT NULL,
  created_at {time} NOT NULL,
  updated_at {time} NOT NULL
);
CREATE INDEX approvals_institution ON approvals (institution, id);
CREATE INDEX approvals_officer ON approvals (officer);

-- +goose Up

-- Who agreements bind. A date of '' sets no limit, here and below; until_day is the first day on which something no longer holds.
CREATE TABLE institutions (
  id {id},
  legal_name TEXT NOT NULL,
  legal_name_sort TEXT NOT NULL,
  aliases TEXT NOT NULL, -- JSON
  ror {word} NOT NULL,
  country {word} NOT NULL,
  address TEXT NOT NULL,
  kind {word} NOT NULL,
  kind_evidence TEXT NOT NULL,
  kind_since {word} NOT NULL,
  mailbox TEXT NOT NULL,
  mail_domains TEXT NOT NULL, -- JSON
  least_level {word} NOT NULL,
  recheck_days {ref} NOT NULL,
  confirmed BOOLEAN NOT NULL,
  withdrawn {word} NOT NULL,
  made_by {uuid} NOT NULL REFERENCES users (id),
  created_at {time} NOT NULL,
  updated_at {time} NOT NULL
);
CREATE UNIQUE INDEX institutions_ror ON institutions (ror) WHERE ror <> '';
CREATE INDEX institutions_name ON institutions (legal_name_sort, id);
CREATE INDEX institutions_created ON institutions (created_at, id);
CREATE INDEX institutions_updated ON institutions (updated_at, id);
CREATE INDEX institutions_unconfirmed ON institutions (made_by) WHERE NOT confirmed;

CREATE TABLE institution_labs (
  id {id},
  institution {ref} NOT NULL REFERENCES institutions (id),
  organization {ref} NOT NULL REFERENCES organizations (id),
  from_day {word} NOT NULL,
  until_day {word} NOT NULL,
  confirmed BOOLEAN NOT NULL,
  confirmed_by {uuid} REFERENCES users (id),
  created_at {time} NOT NULL,
  updated_at {time} NOT NULL
);
CREATE INDEX institution_labs_institution ON institution_labs (institution, id);
CREATE INDEX institution_labs_organization ON institution_labs (organization, id);

CREATE TABLE affiliations (
  id {id},
  institution {ref} NOT NULL REFERENCES institutions (id),
  person {uuid} NOT NULL REFERENCES users (id),
  source {word} NOT NULL,
  confirmed BOOLEAN NOT NULL,
  from_day {word} NOT NULL,
  until_day {word} NOT NULL,
  created_at {time} NOT NULL,
  updated_at {time} NOT NULL
);
CREATE INDEX affiliations_institution ON affiliations (institution, id);
CREATE INDEX affiliations_person ON affiliations (person, institution, id);

-- Offices of an institution; authority belongs to them.
CREATE TABLE positions (
  id {id},
  institution {ref} NOT NULL REFERENCES institutions (id),
  title TEXT NOT NULL,
  from_day {word} NOT NULL,
  until_day {word} NOT NULL,
  created_at {time} NOT NULL,
  updated_at {time} NOT NULL
);
CREATE INDEX positions_institution ON positions (institution, id);

-- What the holder of a position may sign; an empty list allows all.
CREATE TABLE authorities (
  id {id},
  institution {ref} NOT NULL REFERENCES institutions (id),
  position {ref} NOT NULL REFERENCES positions (id),
  holder {uuid} REFERENCES users (id), -- NULL: somebody without an account
  name TEXT NOT NULL,
  title TEXT NOT NULL,
  mail TEXT NOT NULL,
  direction {word} NOT NULL,
  families TEXT NOT NULL, -- JSON
  categories TEXT NOT NULL, -- JSON
  human BOOLEAN NOT NULL,
  largest_bsl {ref} NOT NULL,
  delegation TEXT NOT NULL,
  supersedes {ref} REFERENCES authorities (id),
  from_day {word} NOT NULL,
  until_day {word} NOT NULL,
  created_at {time} NOT NULL,
  updated_at {time} NOT NULL
);
CREATE INDEX authorities_institution ON authorities (institution, id);
CREATE INDEX authorities_holder ON authorities (holder) WHERE holder IS NOT NULL;

-- Who signs in the place of an authority's holder.
CREATE TABLE stand_ins (
  id {id},
  institution {ref} NOT NULL REFERENCES institutions (id),
  authority {ref} NOT NULL REFERENCES authorities (id),
  person {uuid} REFERENCES users (id), -- NULL: somebody without an account
  name TEXT NOT NULL,
  title TEXT NOT NULL,
  mail TEXT NOT NULL,
  reason TEXT NOT NULL,
  from_day {word} NOT NULL,
  until_day {word} NOT NULL,
  created_at {time} NOT NULL,
  updated_at {time} NOT NULL
);
CREATE INDEX stand_ins_institution ON stand_ins (institution, id);
CREATE INDEX stand_ins_person ON stand_ins (person) WHERE person IS NOT NULL;

-- Signatures under master agreements.
CREATE TABLE masters (
  id {id},
  institution {ref} NOT NULL REFERENCES institutions (id),
  family {word} NOT NULL,
  edition TEXT NOT NULL,
  standing {word} NOT NULL,
  counterparty {ref} REFERENCES institutions (id), -- of a bilateral one
  signed_on {word} NOT NULL,
  withdrawn_on {word} NOT NULL,
  signer TEXT NOT NULL,
  evidence TEXT NOT NULL,
  checked_by TEXT NOT NULL,
  checked_on {word} NOT NULL,
  created_at {time} NOT NULL,
  updated_at {time} NOT NULL
);
CREATE INDEX masters_institution ON masters (institution, id);

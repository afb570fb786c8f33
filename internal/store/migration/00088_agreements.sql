-- +goose Up

-- Letters between two institutions; a column of '' is unknown or none.
CREATE TABLE agreements (
  id {id},
  state {word} NOT NULL,
  requester {uuid} NOT NULL REFERENCES users (id),
  organization {ref} NOT NULL REFERENCES organizations (id), -- the lab that provides
  scientist {uuid} NOT NULL REFERENCES users (id), -- who signs for the lab
  provider {ref} NOT NULL REFERENCES institutions (id),
  recipient {ref} NOT NULL REFERENCES institutions (id),
  purpose {word} NOT NULL,
  choice {word} NOT NULL, -- a family that somebody chose
  typed TEXT NOT NULL, -- JSON: the fields that people filled in
  basis TEXT NOT NULL, -- JSON: why it has its instrument
  reason TEXT NOT NULL, -- why it was declined or withdrawn
  version {ref} NOT NULL, -- the newest
  attachment {ref} REFERENCES attachments (id), -- executed
  made_by {uuid} NOT NULL REFERENCES users (id),
  created_at {time} NOT NULL,
  updated_at {time} NOT NULL,
  sent_at {time},
  ended_at {time}
);
CREATE INDEX agreements_requester ON agreements (requester, id);
CREATE INDEX agreements_organization ON agreements (organization, id);
CREATE INDEX agreements_provider ON agreements (provider, id);
CREATE INDEX agreements_recipient ON agreements (recipient, id);
CREATE INDEX agreements_open ON agreements (updated_at) WHERE state IN ('DRAFT', 'SENT', 'DECLINED');

-- What people sign: the letter's JSON in its canonical form, and its hash.
CREATE TABLE agreement_versions (
  id {id},
  agreement {ref} NOT NULL REFERENCES agreements (id),
  version {ref} NOT NULL,
  content TEXT NOT NULL,
  sha256 {word} NOT NULL,
  made_by {uuid} REFERENCES users (id), -- NULL: Aliquot, when a request left the letter
  created_at {time} NOT NULL
);
CREATE UNIQUE INDEX agreement_versions_number ON agreement_versions (agreement, version);

-- Which requests a letter is for. A request is in one letter at a time; live ends when it leaves, or the letter does.
CREATE TABLE agreement_requests (
  id {id},
  agreement {ref} NOT NULL REFERENCES agreements (id),
  request {ref} NOT NULL REFERENCES material_requests (id),
  live BOOLEAN NOT NULL
);
CREATE UNIQUE INDEX agreement_requests_live ON agreement_requests (request) WHERE live;
CREATE UNIQUE INDEX agreement_requests_pair ON agreement_requests (agreement, request);

CREATE TABLE agreement_signatures (
  id {id},
  agreement {ref} NOT NULL REFERENCES agreements (id),
  version {ref} NOT NULL,
  sha256 {word} NOT NULL,
  role {word} NOT NULL,
  signer {uuid} REFERENCES users (id), -- NULL: somebody without an account
  name TEXT NOT NULL,
  title TEXT NOT NULL,
  mail TEXT NOT NULL,
  authority {ref} REFERENCES authorities (id), -- NULL: a scientist
  position TEXT NOT NULL, -- its title, on that day
  represents TEXT NOT NULL, -- the holder of the authority, of a stand-in
  level {word} NOT NULL,
  evidence TEXT NOT NULL, -- how it was made
  signed_at {time} NOT NULL
);
CREATE UNIQUE INDEX agreement_signatures_role ON agreement_signatures (agreement, version, role);
CREATE INDEX agreement_signatures_signer ON agreement_signatures (signer) WHERE signer IS NOT NULL;

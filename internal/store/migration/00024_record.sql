-- +goose Up

-- The chain of each object, its last event, and the state that its events led to, as it is hashed.
CREATE TABLE chains (
  id {id},
  name {word} NOT NULL UNIQUE, -- such as request/17, or instance
  last_seq {ref} NOT NULL,
  last_hash {word} NOT NULL,
  state TEXT NOT NULL
);

-- Events of format 2. Rows are only ever added.
CREATE TABLE chain_events (
  id {id},
  chain_id {ref} NOT NULL REFERENCES chains (id),
  seq {ref} NOT NULL,
  kind {word} NOT NULL,
  actor {word} NOT NULL, -- empty: Aliquot itself
  at {time} NOT NULL,
  detail TEXT NOT NULL, -- as it is hashed
  prev_hash {word} NOT NULL,
  hash {word} NOT NULL,
  UNIQUE (chain_id, seq)
);

-- Personal texts, in place of which events have commitments. Erasing a text deletes its row.
CREATE TABLE chain_texts (
  event_id {ref} NOT NULL REFERENCES chain_events (id),
  field {word} NOT NULL,
  salt {word} NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (event_id, field)
);

-- The Merkle log of all events: those that are not in it yet, those that are, its tiles and its size.
CREATE TABLE log_outbox (event_id {ref} PRIMARY KEY);
CREATE TABLE log_entries (
  entry {ref} PRIMARY KEY, -- 0, 1, 2, ...
  event_id {ref} NOT NULL UNIQUE REFERENCES chain_events (id)
);
CREATE TABLE log_tiles (
  level {ref} NOT NULL,
  number {ref} NOT NULL,
  data {bytes} NOT NULL, -- a tile that is not full yet is replaced
  PRIMARY KEY (level, number)
);
CREATE TABLE log_head (size {ref} NOT NULL);
INSERT INTO log_head (size) VALUES (0);

CREATE TABLE log_checkpoints (
  size {ref} PRIMARY KEY,
  at {time} NOT NULL,
  note TEXT NOT NULL, -- signed, with the cosignatures of witnesses
  response {bytes} -- of a timestamping authority; NULL: none yet
);

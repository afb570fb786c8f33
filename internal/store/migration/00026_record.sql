-- +goose Up

-- The tables of 00024 were empty until this migration: no earlier version wrote to them.
ALTER TABLE chains ADD COLUMN salts TEXT NOT NULL DEFAULT '{}'; -- JSON: those of the texts that the state has commitments to, by field
ALTER TABLE chains ADD COLUMN logged_seq {ref} NOT NULL DEFAULT 0; -- the last of its events that is in the log
CREATE INDEX chains_waiting ON chains (id) WHERE logged_seq < last_seq;
INSERT INTO chains (name, last_seq, last_hash, state) VALUES ('instance', 0, '', '');

-- What is older than the chains and is not in them yet: the audit events between two ids, and unless done other rows.
CREATE TABLE carry_over (
  audit_after {ref} NOT NULL,
  audit_until {ref} NOT NULL,
  done BOOLEAN NOT NULL
);
INSERT INTO carry_over (audit_after, audit_until, done)
  SELECT 0, (SELECT COALESCE(MAX(id), 0) FROM audit_events), NOT EXISTS (SELECT 1 FROM users);

-- Texts are in the row of their event; the log takes what is next from the chains, without an outbox.
ALTER TABLE chain_events ADD COLUMN texts TEXT; -- JSON: by field, salt and text of what the event has commitments to; NULL: nothing, or all was erased
DROP TABLE chain_texts;
DROP TABLE log_outbox;

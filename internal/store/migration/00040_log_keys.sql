-- +goose Up

-- The keys that sign the checkpoints of the log, or did: what was signed with one that was retired still holds.
CREATE TABLE log_keys (
  id {id},
  public_key TEXT NOT NULL UNIQUE, -- as C2SP signed-note has it: NAME+ID+KEY
  created_at {time} NOT NULL,
  retired_at {time}
);

-- +goose Up

-- That a person is to be erased: when that was asked, by whom (the person, or an admin, who gives a reason), and when
-- it is due. erased_at: when it was done.
ALTER TABLE users ADD COLUMN erase_asked_at {time};
ALTER TABLE users ADD COLUMN erase_asked_by {uuid};
ALTER TABLE users ADD COLUMN erase_reason TEXT;
ALTER TABLE users ADD COLUMN erase_due_at {time};
ALTER TABLE users ADD COLUMN erased_at {time};
CREATE INDEX users_erase_due ON users (erase_due_at) WHERE erase_due_at IS NOT NULL;

-- The events of requests of which something was erased. Their hash stays and cannot be computed any more, hash_left is
-- that of what is left.
CREATE TABLE erased_events (
  request_id {ref} NOT NULL REFERENCES material_requests (id),
  seq {ref} NOT NULL,
  hash_left {word} NOT NULL,
  PRIMARY KEY (request_id, seq)
);

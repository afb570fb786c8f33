-- +goose Up
-- Until when the owner of a lab signs agreements in advance, since when, and who that owner is.
ALTER TABLE organizations ADD COLUMN signs_ahead_until {word};
ALTER TABLE organizations ADD COLUMN signs_ahead_since {word} NOT NULL DEFAULT '';
ALTER TABLE organizations ADD COLUMN signs_ahead_by {uuid} REFERENCES users (id);

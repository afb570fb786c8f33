-- +goose Up

-- An event can be a refusal: the code of the error, "" of what was done; and how often that was within an hour.
ALTER TABLE audit_events ADD COLUMN refused {word} NOT NULL DEFAULT '';
ALTER TABLE audit_events ADD COLUMN times {ref} NOT NULL DEFAULT 1;
CREATE INDEX audit_events_action ON audit_events (action, id);
CREATE INDEX audit_events_at ON audit_events (at);
CREATE INDEX audit_events_refused ON audit_events (id) WHERE refused <> '';

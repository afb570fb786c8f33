-- +goose Up

-- What two institutions executed before, the newest first.
CREATE INDEX agreements_executed ON agreements (provider, recipient, id) WHERE state = 'EXECUTED';

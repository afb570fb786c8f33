-- +goose Up

-- What desks of offices filter by, derived from the newest version and its signatures: the form, and the roles that have
-- not signed, while the letter is sent.
ALTER TABLE agreements ADD COLUMN instrument {word} NOT NULL DEFAULT '';
ALTER TABLE agreements ADD COLUMN waits TEXT NOT NULL DEFAULT '';
CREATE INDEX agreements_sent_provider ON agreements (provider, id) WHERE state = 'SENT';
CREATE INDEX agreements_sent_recipient ON agreements (recipient, id) WHERE state = 'SENT';
CREATE INDEX agreements_sent_requester ON agreements (requester, id) WHERE state = 'SENT';
CREATE INDEX agreements_sent_scientist ON agreements (scientist, id) WHERE state = 'SENT';

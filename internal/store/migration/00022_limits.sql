-- +goose Up

-- How much mail one person causes to one recipient: a user, or an address that is nobody's here.
CREATE TABLE mail_counts (
  actor_id {uuid} NOT NULL REFERENCES users (id),
  recipient {word} NOT NULL, -- the id of the user, or the address
  since {time} NOT NULL, -- when the present span of time began
  sent {ref} NOT NULL, -- messages since then
  met {time}, -- when the actor last turned to them first: with a request, a join request or an invitation
  PRIMARY KEY (actor_id, recipient)
);
CREATE INDEX mail_counts_since ON mail_counts (since);
CREATE INDEX notifications_held ON notifications (user_id, id) WHERE mail = 'HELD';

-- The spreadsheets whose content is kept, from when they come in until their content is removed; storage_use counts them for the
-- lab. How large those of before are the database does not know: they are removed within a month.
CREATE TABLE sheets (
  content_key {word} PRIMARY KEY,
  organization_id {ref} NOT NULL REFERENCES organizations (id),
  size {ref} NOT NULL,
  created_at {time} NOT NULL
);
CREATE INDEX sheets_created ON sheets (created_at);
CREATE INDEX sheets_organization ON sheets (organization_id);

{sheets}

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

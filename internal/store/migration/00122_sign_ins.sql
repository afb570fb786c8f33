-- +goose Up

-- Sign-ins at identity providers other than the main one, each linked by its user to their account.
CREATE TABLE sign_ins (
  id {id},
  user_id {uuid} NOT NULL REFERENCES users (id),
  issuer {word} NOT NULL,
  subject {word} NOT NULL,
  created_at {time} NOT NULL,
  used_at {time} NOT NULL
);
CREATE UNIQUE INDEX sign_ins_subject ON sign_ins (issuer, subject);
CREATE INDEX sign_ins_user ON sign_ins (user_id, id);

-- By which identity provider a session began; NULL: the main one.
ALTER TABLE tokens ADD COLUMN issuer {word};

-- +goose Up

-- Keys with which people sign. Those that were removed stay: what they signed is checked with them. Ids and keys are
-- base64url.
CREATE TABLE passkeys (
  id {id},
  user_id {uuid} NOT NULL REFERENCES users (id),
  credential_id {word} NOT NULL,
  public_key {word} NOT NULL, -- COSE
  name TEXT NOT NULL,
  identified TEXT NOT NULL, -- who the provider of identities says the user is
  signed_in_at {time} NOT NULL, -- when it said so last before the registration
  created_at {time} NOT NULL,
  removed_at {time}
);
CREATE UNIQUE INDEX passkeys_credential ON passkeys (credential_id);
CREATE INDEX passkeys_user ON passkeys (user_id, id);

-- What is to be answered by a passkey, for minutes and once; challenge is the SHA-256 of the statement, in hex.
CREATE TABLE signing_statements (
  challenge {word} PRIMARY KEY,
  user_id {uuid} NOT NULL REFERENCES users (id),
  statement TEXT NOT NULL,
  expires_at {time} NOT NULL,
  used BOOLEAN NOT NULL
);
CREATE INDEX signing_statements_user ON signing_statements (user_id);
CREATE INDEX signing_statements_expired ON signing_statements (expires_at);

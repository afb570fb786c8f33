-- +goose Up

-- The choices of requests that people keep under a name.
CREATE TABLE inbox_views (
  id {id},
  user_id {uuid} NOT NULL REFERENCES users (id),
  name TEXT NOT NULL,
  query TEXT NOT NULL, -- of the inbox's address
  created_at {time} NOT NULL
);
CREATE INDEX inbox_views_user ON inbox_views (user_id, id);

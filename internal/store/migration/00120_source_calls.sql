-- +goose Up

-- When the newest calls of each outside source were sent, so that all processes together keep its pace.
CREATE TABLE source_calls (
  source {word} PRIMARY KEY,
  sent_at TEXT NOT NULL -- JSON: microseconds since 1970, the oldest first
);

-- +goose Up

-- Content that the bucket is to hold for the record, and the bucket that does; '' is none yet.
CREATE TABLE content_holds (
  content_key {word} PRIMARY KEY,
  place {word} NOT NULL,
  since {time} NOT NULL
);
CREATE INDEX content_holds_place ON content_holds (place, since);

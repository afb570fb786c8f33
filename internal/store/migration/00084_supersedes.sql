-- +goose Up
-- Whether an authority was replaced is asked at each call of an officer.
CREATE INDEX authorities_supersedes ON authorities (supersedes) WHERE supersedes IS NOT NULL;

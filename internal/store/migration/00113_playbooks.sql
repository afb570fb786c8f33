-- +goose Up

-- What institutions prefer, accept and do not accept in agreements.
CREATE TABLE institution_playbooks (
  institution {ref} PRIMARY KEY REFERENCES institutions (id),
  provide TEXT NOT NULL, -- JSON: preferences as provider, the first that fits is used
  accept TEXT NOT NULL, -- JSON: families of instruments as recipient, best first
  clauses TEXT NOT NULL, -- JSON: positions on terms, with notes
  changed_at {time} NOT NULL
);

-- +goose Up

-- The cell lines of the Cellosaurus, as "aliquot catalogue load" read them last.
CREATE TABLE cell_lines (
  accession {word} PRIMARY KEY,
  entry TEXT NOT NULL, -- JSON
  loaded_at {time} NOT NULL
);
-- The keys under which they are looked up: of accessions and of the numbers of collections.
CREATE TABLE cell_line_keys (
  key {word} NOT NULL,
  accession {word} NOT NULL REFERENCES cell_lines (accession) ON DELETE CASCADE,
  PRIMARY KEY (key, accession)
);
CREATE INDEX cell_line_keys_accession ON cell_line_keys (accession);

-- Of a row of more than 2 kB the words lie out of line, so that going through hits reads little.
-- Without fastupdate a save is dearer where it is one of many, but neither a search nor another save ever
-- has to go through what is pending.
ALTER TABLE material_index ADD COLUMN words TSVECTOR NOT NULL,
  ALTER COLUMN facets SET STORAGE MAIN, ALTER COLUMN weights SET STORAGE MAIN, SET (toast_tuple_target = 128);
ALTER TABLE organization_index ADD COLUMN words TSVECTOR NOT NULL,
  ALTER COLUMN facets SET STORAGE MAIN, ALTER COLUMN weights SET STORAGE MAIN, SET (toast_tuple_target = 128);
ALTER TABLE user_index ADD COLUMN words TSVECTOR NOT NULL,
  ALTER COLUMN facets SET STORAGE MAIN, ALTER COLUMN weights SET STORAGE MAIN, SET (toast_tuple_target = 128);
CREATE INDEX material_words ON material_index USING gin (words) WITH (fastupdate = off);
CREATE INDEX organization_words ON organization_index USING gin (words) WITH (fastupdate = off);
CREATE INDEX user_words ON user_index USING gin (words) WITH (fastupdate = off);

CREATE TABLE request_words (rowid BIGINT PRIMARY KEY, words TSVECTOR NOT NULL); -- as the virtual table of SQLite
CREATE INDEX request_words_words ON request_words USING gin (words) WITH (fastupdate = off);

-- +goose Up
-- The lanes and the line of the job queue: long jobs have slots of their own, and jobs of one person take
-- turns with those of others.
ALTER TABLE jobs ADD COLUMN heavy BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE jobs ADD COLUMN turn {uuid}; -- on whose account it is; NULL: on nobody's
ALTER TABLE jobs ADD COLUMN place {ref} NOT NULL DEFAULT 0; -- in the line of its lane
UPDATE jobs SET heavy = TRUE, turn = user_id WHERE kind IN ('materials.bulk', 'materials.import');
DROP INDEX jobs_due;
CREATE INDEX jobs_due ON jobs (heavy, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX jobs_line ON jobs (heavy, place, id) WHERE due_at IS NOT NULL;
CREATE INDEX jobs_turn ON jobs (turn, heavy, place) WHERE turn IS NOT NULL AND due_at IS NOT NULL;

-- Materials of a spreadsheet that is listed as a whole are staged first: nobody sees them before bulks.stored is set.
ALTER TABLE materials ADD COLUMN staged_in {ref}; -- the job of the spreadsheet; NULL: it is done, or there was none
CREATE INDEX materials_staged ON materials (staged_in, id) WHERE staged_in IS NOT NULL;
DROP INDEX materials_offered;
CREATE INDEX materials_offered ON materials (category, organization_id, is_archived, embargo_date, staged_in); -- all that counting them reads

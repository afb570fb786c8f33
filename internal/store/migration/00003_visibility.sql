-- +goose Up

-- The keys of its own in additional_metadata that a lab shows to everybody: a JSON list.
ALTER TABLE organizations ADD COLUMN public_metadata_keys TEXT NOT NULL DEFAULT '[]';

-- Materials that went to another lab. The lab that had one reads its versions before this one.
CREATE TABLE material_moves (
  id {id},
  material_id {ref} NOT NULL REFERENCES materials (id),
  from_organization_id {ref} NOT NULL REFERENCES organizations (id),
  version {ref} NOT NULL,
  moved_at {time} NOT NULL
);
CREATE INDEX material_moves_material ON material_moves (material_id, from_organization_id);

-- The index had what is private: until a job has indexed them anew, materials are found by their labs alone.
UPDATE material_index SET visible_from = '9999-12-31', digest = '';
DELETE FROM search_words;
INSERT INTO jobs (kind, key, args, state, due_at, lease, failures, error, done, total, note, created_at)
SELECT 'reindex', 'organization ' || o.id, '{"organization":' || o.id || '}', 'READY', '2026-01-01 00:00:00+00:00', 0, 0, '', 0, 0, '', '2026-01-01 00:00:00+00:00'
FROM organizations o WHERE TRUE
ON CONFLICT (kind, key) DO UPDATE SET args = excluded.args, state = excluded.state, due_at = excluded.due_at, lease = jobs.lease + 1,
  failures = 0, error = '', done = 0, total = 0, note = '', checkpoint = NULL, result = NULL, ended_at = NULL;

-- +goose Up

-- A document that was filed for a lab belongs to that lab alone; without it, owned_by_org shares what is its user's.
ALTER TABLE attachments ADD COLUMN of_lab BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE attachments ADD COLUMN version {ref} NOT NULL DEFAULT 1; -- of its content

-- What the content of an attachment was before it was replaced.
CREATE TABLE attachment_versions (
  id {id},
  attachment_id {ref} NOT NULL REFERENCES attachments (id),
  version {ref} NOT NULL,
  filename TEXT NOT NULL,
  content_key TEXT NOT NULL UNIQUE,
  size {ref} NOT NULL,
  sha256 TEXT NOT NULL,
  media_type {word} NOT NULL,
  replaced_by {uuid} NOT NULL REFERENCES users (id),
  replaced_at {time} NOT NULL,
  UNIQUE (attachment_id, version)
);

-- The MTA that the material showed when the request was made.
ALTER TABLE material_requests ADD COLUMN mta_attachment_id {ref};
ALTER TABLE material_requests ADD COLUMN mta_version {ref};
CREATE INDEX material_requests_mta ON material_requests (mta_attachment_id, mta_version, requester_id) WHERE mta_attachment_id IS NOT NULL;
UPDATE material_requests SET mta_version = 1, mta_attachment_id = (SELECT m.mta_attachment_id FROM materials m WHERE m.id = material_requests.material_id)
WHERE material_id IN (SELECT id FROM materials WHERE mta_attachment_id IS NOT NULL);

UPDATE attachments SET owned_by_org = (SELECT MIN(m.organization_id) FROM materials m WHERE m.mta_attachment_id = attachments.id)
WHERE owned_by_org IS NULL AND id IN (SELECT mta_attachment_id FROM materials WHERE mta_attachment_id IS NOT NULL);
UPDATE attachments SET owned_by_org = (SELECT m.organization_id FROM materials m WHERE m.id = attachments.sequence_map_for)
WHERE owned_by_org IS NULL AND sequence_map_for IS NOT NULL;
-- What a requester handed in was shared with the lab that was asked, and stays theirs.
UPDATE attachments SET of_lab = TRUE WHERE owned_by_org IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM request_documents d JOIN material_requests r ON r.id = d.request_id
  WHERE d.attachment_id = attachments.id AND d.slot IN ('requester_signed_mta', 'irb')
    AND r.requester_id = attachments.owned_by_user AND r.organization_id = attachments.owned_by_org);

-- When a person closed their account; NULL: they did not.
ALTER TABLE users ADD COLUMN closed_at {time};

-- What messages tell of an event: the title that the material had, and for as long as mail may still be sent the whole request
-- as it was (JSON, without the address). NULL: of before, or over.
ALTER TABLE request_events ADD COLUMN title TEXT;
ALTER TABLE request_events ADD COLUMN facts TEXT;
CREATE INDEX request_events_facts ON request_events (at) WHERE facts IS NOT NULL;
ALTER TABLE news ADD COLUMN organization_name TEXT; -- as it was

-- +goose Up

-- Whether a virus scanner has examined content, and what it found; NULL where none has, and nobody waits for it. What
-- is CHECKING or INFECTED is withheld from everybody.
ALTER TABLE attachments ADD COLUMN scan {word};
ALTER TABLE attachments ADD COLUMN scan_found TEXT;
ALTER TABLE attachment_versions ADD COLUMN scan {word};
ALTER TABLE attachment_versions ADD COLUMN scan_found TEXT;
CREATE INDEX attachments_scan ON attachments (scan, id);
CREATE INDEX attachment_versions_scan ON attachment_versions (scan, id);

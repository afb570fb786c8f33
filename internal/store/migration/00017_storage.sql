-- +goose Up

-- How many bytes of content somebody has stored, with what was deleted or replaced and is still kept: 'lab 7' or
-- 'user 018f...'. Triggers keep it, so that no statement can forget to.
CREATE TABLE storage_use (
  owner {word} PRIMARY KEY,
  bytes {ref} NOT NULL
);

INSERT INTO storage_use (owner, bytes)
SELECT owner, SUM(bytes) FROM (
  SELECT CASE WHEN a.owned_by_org IS NOT NULL AND (a.of_lab OR a.owned_by_user IS NULL) THEN 'lab ' || a.owned_by_org WHEN a.owned_by_user IS NOT NULL THEN 'user ' || a.owned_by_user END AS owner,
    COALESCE(a.size, 0) + (SELECT COALESCE(SUM(v.size), 0) FROM attachment_versions v WHERE v.attachment_id = a.id) AS bytes
  FROM attachments a) stored
WHERE owner IS NOT NULL GROUP BY owner;

{storage}

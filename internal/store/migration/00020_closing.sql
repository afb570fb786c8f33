-- +goose Up

-- Audit events name people, documents and links by their ids alone, so that a closed account leaves no word behind. What they
-- had beside that was shown nowhere. Versions, which are shown, are rewritten by a job.
UPDATE audit_events SET state = 'null' WHERE version IS NULL
  AND action IN ('attachment.create', 'token.create', 'invitation.write', 'invitation.answer', 'join.answer', 'join.withdraw', 'grant.share', 'webhook.write');
INSERT INTO jobs (kind, key, args, state, due_at, lease, failures, error, done, total, note, created_at)
SELECT 'versions.names', 'all', '{}', 'READY', '2026-01-01 00:00:00+00:00', 0, 0, '', 0, 0, '', '2026-01-01 00:00:00+00:00'
WHERE EXISTS (SELECT 1 FROM audit_events WHERE version IS NOT NULL);

-- By which a closing account finds what is its own.
CREATE INDEX news_actor ON news (actor_id);

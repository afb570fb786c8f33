-- +goose StatementBegin
CREATE TRIGGER attachments_made AFTER INSERT ON attachments WHEN NEW.size IS NOT NULL BEGIN
  INSERT INTO storage_use (owner, bytes) SELECT CASE WHEN NEW.owned_by_org IS NOT NULL AND (NEW.of_lab OR NEW.owned_by_user IS NULL) THEN 'lab ' || NEW.owned_by_org WHEN NEW.owned_by_user IS NOT NULL THEN 'user ' || NEW.owned_by_user END, NEW.size WHERE CASE WHEN NEW.owned_by_org IS NOT NULL AND (NEW.of_lab OR NEW.owned_by_user IS NULL) THEN 'lab ' || NEW.owned_by_org WHEN NEW.owned_by_user IS NOT NULL THEN 'user ' || NEW.owned_by_user END IS NOT NULL
    ON CONFLICT (owner) DO UPDATE SET bytes = storage_use.bytes + excluded.bytes;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER attachments_changed AFTER UPDATE ON attachments WHEN OLD.size IS NOT NEW.size OR OLD.owned_by_org IS NOT NEW.owned_by_org
  OR OLD.owned_by_user IS NOT NEW.owned_by_user OR OLD.of_lab IS NOT NEW.of_lab BEGIN
  UPDATE storage_use SET bytes = bytes - (COALESCE(OLD.size, 0) + (SELECT COALESCE(SUM(v.size), 0) FROM attachment_versions v WHERE v.attachment_id = OLD.id)) WHERE owner = CASE WHEN OLD.owned_by_org IS NOT NULL AND (OLD.of_lab OR OLD.owned_by_user IS NULL) THEN 'lab ' || OLD.owned_by_org WHEN OLD.owned_by_user IS NOT NULL THEN 'user ' || OLD.owned_by_user END;
  INSERT INTO storage_use (owner, bytes) SELECT CASE WHEN NEW.owned_by_org IS NOT NULL AND (NEW.of_lab OR NEW.owned_by_user IS NULL) THEN 'lab ' || NEW.owned_by_org WHEN NEW.owned_by_user IS NOT NULL THEN 'user ' || NEW.owned_by_user END, COALESCE(NEW.size, 0) + (SELECT COALESCE(SUM(v.size), 0) FROM attachment_versions v WHERE v.attachment_id = NEW.id) WHERE CASE WHEN NEW.owned_by_org IS NOT NULL AND (NEW.of_lab OR NEW.owned_by_user IS NULL) THEN 'lab ' || NEW.owned_by_org WHEN NEW.owned_by_user IS NOT NULL THEN 'user ' || NEW.owned_by_user END IS NOT NULL
    ON CONFLICT (owner) DO UPDATE SET bytes = storage_use.bytes + excluded.bytes;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER attachment_versions_made AFTER INSERT ON attachment_versions BEGIN
  INSERT INTO storage_use (owner, bytes) SELECT CASE WHEN a.owned_by_org IS NOT NULL AND (a.of_lab OR a.owned_by_user IS NULL) THEN 'lab ' || a.owned_by_org WHEN a.owned_by_user IS NOT NULL THEN 'user ' || a.owned_by_user END, NEW.size
    FROM attachments a WHERE a.id = NEW.attachment_id AND (a.owned_by_org IS NOT NULL OR a.owned_by_user IS NOT NULL)
    ON CONFLICT (owner) DO UPDATE SET bytes = storage_use.bytes + excluded.bytes;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER attachment_versions_gone AFTER DELETE ON attachment_versions BEGIN
  UPDATE storage_use SET bytes = bytes - OLD.size WHERE owner = (SELECT CASE WHEN a.owned_by_org IS NOT NULL AND (a.of_lab OR a.owned_by_user IS NULL) THEN 'lab ' || a.owned_by_org WHEN a.owned_by_user IS NOT NULL THEN 'user ' || a.owned_by_user END FROM attachments a WHERE a.id = OLD.attachment_id);
END;
-- +goose StatementEnd

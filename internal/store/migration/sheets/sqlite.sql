-- +goose StatementBegin
CREATE TRIGGER sheets_made AFTER INSERT ON sheets BEGIN
  INSERT INTO storage_use (owner, bytes) VALUES ('lab ' || NEW.organization_id, NEW.size)
    ON CONFLICT (owner) DO UPDATE SET bytes = storage_use.bytes + excluded.bytes;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER sheets_gone AFTER DELETE ON sheets BEGIN
  UPDATE storage_use SET bytes = bytes - OLD.size WHERE owner = 'lab ' || OLD.organization_id;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION sheet_stored() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF TG_OP = 'DELETE' THEN
    UPDATE storage_use SET bytes = bytes - OLD.size WHERE owner = 'lab ' || OLD.organization_id;
    RETURN NULL;
  END IF;
  INSERT INTO storage_use (owner, bytes) VALUES ('lab ' || NEW.organization_id, NEW.size)
    ON CONFLICT (owner) DO UPDATE SET bytes = storage_use.bytes + excluded.bytes;
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER sheets_stored AFTER INSERT OR DELETE ON sheets FOR EACH ROW EXECUTE FUNCTION sheet_stored();

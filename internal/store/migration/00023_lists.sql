-- +goose Up

-- The requests of a lab, newest first, and those of a lab or a requester by their last change.
CREATE INDEX material_requests_organization ON material_requests (organization_id, id);
CREATE INDEX material_requests_organization_updated ON material_requests (organization_id, updated_at, id);
CREATE INDEX material_requests_requester_updated ON material_requests (requester_id, updated_at, id);
-- Lists of everything, in the orders that they are asked for.
CREATE INDEX organizations_created ON organizations (created_at, id);
CREATE INDEX organizations_updated ON organizations (updated_at, id);
CREATE INDEX attachments_created ON attachments (created_at, id);
CREATE INDEX attachments_updated ON attachments (updated_at, id);
CREATE INDEX attachments_filename ON attachments (filename_sort, id);
DROP INDEX audit_events_at;
CREATE INDEX audit_events_at ON audit_events (at, id);

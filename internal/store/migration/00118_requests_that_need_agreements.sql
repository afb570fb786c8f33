-- +goose Up

-- The requests of a lab that are under way, in their order, whatever was completed before.
CREATE INDEX material_requests_active ON material_requests (organization_id, id) WHERE is_active AND deleted_at IS NULL;

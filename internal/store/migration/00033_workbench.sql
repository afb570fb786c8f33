-- +goose Up

-- The materials of a lab by their title, and the open requests for a material.
CREATE INDEX materials_organization_title ON materials (organization_id, title_sort, id);
CREATE INDEX material_requests_open ON material_requests (material_id) WHERE is_active AND deleted_at IS NULL;

-- +goose Up

-- Questions about materials that people asked a lab without a request, with the answers.
CREATE TABLE inquiries (
  id {id},
  material_id {ref} NOT NULL REFERENCES materials (id),
  organization_id {ref} NOT NULL REFERENCES organizations (id), -- the lab of the material
  user_id {uuid} NOT NULL REFERENCES users (id),
  question TEXT NOT NULL,
  created_at {time} NOT NULL,
  answer TEXT NOT NULL, -- '': not answered
  answered_by {uuid} REFERENCES users (id),
  answered_at {time},
  request_id {ref} REFERENCES material_requests (id) -- that was made because of it
);
CREATE INDEX inquiries_organization ON inquiries (organization_id, id);
CREATE INDEX inquiries_open ON inquiries (organization_id) WHERE answered_at IS NULL;
CREATE INDEX inquiries_user ON inquiries (user_id, id);
CREATE INDEX inquiries_material ON inquiries (material_id);
CREATE UNIQUE INDEX inquiries_request ON inquiries (request_id) WHERE request_id IS NOT NULL;

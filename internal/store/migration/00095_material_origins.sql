-- +goose Up

-- What labs stated about where their materials came from. A material that its lab made has one row with the relation ''.
CREATE TABLE material_origins (
  id {id},
  material_id {ref} NOT NULL REFERENCES materials (id),
  relation {word} NOT NULL,
  from_material {ref} REFERENCES materials (id),
  request {ref} REFERENCES material_requests (id), -- by which it was received; NULL: it was not
  created_at {time} NOT NULL
);
CREATE INDEX material_origins_material ON material_origins (material_id, id);

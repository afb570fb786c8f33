-- +goose Up

-- Materials that a person means to request, the latest added last.
CREATE TABLE basket_items (
  user_id {uuid} NOT NULL REFERENCES users (id),
  material_id {ref} NOT NULL REFERENCES materials (id),
  added_at {time} NOT NULL,
  PRIMARY KEY (user_id, material_id)
);

-- Requests of one person that were sent in one step, to one lab, are a group.
CREATE TABLE request_groups (
  id {id},
  requester_id {uuid} NOT NULL REFERENCES users (id),
  created_at {time} NOT NULL
);
ALTER TABLE material_requests ADD COLUMN group_id {ref} REFERENCES request_groups (id); -- NULL: sent alone
CREATE INDEX material_requests_group ON material_requests (group_id, id) WHERE group_id IS NOT NULL;

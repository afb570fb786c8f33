-- +goose Up

-- What requesters state of the purpose of a request, about which terms of data use ask. An empty text is unknown.
CREATE TABLE request_purposes (
  request {ref} PRIMARY KEY REFERENCES material_requests (id),
  biomedical {word} NOT NULL,
  diseases TEXT NOT NULL, -- JSON
  methods {word} NOT NULL,
  ancestry {word} NOT NULL,
  genetic {word} NOT NULL,
  clinical {word} NOT NULL,
  commercial {word} NOT NULL,
  updated_at {time} NOT NULL
);

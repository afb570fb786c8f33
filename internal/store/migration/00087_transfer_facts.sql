-- +goose Up

-- What the lab of a material stated about passing it on, beyond what follows from its category. '' is unknown.
CREATE TABLE transfer_facts (
  material_id {ref} PRIMARY KEY REFERENCES materials (id),
  human_derived {word} NOT NULL,
  consent_allows {word} NOT NULL,
  live_animal {word} NOT NULL,
  genetically_modified {word} NOT NULL,
  bsl {word} NOT NULL,
  select_agent {word} NOT NULL,
  plant_genetic_resource {word} NOT NULL,
  origin_country {word} NOT NULL,
  accessed_on {word} NOT NULL,
  export_class {word} NOT NULL,
  proprietary {word} NOT NULL,
  for_profit_use {word} NOT NULL,
  encumbrances TEXT NOT NULL, -- JSON; null: unknown
  data_uses TEXT NOT NULL, -- likewise
  updated_at {time} NOT NULL
);

-- +goose Up

-- What a message to a webhook is about, besides the events of requests: agreements.
ALTER TABLE webhook_deliveries ADD COLUMN news_id {ref} REFERENCES news (id);
CREATE UNIQUE INDEX webhook_deliveries_news ON webhook_deliveries (news_id, webhook_id, type);

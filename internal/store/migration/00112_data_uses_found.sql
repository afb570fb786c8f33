-- +goose Up

-- Materials are found by their terms of data use from here on: DB.Migrate indexes those that have some already.
SELECT 1;

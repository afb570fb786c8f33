-- +goose Up

-- What recipients of executed agreements owe by their terms. A date of '' is none.
CREATE TABLE agreement_duties (
  id {id},
  agreement {ref} NOT NULL REFERENCES agreements (id),
  term {word} NOT NULL,
  due_on {word} NOT NULL,
  reminded {ref} NOT NULL, -- the stage of the last reminder; 0: none
  state {word} NOT NULL,
  text TEXT NOT NULL, -- the evidence, or why it was waived
  settled_by {uuid} REFERENCES users (id), -- NULL: it is owed
  settled_at {time},
  created_at {time} NOT NULL,
  updated_at {time} NOT NULL
);
CREATE INDEX agreement_duties_agreement ON agreement_duties (agreement, id);
CREATE INDEX agreement_duties_due ON agreement_duties (due_on, id) WHERE state = 'OWED' AND due_on <> '';

-- When nothing was owed any more after an execution.
ALTER TABLE agreements ADD COLUMN closed_at {time};
CREATE INDEX agreements_not_closed ON agreements (id) WHERE state = 'EXECUTED' AND closed_at IS NULL;

-- +goose Up
-- {id} {ref} {uuid} {time} {word} are filled in by the dialect (dialect.go). JSON is text to SQL.
-- Lists are sorted by {word} columns, letter by letter; x_sort is exchange.SortKey of x.

CREATE TABLE users (
  id {uuid} PRIMARY KEY,
  username {word} NOT NULL UNIQUE,
  first_name TEXT NOT NULL,
  first_name_sort {word} NOT NULL,
  last_name TEXT NOT NULL,
  last_name_sort {word} NOT NULL,
  email TEXT NOT NULL,
  verified_email TEXT NOT NULL,
  registry_id TEXT NOT NULL UNIQUE,
  is_admin BOOLEAN NOT NULL,
  marks {ref} NOT NULL DEFAULT 0, -- grows whenever notifications are marked as read or unread
  created_at {time} NOT NULL,
  updated_at {time} NOT NULL
);

-- What only this installation knows, such as the key of the links in its mail.
CREATE TABLE secrets (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL,
  created_at {time} NOT NULL
);

CREATE TABLE tokens (
  id {id},
  user_id {uuid} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  kind {word} NOT NULL, -- of a program or of a browser
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE, -- hex SHA-256 of the secret
  created_at {time} NOT NULL,
  expires_at {time} NOT NULL,
  used_at {time} NOT NULL -- of a browser: when it was used, to the hour
);
CREATE INDEX tokens_user ON tokens (user_id);

CREATE TABLE organizations (
  id {id},
  name TEXT NOT NULL,
  name_sort {word} NOT NULL,
  description TEXT NOT NULL,
  owner_id {uuid} NOT NULL REFERENCES users (id),
  decide_days INTEGER NOT NULL,
  countersign_days INTEGER NOT NULL,
  ship_days INTEGER NOT NULL,
  created_at {time} NOT NULL,
  updated_at {time} NOT NULL
);
CREATE INDEX organizations_owner ON organizations (owner_id);
CREATE INDEX organizations_name ON organizations (name_sort, id);

-- A membership is at once the specification's organization user settings.
CREATE TABLE memberships (
  id {id},
  organization_id {ref} NOT NULL REFERENCES organizations (id),
  user_id {uuid} NOT NULL REFERENCES users (id),
  new_request_notif BOOLEAN NOT NULL,
  change_in_request_status_notif BOOLEAN NOT NULL,
  request_approval_determined_notif BOOLEAN NOT NULL,
  request_assigned_notif BOOLEAN NOT NULL,
  reminder_notif BOOLEAN NOT NULL,
  created_at {time} NOT NULL,
  updated_at {time} NOT NULL,
  left_at {time},
  UNIQUE (organization_id, user_id)
);
CREATE INDEX memberships_user ON memberships (user_id);

CREATE TABLE invitations (
  id {id},
  organization_id {ref} NOT NULL REFERENCES organizations (id),
  registry_id {word} NOT NULL, -- who is invited: one of the two, the other is empty
  email {word} NOT NULL,
  role {word} NOT NULL,
  invited_by {uuid} NOT NULL REFERENCES users (id),
  status {word} NOT NULL, -- PENDING too when it expired
  round INTEGER NOT NULL, -- how often it was sent
  sent_at {time} NOT NULL,
  created_at {time} NOT NULL,
  expires_at {time} NOT NULL,
  mail TEXT NOT NULL, -- what became of the mail of this round; '': there is none
  answered_by {uuid} REFERENCES users (id),
  answered_at {time}
);
CREATE INDEX invitations_organization ON invitations (organization_id);
CREATE INDEX invitations_inviter ON invitations (invited_by, created_at);
CREATE INDEX invitations_registry ON invitations (registry_id);
CREATE INDEX invitations_email ON invitations (email);

CREATE TABLE join_requests (
  id {id},
  organization_id {ref} NOT NULL REFERENCES organizations (id),
  user_id {uuid} NOT NULL REFERENCES users (id), -- who asks
  note TEXT NOT NULL,
  status {word} NOT NULL,
  reason TEXT NOT NULL,
  created_at {time} NOT NULL,
  answered_at {time}
);
CREATE INDEX join_requests_organization ON join_requests (organization_id);
CREATE INDEX join_requests_user ON join_requests (user_id);
CREATE UNIQUE INDEX join_requests_pending ON join_requests (organization_id, user_id) WHERE status = 'PENDING';

CREATE TABLE shipping_requirements (
  id {id},
  organization_id {ref} NOT NULL REFERENCES organizations (id),
  needs_shipping_address BOOLEAN NOT NULL,
  needs_payment BOOLEAN NOT NULL,
  accepts_shipping_code BOOLEAN NOT NULL,
  accepts_reimbursement BOOLEAN NOT NULL,
  accepts_other_payment_methods BOOLEAN NOT NULL,
  accepted_payment_details TEXT NOT NULL,
  restrictions TEXT NOT NULL,
  created_at {time} NOT NULL,
  updated_at {time} NOT NULL
);
CREATE INDEX shipping_requirements_organization ON shipping_requirements (organization_id);

CREATE TABLE addresses (
  id {id},
  user_id {uuid} NOT NULL REFERENCES users (id),
  name TEXT NOT NULL,
  name_sort {word} NOT NULL,
  institution TEXT NOT NULL,
  institution_sort {word} NOT NULL,
  address_line_1 TEXT NOT NULL,
  address_line_2 TEXT NOT NULL,
  locality TEXT NOT NULL,
  state TEXT NOT NULL,
  country TEXT NOT NULL,
  country_sort {word} NOT NULL,
  postal_code TEXT NOT NULL,
  saved_for_reuse BOOLEAN NOT NULL,
  created_at {time} NOT NULL,
  updated_at {time} NOT NULL
);
CREATE INDEX addresses_user ON addresses (user_id);

CREATE TABLE materials (
  id {id},
  organization_id {ref} NOT NULL REFERENCES organizations (id),
  category {word} NOT NULL,
  reference {word}, -- the lab's own
  title TEXT NOT NULL,
  title_sort {word} NOT NULL,
  url TEXT NOT NULL,
  pubmed_id TEXT NOT NULL,
  additional_metadata TEXT NOT NULL,
  needs_mta BOOLEAN NOT NULL,
  needs_irb BOOLEAN NOT NULL,
  needs_abstract BOOLEAN NOT NULL,
  mta_attachment_id {ref},
  shipping_requirements_id {ref} REFERENCES shipping_requirements (id),
  imported BOOLEAN NOT NULL,
  import_source TEXT NOT NULL,
  import_identifier TEXT,
  organisms TEXT NOT NULL,
  publication_title TEXT,
  pre_print_doi TEXT,
  pre_print_title TEXT,
  citation TEXT,
  additional_info TEXT,
  embargo_date {word},
  contact_user_id {uuid} NOT NULL REFERENCES users (id),
  is_archived BOOLEAN NOT NULL,
  listed_in {ref} NOT NULL DEFAULT 0, -- the epoch of search_epochs in which it was listed, or came back from the archive
  opened_in {ref} NOT NULL DEFAULT 0, -- the same, or that of a later change which ended its embargo
  created_at {time} NOT NULL,
  updated_at {time} NOT NULL
);
CREATE INDEX materials_organization ON materials (organization_id, id);
CREATE INDEX materials_category ON materials (category, id);
CREATE INDEX materials_offered ON materials (category, organization_id, is_archived, embargo_date); -- all that counting them reads
CREATE INDEX materials_title ON materials (title_sort, id);
CREATE INDEX materials_created ON materials (created_at, id);
CREATE INDEX materials_updated ON materials (updated_at, id);
CREATE INDEX materials_embargo ON materials (embargo_date) WHERE embargo_date IS NOT NULL;
CREATE INDEX materials_mta_attachment ON materials (mta_attachment_id);
-- The duplicate rule: this index decides, not a read before the write.
CREATE UNIQUE INDEX materials_import ON materials (import_source, import_identifier);
CREATE UNIQUE INDEX materials_reference ON materials (reference, organization_id);

CREATE TABLE grants (
  id {id},
  user_id {uuid} NOT NULL REFERENCES users (id),
  title TEXT NOT NULL,
  title_sort {word} NOT NULL,
  funder_id TEXT NOT NULL,
  funder_id_sort {word} NOT NULL,
  created_at {time} NOT NULL,
  updated_at {time} NOT NULL
);
CREATE INDEX grants_user ON grants (user_id);

CREATE TABLE grant_materials (
  grant_id {ref} NOT NULL REFERENCES grants (id),
  material_id {ref} NOT NULL REFERENCES materials (id),
  created_at {time} NOT NULL,
  PRIMARY KEY (grant_id, material_id)
);
CREATE INDEX grant_materials_material ON grant_materials (material_id);

-- Links by which a funder reads the report of a grant; the key in them is made of the id and our secret.
CREATE TABLE grant_links (
  id {id},
  grant_id {ref} NOT NULL REFERENCES grants (id),
  note TEXT NOT NULL, -- for whom it is
  created_at {time} NOT NULL,
  expires_at {time} NOT NULL,
  revoked_at {time}
);
CREATE INDEX grant_links_grant ON grant_links (grant_id, id);

CREATE TABLE attachments (
  id {id},
  filename TEXT NOT NULL,
  filename_sort {word} NOT NULL,
  description TEXT NOT NULL,
  owned_by_org {ref} REFERENCES organizations (id),
  owned_by_user {uuid} REFERENCES users (id),
  sequence_map_for {ref} REFERENCES materials (id),
  content_key TEXT UNIQUE, -- where the files room keeps the bytes
  size {ref},
  sha256 TEXT,
  media_type {word},
  storage_resource_deleted BOOLEAN NOT NULL,
  deleted_at {time},
  created_at {time} NOT NULL,
  updated_at {time} NOT NULL
);
CREATE INDEX attachments_org ON attachments (owned_by_org);
CREATE INDEX attachments_user ON attachments (owned_by_user);
CREATE INDEX attachments_material ON attachments (sequence_map_for);
CREATE INDEX attachments_deleted ON attachments (deleted_at);

CREATE TABLE material_requests (
  id {id},
  material_id {ref} NOT NULL REFERENCES materials (id),
  requester_id {uuid} NOT NULL REFERENCES users (id),
  assigned_to {uuid} NOT NULL REFERENCES users (id),
  status {word} NOT NULL,
  is_active BOOLEAN NOT NULL,
  quantity TEXT NOT NULL,
  note TEXT NOT NULL,
  requester_abstract TEXT NOT NULL,
  address TEXT, -- JSON: the address as it was when sent
  payment_method TEXT NOT NULL,
  payment_method_notes TEXT NOT NULL,
  rejection_reason TEXT NOT NULL,
  override_reason TEXT NOT NULL,
  correction TEXT NOT NULL,
  carrier TEXT,
  tracking TEXT,
  conditions TEXT,
  sent_at {time},
  open_issues INTEGER NOT NULL,
  put_back BOOLEAN NOT NULL,
  organization_id {ref} NOT NULL REFERENCES organizations (id), -- that of the material
  party {word} NOT NULL, -- whose turn it is; '': nobody's
  step {word} NOT NULL, -- what that side is to do first
  waiting_since {time} NOT NULL,
  reminded INTEGER NOT NULL, -- the day of this turn on which its side was reminded last; 0: not yet
  escalates BOOLEAN NOT NULL, -- it is the lab's turn, of which its owner was not told yet
  snoozed_until {time},
  clock TEXT NOT NULL, -- JSON: request_turns summed up until the present one
  last_seq {ref} NOT NULL, -- of its events, with the hash of the last one
  last_hash TEXT NOT NULL,
  deleted_at {time},
  created_at {time} NOT NULL,
  updated_at {time} NOT NULL
);
CREATE INDEX material_requests_material ON material_requests (material_id, id, created_at, deleted_at); -- also how often each was asked for, of it alone
CREATE INDEX material_requests_requester ON material_requests (requester_id, id);
CREATE INDEX material_requests_assigned ON material_requests (assigned_to, id);
CREATE INDEX material_requests_status ON material_requests (status, id);
CREATE INDEX material_requests_updated ON material_requests (updated_at, id);
CREATE INDEX material_requests_reminded ON material_requests (reminded, waiting_since, id) WHERE is_active AND deleted_at IS NULL;
CREATE INDEX material_requests_escalates ON material_requests (waiting_since, id) WHERE escalates AND is_active AND deleted_at IS NULL;
-- The inbox: what waits on whom, and how much of it there is, is read of these alone, for which SQLite wants all columns in them.
CREATE INDEX material_requests_asked ON material_requests (requester_id, party, waiting_since, id, organization_id, assigned_to, status, deleted_at) WHERE deleted_at IS NULL;
CREATE INDEX material_requests_lab ON material_requests (organization_id, party, waiting_since, id, requester_id, assigned_to, status, deleted_at) WHERE deleted_at IS NULL;
CREATE INDEX material_requests_mine ON material_requests (assigned_to, party, waiting_since, id, organization_id, status, deleted_at) WHERE deleted_at IS NULL;
CREATE INDEX material_requests_waiting ON material_requests (waiting_since, id) WHERE party <> '';

-- Whose turn it was in a request, and where it stood; each ends when the next begins.
CREATE TABLE request_turns (
  id {id},
  request_id {ref} NOT NULL REFERENCES material_requests (id),
  seq {ref} NOT NULL,
  status {word} NOT NULL,
  party {word} NOT NULL, -- '': nobody's turn
  what TEXT NOT NULL, -- JSON
  began_at {time} NOT NULL,
  organization_id {ref} REFERENCES organizations (id), -- in whose insights it counts; NULL: of a deleted request
  UNIQUE (request_id, seq)
);
CREATE INDEX request_turns_organization ON request_turns (organization_id, began_at, request_id);

-- What insights tell of each day that is over; until which day that is kept says insight_marks.
CREATE TABLE insight_days (
  organization_id {ref} NOT NULL REFERENCES organizations (id),
  day {word} NOT NULL,
  category {word} NOT NULL, -- of the materials
  more_new INTEGER NOT NULL, -- how many more requests stood new, and in progress, at its end than at its beginning
  more_progress INTEGER NOT NULL,
  figures TEXT NOT NULL, -- JSON
  PRIMARY KEY (organization_id, day, category)
);
CREATE TABLE insight_marks (
  organization_id {ref} PRIMARY KEY REFERENCES organizations (id),
  until_day {word} NOT NULL -- '': no day is kept
);

CREATE TABLE request_documents (
  id {id},
  request_id {ref} NOT NULL REFERENCES material_requests (id),
  slot TEXT NOT NULL,
  attachment_id {ref} NOT NULL REFERENCES attachments (id),
  state TEXT NOT NULL,
  reason TEXT NOT NULL,
  added_by {uuid} NOT NULL REFERENCES users (id),
  added_at {time} NOT NULL,
  reviewed_at {time}
);
CREATE INDEX request_documents_request ON request_documents (request_id);
CREATE INDEX request_documents_attachment ON request_documents (attachment_id);

CREATE TABLE request_issues (
  id {id},
  request_id {ref} NOT NULL REFERENCES material_requests (id),
  text TEXT NOT NULL,
  opened_by {uuid} NOT NULL REFERENCES users (id),
  opened_at {time} NOT NULL,
  closed_at {time}
);
CREATE INDEX request_issues_request ON request_issues (request_id);

CREATE TABLE request_events (
  id {id},
  request_id {ref} NOT NULL REFERENCES material_requests (id),
  seq {ref} NOT NULL,
  kind {word} NOT NULL,
  actor_id {uuid} REFERENCES users (id), -- NULL: Aliquot itself
  at {time} NOT NULL,
  detail TEXT NOT NULL,
  prev_hash TEXT NOT NULL,
  hash TEXT NOT NULL,
  material_id {ref} NOT NULL REFERENCES materials (id), -- that of the request
  organization_id {ref} REFERENCES organizations (id), -- in whose feed it stands; NULL: of a deleted request
  UNIQUE (request_id, seq)
);
CREATE INDEX request_events_organization ON request_events (organization_id, id);
CREATE INDEX request_events_material ON request_events (organization_id, material_id, id);
CREATE INDEX request_events_kind ON request_events (organization_id, kind, id);
CREATE INDEX request_events_actor ON request_events (organization_id, actor_id, id);
CREATE INDEX request_events_at ON request_events (organization_id, at, id);

-- What happened outside of requests and people are told of.
CREATE TABLE news (
  id {id},
  kind {word} NOT NULL,
  actor_id {uuid} REFERENCES users (id), -- NULL: Aliquot itself
  organization_id {ref} REFERENCES organizations (id), -- NULL: of none
  at {time} NOT NULL,
  detail TEXT NOT NULL -- JSON
);

CREATE TABLE notifications (
  id {id},
  user_id {uuid} NOT NULL REFERENCES users (id),
  event_id {ref} REFERENCES request_events (id), -- what it tells of: one of the two
  news_id {ref} REFERENCES news (id),
  category {word} NOT NULL,
  created_at {time} NOT NULL,
  read_at {time},
  mail {word} NOT NULL, -- what became of the mail about it
  UNIQUE (user_id, event_id), -- one message per person and event
  UNIQUE (user_id, news_id),
  CHECK ((event_id IS NULL) <> (news_id IS NULL))
);
CREATE INDEX notifications_user ON notifications (user_id, id);
CREATE INDEX notifications_unread ON notifications (user_id, id) WHERE read_at IS NULL;
CREATE INDEX notifications_mail ON notifications (event_id) WHERE mail = 'NEW';
CREATE INDEX notifications_news ON notifications (news_id) WHERE mail = 'NEW';
CREATE INDEX notifications_failed ON notifications (id) WHERE mail IN ('REFUSED', 'IN_DOUBT');
CREATE INDEX notifications_digest ON notifications (user_id, id) WHERE mail = 'DIGEST';

-- How a person wants mail; who has no row wants it at once.
CREATE TABLE mail_settings (
  user_id {uuid} PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  delivery {word} NOT NULL,
  time_zone TEXT NOT NULL,
  quiet_from INTEGER, -- minutes of the day; both or neither
  quiet_until INTEGER,
  digest_at INTEGER NOT NULL, -- minutes of the day
  digest_day INTEGER NOT NULL, -- 0: Sunday
  muted TEXT NOT NULL, -- JSON: categories
  refused_address TEXT NOT NULL, -- '': none
  refused_reason TEXT NOT NULL,
  refused_at {time},
  updated_at {time} NOT NULL
);

CREATE TABLE audit_events (
  id {id},
  actor_id {uuid}, -- NULL: anonymous, or the operator at the machine
  action {word} NOT NULL,
  object {word} NOT NULL, -- what it was done to, as "material 7"
  as_admin BOOLEAN NOT NULL,
  at {time} NOT NULL,
  version {ref}, -- 1, 2, 3, ... of a change of a material or an organization
  state TEXT NOT NULL, -- JSON: the object as it was afterwards
  UNIQUE (object, version)
);
CREATE INDEX audit_events_actor ON audit_events (actor_id);

-- The answers of calls with Idempotency-Key; a row is claimed before its call runs.
CREATE TABLE idempotency_keys (
  caller TEXT NOT NULL,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL, -- hex SHA-256 of what was sent
  status INTEGER NOT NULL, -- of the answer
  headers TEXT NOT NULL, -- JSON
  body TEXT NOT NULL,
  created_at {time} NOT NULL,
  PRIMARY KEY (caller, key)
);
CREATE INDEX idempotency_keys_created ON idempotency_keys (created_at);

-- Work behind the scenes; the queue is the rows that have a due_at.
CREATE TABLE jobs (
  id {id},
  kind TEXT NOT NULL,
  key TEXT, -- of what there is one of its kind at most
  user_id {uuid} REFERENCES users (id), -- who asked for it; NULL: Aliquot itself
  args TEXT NOT NULL, -- JSON
  state TEXT NOT NULL,
  due_at {time}, -- READY: when it may run; RUNNING: when its lease ends; NULL: it is over
  lease {ref} NOT NULL, -- how often it was taken; only the last one who took it may change it
  failures INTEGER NOT NULL, -- since the last step that it got done
  error TEXT NOT NULL,
  done {ref} NOT NULL,
  total {ref} NOT NULL, -- 0: nobody knows yet
  note TEXT NOT NULL,
  checkpoint TEXT, -- JSON: where the next run goes on
  result TEXT, -- JSON
  created_at {time} NOT NULL,
  ended_at {time},
  UNIQUE (kind, key)
);
CREATE INDEX jobs_due ON jobs (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX jobs_ended ON jobs (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX jobs_user ON jobs (user_id);

-- Spreadsheets of materials on their way in; each is a job.
CREATE TABLE bulks (
  job_id {ref} PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
  organization_id {ref} NOT NULL REFERENCES organizations (id),
  content_key TEXT NOT NULL, -- where the files room keeps the spreadsheet
  stored BOOLEAN NOT NULL -- whether the parts say what was done, not what would be
);
CREATE INDEX bulks_content ON bulks (content_key);

-- What came of the rows of a spreadsheet, some hundred rows in each part.
CREATE TABLE bulk_parts (
  job_id {ref} NOT NULL REFERENCES bulks (job_id) ON DELETE CASCADE,
  first_row {ref} NOT NULL,
  outcomes TEXT NOT NULL, -- JSON
  PRIMARY KEY (job_id, first_row)
);

-- The headers that a lab uses in its spreadsheets.
CREATE TABLE column_mappings (
  organization_id {ref} NOT NULL REFERENCES organizations (id),
  header {word} NOT NULL, -- folded
  target TEXT NOT NULL, -- a column, or '' for one that is left out
  PRIMARY KEY (organization_id, header)
);

-- Web addresses that are told of the events of an organization's requests.
CREATE TABLE webhooks (
  id {id},
  organization_id {ref} NOT NULL REFERENCES organizations (id),
  url TEXT NOT NULL,
  description TEXT NOT NULL,
  events TEXT NOT NULL, -- JSON: the types that it is told of; null: all
  secret TEXT NOT NULL,
  old_secret TEXT NOT NULL, -- signs too until old_until
  old_until {time},
  enabled BOOLEAN NOT NULL,
  off_reason TEXT NOT NULL,
  off_at {time},
  failing_since {time},
  created_at {time} NOT NULL,
  updated_at {time} NOT NULL
);
CREATE INDEX webhooks_organization ON webhooks (organization_id, id);

-- One message to one webhook.
CREATE TABLE webhook_deliveries (
  id {id},
  webhook_id {ref} NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
  event_id {ref} REFERENCES request_events (id), -- NULL: a ping
  message_id TEXT NOT NULL,
  type {word} NOT NULL,
  payload TEXT NOT NULL, -- JSON: the bytes that are sent
  state {word} NOT NULL,
  round {ref} NOT NULL, -- how often it was sent again by hand
  tries INTEGER NOT NULL, -- in this round
  status INTEGER, -- of the last answer
  error TEXT NOT NULL,
  next_at {time},
  created_at {time} NOT NULL,
  ended_at {time},
  UNIQUE (webhook_id, event_id)
);
CREATE INDEX webhook_deliveries_webhook ON webhook_deliveries (webhook_id, id);
CREATE INDEX webhook_deliveries_event ON webhook_deliveries (event_id);
CREATE INDEX webhook_deliveries_created ON webhook_deliveries (created_at);

CREATE TABLE webhook_attempts (
  id {id},
  delivery_id {ref} NOT NULL REFERENCES webhook_deliveries (id) ON DELETE CASCADE,
  at {time} NOT NULL,
  took {ref} NOT NULL, -- microseconds
  status INTEGER, -- NULL: no answer came
  error TEXT NOT NULL, -- '': it was taken
  excerpt TEXT NOT NULL
);
CREATE INDEX webhook_attempts_delivery ON webhook_attempts (delivery_id, id);

-- Searches that people keep.
CREATE TABLE saved_searches (
  id {id},
  user_id {uuid} NOT NULL REFERENCES users (id),
  name TEXT NOT NULL,
  name_sort {word} NOT NULL,
  search TEXT NOT NULL,
  filters TEXT NOT NULL, -- JSON
  alerts BOOLEAN NOT NULL,
  since_epoch {ref} NOT NULL, -- what is new to it: exchange.Beginning
  since_day {word} NOT NULL,
  created_at {time} NOT NULL,
  updated_at {time} NOT NULL
);
CREATE INDEX saved_searches_user ON saved_searches (user_id, id);
CREATE INDEX saved_searches_alerts ON saved_searches (id) WHERE alerts;

-- Forms as people left them.
CREATE TABLE drafts (
  user_id {uuid} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  key {word} NOT NULL,
  title TEXT NOT NULL,
  form TEXT NOT NULL, -- JSON: name -> values
  updated_at {time} NOT NULL,
  PRIMARY KEY (user_id, key)
);

-- One row, whose epoch begins whenever someone saves a search. Whoever saves materials holds it until
-- commit, so that each of them is there before the next epoch begins, or belongs to it.
CREATE TABLE search_epochs (epoch {ref} NOT NULL);
INSERT INTO search_epochs (epoch) VALUES (0);

-- Materials that alerts have to look at: they were saved, or their embargo ended.
CREATE TABLE material_changes (
  id {id},
  material_id {ref} NOT NULL REFERENCES materials (id)
);

-- One row: up to which day alerts know of embargoes that ended.
CREATE TABLE embargo_days (day {word} NOT NULL);
INSERT INTO embargo_days (day) VALUES ('');

-- What was new in a saved search; nobody is told of a material twice.
CREATE TABLE search_matches (
  saved_search_id {ref} NOT NULL REFERENCES saved_searches (id) ON DELETE CASCADE,
  material_id {ref} NOT NULL REFERENCES materials (id),
  told BOOLEAN NOT NULL,
  PRIMARY KEY (saved_search_id, material_id)
);
CREATE INDEX search_matches_untold ON search_matches (saved_search_id, material_id) WHERE NOT told;

-- What things are found by (index.go). The words themselves lie where each database looks for them:
-- fulltext/ has the statements that differ. rank is the order in which hits are gone through.
CREATE TABLE material_index (
  rank {ref} PRIMARY KEY,
  id {ref} NOT NULL UNIQUE REFERENCES materials (id),
  organization_id {ref} NOT NULL,
  visible_from {word} NOT NULL, -- the embargo date; '': always
  facets TEXT NOT NULL, -- lines of name=value
  weights TEXT NOT NULL, -- words.Doc.Weights
  digest TEXT NOT NULL -- of all that the index has of it
);

CREATE TABLE organization_index (
  rank {ref} PRIMARY KEY,
  id {ref} NOT NULL UNIQUE REFERENCES organizations (id),
  facets TEXT NOT NULL,
  weights TEXT NOT NULL,
  digest TEXT NOT NULL
);

CREATE TABLE user_index (
  rank {ref} PRIMARY KEY,
  id {uuid} NOT NULL UNIQUE REFERENCES users (id),
  facets TEXT NOT NULL,
  weights TEXT NOT NULL,
  digest TEXT NOT NULL
);

-- The words of titles and names of materials, as spelt, which a mistyped word is compared to.
CREATE TABLE search_words (
  word {word} PRIMARY KEY
);

{fulltext}

package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"aliquot/internal/agreement/approval"
	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/exchange/field"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/record"
)

// recordedTable is a table of which every change is recorded in the chain of the object that the row is, or is a part
// of. Columns are separated by spaces; each column of the table is in one of the lists.
type recordedTable struct {
	object  string // the kind of object; with the value of the column key it is the name of its chain
	key     string
	part    string // what the row is of the object; "": the object itself
	partKey string // the column that tells parts from each other

	clear    string
	bools    string
	times    string
	personal string // personal and free texts, which can be erased
	content  string // the column with the id of an attachment, whose SHA-256 and size are recorded
	left     string // not recorded, for the reason in the comment above
}

// recordedTables are the tables of all that changes what anyone may do, or what a material, a request or a document
// is. The columns that are left out everywhere: keys of sorting, and when a row was changed, which the event says.
var recordedTables = map[string]recordedTable{
	// marks and what follows count what was read
	"users": {object: "user", key: "id", clear: "erase_asked_by", bools: "is_admin",
		times:    "created_at closed_at erase_asked_at erase_due_at erased_at",
		personal: "username first_name last_name email verified_email registry_id erase_reason",
		left:     "first_name_sort last_name_sort marks updated_at"},
	// when a token or a sign-in was used changes with each use
	"tokens": {object: "token", key: "id", clear: "user_id kind hash scope organization_id issuer",
		times: "created_at expires_at", personal: "name", left: "used_at"},
	"sign_ins": {object: "user", key: "user_id", part: "sign_in", partKey: "id", clear: "issuer",
		times: "created_at", personal: "subject", left: "used_at"},
	"passkeys": {object: "user", key: "user_id", part: "passkey", partKey: "id", clear: "credential_id public_key",
		times: "signed_in_at created_at removed_at", personal: "name identified"},
	"organizations": withFields(recordedTable{object: "organization", key: "id",
		clear: "owner_id decide_days countersign_days ship_days public_metadata_keys signs_ahead_until " +
			"signs_ahead_since signs_ahead_by", times: "created_at",
		personal: "name description", left: "name_sort updated_at"}, lab.Fields),
	// which mail somebody wants changes no right
	"memberships": {object: "membership", key: "id", clear: "organization_id user_id", times: "created_at left_at",
		left: "new_request_notif change_in_request_status_notif request_approval_determined_notif " +
			"request_assigned_notif reminder_notif updated_at"},
	// the state of a mail is not a right
	"invitations": {object: "invitation", key: "id", clear: "organization_id role invited_by status round answered_by",
		times: "sent_at created_at expires_at answered_at", personal: "registry_id email", left: "mail"},
	"join_requests": {object: "join_request", key: "id", clear: "organization_id user_id status",
		times: "created_at answered_at", personal: "note reason"},
	"shipping_requirements": withFields(recordedTable{object: "shipping_requirement", key: "id",
		clear: "organization_id", times: "created_at", bools: "needs_shipping_address needs_payment " +
			"accepts_shipping_code accepts_reimbursement accepts_other_payment_methods",
		personal: "accepted_payment_details restrictions", left: "updated_at"}, lab.ShippingFields),
	// what searches count, and where an import stands
	"materials": withFields(recordedTable{object: "material", key: "id",
		clear: "organization_id category reference title url pubmed_id mta_attachment_id " +
			"shipping_requirements_id import_source import_identifier organisms publication_title pre_print_doi " +
			"pre_print_title embargo_date contact_user_id",
		bools: "needs_mta needs_irb needs_abstract imported is_archived", times: "created_at",
		personal: "additional_metadata citation additional_info",
		left:     "title_sort listed_in opened_in staged_in listed_by updated_at"}, material.Descriptors),
	"transfer_facts": withFields(recordedTable{object: "material", key: "material_id", part: "transfer_facts",
		partKey: "material_id", clear: "human_derived consent_allows live_animal genetically_modified bsl " +
			"select_agent plant_genetic_resource origin_country accessed_on export_class proprietary for_profit_use",
		personal: "encumbrances data_uses", left: "updated_at"}, requirement.FactFields),
	"material_origins": {object: "material", key: "material_id", part: "origin", partKey: "id",
		clear: "relation from_material request", times: "created_at"},
	"material_moves": {object: "material", key: "material_id", part: "move", partKey: "id",
		clear: "from_organization_id version", times: "moved_at"},
	"grants": {object: "grant", key: "id", clear: "user_id", times: "created_at",
		personal: "title funder_id", left: "title_sort funder_id_sort updated_at"},
	"grant_materials": {object: "grant", key: "grant_id", part: "material", partKey: "material_id",
		times: "created_at"},
	"grant_links": {object: "grant", key: "grant_id", part: "link", partKey: "id", times: "created_at expires_at " +
		"revoked_at", personal: "note"},
	"attachments": {object: "attachment", key: "id", clear: "owned_by_org owned_by_user sequence_map_for content_key " +
		"size sha256 media_type version scan scan_found", bools: "storage_resource_deleted of_lab",
		times:    "deleted_at created_at",
		personal: "filename description", left: "filename_sort updated_at"},
	"attachment_versions": {object: "attachment", key: "attachment_id", part: "version", partKey: "version",
		clear: "content_key size sha256 media_type replaced_by scan scan_found", times: "replaced_at",
		personal: "filename",
		left:     "id"},
	// what follows from the turns, which verify recomputes from the events
	"material_requests": {object: "request", key: "id", clear: "material_id requester_id assigned_to status " +
		"payment_method carrier open_issues organization_id party step last_seq last_hash mta_attachment_id " +
		"mta_version group_id", bools: "is_active put_back",
		times: "sent_at waiting_since snoozed_until deleted_at created_at",
		personal: "quantity note requester_abstract address payment_method_notes rejection_reason override_reason " +
			"correction tracking conditions", left: "reminded escalates clock updated_at"},
	"request_documents": {object: "request", key: "request_id", part: "document", partKey: "id",
		clear: "slot attachment_id state added_by", times: "added_at reviewed_at", personal: "reason",
		content: "attachment_id"},
	"request_permits": {object: "request", key: "request", part: "permit", partKey: "permit", clear: "added_by",
		times: "added_at", left: "id"},
	"request_purposes": {object: "request", key: "request", part: "purpose", partKey: "request",
		clear: "biomedical methods ancestry genetic clinical commercial", personal: "diseases", left: "updated_at"},
	"request_issues": {object: "request", key: "request_id", part: "issue", partKey: "id", clear: "opened_by",
		times: "opened_at closed_at", personal: "text"},
	"erased_events": {object: "request", key: "request_id", part: erasedPart, partKey: "seq", clear: hashLeft},
	// the state of its calls, and the secrets, which are sealed
	"webhooks": {object: "webhook", key: "id", clear: "organization_id events", bools: "enabled",
		times: "created_at", personal: "url description",
		left: "secret old_secret old_until off_reason off_at failing_since updated_at"},
	"institutions": withFields(recordedTable{object: "institution", key: "id",
		clear: "ror country kind kind_since mail_domains least_level recheck_days withdrawn made_by",
		times: "created_at", left: "legal_name_sort updated_at"}, party.InstitutionFields),
	"institution_playbooks": {object: "institution", key: "institution", part: "playbook", partKey: "institution",
		clear: "provide accept", times: "changed_at", personal: "clauses"},
	"institution_labs": withFields(ofInstitution("lab", "organization confirmed_by from_day until_day"),
		party.LabFields),
	"affiliations": withFields(ofInstitution("affiliation", "person source from_day until_day"),
		party.AffiliationFields),
	"positions": withFields(ofInstitution("position", "from_day until_day"), party.PositionFields),
	"authorities": withFields(ofInstitution("authority", "position holder direction families categories "+
		"largest_bsl supersedes from_day until_day"), party.AuthorityFields),
	"stand_ins": withFields(ofInstitution("stand_in", "authority person from_day until_day"), party.StandInFields),
	"masters": withFields(ofInstitution("master", "family edition standing counterparty signed_on withdrawn_on "+
		"checked_on"), party.MasterFields),
	"approvals": withFields(ofInstitution("approval", "version direction families categories largest_bsl human "+
		"members counterparties from_day until_day officer signed_on level texts evidence withdrawn_on"),
		approval.Fields),
	"agreements": {object: "agreement", key: "id", clear: "state requester organization scientist provider recipient " +
		"purpose choice basis version attachment made_by", times: "created_at sent_at ended_at closed_at",
		personal: "typed reason", left: "updated_at instrument waits"}, // the last two follow from the other tables
	// what a version says has the names of people; its hash is in clear
	"agreement_versions": {object: "agreement", key: "agreement", part: "version", partKey: "version",
		clear: "sha256 made_by", times: "created_at", personal: "content", left: "id"},
	"agreement_requests": {object: "agreement", key: "agreement", part: "request", partKey: "request", bools: "live",
		left: "id"},
	// when people were reminded is no fact of the duty
	"agreement_duties": {object: "agreement", key: "agreement", part: "duty", partKey: "id",
		clear: "term due_on state settled_by", times: "settled_at created_at", personal: "text",
		left: "reminded updated_at"},
	"agreement_signatures": {object: "agreement", key: "agreement", part: "signature", partKey: "id",
		clear: "version sha256 role signer authority level approval approval_version", times: "signed_at",
		personal: "name title mail position represents evidence"},
	// token and code are hashes of secrets, whose state is no right of anybody before a signature
	"agreement_links": {object: "agreement", key: "agreement", part: "link", partKey: "id",
		clear: "version sha256 role made_by", times: "created_at", personal: "name title mail",
		left: "hash mail_state expires_at used_at codes code_asked_at code_hash code_expires_at code_attempts"},
	"instruments": {object: "instrument", key: "number", clear: "id version sha256", times: "installed_at",
		personal: "file installed_by"},
	// when people were reminded is no fact of the permit
	"permits": withFields(recordedTable{object: "permit", key: "id", clear: "regime from_day until_day materials " +
		"categories institutions document organization institution person", times: "created_at",
		left: "reminded updated_at"}, requirement.PermitFields),
	"log_keys": {object: "log_key", key: "id", clear: "public_key", times: "created_at retired_at"},
}

// ofInstitution is a table of what is registered of institutions.
func ofInstitution(part, inClear string) recordedTable {
	return recordedTable{object: "institution", key: "institution", part: part, partKey: "id", clear: inClear,
		times: "created_at", left: "updated_at"}
}

// An event of a request of which something was erased is a part of the request, by its number, with the hash that it
// has since.
const erasedPart, hashLeft = "erased", "hash_left"

// withFields adds to t the columns of a table of fields that none of its lists names, so that a new field is recorded:
// flags in clear, all others as texts that can be erased.
func withFields[T any](t recordedTable, table []field.Descriptor[T]) recordedTable {
	named := strings.Fields(strings.Join([]string{t.key, t.partKey, t.clear, t.bools, t.times, t.personal, t.left},
		" "))
	for _, d := range table {
		switch column := d.ColumnName(); {
		case d.At == nil || slices.Contains(named, column):
		case d.IsFlag():
			t.bools += " " + column
		default:
			t.personal += " " + column
		}
	}
	return t
}

// Tables whose rows are recorded as events of the chains of objects, with the columns that the recorder reads.
var (
	// The title and the facts of an event are what mail is made of; the organization is that of the request.
	eventColumnsRecorded = []string{"id", "request_id", "seq", "kind", "actor_id", "detail", "hash"}
	// The number of refusals grows with each.
	auditColumnsRecorded = []string{"id", "actor_id", "action", "object", "as_admin", "at", "version", "state",
		"refused"}
	// Who was notified of an event; what they read and what mail they want is theirs.
	notifiedColumns = []string{"event_id", "user_id"}
)

// unrecordedTables are the other tables, with why a change of theirs is not recorded.
var unrecordedTables = map[string]string{
	"paper_checks":       "follow from documents, which are recorded",
	"secrets":            "sealed with the key of the database, which proves itself",
	"addresses":          "a person's own list; a request has the address that was sent, in its own row",
	"request_turns":      "follow from the events of requests; verify compares them",
	"cell_lines":         "a copy of the Cellosaurus",
	"cell_line_keys":     "follow from the copy of the Cellosaurus",
	"insight_days":       "counted from events",
	"insight_marks":      "how far days are counted",
	"news":               "notices of what other rows record",
	"mail_settings":      "a person's own wishes",
	"mail_counts":        "limits of an hour",
	"idempotency_keys":   "responses to calls, kept for a day",
	"jobs":               "what is to be done; what it does is recorded",
	"content_holds":      "what was asked of the bucket, which is asked again at any time",
	"source_calls":       "how outside sources are called, and nothing about anybody",
	"bulks":              "spreadsheets while they are read",
	"bulk_parts":         "spreadsheets while they are read",
	"sheets":             "spreadsheets while they are read",
	"column_mappings":    "how a lab names its columns",
	"webhook_deliveries": "copies of events on their way",
	"webhook_attempts":   "copies of events on their way",
	"saved_searches":     "a person's own list",
	"inbox_views":        "a person's own list",
	"search_matches":     "follow from searches",
	"search_epochs":      "numbers of searches",
	"search_words":       "follows from materials",
	"drafts":             "forms that are not sent",
	"signing_statements": "pending for minutes; what is signed is recorded",
	"inquiries":          "questions before a request; what is agreed is in the request",
	"replies":            "texts that help to write; what is sent is recorded",
	"basket_items":       "what a person means to request",
	"request_groups":     "each of their requests names its group",
	"material_changes":   "what searches are to be told",
	"embargo_days":       "how far embargoes are told",
	"material_index":     "follows from materials",
	"organization_index": "follows from organizations",
	"user_index":         "follows from users",
	"storage_use":        "follows from attachments",
}

// recordedField is a column of a recorded table.
type recordedField struct {
	name string // of the field in the chain
	sql  string
	kind fieldKind
}

type fieldKind int

const (
	isClear fieldKind = iota
	isBool
	isTime
	isPersonal
)

// recordedFields are the fields of the rows of each recorded table.
var recordedFields = func() map[string][]recordedField {
	all := map[string][]recordedField{}
	for name, t := range recordedTables {
		all[name] = t.fields(name)
	}
	return all
}()

// fields lists what is recorded of a row; recordedFields has it ready.
func (t recordedTable) fields(table string) []recordedField {
	var list []recordedField
	for kind, names := range []string{t.clear, t.bools, t.times, t.personal} {
		for _, name := range strings.Fields(names) {
			list = append(list, recordedField{name, name, fieldKind(kind)})
		}
	}
	if t.content != "" {
		for _, name := range []string{"sha256", "size"} {
			list = append(list, recordedField{name, fmt.Sprintf("(SELECT a.%s FROM attachments a WHERE a.id = %s.%s)",
				name, table, t.content), isClear})
		}
	}
	return list
}

// columns are what is read of a row: its key, that of the part, and its fields.
func (t recordedTable) columns(table string) []string {
	list := []string{t.key}
	if t.part != "" {
		list = append(list, t.partKey)
	}
	for _, f := range t.fields(table) {
		list = append(list, f.sql)
	}
	return list
}

// observed are all tables of which transactions collect changes, with the columns that they return.
var observed = func() map[string][]string {
	tables := map[string][]string{"request_events": eventColumnsRecorded, "audit_events": auditColumnsRecorded,
		"notifications": notifiedColumns}
	for name, t := range recordedTables {
		tables[name] = t.columns(name)
	}
	return tables
}()

// read is the row of values that columns names: the key of its object and its fields, without values if there is no
// such row any more.
func (t recordedTable) read(table string, values []any, gone bool) (key string, row record.Row, err error) {
	if key, err = plainText(values[0]); err != nil {
		return "", nil, err
	}
	values = values[1:]
	prefix := ""
	if t.part != "" {
		part, err := plainText(values[0])
		if err != nil {
			return "", nil, err
		}
		prefix, values = t.part+"."+part+".", values[1:]
	}
	row = make(record.Row, len(values))
	for i, f := range recordedFields[table] {
		value := record.Value{None: true}
		if !gone {
			if value, err = f.value(values[i]); err != nil {
				return "", nil, fmt.Errorf("%s.%s: %w", table, f.name, err)
			}
		}
		row[prefix+f.name] = value
	}
	return key, row, nil
}

func (f recordedField) value(v any) (record.Value, error) {
	if v == nil {
		return record.Value{None: true}, nil
	}
	text, err := plainText(v)
	if err != nil {
		return record.Value{}, err
	}
	switch f.kind {
	case isBool:
		text = strconv.FormatBool(text == "1" || text == "true")
	case isTime:
		text, err = timeText(v)
	case isPersonal:
		return record.Value{Text: text, Personal: true}, nil
	}
	return record.Value{Text: text}, err
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// plainText is the same for both databases, but for times and for booleans, which SQLite has as numbers.
func plainText(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case []byte:
		return string(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case bool:
		return strconv.FormatBool(v), nil
	case time.Time:
		return v.UTC().Format(recordedTime), nil
	}
	return "", fmt.Errorf("a value of the type %T", v)
}

const recordedTime = "2006-01-02T15:04:05.000000Z"

// timeText is a time; SQLite returns that of a row that a statement changed as text.
func timeText(v any) (string, error) {
	text, isText := v.(string)
	if !isText {
		return plainText(v)
	}
	at, err := time.Parse("2006-01-02 15:04:05.999999999-07:00", text)
	return at.UTC().Format(recordedTime), err
}

// recordedOf are the names of the tables of an object of a kind, in order.
func recordedOf(object string) (tables []string) {
	for name, t := range recordedTables {
		if t.object == object {
			tables = append(tables, name)
		}
	}
	slices.Sort(tables)
	return tables
}

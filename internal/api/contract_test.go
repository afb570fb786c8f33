package api_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/api"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// The fields of every object, to the letter and no others: the specification's first,
// then those that contract.md adds behind "+". A ? marks what may be null. Of a new field of materials the table of
// descriptors says enough.
var (
	personFields = "id:uuid username:string first_name:string last_name:string created_at:time updated_at:time"
	labFields    = "id:int name:string"

	attachmentFields = `id:int filename:string description:string download_url:string storage_resource_deleted:bool created_at:time
		updated_at:time sequence_map_for:{` + materialFields +
		`}? owned_by_org:int? owned_by_user:uuid? + size:int? sha256:string? media_type:string? version:int scan:string?`
	addressFields = `id:int name:string institution:string address_line_1:string address_line_2:string locality:string state:string
		country:string postal_code:string saved_for_reuse:bool`
	requestFields = `id:int material:int requester:uuid requester_signed_mta_attachment:int? irb_attachment:int? executed_mta_attachment:int?
		is_active:bool status:string assigned_to:uuid + quantity:string note:string requester_abstract:string address:{` + addressFields + ` user:uuid}?
		payment_method:string payment_method_notes:string rejection_reason:string override_reason:string correction:string
		shipment:{carrier:string tracking:string conditions:string sent_at:time?}? open_issues:int
		documents:[{name:string attachment:int state:string reason:string added_by:uuid added_at:time reviewed_at:time?}]
		requirements:[{name:string state:string note:string!}] waiting_on:{party:string what:[string] since:time due:time? reminder_at:time? escalation_at:time? snoozed_until:time?}?
		clock:{requester:int lab:int nobody:int stages:object until:time} mta:{attachment:int version:int download_url:string}? group:int?
		created_at:time updated_at:time`
	materialFields     = "contact_user:{" + personFields + "} " + bareMaterialFields
	bareMaterialFields = withNewFields(material.Descriptors, `id:int category:string reference:string? title:string url:string organization:int pubmed_id:string additional_metadata:object created_at:time updated_at:time mta_attachment:int? needs_mta:bool needs_irb:bool needs_abstract:bool
		imported:bool shipping_requirements:int? import_source:string organisms:[string]? publication_title:string? pre_print_doi:string?
		pre_print_title:string? citation:string? additional_info:string? embargo_date:date? grants:[int] is_archived:bool`)
	grantFields = `id:int title:string funder_id:string user:{` + personFields + `} organizations:[{` +
		grantOrganizationFields + `}]
		materials:[{` + grantMaterialFields + `}] created_at:time updated_at:time`
	grantMaterialFields, grantOrganizationFields = "contact_user:uuid " + bareMaterialFields, "owner:uuid " +
		bareOrganizationFields
	organizationFields     = "owner:{" + personFields + "} " + bareOrganizationFields
	bareOrganizationFields = `id:int name:string members:[{` + personFields +
		`}] created_at:time updated_at:time
		+ description:string decide_days:int countersign_days:int ship_days:int public_metadata_keys:[string]
		signs_ahead_until:date?`
	settingsFields = `id:int new_request_notif:bool change_in_request_status_notif:bool request_approval_determined_notif:bool
		request_assigned_notif:bool reminder_notif:bool user:uuid organization:int created_at:time updated_at:time`
	storageFields      = "used:int quota:int? deleted:int spreadsheets:int largest:[{id:int filename:string bytes:int}]"
	mailSettingsFields = `delivery:string time_zone:string quiet_from:string? quiet_until:string? digest_at:string digest_day:string muted:[string]
		refused:{address:string reason:string at:time}?`
	shippingFields = `id:int needs_shipping_address:bool needs_payment:bool accepts_shipping_code:bool accepts_reimbursement:bool
		accepts_other_payment_methods:bool accepted_payment_details:string restrictions:string organization:int + created_at:time updated_at:time`
	publicUserFields = personFields + " registry_id:string organizations:[{" + labFields + "}]"
	userFields       = publicUserFields + " email:string addresses:[{" + addressFields + " user:uuid}] assignments:[{" +
		requestFields + `}]
		grants:[{id:int title:string funder_id:string}] invitations:[{` + invitationFields + `}] material_requests:[{` +
		requestFields + `}]
		owned_attachments:[{` + attachmentFields + "}] owned_organizations:[{" + labFields + "}]"
	permitFields = "id:int regime:string number:string authority:string country:string from:string? until:string? " +
		"materials:[int] categories:[string] institutions:[int] document:int? organization:int? institution:int? " +
		"person:uuid created_at:time updated_at:time"
	reasonFields       = "rule:string why:string citation:string remedy:string"
	eventFields        = "id:int seq:int kind:string actor:uuid? at:time detail:object prev_hash:string hash:string"
	groupFields        = "id:int requester:uuid requests:[{" + requestFields + "}] created_at:time"
	messageFields      = "id:int request:int sender:uuid text:string sent_at:time"
	issueFields        = "id:int request:int text:string opened_by:uuid opened_at:time closed_at:time?"
	notificationFields = `id:int category:string kind:string text:string request:int? material:int? event:int? organization:int?
		invitation:int? join_request:int? webhook:int? saved_search:int? inquiry:int? agreement:int? permit:int? attachment:int? matches:{count:int materials:[{id:int title:string}]}? actor:{` + personFields + `}? created_at:time read:bool read_at:time? mail:string`
	invitationFields = `id:int name:string organization:int registry_id:string? email:string? invited_by:{` +
		personFields + `} role:string
		status:string created_at:time sent_at:time expires_at:time answered_at:time? mail:string?`
	heldFields = `name:string inviter:string role:string status:string expires_at:time`
	joinFields = `id:int name:string organization:int user:{` + personFields +
		`} note:string status:string reason:string created_at:time
		answered_at:time?`
	inquiryFields = "id:int material:int organization:int user:{" + personFields +
		"} question:string created_at:time answer:string? answered_by:uuid? answered_at:time? request:int?"
	turnFields = "id:int seq:int status:string party:string? what:[string] began_at:time ended_at:time?"
	jobFields  = `id:int kind:string state:string user:uuid? progress:{done:int total:int note:string} result:any error:string? failures:int
		created_at:time due_at:time? ended_at:time?`
	savedSearchFields = `id:int user:uuid name:string search:string filters:object alerts:bool address:string feed:string created_at:time updated_at:time`
	webhookFields     = `id:int organization:int url:string description:string events:[string]? enabled:bool disabled_reason:string? disabled_at:time?
		failing_since:time? old_secret_until:time? created_at:time updated_at:time`
	deliveryFields = `id:int webhook:int event:int? message_id:string type:string state:string tries:int last_status:int? last_error:string?
		next_try_at:time? created_at:time ended_at:time?`
	previewFields = `material:{category:string title:string url:string pubmed_id:string additional_metadata:object imported:bool
		import_source:string organisms:[string]? publication_title:string? citation:string? additional_info:string? embargo_date:date?
		contact_user:uuid} warnings:[string] existing:{organism:[string] ` + grantMaterialFields + "}?"
	publicationFields = `pubmed_id:string! doi:string! publication_title:string! pre_print_doi:string! pre_print_title:string! citation:string`
	highlightFields   = "highlights:object"
	pageFields        = `count:int count_is:string facets:object next:string? previous:string? + approximate:[string] facets_more:object facet_labels:object did_you_mean:string?`
	tokenFields       = "id:int name:string scopes:[string] organization:int? created_at:time expires:expiry"
	signedFields      = "user_id:uuid token:string expires:expiry"
	actFields         = "id:int at:time actor:{" + personFields +
		"}? action:string object:string as_admin:bool version:int? refused:string? times:int"
	stamped           = " created_at:time updated_at:time"
	institutionFields = "id:int legal_name:string aliases:[string] ror:string country:string address:string " +
		"kind:string kind_evidence:string kind_since:date? mailbox:string mail_domains:[string] " +
		"least_level:string recheck_days:int confirmed:bool withdrawn:date?" + stamped
	labOfFields = "id:int institution:int organization:int from:date? until:date? confirmed:bool " +
		"confirmed_by:uuid?" + stamped
	affiliationFields = "id:int institution:int person:uuid source:string confirmed:bool from:date? expires:date?" +
		stamped
	positionFields  = "id:int institution:int title:string from:date? until:date?" + stamped
	authorityFields = "id:int institution:int position:int holder:uuid? name:string title:string mail:string " +
		"direction:string families:[string] categories:[string] human:bool largest_bsl:int delegation:string " +
		"supersedes:int? from:date? until:date?" + stamped
	standInFields = "id:int institution:int authority:int person:uuid? name:string title:string mail:string " +
		"reason:string from:date? until:date?" + stamped
	instrumentFields = "id:string family:string version:string title:string citation:string parties:[string] " +
		"subjects:[string] excludes:[string] purposes:[string] master:string? fixed_text:bool signers:[string] " +
		"least_level:string terms:[string] only_chosen:bool reviewed:bool sha256:string? usable:bool from:date " +
		"until:date? fields:[{name:string source:string}] template:string"
	approvalFields = "id:int institution:int version:int direction:string families:[string] categories:[string] " +
		"largest_bsl:int human:string members:[string] counterparties:[int] from:date? until:date? officer:uuid " +
		"signed_on:date? level:string identified:string texts:[string] evidence:string withdrawn_on:date?" + stamped
	masterFields = "id:int institution:int family:string version:string standing:string counterparty:int? " +
		"signed_on:date? withdrawn_on:date? signer:string evidence:string checked_by:string checked_on:date?" + stamped

	agreementSummaryFields = "id:int number:string state:string instrument:string instrument_version:string version:int " +
		"sha256:string provider:int recipient:int organization:int requester:uuid requests:[int] reason:string " +
		"made_by:uuid created_at:time updated_at:time sent_at:time? ended_at:time? closed_at:time?"
	agreementFields = agreementSummaryFields + " title:string purpose:string choice:string choice_reason:string " +
		"fields:object missing:[{field:string source:string how:string}] because:[{rule:string why:string citation:string}] " +
		"questions:[{material:int fact:string}] findings:[{class:string severity:string where:string message:string}] " +
		"signatures:[{id:int version:int sha256:string role:string signer:uuid? name:string position:string " +
		"authority:int? represents:string level:string signed_at:time evidence:object approval:int? " +
		"approval_version:int?}] unsigned:[string] approvals:[{role:string approval:int? why:[{reason:string text:string}]}] " +
		"conflicts:[{term:string? of:int position:string settled:bool text:string how:string}] precedent:" +
		precedentFields + "? pdf:string"
	precedentFields     = "{agreement:int number:string instrument_version:string category:string times:int executed_at:time}"
	agreementLinkFields = "id:int version:int role:string name:string title:string mail:string mail_state:string " +
		"expires_at:time used_at:time? made_by:uuid created_at:time"
	agreementDutyFields    = "id:int term:string what:string due_on:date? state:string text:string settled_by:uuid? settled_at:time?"
	agreementVersionFields = "id:int version:int sha256:string instrument:string instrument_version:string " +
		"requests:[int] fields:object made_by:uuid? created_at:time"

	versionFields = "version:int at:time actor:{" + personFields +
		"}? action:string as_admin:bool changes:[{field:string old:any new:any}]"
)

// TestAnswers_HaveExactlyTheFieldsOfTheContract looks at every answer with a body.
func TestAnswers_HaveExactlyTheFieldsOfTheContract(t *testing.T) {
	t.Parallel()
	shapes := map[string]string{
		"/openapi.json": "openapi:string info:object servers:[object] tags:[object] paths:object webhooks:object " +
			"components:object",
		"/login": signedFields, "/users": signedFields, "/users/{id}": userFields,
		"/users/{id}/notifications":  notificationFields,
		"POST /users/{id}/addresses": addressFields + " user:uuid", "GET /users/{id}/addresses": addressFields +
			" user:uuid",
		"/users/{id}/addresses/{address}": addressFields + " user:{" + personFields + "}",
		"/organizations":                  organizationFields, "/organizations/{id}": organizationFields,
		"/organizations/{id}/members": personFields, "/organizations/{id}/materials": materialFields,
		"/organizations/{id}/grants": "id:int title:string funder_id:string user:uuid",
		"GET /users/{id}/tokens":     tokenFields + " last_used:time presented:bool",
		"/users/{id}/passkeys": `id:int name:string credential_id:string public_key:string identified:string
			signed_in_at:time created_at:time removed_at:time?`,
		"/users/{id}/passkeys/options":                        "options:object",
		"POST /users/{id}/tokens":                             tokenFields + " token:string",
		"/organizations/{id}/invitations":                     invitationFields,
		"/organizations/{id}/invitations/{invitation}/resend": invitationFields,
		"/invitations":                                        heldFields, "/invitations/accept": invitationFields,
		"/invitations/decline":              invitationFields,
		"/organizations/{id}/join-requests": joinFields, "/users/{id}/join-requests": joinFields,
		"/organizations/{id}/join-requests/{join_request}/accept":  joinFields,
		"/organizations/{id}/join-requests/{join_request}/decline": joinFields,
		"/users/{id}/invitations/{invitation}/accept":              invitationFields,
		"/users/{id}/invitations/{invitation}/decline":             invitationFields,
		"/organizations/{id}/history": versionFields + " state:{" + organizationFields +
			"}",
		"POST /agreements/resolve": `instrument:{id:string family:string version:string title:string citation:string}?
			because:[{` + reasonFields + `}] alternatives:[{instrument:string title:string why_not:[{` + reasonFields + `}]}]
			questions:[string] precedent:` + precedentFields + `? materials:[{material:int
			instrument:{id:string family:string version:string title:string citation:string}?
			because:[{` + reasonFields + `}] questions:[string]}]`,
		"/material-requests/{id}/requirements": `requirements:[{kind:string state:string owed_by:string rule:string
			why:string citation:string permit:int? expired:bool
			limits:[{id:string value:string? label:string forbids:bool asks:[string] questions:[string]}]}] questions:[{fact:string question:string rule:string why:string}]`,
		"/material-requests/{id}/purpose": `biomedical:string diseases:[string] methods:string ancestry:string
			genetic:string clinical:string commercial:string`,
		"/material-requests/{id}/paper-findings": `papers:[{document:string attachment:int state:string problem:string
			checked_at:string? findings:[{class:string severity:string where:string message:string}]}]`,
		"/materials/{id}/lineage": `origins:[{relation:string material:int? request:int?}]?`,
		"/materials/{id}/may-share": `to:int purpose:string verdict:string reasons:[{material:int? agreement:int?
			provider:int? holder:string term:string verdict:string why:string}]`,
		"/materials/{id}/transfer-facts": `human_derived:string consent_allows:string live_animal:string
			genetically_modified:string bsl:string select_agent:string plant_genetic_resource:string
			origin_country:string accessed_on:string? export_class:string proprietary:string for_profit_use:string
			encumbrances:[{holder:string terms:[string] document:string}]? data_uses:[{id:string value:string!}]?
			sources:object`,
		"/materials/{id}/history": versionFields + " state:{" + materialFields + "}",
		"/organizations/{id}/events": eventFields +
			" request:int material:int title:string",
		"/audit-events":                      actFields,
		"/organizations/{id}/materials/bulk": jobFields,
		"/jobs":                              jobFields, "/jobs/{id}": jobFields,
		"/jobs/{id}/cancel":                jobFields,
		"/jobs/{id}/retry":                 jobFields,
		"/jobs/{id}/undo":                  jobFields,
		"GET /organizations/{id}/webhooks": webhookFields, "POST /organizations/{id}/webhooks": webhookFields +
			" secret:string",
		"/organizations/{id}/webhooks/{webhook}":            webhookFields,
		"/organizations/{id}/webhooks/{webhook}/rotate":     webhookFields + " secret:string",
		"/organizations/{id}/webhooks/{webhook}/ping":       deliveryFields,
		"/organizations/{id}/webhooks/{webhook}/deliveries": deliveryFields,
		"/organizations/{id}/webhooks/{webhook}/deliveries/{delivery}": deliveryFields +
			" payload:object attempts:[{at:time took_ms:int status:int? error:string? excerpt:string}]",
		"/organizations/{id}/webhooks/{webhook}/deliveries/{delivery}/redeliver": deliveryFields,
		"/users/{id}/saved-searches": savedSearchFields, "/users/{id}/saved-searches/{saved_search}": savedSearchFields,
		"/users/{id}/erasure": `state:string asked_at:time? asked_by:uuid? reason:string due_at:time? done_at:time?
			first:string stays:string`,
		"/users/{id}/storage": storageFields, "/organizations/{id}/storage": storageFields,
		"/users/{id}/mail-settings": mailSettingsFields, "/users/{id}/mail-settings/retry": mailSettingsFields,
		"/organization-user-settings": settingsFields, "/organization-user-settings/{id}": settingsFields,
		"/shipping-requirements": shippingFields, "/shipping-requirements/{id}": shippingFields,
		"/search/materials":         pageFields + " results:[{" + materialFields + " " + highlightFields + "}]",
		"/search/organizations":     pageFields + " results:[{" + organizationFields + " " + highlightFields + "}]",
		"/search/users":             pageFields + " results:[{" + publicUserFields + "}]",
		"/search/suggest":           "results:[{text:string kind:string id:int}]",
		"/materials/import":         "organism:[string]! " + grantMaterialFields,
		"/materials/import/preview": previewFields, "/materials/imports": jobFields, "/publications": publicationFields,
		"/materials": materialFields, "/materials/{id}": materialFields,
		"/institutions": institutionFields, "/institutions/{id}": institutionFields,
		"POST /institutions/signatories": "dry_run:bool rows:int added:int changed:int unchanged:int institutions:int " +
			"faults:[{row:int column:string text:string}]",
		"/institutions/{id}/labs": labOfFields, "/institutions/{id}/labs/{lab}": labOfFields,
		"/institutions/{id}/affiliations":               affiliationFields,
		"/institutions/{id}/affiliations/{affiliation}": affiliationFields,
		"/institutions/{id}/positions":                  positionFields,
		"/institutions/{id}/positions/{position}":       positionFields,
		"/institutions/{id}/authorities":                authorityFields,
		"/institutions/{id}/authorities/{authority}":    authorityFields,
		"/institutions/{id}/stand-ins":                  standInFields,
		"/institutions/{id}/stand-ins/{stand_in}":       standInFields,
		"/institutions/{id}/approvals":                  approvalFields, "/institutions/{id}/approvals/{approval}": approvalFields,
		"/institutions/{id}/approvals/{approval}/sign":         approvalFields,
		"/institutions/{id}/approvals/{approval}/sign/options": "statement:string options:object",
		"/institutions/{id}/playbook": `institution:int provide:[{categories:[string] counterparties:[int]
			families:[string]}] accept:[string] clauses:[{term:string provide:string receive:string note:string}]
			changed_at:time?`,
		"/institutions/{id}/playbook/conflicts": `institution:int with:int conflicts:[{instrument:string title:string
			provider:int term:string? of:int position:string text:string how:string}]`,
		"/institutions/{id}/masters": masterFields, "/institutions/{id}/masters/{master}": masterFields,
		"/permits": permitFields, "/permits/{id}": permitFields, "/material-requests/{id}/permits": permitFields,
		"GET /agreements": agreementSummaryFields, "GET /agreements/inbox": agreementSummaryFields, "POST /agreements": agreementFields,
		"/agreements/{id}": agreementFields, "GET /agreements/{id}/versions": agreementVersionFields,
		"POST /agreements/{id}/versions": agreementFields, "/agreements/{id}/send": agreementFields,
		"/agreements/{id}/duties":                 "closed_at:time? duties:[{" + agreementDutyFields + "}]",
		"/agreements/{id}/duties/{duty}":          agreementDutyFields,
		"/agreements/{id}/duties/{duty}/evidence": agreementDutyFields,
		"/agreements/{id}/duties/{duty}/waive":    agreementDutyFields,
		"/agreements/{id}/signatures":             agreementFields, "/agreements/{id}/links": agreementLinkFields,
		"/users/{id}/signatures/options": "statement:string options:object", "POST /users/{id}/signatures": "agreements:[{" + agreementSummaryFields + "}]", "/agreements/{id}/decline": agreementFields, "/agreements/{id}/withdraw": agreementFields,
		"/instruments": instrumentFields, "/instruments/{instrument}": instrumentFields,
		"/grants": grantFields, "/grants/{id}": grantFields, "/grants/{id}/materials": grantMaterialFields,
		"/attachments": attachmentFields, "/attachments/{id}": attachmentFields,
		"PUT /uploaded-file/{attachment}/{filename}": attachmentFields,
		"/material-requests":                         requestFields, "/material-requests/{id}": requestFields,
		"/material-requests/{id}/shipment":                    requestFields,
		"/material-requests/{id}/documents/{document}/accept": requestFields,
		"/material-requests/{id}/documents/{document}/return": requestFields,
		"/material-requests/{id}/events":                      eventFields,
		"/material-requests/{id}/messages":                    messageFields,
		"/material-requests/{id}/turns":                       turnFields,
		"/material-requests/{id}/events/{seq}/proof":          "chain:string seq:int hash:string event:string proof:string",
		"/organizations/{id}/inquiries":                       inquiryFields, "/users/{id}/inquiries": inquiryFields,
		"/materials/{id}/inquiries": inquiryFields, "/inquiries/{id}": inquiryFields,
		"/inquiries/{id}/answer":                       inquiryFields,
		"POST /request-groups":                         groupFields + " skipped:[{material:int title:string? error:string error_code:string}]",
		"/request-groups/{id}":                         groupFields,
		"/request-groups/{id}/accept":                  "requests:[{request:int accepted:bool status:string error:string? error_code:string?}]",
		"POST /material-requests/{id}/snooze":          requestFields,
		"/material-requests/{id}/issues":               issueFields,
		"/material-requests/{id}/issues/{issue}/close": issueFields,
	}
	statuses := map[string]int{ // of success, where it is not 200
		"POST /users": 201, "POST /organizations": 201, "POST /shipping-requirements": 201, "POST /materials": 201,
		"POST /materials/imports": 202, "POST /jobs/{id}/undo": 202,
		"POST /institutions": 201, "POST /institutions/{id}/labs": 201, "POST /institutions/{id}/affiliations": 201,
		"POST /institutions/{id}/positions": 201, "POST /institutions/{id}/authorities": 201,
		"POST /institutions/{id}/stand-ins": 201, "POST /institutions/{id}/masters": 201,
		"POST /institutions/{id}/approvals": 201,
		"POST /grants/{id}/materials":       201, "DELETE /grants/{id}/materials/{material}": 204, "POST /attachments": 201,
		"POST /materials/{id}/inquiries": 201,
		"POST /material-requests":        201, "POST /request-groups": 201, "POST /material-requests/{id}/messages": 201,
		"POST /material-requests/{id}/issues": 201, "POST /logout": 204, "POST /users/{id}/notifications/read": 204,
		"PUT /users/{id}/notifications/{notification}": 204, "PATCH /users/{id}/notifications/{notification}": 204,
		"DELETE /users/{id}": 204, "DELETE /users/{id}/erasure": 204, "DELETE /users/{id}/addresses/{address}": 204, "DELETE /materials/{id}": 204,
		"POST /organizations/{id}/invitations": 201, "POST /organizations/{id}/join-requests": 201,
		"DELETE /organizations/{id}/join-requests/{join_request}": 204, "POST /organizations/{id}/materials/bulk": 202,
		"DELETE /organizations/{id}/invitations/{invitation}":                         204,
		"POST /users/{id}/saved-searches":                                             201,
		"DELETE /users/{id}/saved-searches/{saved_search}":                            204,
		"POST /organizations/{id}/webhooks":                                           201,
		"DELETE /organizations/{id}/webhooks/{webhook}":                               204,
		"POST /organizations/{id}/webhooks/{webhook}/ping":                            202,
		"POST /organizations/{id}/webhooks/{webhook}/deliveries/{delivery}/redeliver": 202,
		"POST /users/{id}/tokens":                                                     201,
		"DELETE /users/{id}/tokens":                                                   204,
		"DELETE /users/{id}/tokens/{token}":                                           204,
		"POST /users/{id}/passkeys":                                                   201,
		"DELETE /users/{id}/passkeys/{passkey}":                                       204,
		"POST /agreements":                                                            201,
		"POST /permits":                                                               201,
		"POST /material-requests/{id}/permits":                                        201,
		"DELETE /material-requests/{id}/permits/{permit}":                             204,
		"POST /agreements/{id}/signatures":                                            201,
		"POST /users/{id}/signatures":                                                 201,
		"POST /agreements/{id}/links":                                                 201,
		"DELETE /attachments/{id}":                                                    204,
		"DELETE /material-requests/{id}":                                              204,
		"DELETE /material-requests/{id}/snooze":                                       204,
	}
	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		s.fill()
		for _, c := range visits {
			methods, path := c.methods()
			for _, method := range methods {
				a := c.make(s, c.by).call(s.people[c.by], method)
				want := statuses[method+" "+path]
				if want == 0 {
					want = 200
				}
				if a.Status != want {
					t.Errorf("%s %s: %d, want %d: %s", method, c.route, a.Status, want, a.Raw)
				}
				shape := shapes[method+" "+path]
				if shape == "" {
					shape = shapes[path]
				}
				switch {
				case want == 204 && len(a.Raw) > 0:
					t.Errorf("%s %s: 204 with a body", method, c.route)
				case want != 204 && a.List != nil && len(a.List) == 0:
					t.Errorf("%s %s: an empty list shows nothing", method, c.route)
				case shape == "" && a.Header.Get("Content-Type") == "application/json":
					t.Errorf("%s %s: the test knows no fields", method, c.route)
				}
				for _, object := range append(a.List, any(a.Body)) {
					if m, _ := object.(map[string]any); m != nil {
						mustMatch(t, method+" "+c.route, "{"+shape+"}", m)
					}
				}
			}
		}
		other := s.owner.want(200, "GET", s.user(""), nil)
		mustMatch(t, "a user as others see them", "{"+publicUserFields+"}", any(other.Body))
	})
}

// fill makes one of everything, so that no list and no field stays empty.
func (s *scene) fill() {
	s.t.Helper()
	home := s.newAddress()
	s.requester().want(200, "PATCH", s.req(""),
		obj{"address": home, "payment_method": "OTHER", "requester_abstract": "Why"})
	s.member.want(200, "PATCH", s.req("/shipment"), obj{"sent_at": "2026-03-12T09:40:00+0000"})
	s.requester().want(201, "POST", s.req("/messages"), obj{"text": "Hello"})
	s.member.want(200, "POST", s.req("/documents/requester_signed_mta/return"), obj{"reason": "page 4"})
	s.newIssue()
	s.newGrant()
	s.newInvitation("id-requester")
	s.requester().want(200, "POST", "/grants", obj{"title": "Colon", "funder_id": "R01"})
	s.member.want(200, "PATCH", fmt.Sprintf("/materials/%d", s.material),
		obj{"embargo_date": "2020-01-02", "publication_title": "A",
			"pre_print_doi": "10.1101/2020.05.11.088500", "pre_print_title": "B", "citation": "C",
			"additional_info": "D",
			"pubmed_id":       "32416070",
			"url":             "https://example.org", "mta_attachment_id": s.newAttachment().id()})
	s.owner.want(200, "PATCH", fmt.Sprintf("/attachments/%d", s.newAttachment().id()),
		obj{"sequence_map_for": obj{"id": s.material}})
	s.requester().want(201, "POST", "/attachments", obj{"filename": "x"})
}

var forms = map[string]*regexp.Regexp{
	"uuid":   regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`),
	"time":   regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0000$`),
	"expiry": regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`),
	"date":   regexp.MustCompile(`^\d{4}-\d\d-\d\d$`),
}

// mustMatch fails where a JSON value is not of a type as the constants above write it.
func mustMatch(t testing.TB, where, want string, got any) {
	t.Helper()
	if kind, nullable := strings.CutSuffix(want, "?"); nullable {
		if got == nil {
			return
		}
		want = kind
	}
	if want == "any" {
		return
	}
	ok := false
	switch v := got.(type) {
	case string:
		ok = want == "string" && v != "None" || forms[want] != nil && forms[want].MatchString(v)
	case bool:
		ok = want == "bool"
	case float64:
		ok = want == "int" && v == float64(int64(v))
	case []any:
		if ok = strings.HasPrefix(want, "["); ok {
			for _, item := range v {
				mustMatch(t, where+"[]", want[1:len(want)-1], item)
			}
		}
	case map[string]any:
		if ok = want == "object" || strings.HasPrefix(want, "{"); ok && want != "object" {
			mustHave(t, where, members(want[1:len(want)-1]), v)
		}
	}
	if !ok {
		t.Errorf("%s is %v (%T), want %s", where, got, got, want)
	}
}

// mustHave fails where an object has other members; one whose type ends in ! may be absent.
func mustHave(t testing.TB, where string, want map[string]string, got map[string]any) {
	t.Helper()
	for name, kind := range want {
		kind, optional := strings.CutSuffix(kind, "!")
		if value, there := got[name]; there {
			mustMatch(t, where+"."+name, kind, value)
		} else if !optional {
			t.Errorf("%s.%s is missing", where, name)
		}
	}
	for name := range got {
		if want[name] == "" {
			t.Errorf("%s.%s is not of the contract", where, name)
		}
	}
}

// members splits "a:int b:{c:int d:int}" at the blanks outside of brackets.
func members(fields string) map[string]string {
	list, depth := map[string]string{}, 0
	split := func(r rune) bool {
		depth += strings.Count("{[", string(r)) - strings.Count("}]", string(r))
		return depth == 0 && strings.ContainsRune(" \t\n+", r)
	}
	for _, field := range strings.FieldsFunc(fields, split) {
		name, kind, _ := strings.Cut(field, ":")
		list[name] = kind
	}
	return list
}

// TestRoutes_AnswerAtBothBasesWithAndWithoutASlash compares the four addresses of every route.
func TestRoutes_AnswerAtBothBasesWithAndWithoutASlash(t *testing.T) {
	t.Parallel()
	s := newScene(t, storetest.Open(t, storetest.SQLite), exchange.AccessMembers)
	for _, c := range visits {
		methods, _ := c.methods()
		for _, method := range methods {
			var first answer
			for i, form := range []string{"%s", "%s/", "/v1%s", "/v1%s/"} {
				v := c.make(s, c.by)
				path, query, asked := strings.Cut(v.path, "?")
				if v.path = fmt.Sprintf(form, path); asked {
					v.path += "?" + query
				}
				a := v.call(s.people[c.by], method)
				if i == 0 {
					first = a
				}
				if a.Status != first.Status || a.Status >= 300 ||
					!slices.Equal(slices.Sorted(maps.Keys(a.Body)), slices.Sorted(maps.Keys(first.Body))) ||
					(a.List == nil) != (first.List == nil) || method == "GET" && a.Header.Get("Link") == "" &&
					len(a.List) < len(first.List) {
					t.Errorf("%s %s: %d %s; without: %d %s", method, v.path, a.Status, a.Raw, first.Status,
						first.Raw)
				}
			}
		}
	}
}

func TestHead_AnswersLikeGetWithoutABody(t *testing.T) {
	t.Parallel()
	s := newScene(t, storetest.Open(t, storetest.SQLite), exchange.AccessMembers)
	for _, c := range visits {
		if !strings.HasPrefix(c.route, "GET ") || c.route == "GET /audit-events" { // to read these adds one
			continue
		}
		v := c.make(s, c.by)
		get, head := v.call(s.people[c.by], "GET"), v.call(s.people[c.by], "HEAD")
		for _, name := range []string{"Content-Type", "Content-Length", "X-Total-Count", "ETag"} {
			if head.Header.Get(name) != get.Header.Get(name) {
				t.Errorf("HEAD %s: %s is %q, of GET %q", v.path, name, head.Header.Get(name), get.Header.Get(name))
			}
		}
		known := get.Header.Get("Content-Length") != "" // not of what is made as it is sent
		if head.Status != get.Status || len(head.Raw) > 0 || known &&
			head.Header.Get("Content-Length") != fmt.Sprint(len(get.Raw)) {
			t.Errorf("HEAD %s: %d with %d bytes, of GET %d", v.path, head.Status, len(head.Raw), get.Status)
		}
	}
}

func TestRoutes_UnsupportedMethodIsNamed(t *testing.T) {
	t.Parallel()
	allowed := map[string][]string{}
	for _, line := range api.Paths() {
		method, path, _ := strings.Cut(line, " ")
		allowed[path] = append(allowed[path], method)
		if method == "GET" {
			allowed[path] = append(allowed[path], "HEAD")
		}
	}
	w := newWorld(t, storetest.Open(t, storetest.SQLite), exchange.AccessMembers)
	order := []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}
	for path, methods := range allowed {
		slices.SortFunc(methods, func(a, b string) int { return slices.Index(order, a) - slices.Index(order, b) })
		methods = append(methods, "OPTIONS")
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"} {
			if slices.Contains(methods, method) && method != "OPTIONS" {
				continue
			}
			for _, p := range []string{path, "/v1" + path + "/"} {
				a := w.anonymous().call(method, strings.NewReplacer("{", "", "}", "").Replace(p), nil)
				answered := a.Status == 405 && a.Body["error_code"] == "METHOD_NOT_ALLOWED" || a.Status == 204 &&
					method == "OPTIONS"
				if !answered || a.Header.Get("Allow") != strings.Join(methods, ", ") {
					t.Errorf("%s %s: %d %s, Allow %q, want %v", method, p, a.Status, a.Raw, a.Header.Get("Allow"),
						methods)
				}
			}
		}
	}
}

func TestRoutes_UnknownPathIsNotFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, storetest.SQLite), exchange.AccessOpen)
	for _, path := range []string{
		"/nothing", "/v1", "/v1/", "/v1/nothing", "/v2/materials", "/v1/v1/materials", "/Materials", "/materials/1/2/3",
		"/user",
		"//materials", "/materials//", "/v1//", "//", "/materials/./", "/materials/../materials", "/materials/.",
		"/materials/%2e%2e/materials",
		"/materials/%2F", "/materials%2F", "/materials/1%2F", "/materials//1", "/v1//materials", "/materials/1//",
		"/%2e/materials", "/materials;x=1",
		"/uploaded-file/attachment_1/a/b", "/uploaded-file/attachment_1/%2e%2e", "/uploaded-file/attachment_1//",
		"/materials/0", "/materials/-1", "/materials/x", "/materials/1.0", "/materials/+1", "/materials/0x1",
		"/materials/9223372036854775808",
		"/materials/%00", "/materials/1%00", "/materials/ 1", "/organizations/1e3", "/materials/99",
	} {
		for _, method := range []string{"GET", "PUT"} {
			if a := w.anonymous().call(method, strings.ReplaceAll(path, " ", "%20"), nil); a.Status != 404 ||
				a.Body["error_code"] != "NOT_FOUND" {
				t.Errorf("%s %s: %d %s", method, path, a.Status, a.Raw)
			}
		}
	}
}

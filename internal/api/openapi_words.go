package api

import (
	"cmp"
	"maps"
	"strings"

	"aliquot/internal/exchange/field"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
)

// meanings describe the fields of bodies. A name has the same meaning in every object, unless there is an entry with
// the name of the object before it.
var meanings = map[string]string{
	"count":    "How many were found; at most 10,000, unless the call has count=exact.",
	"count_is": "exact, or at_least: more than count were found.",
	"results":  "The results, best first.",
	"facets": "By facet and value, the number of results that have it, as if the facet itself were not " +
		"filtered by. The most frequent values, and those that are filtered by.",
	"facets_more": "By facet, how many values are left out; complete facets are not listed.",
	"facet_labels": "By facet and value, the label of the value, where facets has an id or " +
		"a code: organizations, categories and the options of forms.",
	"approximate":  "The facets whose counts are estimates, because more than 1,000 were found.",
	"did_you_mean": "If nothing was found, a similar spelling that has results; null: none.",
	"next":         "Address of the next page; null on the last one.",
	"previous": "Address of the previous page; null on the first one, and beyond what offset " +
		"reaches.",
	"highlights": "By field, an excerpt with the matches marked: of the title or name, " +
		"and of the field that matches most besides.",
	"match":           "Whether this piece matches the search.",
	"Piece.text":      "The words, as plain text: not HTML.",
	"Suggestion.text": "The title or the name.",
	"Suggestion.kind": "material or organization.",
	"time_zone":       "The user's time zone, a name of the IANA database.",
	"refused": "The address that a mail server refused permanently, so that no mail is sent " +
		"to it; null: none.",
	"quiet_until":          "Time of day at which the mail held back during the quiet hours is sent.",
	"quiet_from":           "Time of day from which no mail is sent, as 22:00; null without quiet hours.",
	"muted":                "Categories of notifications that no mail is sent about.",
	"digest_day":           "Day of the week on which a weekly digest comes.",
	"digest_at":            "Time of day at which a digest comes, as 08:00.",
	"delivery":             "AT_ONCE, DAILY or WEEKLY as one digest, or NEVER.",
	"EventData.event":      "What happened.",
	"EventData.request":    "The request that it happened to.",
	"RequestPayload.url":   "Address of its page, for people.",
	"RequestPayload.api":   "Its address in the API.",
	"PersonPayload.name":   "The name of the person.",
	"EventPayload.actor":   "Who did it; null for Aliquot itself, which reminds.",
	"timestamp":            "When it happened; each delivery attempt has its own time, in webhook-timestamp.",
	"data":                 "The details, by type.",
	"type":                 "The type of the message.",
	"PingData.webhook":     "The webhook being tested.",
	"webhook":              "The webhook that it is sent to.",
	"Notification.webhook": "The webhook it is about; null if none.",
	"SavedSearch.name":     "The name that the user gave it; by default what it searches for.",
	"search":               "The words searched for; empty: any.",
	"filters": "By facet of the search of materials, the values of which a result must " +
		"have one.",
	"alerts":                "Whether the user is notified of new matches.",
	"SavedSearch.address":   "Address of its results in the API.",
	"feed":                  "Address of its Atom feed.",
	"saved_search":          "The saved search it is about; null if none.",
	"matches":               "New results of the saved search; null if it is not about one.",
	"Matches.count":         "The number of them.",
	"Matches.materials":     "The newest of them, up to 10.",
	"Notification.mail":     "The delivery state of the mail about it.",
	"Webhook.url":           "Where messages are sent: https to a public host.",
	"WebhookSecret.url":     "Where messages are sent: https to a public host.",
	"events":                "The event types that are sent to it; null: all.",
	"enabled":               "Messages are sent.",
	"disabled_reason":       "Why Aliquot switched it off; null if a person did, or if it is on.",
	"disabled_at":           "When it was switched off; null while it is on.",
	"failing_since":         "The first failure since the last success; null: none.",
	"old_secret_until":      "Until when the previous secret also signs; null if there was none.",
	"secret":                "What messages are signed with: `whsec_` and base64. It is shown only here.",
	"WebhookDelivery.event": "The event it is about; null for a ping.",
	"LoggedDelivery.event":  "The event it is about; null for a ping.",
	"message_id":            "The webhook-id header of every attempt.",
	"tries":                 "The number of attempts.",
	"last_status":           "The status of the last response; null if there was none.",
	"last_error":            "Why the last attempt failed; null if it did not.",
	"next_try_at":           "When the next attempt is made; null: never.",
	"payload":               "The body of every attempt.",
	"attempts":              "Every attempt, oldest first.",
	"took_ms":               "How long it took, in milliseconds.",
	"Attempt.status":        "The status of the response; null if there was none.",
	"Attempt.error":         "Why it counts as failed; null if it was accepted.",
	"excerpt":               "The start of the response, up to 1 KiB.",
	"Attempt.at":            "When it was made.",
	"EventPayload.at":       "When it happened.",
	"accession": "Study at GEO or SRA: its accession or address in any form, or that of a " +
		"sample or run of it.",
	"action":                  "What was done.",
	"active_requests":         "With CONFLICT: how many requests for the material are open.",
	"OrganizationEvent.actor": "Who did it; null for Aliquot itself, which reminds.",
	"OrganizationEvent.title": "The title of the material.",
	"Event.actor":             "Who did it; null for Aliquot itself, which reminds.",
	"Notification.actor":      "Who did it; null for Aliquot itself, which reminds.",
	"actor":                   "Who did it; null where nobody was signed in.",
	"added_at":                "When it was submitted.",
	"added_by":                "Who submitted it.",
	"additional_metadata":     "The fields that the category defines, and the lab's own.",
	"address":                 "The delivery address, as it was when it was chosen.",
	"addresses":               "The user's addresses; only the user and admins see them.",
	"allowed":                 "With INVALID_TRANSITION: the statuses that the caller may set.",
	"as_admin":                "It was done with admin rights.",
	"assigned_to":             "The member the request is assigned to.",
	"assignments":             "Requests assigned to the user.",
	"at":                      "When it was done.",
	"attachment":              "The attachment with the document.",
	"began_at":                "When it began.",
	"clock": "How long each side had its turn and the request each status, in seconds, until the " +
		"current turn began; the current turn is not included.",
	"escalation_at": "When the owner of the lab is notified, if nothing happens before then; null: never, or already " +
		"notified.",
	"snoozed_until": "Until when reminders of this turn are snoozed; null if they are not.",
	"Snooze.until": "When reminders resume, at most 90 days ahead: a timestamp, or a date, which means " +
		"midnight UTC.",
	"Clock.until":            "When the current turn began.",
	"until":                  "Until when it was snoozed.",
	"lab":                    "How long it was the lab's turn.",
	"Clock.requester":        "How long it was the requester's turn.",
	"nobody":                 "How long it was no one's turn.",
	"stages":                 "How long the request had each status; a status that it never had is left out.",
	"RequestTurn.ended_at":   "When it ended; null: it is the current one.",
	"carrier":                "Who carries the parcel.",
	"Notification.category":  "The setting that switches it on or off; membership has none.",
	"JoinRequest.user":       "The user who made the request.",
	"JoinRequest.name":       "The name of the organization.",
	"JoinRequest.note":       "What the person writes to the owner.",
	"JoinRequest.reason":     "Why it was declined; empty if no reason was given.",
	"JoinDecline.reason":     "Why it is declined; the person who asked reads it.",
	"answered_at":            "When it was answered or withdrawn; null before.",
	"Invitation.answered_at": "When it was answered; null before.",
	"Invitation.sent_at":     "When it was sent the last time.",
	"Invitation.expires_at": "Until when it can be answered: at most 90 days from now; 30 days by " +
		"default.",
	"Invitation.mail": "The delivery state of the mail; null if the person is notified in Aliquot, or " +
		"has no address.",
	"HeldInvitation.name": "The name of the organization.",
	"inviter":             "The name of the person who invites.",
	"role": "The role of the person who accepts; an OWNER replaces the owner, who stays a " +
		"member.",
	"Registration.invitation":        "The token of an invitation, from its mail, which signing in accepts.",
	"Credentials.invitation":         "The token of an invitation, from its mail, which signing in accepts.",
	"InvitationToken.token":          "The token of the mail.",
	"Notification.invitation":        "The invitation it is about; null if none.",
	"join_request":                   "The join request it is about; null if none.",
	"Notification.request":           "The request it is about; null if none.",
	"Notification.material":          "The requested material; null if none.",
	"event":                          "The event it is about; null if it is not about a request.",
	"Notification.organization":      "The organization that it is about.",
	"category":                       "The kind of material; it cannot change.",
	"change_in_request_status_notif": "Notify of changes in requests of the organization.",
	"changes":                        "The fields whose value differs from the previous version.",
	"closed_at":                      "When it was solved; null while it is open.",
	"code":                           "The authorization code that the identity provider issued.",
	"column":                         "With MALFORMED_JSON: where in the line.",
	"conditions":                     "How the parcel must be kept in transit.",
	"contact_user":                   "The contact for the material.",
	"contact_user_id": "The contact for the material; at first the caller, else the owner of the " +
		"organization.",
	"correction":               "What the requester needs to correct; empty if nothing.",
	"country":                  "Country or its ISO code.",
	"created_at":               "When it was made.",
	"days":                     "On which day of the turn a reminder went out.",
	"description":              "A short description.",
	"detail":                   "Further details, by kind.",
	"document":                 "Which document.",
	"documents":                "All versions of the submitted documents.",
	"doi":                      "DOI of the publication.",
	"done":                     "The amount done.",
	"download_url":             "Address of the content, for GET and PUT.",
	"due":                      "By when the lab aims to act, by its own targets.",
	"due_at":                   "When the next attempt is made; null if it is not waiting.",
	"email":                    "E-mail address.",
	"Error.embargo_date":       "With MATERIAL_EMBARGOED: the day from which the material is offered.",
	"ended_at":                 "When it ended; null before.",
	"Duplicate.error":          "States that the material was imported before, and which one it is.",
	"Job.error":                "Why the last attempt failed; null if none did.",
	"error":                    "One sentence that helps a person to fix it.",
	"Duplicate.error_code":     "Always ALREADY_IMPORTED.",
	"error_code":               "The kind of error, for programs.",
	"executed_mta_attachment":  "The agreement signed by both sides, from the lab.",
	"existing":                 "The material imported from that source before; null: none.",
	"expires":                  "When the token ends.",
	"expires_at":               "Until when it can be answered.",
	"failures":                 "How many attempts failed.",
	"Error.field":              "With FIELD_FORBIDDEN: which field the caller may not change.",
	"field":                    "Its name.",
	"Error.fields":             "With INVALID_INPUT: what is wrong, by the name of the field.",
	"fields":                   "The names of what changed.",
	"file":                     "The content.",
	"AttachmentForm.filename":  "The file name for downloads; by default that of the part.",
	"filename":                 "The file name for downloads.",
	"first_name":               "Given name.",
	"from":                     "The status before.",
	"funder_id":                "The grant number that the funder uses.",
	"grant_id":                 "The grant that paid for it, one of the caller's.",
	"BatchImportBody.grant_id": "The grant that paid for them, one of the caller's; not needed for a preview.",
	"User.grants":              "The user's grants.",
	"hash":                     "SHA-256 of this event and the hash of the one before.",
	"id":                       "Identifies the object; it is never reused.",
	"ColumnHeading.field":      "The field the column was mapped to; empty if it is left out or not recognised.",
	"header":                   "The column's header in the spreadsheet.",
	"own":                      "It is a custom key in additional_metadata.",
	"remembered":               "The organization chose this mapping, now or before.",
	"columns": "With a spreadsheet that has unrecognised columns: what each column was " +
		"mapped to.",
	"reference": "The lab's own number or name for it, different for each of its materials; " +
		"null: none.",
	"identifiers": "Up to 500 accessions of GEO or SRA and DOIs of protocols, or their " +
		"addresses, in any form.",
	"invitations": "Organizations that the user is invited to.",
	"OrganizationChange.invitations": "Invitations of the people whom the body names and who are not yet members; " +
		"they join once they accept.",
	"Storage.used":            "Bytes that count towards the quota, including deleted files that are still kept.",
	"Storage.quota":           "Bytes that may be stored; null: no limit.",
	"Storage.deleted":         "Of used, the bytes of attachments that were deleted and are still kept.",
	"Storage.spreadsheets":    "Of used, the bytes of spreadsheets of materials, which are kept for a month.",
	"Storage.largest":         "The attachments that use most, at most 20, the largest first.",
	"StoredFile.bytes":        "What the attachment and its older versions use.",
	"Act.refused":             "Why it was refused: an error code; null: it was done.",
	"Act.times":               "How often it was refused, counted within an hour; 1 of what was done.",
	"invited_by":              "The user who made the request.",
	"irb_attachment":          "The approval of the ethics board (IRB), from the requester.",
	"is_active":               "The request is open.",
	"issue":                   "Which problem.",
	"Job.kind":                "What it does.",
	"kind":                    "What happened.",
	"last_name":               "Family name.",
	"limit":                   "With TOO_LARGE the most bytes, with RATE_LIMITED the most calls at once.",
	"line":                    "With MALFORMED_JSON: where in the body.",
	"Duplicate.material":      "The existing material.",
	"ImportPreview.material":  "The fields that come from the source.",
	"material":                "The requested material.",
	"FundingBody.material_id": "The material that the grant paid for.",
	"material_requests":       "Requests that the user made.",
	"materials":               "The materials that it paid for.",
	"mta":                     "The blank MTA that the material showed when the request was made; null: none.",
	"media_type":              "The media type, detected from the content; null while there is none.",
	"members":                 "The members, including the owner.",
	"Error.organizations":     "With CONFLICT: the labs that need another owner first.",
	"Error.requests":          "With CONFLICT: the open requests that must end first.",
	"Error.missing":           "With MISSING_REQUIREMENTS: what is owed.",
	"missing":                 "What was still missing.",
	"mta_attachment":          "The agreement to sign.",
	"Address.name":            "The name of the recipient.",
	"Document.name":           "Which document it is.",
	"Invitation.name":         "The name of the organization.",
	"OwnAddress.name":         "The name of the recipient.",
	"name":                    "Its name.",
	"new":                     "Its new value.",
	"new_request_notif":       "Notify of new requests to the organization.",
	"Progress.note":           "The current step.",
	"Requirement.note":        "Why it was returned.",
	"note":                    "What the requester adds.",
	"object":                  "What it was done to, such as material/7.",
	"old":                     "Its previous value.",
	"open_issues":             "How many problems are not solved.",
	"opened_at":               "When it was reported.",
	"opened_by":               "Who reported it.",
	"organism":                "The same as organisms.",
	"organization":            "The organization that it belongs to.",
	"organization_id":         "The organization that shares it.",
	"User.organizations":      "The organizations that the user is in.",
	"organizations":           "The organizations of its materials.",
	"code_verifier": "The PKCE verifier (RFC 7636), where the code was asked for with a " +
		"challenge: 43 to 128 letters, digits, or any of - . _ ~",
	"Token.last_used": "When it was used last, to the hour.",
	"scopes": "What it allows at most: read, or write, which includes read. A login token " +
		"has none: it allows what its user may do.",
	"origin_url":          "The redirect URL that the code was issued for.",
	"override_reason":     "Why the lab continues although something is missing.",
	"owned_attachments":   "Attachments of the user.",
	"owned_by_org":        "The organization that owns it or shares it.",
	"owned_by_user":       "The user who owns it.",
	"owned_organizations": "Organizations that the user owns.",
	"owner": "Who decides on its members. In a new one, if access is members, only the " +
		"caller, and may be left out.",
	"party":                             "Whose turn it is.",
	"payment_method":                    "Shipping payment.",
	"payment_method_notes":              "What the lab needs to know for payment, such as an account number.",
	"per_second":                        "With RATE_LIMITED: how many calls a second are let in again.",
	"presented":                         "This call was made with it.",
	"prev_hash":                         "Hash of the event before; empty for the first.",
	"preview":                           "Only show what would be stored; nothing is stored.",
	"progress":                          "Progress.",
	"protocol_doi":                      "Protocol at protocols.io: its DOI or address in any form.",
	"quantity":                          "The requested quantity.",
	"read":                              "It was read.",
	"read_at":                           "When it was read; null before.",
	"Request.reason":                    "Why the request goes back to OPEN.",
	"reason":                            "Why.",
	"registry_id":                       "The identity provider's id of the person: the ORCID iD.",
	"rejection_reason":                  "Why the request was rejected.",
	"reminder_at":                       "When that side is reminded next, if nothing happens meanwhile; null: never.",
	"reminder_notif":                    "Send reminders.",
	"request":                           "The request that it belongs to.",
	"request_approval_determined_notif": "Notify when requests are approved or rejected.",
	"request_assigned_notif":            "Notify when a request is assigned to the user.",
	"request_id":                        "Names the call in the server's log.",
	"requester":                         "The user who made the request.",
	"requester_abstract": "What the material is needed for; it can be changed while the request is " +
		"OPEN.",
	"requester_signed_mta_attachment": "The agreement signed by the requester.",
	"requirements":                    "What the material requires, and the state of each requirement.",
	"retry_after": "With UNAVAILABLE or RATE_LIMITED: the seconds after which to try again, " +
		"as in the header Retry-After.",
	"quota":                     "With QUOTA: how many bytes the user or lab may have stored.",
	"used":                      "With QUOTA: how many bytes are stored, including deleted files that are still kept.",
	"result":                    "The result; null until the job is done.",
	"reviewed_at":               "When the other side accepted or returned it.",
	"sender":                    "The user who wrote it.",
	"sent_at":                   "When it was sent.",
	"seq":                       "1, 2, 3, ... within the request.",
	"sequence_map_for":          "The material that it is a sequence map of.",
	"sha256":                    "SHA-256 of the content in hex; null while there is none.",
	"shipment":                  "The shipping details; null before.",
	"shipping_requirements":     "What the lab requires for shipping.",
	"since":                     "Since when.",
	"size":                      "Bytes of the content; null while there is none.",
	"source":                    "With UNAVAILABLE and INVALID_ANSWER: the public source that failed.",
	"Address.state":             "State or province.",
	"Job.state":                 "The state of the job.",
	"MaterialVersion.state":     "The material as GET showed it; a PUT it to undo later changes.",
	"OrganizationVersion.state": "The organization as GET showed it; a PUT it to undo later changes.",
	"OwnAddress.state":          "State or province.",
	"state":                     "Its state.",
	"Error.status":              "With INVALID_TRANSITION: the status of the request.",
	"status":                    "Its status.",
	"storage_resource_deleted":  "The content was deleted.",
	"supersedes":                "The attachment that it replaced.",
	"text":                      "The text.",
	"title":                     "Its title.",
	"to":                        "The status afterwards.",
	"token":                     "The token; it is shown only here.",
	"total":                     "The total amount; 0 while it is unknown.",
	"tracking":                  "The carrier's tracking number.",
	"Until.until":               "Up to which notification; by default all. Those that arrive meanwhile stay unread.",
	"updated_at":                "When it was changed last.",
	"url":                       "The address that it was imported from, or its page.",
	"Job.user":                  "Who started it; null for Aliquot itself.",
	"user":                      "The user it belongs to.",
	"user_id":                   "The user who signed in.",
	"username":                  "A name that is unique.",
	"version":                   "1, 2, 3, ... of the object.",
	"waiting_on":                "Whose turn it is; null if nobody's.",
	"ImportPreview.warnings":    "What the source does not state, or what is doubtful.",
	"warnings": "In the answer to a change: doubts about values that were kept, by the name " +
		"of the field.",
	"what": "What is owed, or what is to be done.",
}

// tableMeanings describe fields as the tables of objects do, by their names.
var tableMeanings = func() map[string]string {
	all := map[string]string{}
	addMeanings(all, material.Descriptors)
	addMeanings(all, lab.Fields)
	addMeanings(all, lab.ShippingFields)
	addMeanings(all, person.AddressFields)
	return all
}()

func addMeanings[T any](all map[string]string, table []field.Descriptor[T]) {
	for _, d := range table {
		for _, name := range []string{d.Name, d.ShownName()} {
			all[name] = cmp.Or(all[name], d.Doc, d.Help)
		}
	}
}

// explain puts the meanings of fields into the schema of an object.
func explain(name string, schema object) {
	kind := strings.TrimSuffix(strings.TrimSuffix(name, "New"), "Patch")
	properties := schema["properties"].(object)
	for field, property := range properties {
		text := meanings[kind+"."+field]
		if text == "" {
			text = meanings[field]
		}
		text = cmp.Or(text, tableMeanings[field])
		if is := property.(object); text != "" && is["x-alias-of"] == nil {
			documented := maps.Clone(is)
			documented["description"] = text
			properties[field] = documented
		}
	}
}

// parameterMeanings describe query parameters, by the name of their struct and theirs, that are too long for a tag.
var parameterMeanings = map[string]string{
	"bulkQuery.mode": "What to do with the rows: store all or none (the default), only report what would be done, or " +
		"store the valid ones.",
	"bulkQuery.unknown": "Unrecognized columns: refuse (the default), or keep them as keys of additional_metadata.",
	"bulkQuery.mapping": "JSON object from headers to fields, such as {\"Box\": \"additional_metadata.storage\"}; an " +
		"empty text leaves a column out, null removes a remembered mapping. It is remembered for the " +
		"organization, unless mode is dry-run, except for the headers of templates and exports.",
	"Stream.last_event_id": "The same as the header Last-Event-ID, for clients that cannot send it.",
	"listPage.limit":       "The maximum number of items on a page.",
	"listPage.cursor":      "Where the page starts, from Link or next of the previous page.",
	"listPage.count":       exactly,
	"searchPage.offset":    "The number of items before the page. To go beyond the maximum, follow next.",
	"searchPage.count":     exactly,
	"Filter.search": "Only requests that have all of these words somewhere: in the title of the material, " +
		"the lab, the names of requester and assignee, documents, note, quantity, abstract, shipment, messages or " +
		"issues. Phrases in double quotes; a minus before a word that must not occur.",
	"NotificationFilter.organization": "Only those of requests of this organization's materials.",
}

const exactly = "exact: All items are counted, however many there are, which takes time."

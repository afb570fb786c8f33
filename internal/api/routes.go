package api

import (
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/publish"
)

// routes is the contract as a table: method and path, the action that the policy table rules on, the status of success,
// the handler, and its description; for a list also the fields to sort by. Every path works with and without a trailing
// slash, at the root and under /v1.
var routes = []route{
	on("login", "POST /login", exchange.Login, 200, login,
		"Sign in. Exchanges an authorization code of the identity provider for a token; someone new is registered on "+
			"the spot."),
	on("logout", "POST /logout", exchange.Logout, 204, logout, "Revoke the token of this call"),

	on("register", "POST /users", exchange.Register, 201, register,
		"Register. Takes an authorization code of the identity provider, and names if the provider gives none.").
		already("The person was registered before.", Signed{}),
	on("getUser", "GET /users/{id}", exchange.UserRead, 200, getUser,
		"Read a user. E-mail address, addresses and lists of work are shown to the user and to admins."),
	on("closeUser", "DELETE /users/{id}", exchange.UserClose, 204, closeUser,
		"Close an account. What is the person's alone is deleted; what both sides of a transfer need stays under "+
			"\"closed account\". "+
			"Their open requests are cancelled, and labs without other members close. Refused to tokens of programs, "+
			"for the last admin, "+
			"while they own a lab with other members, and while a lab that would close has open requests."),
	on("updateUser", "PUT,PATCH /users/{id}", exchange.UserUpdate, 200, updateUser,
		"Change a user's names or e-mail address"),
	on("listNotifications", "GET /users/{id}/notifications", exchange.NotificationRead, 200, listNotifications,
		"List a user's notifications, newest first").sortedBy(exchange.NotificationFields),
	on("followNotifications", "GET /users/{id}/notifications/stream", exchange.NotificationRead, 200,
		followNotifications,
		"Follow a user's notifications. Server-sent events: the number of unread ones at first and whenever it "+
			"changes, as unread with {\"unread\": 3}; each new one as notification, in JSON as in the list; every 15 "+
			"seconds a comment. A client that reconnects with the id of the last event misses nothing and gets "+
			"nothing twice. The stream ends with the token.").sendsEvents(),
	on("readNotifications", "POST /users/{id}/notifications/read", exchange.NotificationMark, 204,
		readNotifications,
		"Mark all notifications as read. With until only those up to that one."),
	on("updateNotification", "PUT,PATCH /users/{id}/notifications/{notification}", exchange.NotificationMark, 204,
		updateNotification,
		"Mark a notification as read or unread"),

	on("storageOfUser", "GET /users/{id}/storage", exchange.UserReadPrivate, 200, storageOfUser,
		"Read what a user has stored. It is what counts for their quota, and the files that use most of it."),

	on("getMailSettings", "GET /users/{id}/mail-settings", exchange.MailSettingsRead, 200, getMailSettings,
		"Read how a user wants mail"),
	on("updateMailSettings", "PUT,PATCH /users/{id}/mail-settings", exchange.MailSettingsWrite, 200,
		updateMailSettings,
		"Change how a user wants mail"),
	on("retryMail", "POST /users/{id}/mail-settings/retry", exchange.MailSettingsWrite, 200, retryMail,
		"Send mail again to an address that a mail server refused"),

	on("createAddress", "POST /users/{id}/addresses", exchange.AddressWrite, 200, createAddress,
		"Add an address"),
	on("listAddresses", "GET /users/{id}/addresses", exchange.AddressRead, 200, listAddresses,
		"List a user's addresses").sortedBy(exchange.AddressFields),
	on("getAddress", "GET /users/{id}/addresses/{address}", exchange.AddressRead, 200, getAddress,
		"Read an address"),
	on("updateAddress", "PUT,PATCH /users/{id}/addresses/{address}", exchange.AddressWrite, 200, updateAddress,
		"Change an address. Requests keep it as it was when they were sent."),
	on("deleteAddress", "DELETE /users/{id}/addresses/{address}", exchange.AddressWrite, 204, deleteAddress,
		"Delete an address. Requests keep it as it was when they were sent."),

	on("createSavedSearch", "POST /users/{id}/saved-searches", exchange.SavedSearchWrite, 201, createSavedSearch,
		"Save a search of materials. With alerts its user is notified once of each material that is listed or becomes "+
			"visible afterwards and matches, unless they listed it themselves. "+
			"A person has at most 100."),
	on("listSavedSearches", "GET /users/{id}/saved-searches", exchange.SavedSearchRead, 200, listSavedSearches,
		"List a user's saved searches").sortedBy(exchange.SavedSearchFields),
	on("getSavedSearch", "GET /users/{id}/saved-searches/{saved_search}", exchange.SavedSearchRead, 200,
		getSavedSearch,
		"Read a saved search"),
	on("updateSavedSearch", "PUT,PATCH /users/{id}/saved-searches/{saved_search}", exchange.SavedSearchWrite, 200,
		updateSavedSearch,
		"Change a saved search. One that looks for something else, or whose alerts are switched on, starts again: "+
			"what matches by then is not new."),
	on("deleteSavedSearch", "DELETE /users/{id}/saved-searches/{saved_search}", exchange.SavedSearchWrite, 204,
		deleteSavedSearch,
		"Delete a saved search"),

	on("listTokens", "GET /users/{id}/tokens", exchange.TokenRead, 200, listTokens,
		"List a user's tokens that are valid, without their secrets").sortedBy(exchange.TokenFields),
	on("createToken", "POST /users/{id}/tokens", exchange.TokenCreate, 201, createToken,
		"Create a token for a program. Its secret is shown only once. It reads, or reads and writes; with an "+
			"organization, it has access only to that organization's objects. A user has at most 50 that are valid, "+
			"logins not counted."),
	on("revokeTokens", "DELETE /users/{id}/tokens", exchange.TokenRevoke, 204, revokeTokens,
		"Revoke all tokens of a user, including the one of this call"),
	on("revokeToken", "DELETE /users/{id}/tokens/{token}", exchange.TokenRevoke, 204, revokeToken,
		"Revoke a token"),
	on("listJoinRequestsOf", "GET /users/{id}/join-requests", exchange.JoinRead, 200, listJoinRequestsOf,
		"List the join requests that a user made, newest first").sortedBy(exchange.JoinFields),
	on("acceptInvitation", "POST /users/{id}/invitations/{invitation}/accept", exchange.InvitationAnswer, 200,
		acceptInvitation,
		"Accept an invitation and become a member"),
	on("declineInvitation", "POST /users/{id}/invitations/{invitation}/decline", exchange.InvitationAnswer, 200,
		declineInvitation,
		"Decline an invitation"),

	on("createOrganization", "POST /organizations", exchange.OrganizationCreate, 201, createOrganization,
		"Create an organization. Its owner is always a member. If access is members, the owner is the caller, and "+
			"the other people are invited."),
	on("listOrganizations", "GET /organizations", exchange.OrganizationRead, 200, listOrganizations,
		"List organizations, newest first").sortedBy(exchange.OrganizationFields),
	on("getOrganization", "GET /organizations/{id}", exchange.OrganizationRead, 200, getOrganization,
		"Read an organization").shownAt("/labs/"),
	on("updateOrganization", "PUT,PATCH /organizations/{id}", exchange.OrganizationUpdate, 200,
		updateOrganization,
		"Change an organization or who is in it. If access is members, whoever is added or named as owner is "+
			"invited; whoever is left out is removed at once."),
	on("listMembers", "GET /organizations/{id}/members", exchange.OrganizationRead, 200, listMembers,
		"List the members of an organization").sortedBy(exchange.MemberFields),
	on("listMaterialsOf", "GET /organizations/{id}/materials", exchange.MaterialRead, 200, listMaterialsOf,
		"List the materials of an organization").sortedBy(exchange.MaterialFields),
	on("bulkMaterials", "POST /organizations/{id}/materials/bulk", exchange.MaterialBulk, 202, bulkMaterials,
		"List or change many materials by a spreadsheet. It is CSV, XLSX or ODS, as the whole body or as the part "+
			"file of a form, which may have the parameters as fields. A row with the reference or id of a material "+
			"changes that one. The job shows progress and result.").streams().asks(bulkQuery{}),
	on("bulkReport", "GET /organizations/{id}/materials/bulk/{job}/report", exchange.MaterialTemplate, 200,
		bulkReport,
		"Download the result of every row of a spreadsheet, as CSV.").sendsFile(),
	on("materialTemplate", "GET /organizations/{id}/materials/template", exchange.MaterialTemplate, 200,
		materialTemplate,
		"Download a spreadsheet to fill in").sendsFile(),
	on("exportMaterials", "GET /organizations/{id}/materials/export", exchange.MaterialExport, 200,
		exportMaterials,
		"Download the materials of an organization, embargoed and archived ones too. The bulk call accepts it again.").
		sendsFile(),
	on("listGrantsOf", "GET /organizations/{id}/grants", exchange.OrganizationGrants, 200, listGrantsOf,
		"List the grants that paid for an organization's materials").sortedBy(exchange.GrantFields),
	on("listInvitations", "GET /organizations/{id}/invitations", exchange.InvitationRead, 200, listInvitations,
		"List the invitations of an organization. Without a status, those that can be answered.").
		sortedBy(exchange.InvitationFields),
	on("invite", "POST /organizations/{id}/invitations", exchange.InvitationWrite, 201, invite,
		"Invite someone. The body has their registry_id or email; nobody joins without accepting. Whoever accepts as "+
			"OWNER replaces the owner, who stays a member.").
		already("The person is already invited.", Invitation{}),
	on("withdrawInvitation", "DELETE /organizations/{id}/invitations/{invitation}", exchange.InvitationWrite, 204,
		withdrawInvitation,
		"Withdraw an invitation"),
	on("resendInvitation", "POST /organizations/{id}/invitations/{invitation}/resend", exchange.InvitationWrite, 200,
		resendInvitation,
		"Send an invitation again. Its time to answer starts again; at most once in 10 "+
			"minutes."),
	on("getHeldInvitation", "GET /invitations", exchange.InvitationOpen, 200, getHeldInvitation,
		"Read the invitation that the token of a mail opens"),
	on("acceptHeldInvitation", "POST /invitations/accept", exchange.InvitationTake, 200, acceptHeldInvitation,
		"Accept an invitation with the token of its mail and become a member"),
	on("declineHeldInvitation", "POST /invitations/decline", exchange.InvitationTake, 200, declineHeldInvitation,
		"Decline an invitation with the token of its mail"),
	on("askToJoin", "POST /organizations/{id}/join-requests", exchange.JoinAsk, 201, askToJoin,
		"Ask to join an organization. Its owner accepts or declines.").
		already("The caller has already asked.", JoinRequest{}),
	on("listJoinRequests", "GET /organizations/{id}/join-requests", exchange.JoinRead, 200, listJoinRequests,
		"List who asked to join an organization, newest first").sortedBy(exchange.JoinFields),
	on("withdrawJoinRequest", "DELETE /organizations/{id}/join-requests/{join_request}", exchange.JoinWithdraw, 204,
		withdrawJoinRequest,
		"Withdraw your own join request"),
	on("acceptJoinRequest", "POST /organizations/{id}/join-requests/{join_request}/accept", exchange.JoinAnswer, 200,
		acceptJoinRequest,
		"Accept a join request"),
	on("declineJoinRequest", "POST /organizations/{id}/join-requests/{join_request}/decline", exchange.JoinAnswer, 200,
		declineJoinRequest,
		"Decline a join request. A reason is optional."),
	on("storageOfLab", "GET /organizations/{id}/storage", exchange.OrganizationStorage, 200, storageOfLab,
		"Read what an organization has stored. It is what counts for its quota, and the files that use most of it."),
	on("listOrganizationHistory", "GET /organizations/{id}/history", exchange.OrganizationHistory, 200,
		listOrganizationHistory,
		"List the versions of an organization, newest first. PUT a state to undo later changes.").
		sortedBy(exchange.VersionFields),

	on("listOrganizationEvents", "GET /organizations/{id}/events", exchange.OrganizationEvents, 200,
		listOrganizationEvents,
		"List what happened in the requests of an organization's materials, newest first. For a deleted request, it "+
			"shows only the deletion.").sortedBy(exchange.OrganizationEventFields),

	on("listWebhooks", "GET /organizations/{id}/webhooks", exchange.WebhookRead, 200, listWebhooks,
		"List the webhooks of an organization, without their secrets").sortedBy(exchange.WebhookFields),
	on("createWebhook", "POST /organizations/{id}/webhooks", exchange.WebhookWrite, 201, createWebhook,
		"Send events of the requests of an organization to an address. Messages are signed with the "+
			"secret that is shown here, "+
			"as Standard Webhooks says (standardwebhooks.com). Webhooks of this document are what is sent."),
	on("getWebhook", "GET /organizations/{id}/webhooks/{webhook}", exchange.WebhookRead, 200, getWebhook,
		"Read a webhook, without its secret"),
	on("updateWebhook", "PUT,PATCH /organizations/{id}/webhooks/{webhook}", exchange.WebhookWrite, 200,
		updateWebhook,
		"Change a webhook, or switch it off or on"),
	on("deleteWebhook", "DELETE /organizations/{id}/webhooks/{webhook}", exchange.WebhookWrite, 204,
		deleteWebhook,
		"Delete a webhook. Unsent messages are discarded."),
	on("rotateWebhook", "POST /organizations/{id}/webhooks/{webhook}/rotate", exchange.WebhookWrite, 200,
		rotateWebhook,
		"Replace the secret of a webhook. For 24 hours, messages are also signed with the previous one."),
	on("pingWebhook", "POST /organizations/{id}/webhooks/{webhook}/ping", exchange.WebhookWrite, 202,
		pingWebhook,
		"Test a webhook. A message of type ping is sent once; the delivery shows the result."),
	on("listDeliveries", "GET /organizations/{id}/webhooks/{webhook}/deliveries", exchange.WebhookRead, 200,
		listDeliveries,
		"List the messages to a webhook of the last 30 days, newest first").sortedBy(exchange.DeliveryFields),
	on("getDelivery", "GET /organizations/{id}/webhooks/{webhook}/deliveries/{delivery}", exchange.WebhookRead, 200,
		getDelivery,
		"Read a message to a webhook, with every attempt"),
	on("redeliver", "POST /organizations/{id}/webhooks/{webhook}/deliveries/{delivery}/redeliver",
		exchange.WebhookWrite, 202, redeliver,
		"Send a message to a webhook again now. Its id stays, so that a receiver who has it leaves it out."),
	on("listSettings", "GET /organization-user-settings", exchange.SettingsRead, 200, listSettings,
		"List the caller's notification settings, one record for each organization").sortedBy(exchange.SettingsFields),
	on("getSettings", "GET /organization-user-settings/{id}", exchange.SettingsRead, 200, getSettings,
		"Read a record of notification settings"),
	on("updateSettings", "PUT,PATCH /organization-user-settings/{id}", exchange.SettingsUpdate, 200,
		updateSettings,
		"Turn kinds of notifications on or off"),

	on("createShipping", "POST /shipping-requirements", exchange.ShippingWrite, 201, createShipping,
		"Add shipping requirements to an organization"),
	on("listShippings", "GET /shipping-requirements", exchange.ShippingRead, 200, listShippings,
		"List shipping requirements").sortedBy(exchange.ShippingFields),
	on("getShipping", "GET /shipping-requirements/{id}", exchange.ShippingRead, 200, getShipping,
		"Read shipping requirements"),
	on("updateShipping", "PUT,PATCH /shipping-requirements/{id}", exchange.ShippingWrite, 200, updateShipping,
		"Change shipping requirements"),

	on("createMaterial", "POST /materials", exchange.MaterialCreate, 201, createMaterial,
		"List a material for others. Category, title and organization are required; the contact is the caller unless "+
			"the body names another member.").
		already("It was already imported.", Duplicate{}),
	on("importMaterial", "POST /materials/import", exchange.MaterialImport, 200, importMaterial,
		"List a material as GEO, SRA or protocols.io describe it. The caller owns the grant and is a member of the "+
			"organization.").
		already("It was already imported.", ImportedDuplicate{}),
	on("previewImport", "POST /materials/import/preview", exchange.MaterialPreview, 200, previewImport,
		"Preview an import. Nothing is stored."),
	on("importMaterials", "POST /materials/imports", exchange.MaterialImport, 202, importMaterials,
		"Import up to 500 materials. Identifiers may be given in any form; the source is recognized from them. The "+
			"outcomes in the result of the job are in the order of identifiers: "+
			"imported, existing, refused with an error, or would be imported."),
	on("getPublication", "GET /publications", exchange.PublicationRead, 200, getPublication,
		"Look a publication up by its PubMed id or its DOI, for PATCH of a material"),
	on("listMaterials", "GET /materials", exchange.MaterialRead, 200, listMaterials,
		"List materials, newest first. Those under embargo only members of their organization see.").
		sortedBy(exchange.MaterialFields),
	on("getMaterial", "GET /materials/{id}", exchange.MaterialRead, 200, getMaterial,
		"Read a material").shownAt("/catalog/"),
	on("getMaterialLinked", "GET /materials/{id}/jsonld", exchange.MaterialRead, 200, getMaterialLinked,
		"Read a material as linked data. JSON-LD in the words of schema.org and Bioschemas, for search engines and "+
			"harvesters; it can be put into a script element of a page.").
		as(publish.LinkedDataType),
	on("getMaterialCitation", "GET /materials/{id}/citation", exchange.MaterialRead, 200, getMaterialCitation,
		"Read how to cite a material. A reference of the material, with its RRID or accession, and one of each "+
			"article about it, for a bibliography program.").
		as(publish.BibTeX.MediaType(), publish.RIS.MediaType(), publish.CSLJSON.MediaType()),
	on("updateMaterial", "PUT,PATCH /materials/{id}", exchange.MaterialUpdate, 200, updateMaterial,
		"Change a material. Its category stays."),
	on("archiveMaterial", "DELETE /materials/{id}", exchange.MaterialArchive, 204, archiveMaterial,
		"Archive a material. Refused while a request for it is open."),
	on("listMaterialHistory", "GET /materials/{id}/history", exchange.MaterialHistory, 200, listMaterialHistory,
		"List the versions of a material, newest first. PUT a state to undo later changes.").
		sortedBy(exchange.VersionFields),

	on("createGrant", "POST /grants", exchange.GrantCreate, 200, createGrant, "Add a grant"),
	on("listGrants", "GET /grants", exchange.GrantList, 200, listGrants,
		"List the caller's grants").sortedBy(exchange.GrantFields),
	on("getGrant", "GET /grants/{id}", exchange.GrantRead, 200, getGrant, "Read a grant"),
	on("updateGrant", "PUT,PATCH /grants/{id}", exchange.GrantUpdate, 200, updateGrant, "Change a grant"),
	on("listFundedMaterials", "GET /grants/{id}/materials", exchange.GrantRead, 200, listFundedMaterials,
		"List the materials that a grant paid for").sortedBy(exchange.MaterialFields),
	on("fundMaterial", "POST /grants/{id}/materials", exchange.GrantUpdate, 201, fundMaterial,
		"Record that a grant paid for a material. The caller owns the grant and is a member of the material's "+
			"organization.").
		already("The grant already includes it.", GrantMaterial{}),
	on("unfundMaterial", "DELETE /grants/{id}/materials/{material}", exchange.GrantUpdate, 204, unfundMaterial,
		"Remove a material from a grant"),

	on("createAttachment", "POST /attachments", exchange.AttachmentCreate, 201, createAttachment,
		"Create an attachment. As JSON, it creates the record, whose content follows with PUT to its download_url; "+
			"as a form, it sends record and content at once.").streams(),
	on("listAttachments", "GET /attachments", exchange.AttachmentList, 200, listAttachments,
		"List all attachments").sortedBy(exchange.AttachmentFields),
	on("getAttachment", "GET /attachments/{id}", exchange.AttachmentRead, 200, getAttachment,
		"Read the record of an attachment"),
	on("updateAttachment", "PUT,PATCH /attachments/{id}", exchange.AttachmentUpdate, 200, updateAttachment,
		"Change the record of an attachment"),
	on("deleteAttachment", "DELETE /attachments/{id}", exchange.AttachmentDelete, 204, deleteAttachment,
		"Delete an attachment. Refused while a request uses it."),
	on("getContent", "GET /uploaded-file/{attachment}/{filename}", exchange.AttachmentContent, 200, getContent,
		"Download the content of an attachment. Takes Range."),
	on("putContent", "PUT /uploaded-file/{attachment}/{filename}", exchange.AttachmentReplace, 200, putContent,
		"Upload the content of an attachment, or a new version of it. Its type is detected from the content; "+
			"programs and HTML are refused. The old version is kept for the parties of the requests that were made "+
			"under it.").streams(),
	on("getContentVersion", "GET /attachments/{id}/versions/{version}", exchange.AttachmentContent, 200,
		getContentVersion,
		"Download a version of the content of an attachment. Takes Range."),

	on("createRequest", "POST /material-requests", exchange.RequestCreate, 201, createRequest,
		"Request a material. Requirements can be submitted later."),
	on("listRequests", "GET /material-requests", exchange.RequestList, 200, listRequests,
		"List the caller's requests and those of their organizations, newest first").sortedBy(exchange.RequestFields),
	on("getRequest", "GET /material-requests/{id}", exchange.RequestRead, 200, getRequest,
		"Read a request, with what it needs and whose turn it is").shownAt("/requests/"),
	on("updateRequest", "PUT,PATCH /material-requests/{id}", exchange.RequestUpdate, 200, updateRequest,
		"Change the status of a request, or submit something it needs"),
	on("deleteRequest", "DELETE /material-requests/{id}", exchange.RequestDelete, 204, deleteRequest,
		"Delete a request"),
	on("listEvents", "GET /material-requests/{id}/events", exchange.RequestRead, 200, listEvents,
		"List what happened to a request, newest first, each chained to the one before by its hash").
		sortedBy(exchange.EventFields),
	on("listTurns", "GET /material-requests/{id}/turns", exchange.RequestRead, 200, listTurns,
		"List whose turn it was in a request, newest first. Each ends when the next one begins.").
		sortedBy(exchange.TurnFields),
	on("snoozeRequest", "POST /material-requests/{id}/snooze", exchange.RequestUpdate, 200, snoozeRequest,
		"Snooze reminders of a turn. Only the side whose turn it is may; the snooze ends with the turn."),
	on("unsnoozeRequest", "DELETE /material-requests/{id}/snooze", exchange.RequestUpdate, 204, unsnoozeRequest,
		"Stop snoozing reminders of a turn"),
	on("listMessages", "GET /material-requests/{id}/messages", exchange.RequestRead, 200, listMessages,
		"List the messages on a request, newest first").sortedBy(exchange.MessageFields),
	on("sendMessage", "POST /material-requests/{id}/messages", exchange.RequestUpdate, 201, sendMessage,
		"Write to the other side of a request"),
	on("listIssues", "GET /material-requests/{id}/issues", exchange.RequestRead, 200, listIssues,
		"List the problems with a transfer").sortedBy(exchange.IssueFields),
	on("openIssue", "POST /material-requests/{id}/issues", exchange.RequestUpdate, 201, openIssue,
		"Report a problem with a transfer. A fulfilled request goes back to IN_FULFILLMENT."),
	on("closeIssue", "POST /material-requests/{id}/issues/{issue}/close", exchange.RequestUpdate, 200,
		closeIssue,
		"Mark a problem as resolved. When the last one is resolved, the request is fulfilled again."),
	on("shipRequest", "PUT,PATCH /material-requests/{id}/shipment", exchange.RequestShip, 200, shipRequest,
		"Set the shipping details"),
	on("acceptDocument", "POST /material-requests/{id}/documents/{document}/accept", exchange.RequestUpdate, 200,
		acceptDocument,
		"Accept a document of the other side"),
	on("returnDocument", "POST /material-requests/{id}/documents/{document}/return", exchange.RequestUpdate, 200,
		returnDocument,
		"Return a document of the other side, with a reason. It is owed again."),

	on("listAuditEvents", "GET /audit-events", exchange.AuditRead, 200, listAuditEvents,
		"List what was changed, by whom, and where admin rights were used, newest first").
		sortedBy(exchange.AuditFields),

	on("listJobs", "GET /jobs", exchange.JobList, 200, listJobs,
		"List the caller's jobs, newest first. Admins see everybody's with all=true.").sortedBy(exchange.JobFields),
	on("getJob", "GET /jobs/{id}", exchange.JobRead, 200, getJob,
		"Read a job: its progress and its result."),
	on("cancelJob", "POST /jobs/{id}/cancel", exchange.JobCancel, 200, cancelJob,
		"Cancel a job. What it has already done is kept."),
	on("retryJob", "POST /jobs/{id}/retry", exchange.JobRetry, 200, retryJob,
		"Retry a failed or cancelled job"),

	on("searchMaterials", "GET /search/materials", exchange.SearchRead, 200, searchMaterials,
		"Search materials. Words match by stem, and the last word also as a prefix; \"quoted words\" match as a "+
			"phrase, -words are excluded, identifiers may have any format. Archived ones come last; those under "+
			"embargo only members of their organization find.").
		searches(searched{facets: material.Facets, title: "title"}),
	on("feedMaterials", "GET /search/materials/feed", exchange.SearchRead, 200, feedMaterials,
		"Follow a search. The newest 50 materials that anyone finds, as an Atom feed.").
		searches(searched{facets: material.Facets, feed: true}).as(publish.AtomType),
	on("searchOrganizations", "GET /search/organizations", exchange.SearchRead, 200, searchOrganizations,
		"Search organizations, by name and description").
		searches(searched{title: "name"}),
	on("searchUsers", "GET /search/users", exchange.SearchRead, 200, searchUsers,
		"Search users, by name and registry id").
		searches(searched{title: "last_name"}),
	on("suggest", "GET /search/suggest", exchange.SearchRead, 200, suggest,
		"Suggest search terms: materials and organizations whose name begins with the typed text."),

	on("getOpenAPI", "GET /openapi.json", exchange.DocumentationRead, 200, getOpenAPI, "Read this document"),
}

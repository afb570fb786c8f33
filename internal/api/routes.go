package api

import (
	"slices"

	"aliquot/internal/api/account"
	"aliquot/internal/api/admin"
	"aliquot/internal/api/catalog"
	"aliquot/internal/api/evidence"
	"aliquot/internal/api/lab"
	"aliquot/internal/api/request"
	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/publish"
)

// routes is the contract as a table: method and path, the action that the policy table rules on, the status of success,
// the handler, and its description; for a list also the fields to sort by. Every path works with and without a trailing
// slash, at the root and under /v1.
var routes = slices.Concat([]rest.Route{
	rest.On("login", "POST /login", exchange.Login, 200, account.Login,
		"Sign in. Exchanges an authorization code of the identity provider for a token; someone new is registered on "+
			"the spot."),
	rest.On("logout", "POST /logout", exchange.Logout, 204, account.Logout, "Revoke the token of this call"),

	rest.On("register", "POST /users", exchange.Register, 201, account.Register,
		"Register. Takes an authorization code of the identity provider, and names if the provider gives none.").
		Already("The person was registered before.", shape.Signed{}),
	rest.On("getUser", "GET /users/{id}", exchange.UserRead, 200, account.GetUser,
		"Read a user. E-mail address, addresses and lists of work are shown to the user and to admins."),
	rest.On("closeUser", "DELETE /users/{id}", exchange.UserClose, 204, account.CloseUser,
		"Close an account. What is the person's alone is deleted; what both sides of a transfer need stays under "+
			"\"closed account\". "+
			"Their open requests are cancelled, and labs without other members close. Refused to tokens of programs, "+
			"for the last admin, "+
			"while they own a lab with other members, and while a lab that would close has open requests."),
	rest.On("updateUser", "PUT,PATCH /users/{id}", exchange.UserUpdate, 200, account.UpdateUser,
		"Change a user's names or e-mail address"),
	rest.On("listNotifications", "GET /users/{id}/notifications", exchange.NotificationRead, 200,
		account.ListNotifications,
		"List a user's notifications, newest first").SortedBy(exchange.NotificationFields),
	rest.On("followNotifications", "GET /users/{id}/notifications/stream", exchange.NotificationRead, 200,
		account.FollowNotifications,
		"Follow a user's notifications. Server-sent events: the number of unread ones at first and whenever it "+
			"changes, as unread with {\"unread\": 3}; each new one as notification, in JSON as in the list; every 15 "+
			"seconds a comment. A client that reconnects with the id of the last event misses nothing and gets "+
			"nothing twice. The stream ends with the token.").SendsEvents(),
	rest.On("readNotifications", "POST /users/{id}/notifications/read", exchange.NotificationMark, 204,
		account.ReadNotifications,
		"Mark all notifications as read. With until only those up to that one."),
	rest.On("updateNotification", "PUT,PATCH /users/{id}/notifications/{notification}", exchange.NotificationMark, 204,
		account.UpdateNotification,
		"Mark a notification as read or unread"),

	rest.On("storageOfUser", "GET /users/{id}/storage", exchange.UserReadPrivate, 200, account.StorageOfUser,
		"Read what a user has stored. It is what counts for their quota, and the files that use most of it."),

	rest.On("getMailSettings", "GET /users/{id}/mail-settings", exchange.MailSettingsRead, 200, account.GetMailSettings,
		"Read how a user wants mail"),
	rest.On("updateMailSettings", "PUT,PATCH /users/{id}/mail-settings", exchange.MailSettingsWrite, 200,
		account.UpdateMailSettings,
		"Change how a user wants mail"),
	rest.On("retryMail", "POST /users/{id}/mail-settings/retry", exchange.MailSettingsWrite, 200, account.RetryMail,
		"Send mail again to an address that a mail server refused"),

	rest.On("createAddress", "POST /users/{id}/addresses", exchange.AddressWrite, 200, account.CreateAddress,
		"Add an address"),
	rest.On("listAddresses", "GET /users/{id}/addresses", exchange.AddressRead, 200, account.ListAddresses,
		"List a user's addresses").SortedBy(exchange.AddressFields),
	rest.On("getAddress", "GET /users/{id}/addresses/{address}", exchange.AddressRead, 200, account.GetAddress,
		"Read an address"),
	rest.On("updateAddress", "PUT,PATCH /users/{id}/addresses/{address}", exchange.AddressWrite, 200,
		account.UpdateAddress,
		"Change an address. Requests keep it as it was when they were sent."),
	rest.On("deleteAddress", "DELETE /users/{id}/addresses/{address}", exchange.AddressWrite, 204,
		account.DeleteAddress,
		"Delete an address. Requests keep it as it was when they were sent."),

	rest.On("createSavedSearch", "POST /users/{id}/saved-searches", exchange.SavedSearchWrite, 201,
		catalog.CreateSavedSearch,
		"Save a search of materials. With alerts its user is notified once of each material that is listed or becomes "+
			"visible afterwards and matches, unless they listed it themselves. "+
			"A person has at most 100."),
	rest.On("listSavedSearches", "GET /users/{id}/saved-searches", exchange.SavedSearchRead, 200,
		catalog.ListSavedSearches,
		"List a user's saved searches").SortedBy(exchange.SavedSearchFields),
	rest.On("getSavedSearch", "GET /users/{id}/saved-searches/{saved_search}", exchange.SavedSearchRead, 200,
		catalog.GetSavedSearch,
		"Read a saved search"),
	rest.On("updateSavedSearch", "PUT,PATCH /users/{id}/saved-searches/{saved_search}", exchange.SavedSearchWrite, 200,
		catalog.UpdateSavedSearch,
		"Change a saved search. One that looks for something else, or whose alerts are switched on, starts again: "+
			"what matches by then is not new."),
	rest.On("deleteSavedSearch", "DELETE /users/{id}/saved-searches/{saved_search}", exchange.SavedSearchWrite, 204,
		catalog.DeleteSavedSearch,
		"Delete a saved search"),

	rest.On("listTokens", "GET /users/{id}/tokens", exchange.TokenRead, 200, account.ListTokens,
		"List a user's tokens that are valid, without their secrets").SortedBy(exchange.TokenFields),
	rest.On("createToken", "POST /users/{id}/tokens", exchange.TokenCreate, 201, account.CreateToken,
		"Create a token for a program. Its secret is shown only once. It reads, or reads and writes; with an "+
			"organization, it has access only to that organization's objects. A user has at most 50 that are valid, "+
			"logins not counted."),
	rest.On("revokeTokens", "DELETE /users/{id}/tokens", exchange.TokenRevoke, 204, account.RevokeTokens,
		"Revoke all tokens of a user, including the one of this call"),
	rest.On("revokeToken", "DELETE /users/{id}/tokens/{token}", exchange.TokenRevoke, 204, account.RevokeToken,
		"Revoke a token"),
	rest.On("listJoinRequestsOf", "GET /users/{id}/join-requests", exchange.JoinRead, 200, lab.ListJoinRequestsOf,
		"List the join requests that a user made, newest first").SortedBy(exchange.JoinFields),
	rest.On("acceptInvitation", "POST /users/{id}/invitations/{invitation}/accept", exchange.InvitationAnswer, 200,
		lab.AcceptInvitation,
		"Accept an invitation and become a member"),
	rest.On("declineInvitation", "POST /users/{id}/invitations/{invitation}/decline", exchange.InvitationAnswer, 200,
		lab.DeclineInvitation,
		"Decline an invitation"),

	rest.On("createOrganization", "POST /organizations", exchange.OrganizationCreate, 201, lab.CreateOrganization,
		"Create an organization. Its owner is always a member. If access is members, the owner is the caller, and "+
			"the other people are invited."),
	rest.On("listOrganizations", "GET /organizations", exchange.OrganizationRead, 200, lab.ListOrganizations,
		"List organizations, newest first").SortedBy(exchange.OrganizationFields),
	rest.On("getOrganization", "GET /organizations/{id}", exchange.OrganizationRead, 200, lab.GetOrganization,
		"Read an organization").ShownAt("/labs/"),
	rest.On("updateOrganization", "PUT,PATCH /organizations/{id}", exchange.OrganizationUpdate, 200,
		lab.UpdateOrganization,
		"Change an organization or who is in it. If access is members, whoever is added or named as owner is "+
			"invited; whoever is left out is removed at once."),
	rest.On("listMembers", "GET /organizations/{id}/members", exchange.OrganizationRead, 200, lab.ListMembers,
		"List the members of an organization").SortedBy(exchange.MemberFields),
	rest.On("listMaterialsOf", "GET /organizations/{id}/materials", exchange.MaterialRead, 200, lab.ListMaterialsOf,
		"List the materials of an organization").SortedBy(exchange.MaterialFields),
	rest.On("bulkMaterials", "POST /organizations/{id}/materials/bulk", exchange.MaterialBulk, 202,
		catalog.BulkMaterials,
		"List or change many materials by a spreadsheet. It is CSV, XLSX or ODS, as the whole body or as the part "+
			"file of a form, which may have the parameters as fields. A row with the reference or id of a material "+
			"changes that one. The job shows progress and result.").Streams().Asks(catalog.BulkQuery{}),
	rest.On("bulkReport", "GET /organizations/{id}/materials/bulk/{job}/report", exchange.MaterialTemplate, 200,
		catalog.BulkReport,
		"Download the result of every row of a spreadsheet, as CSV.").SendsFile(),
	rest.On("materialTemplate", "GET /organizations/{id}/materials/template", exchange.MaterialTemplate, 200,
		catalog.MaterialTemplate,
		"Download a spreadsheet to fill in").SendsFile(),
	rest.On("exportMaterials", "GET /organizations/{id}/materials/export", exchange.MaterialExport, 200,
		catalog.ExportMaterials,
		"Download the materials of an organization, embargoed and archived ones too. The bulk call accepts it again.").
		SendsFile(),
	rest.On("listGrantsOf", "GET /organizations/{id}/grants", exchange.OrganizationGrants, 200, lab.ListGrantsOf,
		"List the grants that paid for an organization's materials").SortedBy(exchange.GrantFields),
	rest.On("listInvitations", "GET /organizations/{id}/invitations", exchange.InvitationRead, 200, lab.ListInvitations,
		"List the invitations of an organization. Without a status, those that can be answered.").
		SortedBy(exchange.InvitationFields),
	rest.On("invite", "POST /organizations/{id}/invitations", exchange.InvitationWrite, 201, lab.Invite,
		"Invite someone. The body has their registry_id or email; nobody joins without accepting. Whoever accepts as "+
			"OWNER replaces the owner, who stays a member.").
		Already("The person is already invited.", shape.Invitation{}),
	rest.On("withdrawInvitation", "DELETE /organizations/{id}/invitations/{invitation}", exchange.InvitationWrite, 204,
		lab.WithdrawInvitation,
		"Withdraw an invitation"),
	rest.On("resendInvitation", "POST /organizations/{id}/invitations/{invitation}/resend", exchange.InvitationWrite,
		200,
		lab.ResendInvitation,
		"Send an invitation again. Its time to answer starts again; at most once in 10 "+
			"minutes."),
	rest.On("getHeldInvitation", "GET /invitations", exchange.InvitationOpen, 200, lab.GetHeldInvitation,
		"Read the invitation that the token of a mail opens"),
	rest.On("acceptHeldInvitation", "POST /invitations/accept", exchange.InvitationTake, 200, lab.AcceptHeldInvitation,
		"Accept an invitation with the token of its mail and become a member"),
	rest.On("declineHeldInvitation", "POST /invitations/decline", exchange.InvitationTake, 200,
		lab.DeclineHeldInvitation,
		"Decline an invitation with the token of its mail"),
	rest.On("askToJoin", "POST /organizations/{id}/join-requests", exchange.JoinAsk, 201, lab.AskToJoin,
		"Ask to join an organization. Its owner accepts or declines.").
		Already("The caller has already asked.", shape.JoinRequest{}),
	rest.On("listJoinRequests", "GET /organizations/{id}/join-requests", exchange.JoinRead, 200, lab.ListJoinRequests,
		"List who asked to join an organization, newest first").SortedBy(exchange.JoinFields),
	rest.On("withdrawJoinRequest", "DELETE /organizations/{id}/join-requests/{join_request}", exchange.JoinWithdraw,
		204,
		lab.WithdrawJoinRequest,
		"Withdraw your own join request"),
	rest.On("acceptJoinRequest", "POST /organizations/{id}/join-requests/{join_request}/accept", exchange.JoinAnswer,
		200,
		lab.AcceptJoinRequest,
		"Accept a join request"),
	rest.On("declineJoinRequest", "POST /organizations/{id}/join-requests/{join_request}/decline",
		exchange.JoinAnswer, 200,
		lab.DeclineJoinRequest,
		"Decline a join request. A reason is optional."),
	rest.On("storageOfLab", "GET /organizations/{id}/storage", exchange.OrganizationStorage, 200, lab.StorageOfLab,
		"Read what an organization has stored. It is what counts for its quota, and the files that use most of it."),
	rest.On("listOrganizationHistory", "GET /organizations/{id}/history", exchange.OrganizationHistory, 200,
		lab.ListOrganizationHistory,
		"List the versions of an organization, newest first. PUT a state to undo later changes.").
		SortedBy(exchange.VersionFields),

	rest.On("listOrganizationEvents", "GET /organizations/{id}/events", exchange.OrganizationEvents, 200,
		request.ListOrganizationEvents,
		"List what happened in the requests of an organization's materials, newest first. For a deleted request, it "+
			"shows only the deletion.").SortedBy(exchange.OrganizationEventFields),

	rest.On("listWebhooks", "GET /organizations/{id}/webhooks", exchange.WebhookRead, 200, lab.ListWebhooks,
		"List the webhooks of an organization, without their secrets").SortedBy(exchange.WebhookFields),
	rest.On("createWebhook", "POST /organizations/{id}/webhooks", exchange.WebhookWrite, 201, lab.CreateWebhook,
		"Send events of the requests of an organization to an address. Messages are signed with the "+
			"secret that is shown here, "+
			"as Standard Webhooks says (standardwebhooks.com). Webhooks of this document are what is sent."),
	rest.On("getWebhook", "GET /organizations/{id}/webhooks/{webhook}", exchange.WebhookRead, 200, lab.GetWebhook,
		"Read a webhook, without its secret"),
	rest.On("updateWebhook", "PUT,PATCH /organizations/{id}/webhooks/{webhook}", exchange.WebhookWrite, 200,
		lab.UpdateWebhook,
		"Change a webhook, or switch it off or on"),
	rest.On("deleteWebhook", "DELETE /organizations/{id}/webhooks/{webhook}", exchange.WebhookWrite, 204,
		lab.DeleteWebhook,
		"Delete a webhook. Unsent messages are discarded."),
	rest.On("rotateWebhook", "POST /organizations/{id}/webhooks/{webhook}/rotate", exchange.WebhookWrite, 200,
		lab.RotateWebhook,
		"Replace the secret of a webhook. For 24 hours, messages are also signed with the previous one."),
	rest.On("pingWebhook", "POST /organizations/{id}/webhooks/{webhook}/ping", exchange.WebhookWrite, 202,
		lab.PingWebhook,
		"Test a webhook. A message of type ping is sent once; the delivery shows the result."),
	rest.On("listDeliveries", "GET /organizations/{id}/webhooks/{webhook}/deliveries", exchange.WebhookRead, 200,
		lab.ListDeliveries,
		"List the messages to a webhook of the last 30 days, newest first").SortedBy(exchange.DeliveryFields),
	rest.On("getDelivery", "GET /organizations/{id}/webhooks/{webhook}/deliveries/{delivery}", exchange.WebhookRead,
		200,
		lab.GetDelivery,
		"Read a message to a webhook, with every attempt"),
	rest.On("redeliver", "POST /organizations/{id}/webhooks/{webhook}/deliveries/{delivery}/redeliver",
		exchange.WebhookWrite, 202, lab.Redeliver,
		"Send a message to a webhook again now. Its id stays, so that a receiver who has it leaves it out."),
	rest.On("listSettings", "GET /organization-user-settings", exchange.SettingsRead, 200, lab.ListSettings,
		"List the caller's notification settings, one record for each organization").SortedBy(exchange.SettingsFields),
	rest.On("getSettings", "GET /organization-user-settings/{id}", exchange.SettingsRead, 200, lab.GetSettings,
		"Read a record of notification settings"),
	rest.On("updateSettings", "PUT,PATCH /organization-user-settings/{id}", exchange.SettingsUpdate, 200,
		lab.UpdateSettings,
		"Turn kinds of notifications on or off"),

	rest.On("createShipping", "POST /shipping-requirements", exchange.ShippingWrite, 201, lab.CreateShipping,
		"Add shipping requirements to an organization"),
	rest.On("listShippings", "GET /shipping-requirements", exchange.ShippingRead, 200, lab.ListShippings,
		"List shipping requirements").SortedBy(exchange.ShippingFields),
	rest.On("getShipping", "GET /shipping-requirements/{id}", exchange.ShippingRead, 200, lab.GetShipping,
		"Read shipping requirements"),
	rest.On("updateShipping", "PUT,PATCH /shipping-requirements/{id}", exchange.ShippingWrite, 200, lab.UpdateShipping,
		"Change shipping requirements"),

	rest.On("createMaterial", "POST /materials", exchange.MaterialCreate, 201, catalog.CreateMaterial,
		"List a material for others. Category, title and organization are required; the contact is the caller unless "+
			"the body names another member.").
		Already("It was already imported.", shape.Duplicate{}),
	rest.On("importMaterial", "POST /materials/import", exchange.MaterialImport, 200, catalog.ImportMaterial,
		"List a material as GEO, SRA or protocols.io describe it. The caller owns the grant and is a member of the "+
			"organization.").
		Already("It was already imported.", shape.ImportedDuplicate{}),
	rest.On("previewImport", "POST /materials/import/preview", exchange.MaterialPreview, 200, catalog.PreviewImport,
		"Preview an import. Nothing is stored."),
	rest.On("importMaterials", "POST /materials/imports", exchange.MaterialImport, 202, catalog.ImportMaterials,
		"Import up to 500 materials. Identifiers may be given in any form; the source is recognized from them. The "+
			"outcomes in the result of the job are in the order of identifiers: "+
			"imported, existing, refused with an error, or would be imported."),
	rest.On("getPublication", "GET /publications", exchange.PublicationRead, 200, catalog.GetPublication,
		"Look a publication up by its PubMed id or its DOI, for PATCH of a material"),
	rest.On("listMaterials", "GET /materials", exchange.MaterialRead, 200, catalog.ListMaterials,
		"List materials, newest first. Those under embargo only members of their organization see.").
		SortedBy(exchange.MaterialFields),
	rest.On("getMaterial", "GET /materials/{id}", exchange.MaterialRead, 200, catalog.GetMaterial,
		"Read a material").ShownAt("/catalog/"),
	rest.On("getMaterialLinked", "GET /materials/{id}/jsonld", exchange.MaterialRead, 200, catalog.GetMaterialLinked,
		"Read a material as linked data. JSON-LD in the words of schema.org and Bioschemas, for search engines and "+
			"harvesters; it can be put into a script element of a page.").
		As(publish.LinkedDataType),
	rest.On("getMaterialCitation", "GET /materials/{id}/citation", exchange.MaterialRead, 200,
		catalog.GetMaterialCitation,
		"Read how to cite a material. A reference of the material, with its RRID or accession, and one of each "+
			"article about it, for a bibliography program.").
		As(publish.BibTeX.MediaType(), publish.RIS.MediaType(), publish.CSLJSON.MediaType()),
	rest.On("updateMaterial", "PUT,PATCH /materials/{id}", exchange.MaterialUpdate, 200, catalog.UpdateMaterial,
		"Change a material. Its category stays."),
	rest.On("archiveMaterial", "DELETE /materials/{id}", exchange.MaterialArchive, 204, catalog.ArchiveMaterial,
		"Archive a material. Refused while a request for it is open."),
	rest.On("listMaterialHistory", "GET /materials/{id}/history", exchange.MaterialHistory, 200,
		catalog.ListMaterialHistory,
		"List the versions of a material, newest first. PUT a state to undo later changes.").
		SortedBy(exchange.VersionFields),

	rest.On("createGrant", "POST /grants", exchange.GrantCreate, 200, catalog.CreateGrant, "Add a grant"),
	rest.On("listGrants", "GET /grants", exchange.GrantList, 200, catalog.ListGrants,
		"List the caller's grants").SortedBy(exchange.GrantFields),
	rest.On("getGrant", "GET /grants/{id}", exchange.GrantRead, 200, catalog.GetGrant, "Read a grant"),
	rest.On("updateGrant", "PUT,PATCH /grants/{id}", exchange.GrantUpdate, 200, catalog.UpdateGrant, "Change a grant"),
	rest.On("listFundedMaterials", "GET /grants/{id}/materials", exchange.GrantRead, 200, catalog.ListFundedMaterials,
		"List the materials that a grant paid for").SortedBy(exchange.MaterialFields),
	rest.On("fundMaterial", "POST /grants/{id}/materials", exchange.GrantUpdate, 201, catalog.FundMaterial,
		"Record that a grant paid for a material. The caller owns the grant and is a member of the material's "+
			"organization.").
		Already("The grant already includes it.", shape.GrantMaterial{}),
	rest.On("unfundMaterial", "DELETE /grants/{id}/materials/{material}", exchange.GrantUpdate, 204,
		catalog.UnfundMaterial,
		"Remove a material from a grant"),

	rest.On("createAttachment", "POST /attachments", exchange.AttachmentCreate, 201, request.CreateAttachment,
		"Create an attachment. As JSON, it creates the record, whose content follows with PUT to its download_url; "+
			"as a form, it sends record and content at once.").Streams(),
	rest.On("listAttachments", "GET /attachments", exchange.AttachmentList, 200, request.ListAttachments,
		"List all attachments").SortedBy(exchange.AttachmentFields),
	rest.On("getAttachment", "GET /attachments/{id}", exchange.AttachmentRead, 200, request.GetAttachment,
		"Read the record of an attachment"),
	rest.On("updateAttachment", "PUT,PATCH /attachments/{id}", exchange.AttachmentUpdate, 200, request.UpdateAttachment,
		"Change the record of an attachment"),
	rest.On("deleteAttachment", "DELETE /attachments/{id}", exchange.AttachmentDelete, 204, request.DeleteAttachment,
		"Delete an attachment. Refused while a request uses it."),
	rest.On("getContent", "GET /uploaded-file/{attachment}/{filename}", exchange.AttachmentContent, 200,
		request.GetContent,
		"Download the content of an attachment. Takes Range."),
	rest.On("putContent", "PUT /uploaded-file/{attachment}/{filename}", exchange.AttachmentReplace, 200,
		request.PutContent,
		"Upload the content of an attachment, or a new version of it. Its type is detected from the content; "+
			"programs and HTML are refused. The old version is kept for the parties of the requests that were made "+
			"under it.").Streams(),
	rest.On("getContentVersion", "GET /attachments/{id}/versions/{version}", exchange.AttachmentContent, 200,
		request.GetContentVersion,
		"Download a version of the content of an attachment. Takes Range."),

	rest.On("createRequest", "POST /material-requests", exchange.RequestCreate, 201, request.CreateRequest,
		"Request a material. Requirements can be submitted later."),
	rest.On("listRequests", "GET /material-requests", exchange.RequestList, 200, request.ListRequests,
		"List the caller's requests and those of their organizations, newest first").SortedBy(exchange.RequestFields),
	rest.On("getRequest", "GET /material-requests/{id}", exchange.RequestRead, 200, request.GetRequest,
		"Read a request, with what it needs and whose turn it is").ShownAt("/requests/"),
	rest.On("updateRequest", "PUT,PATCH /material-requests/{id}", exchange.RequestUpdate, 200, request.UpdateRequest,
		"Change the status of a request, or submit something it needs"),
	rest.On("deleteRequest", "DELETE /material-requests/{id}", exchange.RequestDelete, 204, request.DeleteRequest,
		"Delete a request"),
	rest.On("createRequestGroup", "POST /request-groups", exchange.RequestCreate, 201, request.CreateRequestGroup,
		"Request several materials of one lab in one step. Makes one request for each of them, all or none; what the "+
			"materials do not require is left out of their requests. The lab is notified once. Materials that cannot "+
			"be requested (archived, under embargo, of the caller's own lab, or with an open request of the caller) "+
			"are an error, unless skip_unavailable leaves them out."),
	rest.On("getRequestGroup", "GET /request-groups/{id}", exchange.RequestRead, 200, request.GetRequestGroup,
		"Read the requests that were sent in one step"),
	rest.On("acceptRequestGroup", "POST /request-groups/{id}/accept", exchange.RequestUpdate, 200,
		request.AcceptRequestGroup,
		"Accept the open requests of a group. The answer states of each of its requests whether it was accepted, "+
			"and why not."),
	rest.On("createInquiry", "POST /materials/{id}/inquiries", exchange.InquiryCreate, 201, request.CreateInquiry,
		"Ask the lab of a material a question, without requesting it. The material's contact is notified; every "+
			"member may answer. At most 20 within 24 hours, and one about a material until it is answered."),
	rest.On("listInquiriesTo", "GET /organizations/{id}/inquiries", exchange.InquiryRead, 200, request.ListInquiriesTo,
		"List the questions that an organization was asked about its materials, newest first").
		SortedBy(exchange.InquiryFields),
	rest.On("listInquiriesOf", "GET /users/{id}/inquiries", exchange.InquiryRead, 200, request.ListInquiriesOf,
		"List the questions that a user asked about materials, newest first").SortedBy(exchange.InquiryFields),
	rest.On("getInquiry", "GET /inquiries/{id}", exchange.InquiryRead, 200, request.GetInquiry,
		"Read a question about a material, with its answer").ShownAt("/inquiry/"),
	rest.On("answerInquiry", "POST /inquiries/{id}/answer", exchange.InquiryAnswer, 200, request.AnswerInquiry,
		"Answer a question about a material. The person who asked is notified, and can request the material with "+
			"inquiry in POST /material-requests/."),
	rest.On("listEvents", "GET /material-requests/{id}/events", exchange.RequestRead, 200, request.ListEvents,
		"List what happened to a request, newest first, each chained to the one before by its hash").
		SortedBy(exchange.EventFields),
	rest.On("proveEvent", "GET /material-requests/{id}/events/{seq}/proof", exchange.RequestRead, 200,
		evidence.GetProof,
		"Prove that an event of a request is in the log, with the event as it is hashed. Anyone who has the key of "+
			"the log can check it; docs/record.md says how."),
	rest.On("getDossier", "GET /material-requests/{id}/dossier", exchange.RequestRead, 200, evidence.GetDossier,
		"Download the record of a request as a file that proves itself: events, documents in all versions, and the "+
			"proof that they are in the signed log. README.txt in it says how to check it without this "+
			"server.").SendsFile(),
	rest.On("listTurns", "GET /material-requests/{id}/turns", exchange.RequestRead, 200, request.ListTurns,
		"List whose turn it was in a request, newest first. Each ends when the next one begins.").
		SortedBy(exchange.TurnFields),
	rest.On("snoozeRequest", "POST /material-requests/{id}/snooze", exchange.RequestUpdate, 200, request.SnoozeRequest,
		"Snooze reminders of a turn. Only the side whose turn it is may; the snooze ends with the turn."),
	rest.On("unsnoozeRequest", "DELETE /material-requests/{id}/snooze", exchange.RequestUpdate, 204,
		request.UnsnoozeRequest,
		"Stop snoozing reminders of a turn"),
	rest.On("listMessages", "GET /material-requests/{id}/messages", exchange.RequestRead, 200, request.ListMessages,
		"List the messages on a request, newest first. Those on requests of its group are among them, each with the "+
			"request that it is stored with.").SortedBy(exchange.MessageFields),
	rest.On("sendMessage", "POST /material-requests/{id}/messages", exchange.RequestUpdate, 201, request.SendMessage,
		"Write to the other side of a request, or ask the requester what the lab has to know before it decides"),
	rest.On("listIssues", "GET /material-requests/{id}/issues", exchange.RequestRead, 200, request.ListIssues,
		"List the problems with a transfer").SortedBy(exchange.IssueFields),
	rest.On("openIssue", "POST /material-requests/{id}/issues", exchange.RequestUpdate, 201, request.OpenIssue,
		"Report a problem with a transfer. A fulfilled request goes back to IN_FULFILLMENT."),
	rest.On("closeIssue", "POST /material-requests/{id}/issues/{issue}/close", exchange.RequestUpdate, 200,
		request.CloseIssue,
		"Mark a problem as resolved. When the last one is resolved, the request is fulfilled again."),
	rest.On("shipRequest", "PUT,PATCH /material-requests/{id}/shipment", exchange.RequestShip, 200, request.ShipRequest,
		"Set the shipping details"),
	rest.On("acceptDocument", "POST /material-requests/{id}/documents/{document}/accept", exchange.RequestUpdate, 200,
		request.AcceptDocument,
		"Accept a document of the other side"),
	rest.On("returnDocument", "POST /material-requests/{id}/documents/{document}/return", exchange.RequestUpdate, 200,
		request.ReturnDocument,
		"Return a document of the other side, with a reason. It is owed again."),

	rest.On("listAuditEvents", "GET /audit-events", exchange.AuditRead, 200, admin.ListAuditEvents,
		"List what was changed, by whom, and where admin rights were used, newest first").
		SortedBy(exchange.AuditFields),

	rest.On("listJobs", "GET /jobs", exchange.JobList, 200, admin.ListJobs,
		"List the caller's jobs, newest first. Admins see everybody's with all=true.").SortedBy(exchange.JobFields),
	rest.On("getJob", "GET /jobs/{id}", exchange.JobRead, 200, admin.GetJob,
		"Read a job: its progress and its result."),
	rest.On("cancelJob", "POST /jobs/{id}/cancel", exchange.JobCancel, 200, admin.CancelJob,
		"Cancel a job. What it has already done is kept."),
	rest.On("undoImport", "POST /jobs/{id}/undo", exchange.MaterialBulk, 202, admin.UndoImport,
		"Undo an import: a job that archives the materials that a spreadsheet or a list of identifiers listed, "+
			"unless someone requested, asked about or changed them since. Possible for 30 days, for whoever may list "+
			"materials of the organization from a spreadsheet; the report states for each material what was done."),
	rest.On("retryJob", "POST /jobs/{id}/retry", exchange.JobRetry, 200, admin.RetryJob,
		"Retry a failed or cancelled job"),

	rest.On("searchMaterials", "GET /search/materials", exchange.SearchRead, 200, catalog.SearchMaterials,
		"Search materials. Words match by stem, and the last word also as a prefix; \"quoted words\" match as a "+
			"phrase, -words are excluded, identifiers may have any format. Archived ones come last; those under "+
			"embargo only members of their organization find.").
		Searches(rest.Searched{Facets: material.Facets, Title: "title"}),
	rest.On("feedMaterials", "GET /search/materials/feed", exchange.SearchRead, 200, catalog.FeedMaterials,
		"Follow a search. The newest 50 materials that anyone finds, as an Atom feed.").
		Searches(rest.Searched{Facets: material.Facets, Feed: true}).As(publish.AtomType),
	rest.On("searchOrganizations", "GET /search/organizations", exchange.SearchRead, 200, catalog.SearchOrganizations,
		"Search organizations, by name and description").
		Searches(rest.Searched{Title: "name"}),
	rest.On("searchUsers", "GET /search/users", exchange.SearchRead, 200, catalog.SearchUsers,
		"Search users, by name and registry id").
		Searches(rest.Searched{Title: "last_name"}),
	rest.On("suggest", "GET /search/suggest", exchange.SearchRead, 200, catalog.Suggest,
		"Suggest search terms: materials and organizations whose name begins with the typed text."),

	rest.On("getCheckpoint", "GET /log/checkpoint", exchange.LogRead, 200, evidence.GetCheckpoint,
		"Read the newest signed checkpoint of the log of all events. It is as in C2SP tlog-checkpoint; whoever keeps "+
			"it can check later that nothing before it was rewritten.").As(evidence.TextType),
	rest.On("getLogKeys", "GET /log/keys", exchange.LogRead, 200, evidence.GetKeys,
		"Read the public keys of the log, the newest first. They are as in C2SP signed-note, one on each line, and "+
			"include those that were replaced.").As(evidence.TextType),
	rest.On("getTile", "GET /log/tile/{level}/{tile...}", exchange.LogRead, 200, evidence.GetTile,
		"Read a tile of the log. Level and tile are as in C2SP tlog-tiles, such as 0 and x001/234.p/17; the level "+
			"entries has the hashes of events.").As(evidence.TileType),

	rest.On("getOpenAPI", "GET /openapi.json", exchange.DocumentationRead, 200, getOpenAPI, "Read this document"),
}, institutionRoutes)

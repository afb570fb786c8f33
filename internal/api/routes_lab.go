package api

import (
	"aliquot/internal/api/catalog"
	"aliquot/internal/api/lab"
	"aliquot/internal/api/request"
	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
	"aliquot/internal/exchange"
)

// labRoutes are those of a lab: members, spreadsheets, invitations, webhooks, and what it ships on which terms.
var labRoutes = []rest.Route{
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
}

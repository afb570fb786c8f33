package api

import (
	"aliquot/internal/api/account"
	"aliquot/internal/api/agreement"
	"aliquot/internal/api/catalog"
	"aliquot/internal/api/lab"
	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
	"aliquot/internal/exchange"
)

// userRoutes are those of signing in, and of a person: account, notifications, addresses, searches, tokens and
// invitations.
var userRoutes = []rest.Route{
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
	rest.On("getErasure", "GET /users/{id}/erasure", exchange.UserReadPrivate, 200, account.GetErasure,
		"Read whether a person's data is to be erased, or was. Says what has to be done first, and what stays and "+
			"why."),
	rest.On("askErasure", "POST /users/{id}/erasure", exchange.UserErase, 200, account.AskErasure,
		"Ask for the erasure of a person. After 14 days it closes the account, as DELETE of the user does, and erases "+
			"what the person wrote in requests: the events stay, with their hashes, and say that a text was erased. "+
			"People ask for their own within 15 minutes of signing in; admins give a reason. Refused while something "+
			"has to be done first, as in closing an account."),
	rest.On("takeBackErasure", "DELETE /users/{id}/erasure", exchange.UserErase, 204, account.TakeBackErasure,
		"Take an erasure back that was not done yet"),
	rest.On("exportAccount", "GET /users/{id}/export", exchange.AccountExport, 200, account.ExportAccount,
		"Download all that is stored about a person. It is a ZIP of JSON files, each with a page for reading beside "+
			"it, and of the files that the person owns.").SendsFile(),
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
	rest.On("listPasskeys", "GET /users/{id}/passkeys", exchange.PasskeyRead, 200, account.ListPasskeys,
		"List a user's passkeys, newest first. Those that were removed stay: what they signed is checked with "+
			"them.").SortedBy(exchange.PasskeyFields),
	rest.On("beginPasskey", "POST /users/{id}/passkeys/options", exchange.PasskeyWrite, 200, account.BeginPasskey,
		"Ask for what a browser needs to make a passkey. Its challenge is valid for five minutes, once. People "+
			"register their own, within 15 minutes of signing in; tokens of programs do not."),
	rest.On("registerPasskey", "POST /users/{id}/passkeys", exchange.PasskeyWrite, 201, account.RegisterPasskey,
		"Register a passkey that a browser made. It has the algorithm ES256 or RS256 "+
			"and verifies its user, by a PIN or a fingerprint for example. A user registers at most 100."),
	rest.On("askAgreementPasskey", "POST /users/{id}/signatures/options", exchange.PasskeyUse, 200,
		agreement.AskPasskey,
		"Ask for what the caller signs with one touch of a passkey: agreements in one role, by one authority. The "+
			"statement names each with its version and hash; it waits for five minutes, to be signed once."),
	rest.On("signAgreementsWithPasskey", "POST /users/{id}/signatures", exchange.PasskeyUse, 201,
		agreement.SignWithPasskey,
		"Sign the agreements of such a statement at the level PASSKEY, all of them or none. Otherwise as "+
			"POST /agreements/{id}/signatures."),
	rest.On("removePasskey", "DELETE /users/{id}/passkeys/{passkey}", exchange.PasskeyWrite, 204,
		account.RemovePasskey, "Remove a passkey, with which nothing can be signed any more"),
	rest.On("listJoinRequestsOf", "GET /users/{id}/join-requests", exchange.JoinRead, 200, lab.ListJoinRequestsOf,
		"List the join requests that a user made, newest first").SortedBy(exchange.JoinFields),
	rest.On("acceptInvitation", "POST /users/{id}/invitations/{invitation}/accept", exchange.InvitationAnswer, 200,
		lab.AcceptInvitation,
		"Accept an invitation and become a member"),
	rest.On("declineInvitation", "POST /users/{id}/invitations/{invitation}/decline", exchange.InvitationAnswer, 200,
		lab.DeclineInvitation,
		"Decline an invitation"),
}

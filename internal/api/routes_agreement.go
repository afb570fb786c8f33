package api

import (
	"aliquot/internal/api/agreement"
	"aliquot/internal/api/requirement"
	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
	"aliquot/internal/exchange"
)

// agreementRoutes are those of agreements: letters for requests.
var agreementRoutes = []rest.Route{
	rest.On("createAgreement", "POST /agreements", exchange.AgreementCreate, 201, agreement.Create,
		"Draft an agreement for requests of one requester to one lab: one letter for all of them. Its institutions "+
			"are that of the lab and that of the requester today. The requester may, members of the lab, and officers "+
			"of either institution. A request is in one letter at a time (CONFLICT). MISSING_FACTS names what the lab "+
			"has to state first; NOT_IN_FORCE why no instrument is valid."),
	rest.On("listAgreements", "GET /agreements", exchange.AgreementList, 200, agreement.List,
		"List agreements of the caller's own requests, of their labs and of the institutions that they sign for, "+
			"newest first. An admin sees all.").SortedBy(exchange.AgreementFields),
	rest.On("listAgreementInbox", "GET /agreements/inbox", exchange.AgreementList, 200, agreement.Inbox,
		"List agreements that wait for the caller's signature, newest first: as the scientist of a side, or for an "+
			"institution that they sign for in that direction. Whether their authority covers every material, "+
			"signing says.").SortedBy(exchange.AgreementFields),
	rest.On("getAgreement", "GET /agreements/{id}", exchange.AgreementRead, 200, agreement.Get,
		"Read an agreement").ShownAt("/letters/"),
	rest.On("listAgreementVersions", "GET /agreements/{id}/versions", exchange.AgreementRead, 200,
		agreement.ListVersions,
		"List the versions of an agreement, newest first").SortedBy(exchange.AgreementVersionFields),
	rest.On("createAgreementVersion", "POST /agreements/{id}/versions", exchange.AgreementWrite, 200,
		agreement.CreateVersion,
		"Make a new version of an agreement from the records as they are now. What the body leaves out stays as it "+
			"is. The call names the version that the caller saw (STALE_VERSION). The "+
			"agreement is a draft again, and signatures on earlier versions no longer count. Without a difference "+
			"nothing changes."),
	rest.On("sendAgreement", "POST /agreements/{id}/send", exchange.AgreementWrite, 200, agreement.Send,
		"Send an agreement to be signed. Nothing may be missing (MISSING_FIELDS), and its instrument must be the "+
			"right one today (NOT_IN_FORCE)."),
	rest.On("declineAgreement", "POST /agreements/{id}/decline", exchange.AgreementWrite, 200, agreement.Decline,
		"Decline an agreement that was sent, with a reason. A new version makes it a draft again."),
	rest.On("withdrawAgreement", "POST /agreements/{id}/withdraw", exchange.AgreementWrite, 200, agreement.Withdraw,
		"Withdraw an agreement that was not executed. Its requests can be put into another."),
	rest.On("signAgreement", "POST /agreements/{id}/signatures", exchange.AgreementSign, 201, agreement.Sign,
		"Sign a version of an agreement that was sent, at the level SIGNED_IN: as the scientist of a side, or for its "+
			"institution by one's authority (NO_AUTHORITY). Tokens of programs do not sign. The last signature "+
			"executes the agreement: its sealed PDF is the executed MTA of each of its requests. For that both "+
			"institutions are "+
			"confirmed, the lab is of its institution, and the requester's affiliation is known from others "+
			"(NOT_IN_FORCE)."),
	rest.On("listAgreementLinks", "GET /agreements/{id}/links", exchange.AgreementRead, 200, agreement.ListLinks,
		"List the links by which people without an account sign an agreement, newest first").
		SortedBy(exchange.AgreementLinkFields),
	rest.On("createAgreementLink", "POST /agreements/{id}/links", exchange.AgreementWrite, 201, agreement.CreateLink,
		"Mail a link to an official without an account, who reads the agreement there, and signs or declines it with "+
			"a code that is mailed to the same address. Sending an agreement does this for each role that nobody "+
			"with an account may sign. Earlier links for the role and address end."),
	rest.On("listAgreementDuties", "GET /agreements/{id}/duties", exchange.AgreementRead, 200, agreement.ListDuties,
		"Read what the recipient of an executed agreement owes by its terms, and when nothing was owed any more"),
	rest.On("updateAgreementDuty", "PUT,PATCH /agreements/{id}/duties/{duty}", exchange.DutyDecide, 200,
		agreement.UpdateDuty,
		"Set the day on which a duty is due. The side that provides does; people are reminded of it before and after."),
	rest.On("settleAgreementDuty", "POST /agreements/{id}/duties/{duty}/evidence", exchange.DutySettle, 200,
		agreement.SettleDuty, "Record that a duty was done, with the evidence"),
	rest.On("waiveAgreementDuty", "POST /agreements/{id}/duties/{duty}/waive", exchange.DutyDecide, 200,
		agreement.WaiveDuty, "Waive a duty, with a reason. The side that provides does."),
	rest.On("getAgreementDocument", "GET /agreements/{id}/document", exchange.AgreementRead, 200, agreement.Document,
		"Download the newest version of an agreement as a PDF (PDF/A-3a), with its data attached").
		As("application/pdf"),
	rest.On("listPermits", "GET /permits", exchange.PermitList, 200, requirement.ListPermits,
		"List permits of the caller, of their labs and of their institutions, newest first, or those that a request "+
			"uses. An admin sees all.").SortedBy(exchange.PermitFields),
	rest.On("createPermit", "POST /permits", exchange.PermitWrite, 201, requirement.CreatePermit,
		"Add a permit: the decision of an official that fulfils a requirement for a time. It is the caller's own, or "+
			"that of a lab that they belong to, or of an institution that they are an officer of."),
	rest.On("getPermit", "GET /permits/{id}", exchange.PermitRead, 200, requirement.GetPermit, "Read a permit"),
	rest.On("updatePermit", "PUT,PATCH /permits/{id}", exchange.PermitWrite, 200, requirement.UpdatePermit,
		"Change a permit. What requests need follows at once."),
	rest.On("usePermit", "POST /material-requests/{id}/permits", exchange.PermitUse, 201, requirement.UsePermit,
		"Use a permit of the caller's side for a request: each day on which it is valid and covers the request, it "+
			"fulfils the requirement of its regime. Both sides of the request may read it from then on.").
		Already("The request uses it already.", shape.Permit{}),
	rest.On("releasePermit", "DELETE /material-requests/{id}/permits/{permit}", exchange.PermitUse, 204,
		requirement.ReleasePermit, "No longer use a permit for a request"),
}

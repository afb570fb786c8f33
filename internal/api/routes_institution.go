package api

import (
	"aliquot/internal/api/institution"
	"aliquot/internal/api/rest"
	"aliquot/internal/exchange"
)

// institutionRoutes are those of institutions, of what is registered of them, and of the forms of their agreements.
var institutionRoutes = []rest.Route{
	rest.On("createInstitution", "POST /institutions", exchange.InstitutionCreate, 201, institution.Create,
		"Add an institution, which agreements can bind. It can receive proposals at once; an admin or one of its "+
			"officers confirms it before an agreement of it is executed."),
	rest.On("listInstitutions", "GET /institutions", exchange.InstitutionRead, 200, institution.List,
		"List institutions, newest first").SortedBy(exchange.InstitutionFields),
	rest.On("exportSignatories", "GET /institutions/signatories", exchange.SignatoryRead, 200,
		institution.ExportSignatories,
		"Download the signatories of master agreements as a spreadsheet, which the import accepts again").SendsFile(),
	rest.On("importSignatories", "POST /institutions/signatories", exchange.SignatoryImport, 200,
		institution.ImportSignatories,
		"Import signatories of master agreements from a spreadsheet. It is CSV, XLSX or ODS of at most 4 MiB and "+
			"2,000 rows, as the whole body, with the columns of the download; an empty cell keeps what is known. All "+
			"rows are stored or, if one is wrong, none.").Streams().Asks(institution.ImportQuery{}),
	rest.On("getInstitution", "GET /institutions/{id}", exchange.InstitutionRead, 200, institution.Get,
		"Read an institution").ShownAt("/offices/"),
	rest.On("updateInstitution", "PUT,PATCH /institutions/{id}", exchange.InstitutionUpdate, 200, institution.Update,
		"Change an institution. Its officers may, and who added it until it is confirmed."),
	rest.On("listInstitutionLabs", "GET /institutions/{id}/labs", exchange.InstitutionRead, 200,
		institution.ListLabs,
		"List the labs of an institution, newest first").SortedBy(exchange.EntryFields),
	rest.On("createInstitutionLab", "POST /institutions/{id}/labs", exchange.InstitutionLabClaim, 201,
		institution.CreateLab,
		"State that a lab belongs to an institution. The owner of the lab does; an officer of the institution "+
			"confirms it."),
	rest.On("updateInstitutionLab", "PUT,PATCH /institutions/{id}/labs/{lab}", exchange.InstitutionLabUpdate, 200,
		institution.UpdateLab,
		"Confirm, or end, that a lab belongs to an institution"),
	rest.On("listAffiliations", "GET /institutions/{id}/affiliations", exchange.AffiliationRead, 200,
		institution.ListAffiliations,
		"List who is at an institution, newest first. Others than officers and admins see their own "+
			"affiliations.").SortedBy(exchange.EntryFields),
	rest.On("createAffiliation", "POST /institutions/{id}/affiliations", exchange.AffiliationWrite, 201,
		institution.CreateAffiliation,
		"State that a person is at an institution. People state it of themselves, officers of anybody."),
	rest.On("updateAffiliation", "PUT,PATCH /institutions/{id}/affiliations/{affiliation}", exchange.AffiliationWrite,
		200, institution.UpdateAffiliation,
		"Confirm, change or end an affiliation"),
	rest.On("listPositions", "GET /institutions/{id}/positions", exchange.AuthorityRead, 200,
		institution.ListPositions,
		"List the positions of an institution, newest first").SortedBy(exchange.EntryFields),
	rest.On("createPosition", "POST /institutions/{id}/positions", exchange.AuthorityWrite, 201,
		institution.CreatePosition,
		"Add a position to an institution"),
	rest.On("updatePosition", "PUT,PATCH /institutions/{id}/positions/{position}", exchange.AuthorityWrite, 200,
		institution.UpdatePosition,
		"Change or end a position"),
	rest.On("listAuthorities", "GET /institutions/{id}/authorities", exchange.AuthorityRead, 200,
		institution.ListAuthorities,
		"List who may sign what for an institution, newest first").SortedBy(exchange.EntryFields),
	rest.On("createAuthority", "POST /institutions/{id}/authorities", exchange.AuthorityWrite, 201,
		institution.CreateAuthority,
		"Give the holder of a position authority to sign. An officer gives only what they may sign themselves "+
			"(NO_AUTHORITY)."),
	rest.On("updateAuthority", "PUT,PATCH /institutions/{id}/authorities/{authority}", exchange.AuthorityWrite, 200,
		institution.UpdateAuthority,
		"Change or end an authority, within what the caller may sign"),
	rest.On("listStandIns", "GET /institutions/{id}/stand-ins", exchange.AuthorityRead, 200,
		institution.ListStandIns,
		"List who signs in the place of others for an institution, newest first").SortedBy(exchange.EntryFields),
	rest.On("createStandIn", "POST /institutions/{id}/stand-ins", exchange.AuthorityWrite, 201,
		institution.CreateStandIn,
		"Have a person sign in the place of an authority's holder for a time"),
	rest.On("updateStandIn", "PUT,PATCH /institutions/{id}/stand-ins/{stand_in}", exchange.AuthorityWrite, 200,
		institution.UpdateStandIn,
		"Change or end a stand-in"),
	rest.On("listMasters", "GET /institutions/{id}/masters", exchange.InstitutionRead, 200,
		institution.ListMasters,
		"List the master agreements that an institution signed, newest first").SortedBy(exchange.EntryFields),
	rest.On("createMaster", "POST /institutions/{id}/masters", exchange.MasterWrite, 201,
		institution.CreateMaster,
		"Record that an institution signed a master agreement, or is willing to use it"),
	rest.On("updateMaster", "PUT,PATCH /institutions/{id}/masters/{master}", exchange.MasterWrite, 200,
		institution.UpdateMaster,
		"Change the entry of a master agreement, or record that it was withdrawn"),
	rest.On("listApprovals", "GET /institutions/{id}/approvals", exchange.AuthorityRead, 200,
		institution.ListApprovals,
		"List the standing approvals of an institution, newest first").SortedBy(exchange.EntryFields),
	rest.On("createApproval", "POST /institutions/{id}/approvals", exchange.ApprovalWrite, 201,
		institution.CreateApproval,
		"Draft a standing approval, within what the caller may sign themselves (NO_AUTHORITY). It signs nothing "+
			"before it is signed."),
	rest.On("updateApproval", "PUT,PATCH /institutions/{id}/approvals/{approval}", exchange.ApprovalWrite, 200,
		institution.UpdateApproval,
		"Change a standing approval, which is a new version of it; of one that was signed, only withdrawn_on "+
			"changes"),
	rest.On("signApproval", "POST /institutions/{id}/approvals/{approval}/sign", exchange.ApprovalSign, 200,
		institution.SignApproval,
		"Sign a version of a standing approval. From then on it signs, for its institution, every letter that it "+
			"covers. With what a passkey answered, the signature has the level PASSKEY. A program's token cannot."),
	rest.On("askApprovalPasskey", "POST /institutions/{id}/approvals/{approval}/sign/options", exchange.ApprovalSign,
		200, institution.AskApproval,
		"Ask for what the caller signs with a passkey, to sign a version of a standing approval at the level PASSKEY. "+
			"The statement waits for five minutes, to be signed once."),
	rest.On("getPlaybook", "GET /institutions/{id}/playbook", exchange.PlaybookRead, 200, institution.GetPlaybook,
		"Read what an institution prefers, accepts and does not accept in agreements. Its officers may."),
	rest.On("updatePlaybook", "PUT,PATCH /institutions/{id}/playbook", exchange.PlaybookWrite, 200,
		institution.UpdatePlaybook,
		"Change the playbook of an institution. Its officers may."),
	rest.On("comparePlaybooks", "GET /institutions/{id}/playbook/conflicts", exchange.PlaybookRead, 200,
		institution.ComparePlaybooks,
		"List where the playbook of an institution conflicts with that of another one, in each instrument that is in "+
			"force today and in both directions. Officers of the first one may; what else the playbook of the other "+
			"has is not shown."),
	rest.On("listInstruments", "GET /instruments", exchange.InstrumentRead, 200, institution.ListInstruments,
		"List the instruments, the forms of agreements, by id and first day, each version by itself: those that "+
			"Aliquot brings along, and those that the operator installed"),
	rest.On("getInstrument", "GET /instruments/{instrument}", exchange.InstrumentRead, 200,
		institution.GetInstrument,
		"Read an instrument with its text"),
}

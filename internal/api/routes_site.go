package api

import (
	"aliquot/internal/api/admin"
	"aliquot/internal/api/catalog"
	"aliquot/internal/api/evidence"
	"aliquot/internal/api/rest"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/publish"
)

// siteRoutes are those of the whole installation: what happened, jobs, searches, and the transparency log.
var siteRoutes = []rest.Route{
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
}

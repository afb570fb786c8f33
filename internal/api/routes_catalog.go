package api

import (
	"aliquot/internal/api/catalog"
	"aliquot/internal/api/request"
	"aliquot/internal/api/requirement"
	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/publish"
)

// catalogRoutes are those of what labs list: materials, the grants that paid for them, and files.
var catalogRoutes = []rest.Route{
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

	rest.On("getTransferFacts", "GET /materials/{id}/transfer-facts", exchange.MaterialRead, 200,
		requirement.GetTransferFacts,
		"Read the facts of a material that decide which agreement and what else a transfer of it needs, and where "+
			"each comes from. UNKNOWN never counts as no."),
	rest.On("resolveAgreement", "POST /agreements/resolve", exchange.AgreementResolve, 200, requirement.Resolve,
		"Ask which instrument the transfer of a material, or of several in one letter, to an institution takes today, "+
			"why, and why not another. Nothing is stored."),
	rest.On("stateFacts", "PUT,PATCH /materials/{id}/transfer-facts", exchange.MaterialState, 200,
		requirement.StateFacts,
		"State facts of a material. Members of its lab do; what contradicts its category is refused. A fact that "+
			"follows from the category is not stored as stated."),
	rest.On("getLineage", "GET /materials/{id}/lineage", exchange.MaterialLineage, 200, requirement.GetLineage,
		"Read where a material came from, as its lab stated it. Members of the lab do."),
	rest.On("stateLineage", "PUT,PATCH /materials/{id}/lineage", exchange.MaterialState, 200, requirement.StateLineage,
		"State where a material came from: earlier materials here, and fulfilled requests of members of the lab by "+
			"which it received them. Members of its lab do."),
	rest.On("mayShare", "GET /materials/{id}/may-share", exchange.MaterialRead, 200, requirement.MayShare,
		"Ask whether a material may be passed on to an institution today: YES, NO, or ASK whom the reasons name. The "+
			"terms of every agreement back to the origins count, and the strictest answer holds. Agreements are named "+
			"to those who may read them."),

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
}

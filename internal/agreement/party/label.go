package party

import "cmp"

// labels says in words what the codes of institutions, authorities, requirements, and signatures with their roles,
// mean.
var labels = map[string]string{
	string(Nonprofit):  "non-profit",
	string(Government): "government",
	string(ForProfit):  "company",
	string(Individual): "private person",
	string(Unknown):    "unknown",

	ProviderScientist:  "scientist who provides",
	RecipientScientist: "scientist who receives",
	ProviderOfficial:   "official of the institution that provides",
	RecipientOfficial:  "official of the institution that receives",

	string(Uploaded):   "signed paper, uploaded",
	string(MailedLink): "link by mail, with a code",
	string(SignedIn):   "signed in",
	string(Passkey):    "passkey",
	string(Qualified):  "qualified signature",

	string(Provide): "provides",
	string(Receive): "receives",
	string(Both):    "provides and receives",

	string(Signed):    "signed",
	string(Willing):   "willing to use it",
	string(Bilateral): "bilateral",

	"MTA":                "material transfer agreement",
	"ABSTRACT":           "research abstract",
	"IRB":                "approval of a review board (IRB)",
	"IBC":                "approval of a biosafety committee (IBC)",
	"IACUC":              "approval of an animal care committee (IACUC)",
	"SELECT_AGENT":       "authorization for select agents",
	"EXPORT_LICENCE":     "export licence",
	"IMPORT_PERMIT":      "import permit",
	"IRCC":               "Nagoya certificate (IRCC), or proof that none is needed",
	"DATA_USE":           "terms of data use",
	"HAZARDOUS_SHIPMENT": "shipment as a hazardous substance",
	"CONSENT_FORBIDS":    "consent of the donor",
	"DESTINATION":        "destination",

	"YES": "yes",
	"NO":  "no",

	string(Self):             "stated by the person",
	string(Officer):          "confirmed by an officer",
	string(MailDomain):       "mail address of the institution",
	string(IdentityProvider): "sign-in of the institution",
	string(ORCIDAsserted):    "ORCID record",
}

// Label returns a code of agreements in words, or the code itself if it has none.
func Label(code string) string { return cmp.Or(labels[code], code) }

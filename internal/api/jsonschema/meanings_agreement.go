package jsonschema

import "maps"

// agreementMeanings describe the fields of agreements.
func agreementMeanings() map[string]string {
	all := map[string]string{
		"Agreement.missing":           "Fields without a value; the letter cannot be sent before.",
		"Agreement.because":           "Why it has this instrument, as it was when the version was made.",
		"Agreement.questions":         "Facts of the materials that nobody has stated.",
		"Agreement.findings":          "What may be wrong with it.",
		"Agreement.signatures":        "The signatures on its newest version.",
		"Agreement.unsigned":          "The roles that have not signed the newest version.",
		"Agreement.pdf":               "The path of its newest version as a PDF.",
		"AgreementMissingField.how":   "How to fill it.",
		"AgreementMissingField.field": "The name of the field.",
		"AgreementMissingField.source": "Whose record it comes from: PROVIDER_INSTITUTION, RECIPIENT_INSTITUTION, " +
			"REQUESTER, LAB or REQUESTS.",
		"AgreementQuestion.fact":       "The name of the fact.",
		"AgreementReason.rule":         "The rule that decided.",
		"AgreementReason.why":          "What it says.",
		"AgreementReason.citation":     "Where the rule comes from.",
		"AgreementObstacle.instrument": "An instrument that is not valid, or not chosen.",
		"AgreementObstacle.rule":       "The rule that decided.",
		"AgreementObstacle.why":        "What it says.",
		"AgreementObstacle.remedy":     "What would change it, as a code; empty: nothing does.",
		"AgreementFinding.class":       "What kind of mistake it is.",
		"AgreementFinding.severity": "ERROR, which makes an agreement void or useless, or WARNING, which costs " +
			"time.",
		"AgreementFinding.where":        "The field, role, request or letter.",
		"AgreementFinding.message":      "What is wrong, and how to correct it.",
		"AgreementSignature.role":       "As whom, such as PROVIDER_OFFICIAL.",
		"AgreementSignature.signer":     "The user who signed; null: somebody without an account.",
		"AgreementSignature.position":   "The title of the position of an official.",
		"AgreementSignature.authority":  "The authority by which an official signed; null: a scientist.",
		"AgreementSignature.represents": "The holder of the authority for whom somebody stood in; empty: none.",
		"AgreementSignature.level": "How it was made, the lowest level first: UPLOADED, MAILED_LINK, SIGNED_IN, " +
			"PASSKEY, QUALIFIED.",
		"AgreementSignature.signed_at": "When it was made.",
		"AgreementSignature.evidence":  "What shows how it was made.",
		"Error.agreement":              "With CONFLICT: the agreement that a request is in.",
		"Error.questions":              "With MISSING_FACTS: what the lab has to state.",
		"Error.obstacles":              "With MISSING_FACTS and NOT_IN_FORCE: why each instrument is not valid.",
		"Error.missing_fields":         "With MISSING_FIELDS: what has to be filled in.",
	}
	for _, kind := range []string{"Agreement", "AgreementSummary", "AgreementVersion"} {
		maps.Copy(all, map[string]string{
			kind + ".number":             "The number by which people call it.",
			kind + ".instrument":         "The id of the form that it has.",
			kind + ".instrument_version": "The version of that form.",
			kind + ".sha256":             "SHA-256 of its canonical JSON (RFC 8785), which people sign.",
			kind + ".requests": "The requests that it is for: of one requester to one lab, under way and " +
				"not shipped.",
			kind + ".provider": "The institution that provides.",
			kind + ".recipient": "The institution that receives; a new one needs it if the requester is at " +
				"several.",
			kind + ".made_by": "Who made it; null: Aliquot, when a request left it.",
			kind + ".purpose": "What the materials are for; by default RESEARCH.",
			kind + ".choice": "The family of instruments that somebody chose, which is used if it is " +
				"valid; empty: none.",
			kind + ".fields": "What is filled into the form, by the name of the field; what a body " +
				"leaves out comes from records.",
			kind + ".version":   "1, 2, 3, ... of the agreement; in a body, the one that the caller saw.",
			kind + ".reason":    "Why it was declined or withdrawn; empty: no reason.",
			kind + ".requester": "The user who made the requests.",
			kind + ".sent_at":   "When it was sent to be signed; null: it was not.",
			kind + ".ended_at":  "When it was executed, withdrawn or expired; null: it is open.",
		})
	}
	return all
}

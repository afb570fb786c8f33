package jsonschema

import "maps"

// agreementMeanings describe the fields of agreements, of what decides about them, and of how they are signed.
func agreementMeanings() map[string]string {
	all := map[string]string{
		"sign_agreement": "Sign the agreement for it at once, as the scientist who receives: it is drafted, sent and " +
			"signed with the request, or all of it is refused. Tokens of programs cannot.",
		"Passkey.name":  "The name that the user gave it.",
		"credential_id": "The id of the passkey among all, in base64url.",
		"public_key":    "The key that its signatures are checked with: COSE, in base64url.",
		"identified": "Who the provider of identities said the user was when it was registered; empty after " +
			"erasure.",
		"signed_in_at": "When the user had signed in before registering it.",
		"removed_at":   "When it was removed; null: it is in use.",
		"options":      "What the browser passes to navigator.credentials, with parseCreationOptionsFromJSON.",
		"credential":   "What toJSON() of the browser's PublicKeyCredential returns.",

		"Resolution.material":  "The material that is transferred.",
		"Resolution.provider":  "The institution that provides it; null or left out: that of the material's lab today.",
		"Resolution.recipient": "The institution that receives it.",
		"Resolution.purpose":   "What it is for; RESEARCH where it is left out.",
		"Resolution.chemical":  "Whether it is a chemical substance, which no category says.",
		"Resolution.altered":   "Whether the text of the agreement was changed.",
		"Resolution.choice": "A family of instruments that a member or officer prefers. It is taken if it is valid; " +
			"alternatives say why it is not.",
		"Resolution.instrument":            "The instrument that the transfer takes today; null: none is valid.",
		"because":                          "The rules that decided.",
		"alternatives":                     "The other instruments, and why not.",
		"Resolution.questions":             "The facts that would decide, and that the lab has not stated.",
		"ResolvedInstrument.id":            "The instrument.",
		"ResolvedInstrument.family":        "Its versions have the same family.",
		"ResolvedInstrument.version":       "The version in force today.",
		"ResolvedInstrument.title":         "Its name.",
		"ResolvedInstrument.citation":      "Where its text and rules come from.",
		"ResolutionAlternative.instrument": "The id of the instrument.",
		"ResolutionAlternative.title":      "Its name.",
		"why_not":                          "Why it was not chosen.",
		"rule":                             "The rule that fired.",
		"why":                              "Why, in a sentence.",
		"ResolutionReason.citation":        "Where the rule comes from.",
		"remedy": "What people can do about it: INSTALL_TEXT (the operator), SIGN_MASTER (the institution that lacks " +
			"it), STATE_FACTS (the lab), STATE_KIND (the institution whose kind is unknown), KEEP_TEXT or CHOOSE; " +
			"empty: nothing.",
		"origins": "What the material came from; an empty list: its lab made it; null: nobody stated it.",
		"Origin.relation": "How it came from that: ORIGINAL is the same material, PROGENY descends from it, " +
			"UNMODIFIED_DERIVATIVE is a part or product of it, MODIFICATION contains or uses it, SUBSTANCE was made " +
			"with it and does not contain it.",
		"Origin.material": "The earlier material here; that of the request, if there is one.",
		"Origin.request": "The fulfilled request by which a member of the lab received it; null: the lab did not " +
			"receive it.",
		"Sharing.to":             "The institution that would get it.",
		"Sharing.purpose":        "What it would be for.",
		"Sharing.verdict":        "The strictest of all reasons.",
		"Sharing.reasons":        "What each step back to the origins says.",
		"SharingReason.material": "The material that the step is about; null: one that the caller may not see.",
		"SharingReason.agreement": "The agreement whose terms count; null: none, or one that the caller may not " +
			"read.",
		"SharingReason.provider": "The institution that provided it by that agreement, whom to ask.",
		"SharingReason.holder":   "Who has rights to it, by name, as far as the caller may know; empty: nobody.",
		"SharingReason.term":     "The term that counts, such as NO_REDISTRIBUTION; empty: none.",
		"SharingReason.verdict":  "What this step says.",
		"Owed.requirements":      "What the transfer needs today.",
		"Owed.questions":         "What the lab has to state first.",
		"OwedRequirement.kind": "What is needed, such as MTA, ABSTRACT, IRB, IBC, IACUC, EXPORT_LICENCE, " +
			"IMPORT_PERMIT or IRCC.",
		"OwedRequirement.state":    "BLOCKED: nothing fulfils it.",
		"owed_by":                  "REQUESTER, LAB, BOTH, or NOBODY if nothing fulfils it.",
		"OwedRequirement.citation": "Where the rule comes from; empty: a rule of Aliquot.",
		"fact":                     "The fact that is unknown, as in transfer-facts; irb_needed: the flag needs_irb.",
		"OwedQuestion.question":    "What to answer, in a sentence.",
		"encumbrances": "The agreements under which the lab received it and which bind whoever it goes to; null: " +
			"nobody stated whether there are any.",
		"Encumbrance.holder":   "Who has rights to the material.",
		"terms":                "What whoever gets the material is bound to, as codes, such as NO_REDISTRIBUTION.",
		"Encumbrance.document": "The agreement that binds, and where it is kept.",
		"data_uses": "The terms of the Data Use Ontology under which it may be used; null: nobody stated any. Those " +
			"in the field consent_restrictions of a dataset count too.",
		"DataUse.id":    "The term, such as DUO:0000007.",
		"DataUse.value": "What it is about: a disease, a country or a date.",
		"sources": "By fact, where it comes from: category, the name of another fact or of a field of the category " +
			"that it follows from, or lab, which stated it. Facts that are not listed are unknown.",
		"Instrument.id":          "The code of the instrument, which its versions share.",
		"Instrument.family":      "The family: agreements, authorities and playbooks name it.",
		"Instrument.version":     "The version. None is ever edited: a change is a new version.",
		"Instrument.title":       "The title of the form.",
		"Instrument.citation":    "Where the form comes from.",
		"Instrument.parties":     "The kinds of institutions that it is for; both must be of one of them.",
		"Instrument.subjects":    "The sorts of material that it fits.",
		"Instrument.excludes":    "Facts of a material that rule it out.",
		"Instrument.purposes":    "The purposes that it is for.",
		"Instrument.master":      "The master agreement that both institutions need to have in force; null: none.",
		"Instrument.fixed_text":  "Whether its text may not be changed.",
		"Instrument.signers":     "Who signs it, each in one role.",
		"Instrument.least_level": "The lowest level of signatures; an institution may ask for a higher one.",
		"Instrument.terms":       "What it obliges the recipient to, as codes.",
		"Instrument.only_chosen": "Whether people or a playbook choose it, never a rule alone.",
		"Instrument.reviewed":    "Whether counsel reviewed the text, as its file says.",
		"Instrument.sha256":      "The SHA-256 of the template, in hexadecimal; null: it has no text.",
		"Instrument.usable":      "Whether agreements can be made of it today: it has a text and is in force.",
		"Instrument.from":        "The first day on which it is in force.",
		"Instrument.until":       "The first day on which it no longer is; null: no later version is known.",
		"Instrument.fields":      "The places in the template.",
		"Instrument.template":    "The text, with a place such as {{name}} for each field; empty: not installed.",
		"InstrumentField.name":   "The name of the place.",
		"InstrumentField.source": "Whose record fills it.",

		"Agreement.missing":    "Fields without a value; the letter cannot be sent before.",
		"Agreement.because":    "Why it has this instrument, as it was when the version was made.",
		"Agreement.questions":  "Facts of the materials that nobody has stated.",
		"Agreement.findings":   "What may be wrong with it.",
		"Agreement.signatures": "The signatures on its newest version.",
		"Agreement.unsigned":   "The roles that have not signed the newest version.",
		"Agreement.approvals": "Whether a standing approval signs it today for the officials who have not signed, " +
			"while it is a draft or sent.",
		"AgreementCoverage.role": "The role of the official.",
		"AgreementCoverage.approval": "The standing approval that covers it, and signs it when it is sent or signed; " +
			"null: none.",
		"AgreementCoverage.why":       "Why none does, so that people sign; of the one that comes closest.",
		"AgreementUncovered.reason":   "The code of the reason.",
		"AgreementUncovered.text":     "The reason as a sentence.",
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
		"AgreementPasskeyOptions.options": "What the browser passes to navigator.credentials.get, with " +
			"parseRequestOptionsFromJSON.",
		"AgreementPasskeyOptions.statement": "What is signed: JSON in the form of RFC 8785, whose SHA-256 is the " +
			"challenge of the options.",
		"AgreementsSigned.agreements":    "What was signed, as it is now.",
		"AgreementPasskeyAsk.agreements": "Agreements that were sent, which the caller signs by one authority.",
		"AgreementLink.role":             "The role in which the person signs.",
		"AgreementLink.name":             "The name that the institution registered with the authority.",
		"AgreementLink.title":            "Their title.",
		"AgreementLink.mail":             "The address to which the link and its codes are mailed.",
		"AgreementLink.mail_state":       "The state of the mail with the link.",
		"AgreementLink.version":          "The version of the agreement that it shows. It signs no other.",
		"AgreementLink.expires_at":       "When it ends: after 14 days, or when another takes its place.",
		"AgreementLink.used_at":          "When the person signed or declined by it; null: they did not.",
		"AgreementLink.made_by":          "The user who had it mailed.",
		"AgreementLinkNew.mail": "The address of one of those without an account who may sign in this role today; " +
			"needed if there are several.",
		"AgreementLinkNew.role":               "The role in which they sign.",
		"AgreementSignature.signed_at":        "When it was made.",
		"AgreementSignature.approval":         "The standing approval that made it; null: a person did.",
		"AgreementSignature.approval_version": "The version of that standing approval; null: a person signed.",
		"AgreementSignature.evidence":         "What shows how it was made.",
		"Error.agreement":                     "With CONFLICT: the agreement that a request is in.",
		"Error.questions":                     "With MISSING_FACTS: what the lab has to state.",
		"Error.obstacles":                     "With MISSING_FACTS and NOT_IN_FORCE: why each instrument is not valid.",
		"Error.missing_fields":                "With MISSING_FIELDS: what has to be filled in.",
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
			kind + ".made_by":       "Who made it; null: Aliquot, when a request left it.",
			kind + ".purpose":       "What the materials are for; by default RESEARCH.",
			kind + ".choice_reason": "Why somebody chose that family. The pages ask for it.",
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

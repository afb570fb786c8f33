package main

import "github.com/alecthomas/kong"

// helpTexts are the help texts too long for the tag of their flag, which names them as ${name}.
var helpTexts = kong.Vars{
	"support_log": "Log of this installation, as text; its last 2,000 lines are taken. They have ids of people and " +
		"networks of clients.",
	"catalogue_file": "The file cellosaurus.txt of https://www.cellosaurus.org (CC BY 4.0). What was loaded before " +
		"is replaced.",
	"instrument_files": "Files of instruments, as JSON: id, version, title, template and the other fields of " +
		"docs/agreements.md.",
	"import_file": "Spreadsheet, CSV, XLSX or ODS, whose first row names the columns. With --record what to ask for: " +
		"accessions of GEO or SRA, DOIs of protocols.",
	"import_record": "Ask the public sources, and keep their answers in this folder as fixtures for tests; no " +
		"material is listed.",
	"map": "What a header means, as --map 'Box=additional_metadata.storage'; HEADER= leaves a column out. It is " +
		"remembered.",
	"with_keys": "Put the keys of the instance into the archive too. Whoever has it can then open every secret in " +
		"it; keep it as safe as the keys themselves.",
	"restore_since": "File with a checkpoint of the log that was kept elsewhere, such as the answer of " +
		"/log/checkpoint; a backup that is older, or of another history, is refused.",
	"files_to":       "Where to: s3://bucket?endpoint=...&region=..., or a folder, as in the setting files.",
	"files_in":       "Where the content of files is, as the setting files says to other commands (ALIQUOT_FILES).",
	"despite_faults": "Keep what was restored although the checks found faults, which are listed.",
	"log_key": "Public key of a log to cosign, as \"aliquot record-key show\" of that installation or GET /log/keys " +
		"prints it; repeat it for more.",
	"since": "File of a signed checkpoint that was kept elsewhere, from a mail, a dossier or GET /log/checkpoint: " +
		"the log must begin with what it was then.",
	"dossier_key": "For a dossier: public key of the log that you know from elsewhere; repeat it for more. Without " +
		"it the keys in the dossier are believed, and printed to compare.",
	"new_key": "File for the new key, made if it is missing. Default: the file of the present key, which is kept " +
		"beside it under its name with the time.",
}

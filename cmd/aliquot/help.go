package main

import "github.com/alecthomas/kong"

// helpTexts are the help texts too long for the tag of their flag, which names them as ${name}.
var helpTexts = kong.Vars{
	"import_file": "Spreadsheet, CSV, XLSX or ODS, whose first row names the columns. With --record what to ask for: " +
		"accessions of GEO or SRA, DOIs of protocols.",
	"import_record": "Ask the public sources, and keep their answers in this folder as fixtures for tests; no " +
		"material is listed.",
	"map": "What a header means, as --map 'Box=additional_metadata.storage'; HEADER= leaves a column out. It is " +
		"remembered.",
	"with_keys": "Put the keys of the instance into the archive too. Whoever has it can then open every secret in it; " +
		"keep it as safe as the keys themselves.",
	"restore_since": "File with a checkpoint of the log that was kept elsewhere, such as the answer of " +
		"/log/checkpoint; a backup that is older, or of another history, is refused.",
	"despite_faults": "Keep what was restored although the checks found faults, which are listed.",
	"new_key": "File for the new key, made if it is missing. Default: the file of the present key, which is kept " +
		"beside it under its name with the time.",
}

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
	"new_key": "File for the new key, made if it is missing. Default: the file of the present key, which is kept " +
		"beside it under its name with the time.",
}

package core

import (
	"aliquot/internal/exchange/document"
	"aliquot/internal/job"
)

// ReturnInfected is the kind of job that returns a version of an attachment in which a virus was found, in each request
// that waits for somebody to review it.
var ReturnInfected = job.Kind[document.ScannedVersion]{Name: "documents.return"}

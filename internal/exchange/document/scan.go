package document

import "aliquot/internal/exchange"

// ScanState is how far the scan of content for viruses is.
type ScanState string

// The states of a scan. Content that is CHECKING or INFECTED is withheld: nobody can read it.
const (
	NotScanned ScanState = ""         // no scanner is set up, or the content is from a time when there was none
	Checking   ScanState = "CHECKING" // it waits for the scanner
	Clean      ScanState = "CLEAN"
	Infected   ScanState = "INFECTED"
)

// ScanStates are all that content has if a scanner is set up.
var ScanStates = []ScanState{Checking, Clean, Infected}

// Scan is what a virus scanner found in content.
type Scan struct {
	State ScanState
	Found string // the name of what was found
}

// Withheld returns the error for reading content that is withheld; nil if it is not.
func (c Content) Withheld() error {
	switch c.Scan.State {
	case Checking:
		return exchange.Errorf(exchange.FileWithheld,
			"This file is still being checked for viruses. Try again in a minute.").With("scan", Checking)
	case Infected:
		return exchange.Errorf(exchange.FileWithheld, "A virus was found in this file (%s), so nobody can open it. "+
			"Ask the person who uploaded it for a clean version.", c.Scan.Found).With("scan", Infected)
	}
	return nil
}

// ScannedVersion names a version of an attachment that a virus scanner examines.
type ScannedVersion struct{ Attachment, Version int64 }

// WithheldVersion is a version of an attachment whose content is withheld.
type WithheldVersion struct {
	ScannedVersion
	Filename string
	Scan     Scan
}

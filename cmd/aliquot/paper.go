package main

import (
	"os"

	"aliquot/internal/paper"
)

// readPaper is "aliquot read-paper", the process in which the server reads an uploaded PDF.
type readPaper struct {
	Cache string `help:"Folder in which the compiled reader is kept."`
}

// Run reads one file from the standard input and writes what is in it as JSON.
func (r *readPaper) Run(e environment) error { return paper.Child(os.Stdin, e.stdout, r.Cache) }

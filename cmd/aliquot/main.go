// Command aliquot is the service and its tools; "aliquot --help" lists them.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"aliquot/internal/config"

	"github.com/alecthomas/kong"
	"github.com/mattn/go-isatty"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "aliquot:", err)
		os.Exit(1)
	}
}

// program holds every command with its settings.
type program struct {
	Serve     serve         `cmd:"" help:"Serve the API and do background work in one process."`
	Migrate   migrate       `cmd:"" help:"Bring the schema up to date."`
	Admin     admin         `cmd:"" help:"Admins: grant, revoke, list."`
	Import    imports       `cmd:"" help:"List or change many materials by a spreadsheet."`
	Export    export        `cmd:"" help:"Write the materials to the standard output, in the form that import takes."`
	Catalogue catalogue     `cmd:"" help:"Catalogues by which materials are listed by number: load."`
	Library   libraryTool   `cmd:"" name:"instruments" help:"The texts of agreements: add, list."`
	Bounce    bounce        `cmd:"" help:"Take in a mail server's report that it refuses an address; stop mail to it."`
	Backup    takeBackup    `cmd:"" help:"Write database and files into one archive, while serving."`
	Restore   restoreBackup `cmd:"" help:"Restore such an archive into an empty place, and check it."`
	Verify    verify        `cmd:"" help:"Check the record: database, events, log, checkpoints, files; or a dossier."`
	Files     filesTool     `cmd:"" help:"The content of files: move it elsewhere, while serving; viruses."`
	Dossier   writeDossier  `cmd:"" help:"Write the record of one request as a file that proves itself."`
	Secrets   secrets       `cmd:"" help:"The key of the secrets in the database: replace it; start over without it."`
	RecordKey recordKey     `cmd:"" name:"record-key" help:"The key that signs the log: show it, replace it."`
	Witness   witnessing    `cmd:"" help:"Cosign the checkpoints of other installations, if their logs only grow."`
	Support   support       `cmd:"" help:"Write a file for whoever helps you: versions, state, no secrets."`
	Seed      seeding       `cmd:"" help:"Fill a new database with made-up labs, materials, requests, for load tests."`
	OpenAPI   openAPI       `cmd:"" name:"openapi" help:"Print the OpenAPI document of the API."`
	Version   version       `cmd:"" help:"Print the version."`
	ReadPaper readPaper     `cmd:"" name:"read-paper" hidden:"" help:"Read a PDF from the standard input."`

	ShowVersion kong.VersionFlag `name:"version" help:"Print the version."`
}

// environment is the environment of a command.
type environment struct {
	ctx    context.Context
	getenv func(string) string
	stdout io.Writer
	stderr io.Writer
}

// logger returns a log in the format of a setting.
func (e environment) logger(form string) *slog.Logger {
	file, isFile := e.stderr.(*os.File)
	if form == "text" || form == "auto" && isFile && isatty.IsTerminal(file.Fd()) {
		return slog.New(slog.NewTextHandler(e.stderr, nil))
	}
	return slog.New(slog.NewJSONHandler(e.stderr, nil))
}

// run runs one command. An error is one sentence for the operator.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	var p program
	exited := errors.New("asked for help")
	parser, err := kong.New(&p,
		kong.Name("aliquot"),
		kong.Description("Aliquot: labs list the materials they share; everyone sees each step until the parcel is "+
			"confirmed."),
		config.HelpTexts,
		helpTexts,
		kong.Vars{"version": "aliquot " + built()},
		kong.Resolvers(config.FromEnvironment(getenv)),
		kong.Writers(stdout, stderr),
		kong.Exit(func(int) { panic(exited) }),
	)
	if err != nil {
		return err
	}
	defer func() {
		if r := recover(); r != nil && r != exited { //nolint:errorlint // the very value from above
			panic(r)
		}
	}()
	if len(args) == 0 {
		args = []string{"--help"}
	}
	command, err := parser.Parse(args)
	if err != nil {
		help := "aliquot --help"
		if slices.ContainsFunc(parser.Model.Children, func(n *kong.Node) bool { return n.Name == args[0] }) {
			help = "aliquot " + args[0] + " --help"
		}
		return fmt.Errorf("%s; see %s", strings.TrimSuffix(err.Error(), "."), help)
	}
	return command.Run(environment{ctx, getenv, stdout, stderr})
}

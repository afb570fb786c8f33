package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"aliquot/internal/config"
	"aliquot/internal/metrics"
	"aliquot/internal/store"

	"github.com/alecthomas/kong"
)

// support is "aliquot support".
type support struct {
	config.Store
	config.Server
	config.Sources
	Journal string `help:"${support_log}"`
	File    string `arg:"" help:"File to write, such as support.zip; there must be none of that name."`
}

// supportTime is how long the database may take for all that is asked of it.
const supportTime = time.Minute

// supportLines is how many of the last lines of a log are taken.
const supportLines = 2000

// Run writes a file for whoever helps the operator. It also works on an installation that is damaged: what cannot be
// read is said in its place.
func (s *support) Run(e environment, parsed *kong.Context) error {
	ctx, cancel := context.WithTimeout(e.ctx, supportTime)
	defer cancel()
	keys, keysErr := instanceKeys(s.Store)
	b := bundle{secrets: hidden(parsed, keys)}
	b.add("version.json", aboutBinary(), nil)
	b.add("settings.json", shownSettings(parsed), keysErr)
	b.add("system.json", aboutSystem(s.Store), nil)
	database, err := aboutDatabase(ctx, s.Store)
	b.add("database.json", database, err)
	if s.Journal != "" {
		lines, err := lastLines(s.Journal)
		b.text("log.txt", lines, err)
	}
	file, err := os.OpenFile(s.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(b.write(file), file.Close()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.stdout, "%s: %s. It has no secrets, and nothing of people but what is in the log; look "+
		"through it before you pass it on.\n", s.File, strings.Join(b.names, ", "))
	return err
}

// bundle is what the file has in it.
type bundle struct {
	secrets *strings.Replacer
	names   []string
	parts   []string
}

// add adds a part as JSON, with the error of what could not be read.
func (b *bundle) add(name string, value any, err error) {
	part := struct {
		Error string `json:"error,omitempty"`
		Data  any    `json:"data"`
	}{Data: value}
	if err != nil {
		part.Error = err.Error()
	}
	text, err := json.MarshalIndent(part, "", "  ")
	b.text(name, string(text)+"\n", err)
}

// text adds a part, without what is secret.
func (b *bundle) text(name, text string, err error) {
	if err != nil {
		text += "error: " + err.Error() + "\n"
	}
	b.names, b.parts = append(b.names, name), append(b.parts, b.secrets.Replace(text))
}

// write writes all parts as a ZIP archive.
func (b *bundle) write(to io.Writer) error {
	z := zip.NewWriter(to)
	for i, name := range b.names {
		w, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(w, b.parts[i])
		}
		if err != nil {
			return err
		}
	}
	return z.Close()
}

// plainSettings are the settings of text whose values are shown, those that are addresses without user, password and
// query. Of all others only whether they are set is shown.
var plainSettings = []string{"access", "addr", "data", "document-types", "identity", "log", "metrics-addr",
	"otlp-endpoint", "public-url", "rate-limit", "role", "trusted-proxies", "tsa-url", "crossref-url", "ena-url",
	"eutils-url", "geo-url", "protocols-url"}

// shownSettings returns the settings by name, as they may be shown.
func shownSettings(parsed *kong.Context) map[string]any {
	shown := map[string]any{}
	for _, f := range parsed.Flags() {
		value := f.Target.Interface()
		isText := f.Target.Kind() == reflect.String || f.Target.Kind() == reflect.Slice
		switch text := fmt.Sprint(value); {
		case f.Name == "help" || f.Name == "version" || f.Name == "journal":
		case f.Target.IsZero():
			shown[f.Name] = nil
		case text == f.Default || f.Default != "" && text == "["+strings.ReplaceAll(f.Default, ",", " ")+"]":
			shown[f.Name] = f.Default
		case !isText:
			shown[f.Name] = text
		case slices.Contains(plainSettings, f.Name):
			shown[f.Name] = plainAddress(text)
		default:
			shown[f.Name] = "(set)"
		}
	}
	return shown
}

// plainAddress returns an address without what may be secret in it, and other text as it is.
func plainAddress(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return text
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// hidden returns what removes every secret that this process knows from a text, wherever it may have got into it:
// settings whose values are not shown, and passwords in addresses; the keys of the instance.
func hidden(parsed *kong.Context, keys map[string]string) *strings.Replacer {
	secrets := []string{}
	for _, f := range parsed.Flags() {
		if f.Target.Kind() != reflect.String || f.Target.IsZero() || f.Target.String() == f.Default {
			continue
		}
		if u, err := url.Parse(f.Target.String()); err == nil && u.User != nil {
			password, _ := u.User.Password()
			secrets = append(secrets, password, url.QueryEscape(password), u.User.String())
		}
		if _, err := os.Stat(f.Target.String()); err != nil && !slices.Contains(plainSettings, f.Name) {
			secrets = append(secrets, f.Target.String())
		}
	}
	for name, key := range keys {
		if name != sealCertName { // which is public
			secrets = append(secrets, key)
		}
	}
	pairs := []string{}
	for _, secret := range secrets {
		if len(secret) >= 4 { // a shorter one would be found in every text
			pairs = append(pairs, secret, "(removed)")
		}
	}
	return strings.NewReplacer(pairs...)
}

// aboutBinary returns of what this program was built.
func aboutBinary() map[string]any {
	about := map[string]any{"version": built(), "go": runtime.Version(), "system": runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		modules, build := map[string]string{}, map[string]string{}
		for _, m := range info.Deps {
			modules[m.Path] = m.Version
		}
		for _, setting := range info.Settings {
			build[setting.Key] = setting.Value
		}
		about["modules"], about["build"] = modules, build
	}
	return about
}

// aboutSystem returns what the machine has, and the sizes of the files in the data folder, without those of documents.
func aboutSystem(s config.Store) map[string]any {
	sizes := map[string]string{}
	entries, err := os.ReadDir(s.Data)
	for _, entry := range entries {
		if info, infoErr := entry.Info(); infoErr == nil && !entry.IsDir() {
			sizes[entry.Name()] = fmt.Sprintf("%d bytes, %s", info.Size(), info.Mode())
		}
	}
	about := map[string]any{"processors": runtime.NumCPU(), "at_once": runtime.GOMAXPROCS(0), "files": sizes,
		"at": time.Now().UTC()}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		about["error"] = err.Error()
	}
	if memory, err := os.ReadFile("/proc/meminfo"); err == nil {
		first, _, _ := bytes.Cut(memory, []byte("\n"))
		about["memory"] = strings.Join(strings.Fields(string(first)), " ")
	}
	return about
}

// databaseState is the state of a database as it can be seen without its keys.
type databaseState struct {
	Kind    string           `json:"kind"`
	Ready   string           `json:"ready"` // "yes", or why not
	Behind  []string         `json:"migrations_to_run"`
	Figures *metrics.Figures `json:"figures,omitempty"`
	Rows    map[string]int64 `json:"rows"`
}

// aboutDatabase reads the state of a database, and as much of it as can be read.
func aboutDatabase(ctx context.Context, s config.Store) (state databaseState, err error) {
	state = databaseState{Kind: "sqlite", Ready: "yes", Rows: map[string]int64{}}
	if err := exists(s); err != nil {
		return state, err
	}
	db, err := store.Open(ctx, s.DatabasePath())
	if err != nil {
		return state, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if db.Postgres() {
		state.Kind = "postgresql"
	}
	if err := db.Ready(ctx); err != nil {
		state.Ready = err.Error()
	}
	var errs [3]error
	state.Behind, errs[0] = db.Migrate(ctx, true)
	figures, readErr := metrics.Read(ctx, db)
	state.Figures, errs[1] = &figures, readErr
	state.Rows, errs[2] = db.CountRows(ctx)
	return state, errors.Join(errs[:]...)
}

// lastLines returns the last lines of a log.
func lastLines(path string) (string, error) {
	const most = 4 << 20 // bytes
	file, err := os.Open(filepath.Clean(path))
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	raw, err := io.ReadAll(io.NewSectionReader(file, max(0, info.Size()-most), most))
	lines := strings.SplitAfter(string(raw), "\n")
	return strings.Join(lines[max(0, len(lines)-supportLines):], ""), err
}

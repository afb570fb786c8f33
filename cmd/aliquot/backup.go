package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"aliquot/internal/atomicfile"
	"aliquot/internal/backup"
	"aliquot/internal/config"
)

// takeBackup is "aliquot backup".
type takeBackup struct {
	config.Store
	WithKeys bool   `name:"with-keys" help:"${with_keys}"`
	File     string `arg:"" help:"File to write; there must be none of that name."`
}

// Run takes a backup of an instance, which may be serving at the same time.
func (b *takeBackup) Run(e environment) error {
	runtime.GOMAXPROCS(1) // the other processors are for those who are served
	debug.SetGCPercent(50)
	if _, err := os.Lstat(b.File); err == nil {
		return fmt.Errorf("there is a file %s already; name another one", b.File)
	}
	if err := exists(b.Store); err != nil {
		return err
	}
	keys, err := instanceKeys(b.Store)
	if err != nil {
		return err
	}
	db, content, err := open(e, b.Store)
	if err != nil {
		return err
	}
	defer func() { _ = errors.Join(content.Close(), db.Close()) }()
	behind, err := db.Migrate(e.ctx, true)
	if err != nil {
		return err
	}
	if len(behind) > 0 {
		return errors.New("the database has the schema of an older version: take the backup with that, or start this " +
			"one first, which migrates it")
	}
	taker := backup.Taker{DB: db, Files: content, Program: "aliquot " + built(), Fingerprints: fingerprints(keys),
		Progress: progressOn(e.stdout)}
	if b.WithKeys {
		taker.Keys = keys
	}
	taken, err := b.write(e.ctx, taker)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(e.stdout, "%s: %d parts of %d bytes, %d files among them; digest %s\n", b.File, taken.Parts,
		taken.Bytes, taken.Files, taken.Digest)
	if len(taken.Lost) > 0 {
		return fmt.Errorf("the backup is complete, but the instance itself has lost %d files, such as %s; \"aliquot "+
			"verify --files\" names them", len(taken.Lost), taken.Lost[0])
	}
	return nil
}

// write writes the archive under another name until it is whole and on the disk.
func (b *takeBackup) write(ctx context.Context, taker backup.Taker) (taken backup.Taken, err error) {
	file, err := os.CreateTemp(filepath.Dir(b.File), ".aliquot-backup-*") // with mode 0600
	if err != nil {
		return taken, err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	out := bufio.NewWriterSize(file, 1<<20)
	taken, err = taker.Take(ctx, out)
	if err = errors.Join(err, out.Flush(), file.Sync(), file.Close()); err != nil {
		return taken, err
	}
	if err := os.Link(file.Name(), b.File); err != nil { // a rename would replace another file
		return taken, err
	}
	return taken, atomicfile.SyncFolder(b.File)
}

// exists refuses a data folder without a database, which is most likely the wrong folder.
func exists(s config.Store) error {
	if s.Database != "" {
		return nil
	}
	if _, err := os.Stat(s.DatabasePath()); err != nil {
		return fmt.Errorf("there is no database in %s: %w", s.Data, err)
	}
	return nil
}

// The keys of an instance, by the names of their settings.
const (
	secretKeyName = "secret-key"
	recordKeyName = "record-key"
	sealKeyName   = "seal-key"
	sealCertName  = "seal-certificate"
)

// instanceKeys are the keys of an instance that are there, by the name of their setting.
func instanceKeys(s config.Store) (map[string]string, error) {
	path, err := s.RecordKeyPath()
	if err != nil {
		return nil, err
	}
	sealKey, sealCert, _ := s.SealFiles()
	file := func(path string) func() (string, error) {
		return func() (string, error) { raw, err := os.ReadFile(path); return string(raw), err }
	}
	readers := map[string]func() (string, error){
		secretKeyName: func() (string, error) { text, _, err := s.Key(); return text, err },
		recordKeyName: file(path), sealKeyName: file(sealKey), sealCertName: file(sealCert),
	}
	keys := map[string]string{}
	for name, read := range readers {
		text, err := read()
		if err == nil {
			keys[name] = strings.TrimSpace(text)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return keys, nil
}

// fingerprints are those of keys, which are too long to be guessed.
func fingerprints(keys map[string]string) map[string]string {
	list := map[string]string{}
	for name, text := range keys {
		sum := sha256.Sum256([]byte(text))
		list[name] = "sha256:" + hex.EncodeToString(sum[:16])
	}
	return list
}

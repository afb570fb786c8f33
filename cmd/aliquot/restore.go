package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"aliquot/internal/app/account"
	"aliquot/internal/app/evidence"
	"aliquot/internal/atomicfile"
	"aliquot/internal/backup"
	"aliquot/internal/config"
	"aliquot/internal/files"
	"aliquot/internal/record"
	"aliquot/internal/store"
	"aliquot/internal/store/sqldb"
)

// restoreBackup is "aliquot restore".
type restoreBackup struct {
	config.Store
	Since         string `help:"${restore_since}"`
	DespiteFaults bool   `name:"despite-faults" help:"${despite_faults}"`
	File          string `arg:"" help:"Archive that \"aliquot backup\" wrote."`
}

// Run restores a backup into an empty place, or leaves that empty.
func (r *restoreBackup) Run(e environment) (err error) {
	archive, err := os.Open(r.File)
	if err != nil {
		return err
	}
	defer func() { _ = archive.Close() }()
	info, err := archive.Stat()
	if err != nil {
		return err
	}
	place := backup.Place{Database: r.DatabasePath(), Despite: r.DespiteFaults, SaveKey: r.saveKey,
		Progress: progressOn(e.stdout)}
	var since []byte
	if r.Since != "" {
		var kept record.Checkpoint
		if since, err = readSmall(r.Since, record.MaxNote); err == nil {
			kept, err = record.ParseCheckpoint(string(since))
		}
		if err != nil {
			return fmt.Errorf("since: %w", err)
		}
		place.Since = &kept
	}
	place.Check = func(ctx context.Context, c store.Conn, fault func(error)) error {
		return evidence.VerifyRestored(ctx, c, evidence.Verification{Since: since, Fault: fault})
	}
	if err := r.empty(); err != nil {
		return err
	}
	keys, err := instanceKeys(r.Store)
	if err != nil {
		return err
	}
	place.Fingerprints = fingerprints(keys)
	_, absent := os.Stat(r.Data)
	if _, err := r.Prepare(); err != nil {
		return err
	}
	if place.Files, err = openFiles(r.Store); err != nil {
		return err
	}
	for info, err := range place.Files.Keys(e.ctx) {
		if err == nil {
			err = fmt.Errorf("files: there is the content %s; a backup is restored into an empty place", info.Key)
		}
		return errors.Join(err, place.Files.Close())
	}
	restored, err := place.Restore(e.ctx, bufio.NewReaderSize(archive, 1<<20), info.Size())
	for _, fault := range restored.Faults {
		_, _ = fmt.Fprintln(e.stdout, fault)
	}
	if err != nil {
		err = errors.Join(err, removeAll(context.WithoutCancel(e.ctx), place.Files))
	}
	if err = errors.Join(err, place.Files.Close()); err != nil {
		if folder := r.FilesFolder(); folder != "" {
			err = errors.Join(err, os.RemoveAll(folder))
		}
		if absent != nil {
			_ = os.Remove(r.UploadsPath())
			_ = os.Remove(r.Data) // it may be that somebody else put something there
		}
		if errors.Is(err, sqldb.ErrTaken) {
			return errors.New("database: it is not empty; a backup is restored into an empty one")
		}
		return fmt.Errorf("%s: %w", r.File, err)
	}
	_, err = fmt.Fprintf(e.stdout, "Restored and verified: what %s was on %s, %d entries in its log.\n", r.File,
		restored.TakenAt.Format("2006-01-02 15:04:05 UTC"), restored.Entries)
	if keys, wrong := instanceKeys(r.Store); wrong == nil {
		for _, name := range slices.Sorted(maps.Keys(restored.About.Keys)) {
			if keys[name] == "" {
				_, err = fmt.Fprintf(e.stdout, "%s: put the key of the instance there before the start; its "+
					"fingerprint is %s\n", name, restored.About.Keys[name])
			}
		}
	}
	return errors.Join(err, r.reportErased(e))
}

// removeAll removes what was restored into a store that was empty.
func removeAll(ctx context.Context, content files.Store) error {
	for info, err := range content.Keys(ctx) {
		if err == nil {
			err = content.Delete(ctx, info.Key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// reportErased prints what becomes of the people who were erased after the backup was taken.
func (r *restoreBackup) reportErased(e environment) error {
	list, err := account.ReadErased(r.ErasedPath())
	if err != nil {
		return err
	}
	text := fmt.Sprintf("%s: put the list of the instance there, if people were erased after that: they are erased "+
		"again.", r.ErasedPath())
	if len(list) > 0 {
		text = fmt.Sprintf("%s: it lists %d people, whom the first start erases again if the backup has them.",
			r.ErasedPath(), len(list))
	}
	_, err = fmt.Fprintln(e.stdout, text)
	return err
}

// empty refuses a place that has data.
func (r *restoreBackup) empty() error {
	if r.Database == "" {
		if _, err := os.Lstat(r.DatabasePath()); !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(fmt.Errorf("data: there is a database in %s; a backup is restored into an empty folder",
				r.Data), err)
		}
	}
	folder := r.FilesFolder()
	if folder == "" { // Run looks into a bucket once it is open
		return nil
	}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			err = fmt.Errorf("data: there is %s; a backup is restored into an empty folder", path)
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// saveKey saves a key that an archive has.
func (r *restoreBackup) saveKey(name, text string) error {
	var path string
	var err error
	switch name {
	case secretKeyName:
		if _, path, err = r.Key(); err == nil || !errors.Is(err, fs.ErrNotExist) {
			return err // the one that is there is the same
		}
	case recordKeyName:
		if path, err = r.RecordKeyPath(); err != nil {
			return err
		}
	case sealKeyName:
		path, _, _ = r.SealFiles()
	case sealCertName:
		_, path, _ = r.SealFiles()
	default:
		return errors.New("no such key")
	}
	return atomicfile.Create(path, []byte(text+"\n"))
}

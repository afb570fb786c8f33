package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"aliquot/internal/app"
	"aliquot/internal/atomicfile"
	"aliquot/internal/config"
	"aliquot/internal/store"
	"aliquot/internal/store/sqldb"
)

// secrets is "aliquot secrets".
type secrets struct {
	Rotate rotateSecrets `cmd:"" help:"Replace the key: seal every secret with a new one."`
	Reset  resetSecrets  `cmd:"" help:"Start over after the key was lost."`
}

type rotateSecrets struct {
	config.Store
	NewKey string `name:"new-key" help:"${new_key}"`
}

// Run seals every secret with a new key. The key is written to its file before the database needs it, so that a run
// that is killed can be repeated, and a start in between finds the right key.
func (r *rotateSecrets) Run(e environment) error {
	_, from, _ := r.Key() // unlock reports errors
	file := r.NewKey
	if file == "" {
		if !keyIsFile(r.Store) {
			return errors.New("new-key: name a file for the new key, since the present one is given as text and not " +
				"as a file")
		}
		file = nextKey(from)
	}
	return withDatabase(e, r.Store, func(ctx context.Context, a *app.App) error {
		if err := r.rotate(ctx, a, file); err != nil {
			return err
		}
		if r.NewKey == "" {
			if err := placeKey(from); err != nil {
				return err
			}
			file = from
		}
		_, err := fmt.Fprintf(e.stdout, "Every secret is sealed with the key in %s now. Give it to every process and "+
			"restart them; backups from before need the old key.\n", file)
		return err
	})
}

// rotate seals every secret with the key in file, unless an earlier, killed run did so.
func (r *rotateSecrets) rotate(ctx context.Context, a *app.App, file string) error {
	key, err := readKey(file)
	if err == nil {
		if done, err := a.DB.Opens(ctx, key); done || err != nil {
			return err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := unlock(ctx, a.DB, r.Store); err != nil {
		return err
	}
	if err := atomicfile.Create(file, []byte(sqldb.NewKey()+"\n")); err != nil {
		return fmt.Errorf("new-key: %w", err)
	}
	if key, err = readKey(file); err != nil {
		return err
	}
	return a.RotateSecrets(ctx, key)
}

// keyIsFile reports whether the key is in a file known to the program.
func keyIsFile(s config.Store) bool {
	_, from, err := s.Key()
	return err != nil || from != config.KeyFromSetting
}

// nextKey returns the file of the key that is about to replace another one.
func nextKey(file string) string { return file + ".new" }

func readKey(file string) (*sqldb.Key, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return parseKey(string(raw), file)
}

// placeKey replaces the key in file with the next one, and keeps the old one.
func placeKey(file string) error {
	err := os.Link(file, file+"."+time.Now().UTC().Format("20060102T150405.000000"))
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = os.Rename(nextKey(file), file)
	}
	if errors.Is(err, fs.ErrNotExist) { // another process was faster
		return nil
	}
	return errors.Join(err, atomicfile.SyncFolder(file))
}

// finishRotation moves the next key to its place if a rotation was killed after the change of the database.
func finishRotation(ctx context.Context, db *store.DB, s config.Store) error {
	_, from, err := s.Key()
	if err != nil && !errors.Is(err, fs.ErrNotExist) || !keyIsFile(s) {
		return nil //nolint:nilerr // unlock reports it
	}
	key, err := readKey(nextKey(from))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if proved, err := db.Opens(ctx, key); err != nil || !proved {
		return err
	}
	return placeKey(from)
}

type resetSecrets struct {
	config.Store
	Yes bool `help:"Do it; without this flag the command only lists what is lost."`
}

// Run lists what cannot be opened without the key, and starts over with another one if the operator confirmed it.
func (r *resetSecrets) Run(e environment) error {
	return withDatabase(e, r.Store, func(ctx context.Context, a *app.App) error {
		sealed, err := a.DB.Sealed(ctx)
		if err != nil {
			return err
		}
		if err := finishRotation(ctx, a.DB, r.Store); err != nil {
			return err
		}
		text, from, err := r.Key()
		missing := errors.Is(err, fs.ErrNotExist)
		if err != nil && !missing {
			return fmt.Errorf("secret-key: %w", err)
		}
		var key *sqldb.Key
		if !missing {
			if key, err = parseKey(text, from); err != nil {
				return fmt.Errorf("%w; remove it first", err)
			}
		}
		opens := !sealed
		if key != nil && sealed {
			if opens, err = a.DB.Opens(ctx, key); err != nil {
				return err
			}
		}
		if opens {
			return errors.New("nothing is lost: the secrets in this database open; \"aliquot secrets rotate\" " +
				"replaces their key")
		}
		lost, err := a.DB.Read().Secrets.Lost(ctx)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprint(e.stdout, lostText(lost)); err != nil {
			return err
		}
		if !r.Yes {
			_, err = fmt.Fprintln(e.stdout, "Nothing was changed. To start over, add --yes.")
			return err
		}
		if missing {
			if err = atomicfile.Create(from, []byte(sqldb.NewKey()+"\n")); err == nil {
				key, err = readKey(from)
			}
			if err != nil {
				return err
			}
		}
		if err := a.ResetSecrets(ctx, key); err != nil {
			return err
		}
		_, err = fmt.Fprintf(e.stdout, "Done. The key is in %s now; every process needs it, and must be restarted.\n",
			from)
		return err
	})
}

// lostText returns the list of what is lost, for the operator.
func lostText(l store.Lost) string {
	var b strings.Builder
	b.WriteString("Without its key, this is lost:\n")
	for _, w := range l.Webhooks {
		fmt.Fprintf(&b, "- the secret of webhook %d of %s (lab %d), %s: it gets a new one and is switched off until "+
			"the lab's owner has set that in the receiver\n",
			w.ID, w.Organization, w.OrganizationID, w.URL)
	}
	fmt.Fprintf(&b, "- links in mail, such as those to unsubscribe, and of %d open invitations: send these again\n",
		l.Invitations)
	fmt.Fprintf(&b, "- %d links to reports of grants: the pages of the grants show new ones\n", l.Reports)
	fmt.Fprintf(&b, "- %d answers kept for an Idempotency-Key: such calls answer 409\n", l.Answers)
	return b.String()
}

package backup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"aliquot/internal/record"
)

// About is the first part of an archive: of what it is a backup.
type About struct {
	Program    string            `json:"program"` // the version that took it
	TakenAt    time.Time         `json:"taken_at"`
	Schema     int64             `json:"schema"`       // version of the schema of the database
	Numbers    map[string]int64  `json:"numbers"`      // the last id that each table gave
	Entries    int64             `json:"log_entries"`  // of the log
	Root       string            `json:"log_root"`     // of its tree, in base64
	Checkpoint string            `json:"checkpoint"`   // the newest signed one of the log; "": there is none
	Keys       map[string]string `json:"fingerprints"` // of the keys of the instance, by the name of their setting
}

const (
	aboutName   = "about.json"
	tables      = "database/"       // followed by the name of a table
	contents    = "files/"          // followed by the key of a content
	deletedName = contents + "gone" // lists those that were deleted while the backup was taken; behind all keys
	keys        = "keys/"           // followed by the name of a setting
	maxAbout    = 1 << 20           // bytes of about.json
	maxKey      = 64 << 10
	maxDeleted  = 64 << 20
)

func readAbout(r io.Reader) (a About, err error) {
	b, err := readAll(r, maxAbout)
	if err == nil {
		err = json.Unmarshal(b, &a)
	}
	return a, err
}

// readAll reads a part that has to fit into memory.
func readAll(r io.Reader, most int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("it is longer than %d bytes", most)
	}
	return b, err
}

// follows checks that the backup is no older than a checkpoint of the same log. Whether its log begins with what the
// log was then shows once the log is there.
func (a About) follows(since *record.Checkpoint) error {
	if since == nil {
		return nil
	}
	if a.Entries < since.Size {
		return fmt.Errorf("the backup is older than the checkpoint: its log has %d entries, and had %d then", a.Entries,
			since.Size)
	}
	if a.Checkpoint == "" {
		return nil
	}
	own, err := record.ParseCheckpoint(a.Checkpoint)
	if err != nil {
		return err
	}
	if own.Origin != since.Origin {
		return fmt.Errorf("the backup is of another instance: its log is %s, the checkpoint is of %s", own.Origin,
			since.Origin)
	}
	return nil
}

// fits checks that a program with a version of the schema can restore the backup into a place that has some keys.
func (a About) fits(schema int64, fingerprints map[string]string) error {
	if a.Schema != schema {
		return fmt.Errorf("it has version %d of the schema, this program version %d: restore it with %s, then start "+
			"this one, which migrates it", a.Schema, schema, a.Program)
	}
	for name, fingerprint := range fingerprints {
		if of := a.Keys[name]; of != "" && of != fingerprint {
			return fmt.Errorf("%s: the key there, %s, is not that of the instance, %s: put that one there, or remove "+
				"the other", name, fingerprint, of)
		}
	}
	return nil
}

var errNoAbout = errors.New("beginning: there is no " + aboutName)

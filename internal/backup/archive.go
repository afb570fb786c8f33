// Package backup takes backups of an instance and restores them (docs/backup.md). An archive is one stream of named
// parts, each with its length and SHA-256, ended by a manifest.
package backup

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// magic begins every archive; the number is that of the format.
const magic = "aliquot backup 1\n"

// manifestName is the part that ends an archive.
const manifestName = "manifest.json"

const (
	maxChunk    = 64 << 10 // bytes of a part that one length stands before
	maxName     = 200      // bytes of a part's name
	maxManifest = 4 << 10  // bytes of the manifest
)

// Manifest counts the parts before it. Digest is the SHA-256, hexadecimal, over their names, lengths and checksums.
type Manifest struct {
	Parts  int64  `json:"parts"`
	Bytes  int64  `json:"bytes"`
	Digest string `json:"digest"`
}

// pathPattern is what a part may be called: a relative path of small letters, digits, "_", "-" and inner points.
var pathPattern = regexp.MustCompile(`^[a-z0-9_-]+(\.[a-z0-9_-]+)*(/[a-z0-9_-]+(\.[a-z0-9_-]+)*)*$`)

// checkName refuses a name that is no path inside an archive, and one that is not behind the name before it. By the
// order a reader knows without a list of names that none is there twice.
func checkName(name, before string) error {
	if len(name) > maxName || !pathPattern.MatchString(name) {
		return fmt.Errorf("part %.200q: it is not a relative path of small letters and digits of at most %d bytes",
			name, maxName)
	}
	if strings.Compare(name, before) <= 0 {
		return fmt.Errorf("part %q: it comes after %q; names must be in order, each once", name, before)
	}
	return nil
}

// parseManifest reads a manifest, which has to be byte for byte as Writer.Close writes it.
func parseManifest(b []byte) (Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(b, &m); err != nil {
		return m, fmt.Errorf("%s: %w", manifestName, err)
	}
	again, err := json.Marshal(m)
	if err != nil {
		return m, err
	}
	if string(again) != string(b) {
		return m, errors.New(manifestName + ": it is not as a backup writes it")
	}
	return m, nil
}

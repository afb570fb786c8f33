package document

import (
	"fmt"
	"strings"

	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

// StorageOwner is the lab or user whose quota stored content counts against.
type StorageOwner string

// LabStorage returns the StorageOwner of a lab.
func LabStorage(organization int64) StorageOwner {
	return StorageOwner(fmt.Sprintf("lab %d", organization))
}

// UserStorage returns the StorageOwner of a user.
func UserStorage(user uuid.UUID) StorageOwner { return StorageOwner("user " + user.String()) }

// StorageOwner returns whose quota the content of an attachment counts against, "" for nobody's. What a requester
// shares with a lab counts against the requester's, so that no stranger can use up the quota of a lab.
func (a Attachment) StorageOwner() StorageOwner {
	switch {
	case a.OwnedByOrg != nil && (a.OfLab || a.OwnedByUser == nil):
		return LabStorage(*a.OwnedByOrg)
	case a.OwnedByUser != nil:
		return UserStorage(*a.OwnedByUser)
	}
	return ""
}

// Lab reports whether o is a lab.
func (o StorageOwner) Lab() bool { return strings.HasPrefix(string(o), "lab ") }

// Storage is how many bytes of content an owner has stored, including deleted or replaced content that is still kept,
// and how many it may store.
type Storage struct {
	Owner       StorageOwner
	Used, Quota int64
}

// OverQuota returns the error for content that exceeds the quota.
func (s Storage) OverQuota() *exchange.Error {
	whose := "Your files use"
	if s.Owner.Lab() {
		whose = "The files of the lab use"
	}
	return exchange.Errorf(exchange.QuotaExceeded, "There is not enough storage for this file. %s %s of %s. Delete "+
		"files that are no "+
		"longer needed, or ask the operator for more; a deleted file counts until it is permanently "+
		"removed.", whose, inWords(s.Used), inWords(s.Quota)).With("quota",
		s.Quota).With("used", s.Used)
}

// inWords formats a number of bytes for a person.
func inWords(n int64) string {
	switch {
	case n < 1_000_000:
		return fmt.Sprintf("%d bytes", n)
	case n >= 1_000_000_000:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// StoredFile is an attachment with the bytes that it uses, including older versions.
type StoredFile struct {
	ID       int64
	Filename string
	Bytes    int64
	Scan     Scan // of the current version
}

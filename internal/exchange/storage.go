package exchange

import (
	"fmt"

	"github.com/google/uuid"
)

// StorageOwner is whose quota stored content counts for: a lab or a user.
type StorageOwner string

// LabStorage is a lab as the owner of content.
func LabStorage(organization int64) StorageOwner {
	return StorageOwner(fmt.Sprintf("lab %d", organization))
}

// UserStorage is a user as the owner of content.
func UserStorage(user uuid.UUID) StorageOwner { return StorageOwner("user " + user.String()) }

// StorageOwner is whose quota the content of an attachment counts for, "" for nobody's. What a requester shares with a
// lab stays the requester's, so that no stranger can use up the quota of a lab.
func (a Attachment) StorageOwner() StorageOwner {
	switch {
	case a.OwnedByOrg != nil && (a.OfLab || a.OwnedByUser == nil):
		return LabStorage(*a.OwnedByOrg)
	case a.OwnedByUser != nil:
		return UserStorage(*a.OwnedByUser)
	}
	return ""
}

// Storage is how many bytes of content an owner has stored, with what was deleted or replaced and is still kept, and
// may have.
type Storage struct{ Used, Quota int64 }

// OverQuota is the error of content for which there is no room.
func (s Storage) OverQuota() *Error {
	return Fail(QuotaExceeded, "There is no room for this file: %d of %d bytes are used. A deleted file counts until it is removed for good.", s.Used, s.Quota).
		With("quota", s.Quota).With("used", s.Used)
}

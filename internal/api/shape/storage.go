package shape

import (
	"aliquot/internal/app/core"
	"aliquot/internal/exchange/document"
)

// Storage is how much a user or an organization has stored, in bytes.
type Storage struct {
	Used         int64        `json:"used"`
	Quota        *int64       `json:"quota"`        // null: no limit
	Deleted      int64        `json:"deleted"`      // part of used: deleted and still kept
	Spreadsheets int64        `json:"spreadsheets"` // part of used: spreadsheets of materials, kept for a month
	Largest      []StoredFile `json:"largest"`      // attachments, the largest first
}

// StoredFile is an attachment with the bytes that it and its older versions use.
type StoredFile struct {
	ID       int64  `json:"id"`
	Filename string `json:"filename"`
	Bytes    int64  `json:"bytes"`
}

// ShowStorage returns the JSON form of its argument.
func ShowStorage(v core.StorageView) Storage {
	s := Storage{Used: v.Used, Deleted: v.Deleted, Spreadsheets: v.Sheets,
		Largest: List(v.Largest, func(f document.StoredFile) StoredFile {
			return StoredFile{f.ID, f.Filename, f.Bytes}
		})}
	if v.Quota != 0 {
		s.Quota = &v.Quota
	}
	return s
}

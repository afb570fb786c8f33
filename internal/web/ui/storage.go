package ui

import (
	"net/http"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
)

// StoragePage lists stored files, and those that may be deleted.
type StoragePage struct {
	core.StorageView
	Base   string // the prefix of the addresses that delete a file: /account or /labs/7
	Grace  int    // days for which a deleted file is kept
	Failed string // why a file was not deleted
}

// StoragePage returns the page of stored files; refused is why a file was not deleted.
func (v *PageRequest) StoragePage(base string, s core.StorageView, refused error) StoragePage {
	p := StoragePage{StorageView: s, Base: base, Grace: int(v.App.Grace.Hours() / 24)}
	if refused != nil {
		p.Failed = exchange.MessageOf(refused)
	}
	return p
}

// ShowStorage returns the storage page, with the error if a file could not be deleted.
func ShowStorage(template string, page Content, refused error) (Response, error) {
	answer, err := Show(template, page)
	if refused != nil {
		answer.Status = http.StatusConflict
	}
	return answer, err
}

package web

import (
	"net/http"

	"aliquot/internal/app"
)

// storagePage lists stored files, and those that may be deleted.
type storagePage struct {
	app.StorageView
	Base   string // the prefix of the addresses that delete a file: /account or /labs/7
	Grace  int    // days for which a deleted file is kept
	Failed string // why a file was not deleted
}

func (v *pageRequest) storagePage(base string, s app.StorageView, refused error) storagePage {
	p := storagePage{StorageView: s, Base: base, Grace: int(v.app.Grace.Hours() / 24)}
	if refused != nil {
		p.Failed = messageOf(refused)
	}
	return p
}

// answered returns the storage page, with the error if a file could not be deleted.
func answered(template string, page anyPage, refused error) (response, error) {
	answer, err := show(template, page)
	if refused != nil {
		answer.status = http.StatusConflict
	}
	return answer, err
}

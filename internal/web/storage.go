package web

import (
	"net/http"

	"aliquot/internal/app"
	"aliquot/internal/exchange"
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

// ownStorage lists the visitor's stored files.
func (v *pageRequest) ownStorage() (response, error) { return v.ownStorageAfter(nil) }

func (v *pageRequest) ownStorageAfter(refused error) (response, error) {
	s, err := v.app.StorageOfUser(v.Context(), v.who.Actor, v.who.ID)
	if err != nil {
		return response{}, err
	}
	p := struct {
		accountPage
		Storage storagePage
	}{v.accountPage("storage", "Storage"), v.storagePage("/account", s, refused)}
	return answered("account-storage", &p, refused)
}

// labStorage lists the lab's stored files.
func (v *pageRequest) labStorage() (response, error) { return v.labStorageAfter(nil) }

func (v *pageRequest) labStorageAfter(refused error) (response, error) {
	base, err := v.readLab("storage", "Storage")
	if err != nil {
		return response{}, err
	}
	s, err := v.app.StorageOfLab(v.Context(), v.who.Actor, base.Lab.ID)
	if err != nil {
		return response{}, err
	}
	p := struct {
		labPage
		Storage storagePage
	}{base, v.storagePage("/labs/"+base.ID, s, refused)}
	return answered("lab-storage", &p, refused)
}

// deleteOwnFile deletes a file of the visitor.
func (v *pageRequest) deleteOwnFile() (response, error) {
	id, err := v.id("id")
	if err != nil {
		return response{}, err
	}
	err = v.app.DeleteAttachment(v.Context(), v.who.Actor, id, nil)
	if exchange.CodeOf(err) == exchange.AttachmentInUse {
		return v.ownStorageAfter(err)
	} else if err != nil {
		return response{}, err
	}
	return seeOther("/account/storage").saying("The file is deleted."), nil
}

// deleteLabFile deletes a file of the lab.
func (v *pageRequest) deleteLabFile() (response, error) {
	if _, err := v.labFor(exchange.AttachmentDelete); err != nil {
		return response{}, err
	}
	id, err := v.labDocumentID()
	if err != nil {
		return response{}, err
	}
	err = v.app.DeleteAttachment(v.Context(), v.who.Actor, id, nil)
	if exchange.CodeOf(err) == exchange.AttachmentInUse {
		return v.labStorageAfter(err)
	} else if err != nil {
		return response{}, err
	}
	return seeOther(v.lab("/storage")).saying("The file is deleted."), nil
}

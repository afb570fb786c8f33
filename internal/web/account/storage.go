package account

import (
	"aliquot/internal/exchange"
	"aliquot/internal/web/ui"
)

// ownStorage lists the visitor's stored files.
func (v *pageRequest) ownStorage() (ui.Response, error) { return v.ownStorageAfter(nil) }

func (v *pageRequest) ownStorageAfter(refused error) (ui.Response, error) {
	s, err := v.App.StorageOfUser(v.Context(), v.Who.Actor, v.Who.ID)
	if err != nil {
		return ui.Response{}, err
	}
	p := struct {
		accountPage
		Storage ui.StoragePage
	}{v.accountPage("storage", "Storage"), v.StoragePage("/account", s, refused)}
	return ui.ShowStorage("account-storage", &p, refused)
}

// deleteOwnFile deletes a file of the visitor.
func (v *pageRequest) deleteOwnFile(id int64) (ui.Response, error) {
	err := v.App.Documents.DeleteAttachment(v.Context(), v.Who.Actor, id, nil)
	if exchange.CodeOf(err) == exchange.AttachmentInUse {
		return v.ownStorageAfter(err)
	} else if err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther("/account/storage").Saying("File deleted."), nil
}

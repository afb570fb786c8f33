package web

import "aliquot/internal/exchange"

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

package web

import "aliquot/internal/exchange"

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

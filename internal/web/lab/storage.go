package lab

import (
	"aliquot/internal/exchange"
	"aliquot/internal/web/ui"
)

// labStorage lists the lab's stored files.
func (v *pageRequest) labStorage() (ui.Response, error) { return v.labStorageAfter(nil) }

func (v *pageRequest) labStorageAfter(refused error) (ui.Response, error) {
	base, err := v.readLab("storage", "Storage")
	if err != nil {
		return ui.Response{}, err
	}
	s, err := v.App.StorageOfLab(v.Context(), v.Who.Actor, base.Lab.ID)
	if err != nil {
		return ui.Response{}, err
	}
	p := struct {
		labPage
		Storage ui.StoragePage
	}{base, v.StoragePage("/labs/"+base.ID, s, refused)}
	return ui.ShowStorage("lab-storage", &p, refused)
}

// deleteLabFile deletes a file of the lab.
func (v *pageRequest) deleteLabFile() (ui.Response, error) {
	if _, err := v.labFor(exchange.AttachmentDelete); err != nil {
		return ui.Response{}, err
	}
	id, err := v.labDocumentID()
	if err != nil {
		return ui.Response{}, err
	}
	err = v.App.Documents.DeleteAttachment(v.Context(), v.Who.Actor, id, nil)
	if exchange.CodeOf(err) == exchange.AttachmentInUse {
		return v.labStorageAfter(err)
	} else if err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther(v.lab("/storage")).Saying("File deleted."), nil
}

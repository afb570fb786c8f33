package web

import (
	"mime"
	"net/http"
	"time"
)

func (v *pageRequest) export() (response, error) {
	p := v.accountPage("export", "Your data")
	return show("account-export", &p)
}

// exportData sends all data about the visitor, as it is read.
func (v *pageRequest) exportData() (response, error) {
	write, err := v.app.ExportAccount(v.Context(), v.who.Actor, v.who.ID)
	if err != nil {
		return response{}, err
	}
	name := "aliquot-export-" + v.app.DB.Read().Now.Format(time.DateOnly) + ".zip"
	return response{serve: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/zip")
		w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
		w.Header().Set("Cache-Control", "no-store")
		if err := write(w); err != nil {
			v.app.Log.ErrorContext(r.Context(), "export of an account", "error", err)
			panic(http.ErrAbortHandler) // so that nobody mistakes a part for the whole
		}
	}}, nil
}

package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
)

// TestImport_IsOneLineAmongWhatIsNewAndCanBeUndone: the start page names the import and not each of its materials, and
// the page of its job archives them, but for what was changed since, which the undo's page names.
func TestImport_IsOneLineAmongWhatIsNewAndCanBeUndone(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		w.work()
		v := w.as("mario")
		lab := w.material("HT-29").OrganizationID
		rows := "Category,Title,Reference,Description\nOTHER,Undone one,U-1,not known\n" +
			"OTHER,Undone two,U-2,not known\nOTHER,Undone three,U-3,not known\n"
		a := v.upload("/share/spreadsheet", "file", "more.csv", rows, "lab", fmt.Sprint(lab)).want(http.StatusOK)
		a = v.form("/share/spreadsheet/columns", a.formOf("form[action='/share/spreadsheet/columns']")).done()
		home := w.as("josiah").get("/").doc.Find("#h-new").Closest("section").Text()
		if !strings.Contains(home, "3 other materials") || strings.Contains(home, "Undone") {
			w.Errorf("recently listed: %s", home)
		}
		a.says("Undo this import", "3 materials")
		_, err := w.app.Materials.UpdateMaterial(w.Context(), v.actor, w.material("Undone two").ID,
			material.Patch{Citation: exchange.NullOf("A")}, nil)
		w.must(err)
		undone := v.form(a.doc.Find("form[action$=undo]").AttrOr("action", ""), nil).done()
		undone.says("Undo of an import", "2 archived", "1 left as they are", "Undone two", "was changed since")
		if !w.material("Undone one").Archived {
			w.Error("the import is not undone")
		}
		if home := w.as("").get("/").doc.Find("#h-new").Closest("section").Text(); strings.Contains(home, "Undone") {
			w.Errorf("recently listed: %s", home)
		}
	})
}

package share

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/web/ui"
)

// listingConflict describes a change that was saved while the visitor typed.
type listingConflict struct {
	By    *person.User
	At    ui.When
	Lines []conflictLine
}

// conflictLine is a field that at least one of the two people changed.
type conflictLine struct {
	Field, Label         string
	Before, Theirs, Mine string
	Both                 bool // to different values: mine is in the form
	Changed              bool // the other person changed it
}

// maxVersions is how many versions are searched for the one that a form started from, and shown on a page.
const maxVersions = 40

// conflict shows both versions field by field. What the visitor changed stays as typed; what only the other person
// changed is taken over into the form.
func (v *pageRequest) conflict(p *listingPage, now material.Shown) (ui.Response, error) {
	current := now.Material
	began, c := current, &listingConflict{}
	part, err := v.App.MaterialHistory(v.Context(), v.Who.Actor, current.ID, exchange.Page{Limit: maxVersions})
	if err != nil && exchange.CodeOf(err) != exchange.Forbidden { // with write access alone one sees two versions
		return ui.Response{}, err
	}
	for i, version := range part.Items {
		if i == 0 {
			c.By, c.At = version.By, v.page().At(version.At)
		}
		if tagOf(version.State.Material) == p.Base {
			began = version.State.Material
		}
	}
	patch, _ := material.FormPatch(p.typed(), "", &began)
	mine, err := patch.Patch(began)
	if e, ok := errors.AsType[*exchange.Error](err); ok && e.Code == exchange.InvalidInput {
		p.Errors = worded(p.Category.Code, e.Fields)
	} else if err != nil {
		return ui.Response{}, err
	}
	theirs, shown := material.Changes(began, current), current.Form()
	for _, change := range material.Changes(began, mine) {
		line := conflictLine{Field: change.Field, Label: change.Label, Before: change.Old, Theirs: change.Old,
			Mine: change.New}
		i := slices.IndexFunc(theirs, func(t material.FieldChange) bool { return t.Field == change.Field })
		if i >= 0 {
			line.Theirs, line.Changed, line.Both = theirs[i].New, true, theirs[i].New != change.New
			theirs = slices.Delete(theirs, i, i+1)
		}
		c.Lines = append(c.Lines, line)
	}
	for _, change := range theirs {
		c.Lines = append(c.Lines,
			conflictLine{Field: change.Field, Label: change.Label, Before: change.Old, Theirs: change.New,
				Mine: change.Old, Changed: true})
		if values, there := shown[change.Field]; there {
			p.Form[change.Field] = values
		}
	}
	p.Form.Del("theirs")
	p.Material, p.Conflict, p.Base = &now, c, tagOf(current)
	p.build()
	p.Title = "Not saved: someone changed " + now.Title
	return ui.Response{Status: http.StatusConflict, Template: "share_edit", Page: p}, nil
}

type historyPage struct {
	ui.Page
	Material material.Shown
	Versions []versionLine
	Base     string
	Next     string
	Back     string
}

// versionLine is a version of a material as the page shows it.
type versionLine struct {
	Number  int64
	By      string
	AsAdmin bool
	Did     string
	At      ui.When
	Changes []material.FieldChange
	First   bool
	Current bool
}

// causes describe what created a version.
var causes = map[exchange.Action]string{
	exchange.MaterialCreate: "listed it", exchange.MaterialImport: "imported it", exchange.MaterialUpdate: "changed it",
	exchange.MaterialArchive: "archived it", exchange.MaterialFund: "added it to a grant",
	exchange.GrantUpdate: "removed it from a grant",
}

// listingHistory shows what changed, version by version.
func (v *pageRequest) listingHistory(id int64) (ui.Response, error) {
	after, _ := strconv.ParseInt(v.URL.Query().Get("after"), 10, 64) // otherwise from the beginning
	asked := exchange.Page{Limit: maxVersions}
	if after > 0 {
		asked.After = &exchange.Position{ID: after}
	}
	part, err := v.App.MaterialHistory(v.Context(), v.Who.Actor, id, asked)
	if err != nil {
		return ui.Response{}, err
	}
	m, err := v.App.Materials.Material(v.Context(), v.Who.Actor, id)
	if exchange.CodeOf(err) == exchange.NotFound && len(part.Items) > 0 { // it went to another lab, which hides it
		m, err = part.Items[0].State, nil
	}
	if err != nil {
		return ui.Response{}, err
	}
	p := &historyPage{Page: ui.Page{Title: "History of " + m.Title, Section: "lab"}, Material: m,
		Base: tagOf(m.Material)}
	names := v.page()
	for i, version := range part.Items {
		p.Versions = append(p.Versions, tellVersion(version, names, i == 0 && after == 0))
	}
	if after > 0 {
		p.Back = fmt.Sprintf("/catalog/%d/history", id)
	}
	if part.Next != nil {
		p.Next = fmt.Sprintf("/catalog/%d/history?after=%d", id, part.Next.ID)
	}
	return ui.Show("share_history", p)
}

func tellVersion(version core.Version[material.Shown], p *ui.Page, current bool) versionLine {
	line := versionLine{Number: *version.Version, By: "The operator", AsAdmin: version.AsAdmin,
		Did: causes[version.Action], At: p.At(version.At),
		Current: current, First: version.Before == nil}
	if version.By != nil {
		line.By = version.By.Name()
	}
	if line.Did == "" {
		line.Did = "changed it"
	}
	if version.Before == nil {
		return line
	}
	line.Changes = material.Changes(version.Before.Material, version.State.Material)
	for i, change := range line.Changes {
		if change.Field == "contact_user_id" {
			line.Changes[i].Old, line.Changes[i].New = version.Before.Contact.Name(), version.State.Contact.Name()
		}
	}
	return line
}

// restoreListing restores a version of a material.
func (v *pageRequest) restoreListing(id int64) (ui.Response, error) {
	number, _ := strconv.ParseInt(v.PostFormValue("version"), 10, 64) // an invalid number is not found
	was, err := v.App.MaterialVersion(v.Context(), v.Who.Actor, id, number)
	if err != nil {
		return ui.Response{}, err
	}
	base := v.PostFormValue("base")
	asSeen := func(m material.Shown) error {
		if tagOf(m.Material) != base {
			return exchange.Errorf(exchange.PreconditionFailed,
				"Someone changed it since you opened its history. Check the history again first.")
		}
		return nil
	}
	if _, err := v.App.Materials.UpdateMaterial(v.Context(), v.Who.Actor, id, was.Restore(), asSeen); err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther(fmt.Sprintf("/catalog/%d/history",
		id)).Saying(fmt.Sprintf("Restored version %d.",
		number)), nil
}

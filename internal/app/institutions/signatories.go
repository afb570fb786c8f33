package institutions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"aliquot/internal/agreement/party"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/sheet"
	"aliquot/internal/store"
)

// The limits of a list of signatories that is imported.
const (
	MaxSignatoryFile = 4 << 20 // bytes
	maxSignatories   = 2000    // rows
	maxFaults        = 200     // that an answer names
)

// The columns of a list of signatories that are not fields of a master agreement.
const (
	institutionColumn  = "institution"
	rorColumn          = "ror"
	countryColumn      = "country"
	counterpartyColumn = "counterparty"
)

// signatoryColumns are the columns of a list of signatories.
var signatoryColumns = func() []string {
	list := []string{institutionColumn, rorColumn, countryColumn}
	for _, d := range party.MasterFields {
		if d.Sheet > 0 {
			list = append(list, d.Name)
		}
	}
	return append(list, counterpartyColumn)
}()

// ExportSignatories writes the signatories of a family of master agreements, or of all if it is "", as a spreadsheet
// in a format of sheet.Create. ImportSignatories accepts it again.
// begin returns the writer once only the machine can still fail.
func (a Institutions) ExportSignatories(ctx context.Context, family, format string, begin func() io.Writer) error {
	list, err := a.DB.Read().Institutions.Signatories(ctx, family)
	if err != nil {
		return err
	}
	w, err := sheet.Create(begin(), format)
	if err != nil {
		return err
	}
	err = w.Write(signatoryColumns)
	for _, s := range list {
		if err != nil {
			break
		}
		cells := []string{s.Institution.LegalName, s.Institution.ROR, s.Institution.Country}
		for _, d := range party.MasterFields {
			if d.Sheet > 0 {
				cells = append(cells, d.Text(&s.Master))
			}
		}
		err = w.Write(append(cells, s.Counterparty))
	}
	return errors.Join(err, w.Close())
}

// SignatoryImport is what an import of signatories did, or would do.
type SignatoryImport struct {
	DryRun                          bool
	Rows, Added, Changed, Unchanged int
	Institutions                    int // new ones
	Faults                          []SignatoryFault
}

// SignatoryFault is what is wrong in a cell of a list of signatories.
type SignatoryFault struct {
	Row    int    // as spreadsheet programs show it
	Column string // "" if the row as a whole is wrong
	Text   string
}

// ReadSignatories reads the file of an import.
func ReadSignatories(file io.Reader) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(file, MaxSignatoryFile+1))
	if err == nil && len(content) > MaxSignatoryFile {
		err = exchange.Errorf(exchange.TooLarge, "A list of signatories may be at most %d bytes.", MaxSignatoryFile).
			With("limit", MaxSignatoryFile)
	}
	return content, err
}

var errFaults = errors.New("a row is wrong")

// MayImportSignatories checks that who may import signatories.
func (a Institutions) MayImportSignatories(who exchange.Actor) error {
	_, err := a.Can(who, exchange.SignatoryImport, who.Relations())
	return err
}

// ImportSignatories adds and changes master agreements by a spreadsheet: all rows or, if one is wrong, none. An
// institution that is not known, by its ROR ID or its legal name in its country, is added without being confirmed. A
// row is about the master agreement of the same institution, family, version, standing and counterparty; an empty cell
// keeps what is known. A dry run changes nothing, and returns what is wrong; otherwise that is an error on the field
// file.
func (a Institutions) ImportSignatories(ctx context.Context, who exchange.Actor, content []byte,
	dryRun bool) (done SignatoryImport, err error) {
	if err := a.MayImportSignatories(who); err != nil {
		return done, err
	}
	rows, err := a.readSignatories(ctx, who, content)
	if err != nil {
		return done, err
	}
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.May(ctx, tx, who, exchange.SignatoryImport, who.Relations(), "signatories"); err != nil {
			return err
		}
		done = SignatoryImport{DryRun: dryRun, Rows: len(rows), Faults: []SignatoryFault{}}
		for _, r := range rows {
			if err := r.save(ctx, tx, who, &done); err != nil {
				return err
			}
		}
		if len(done.Faults) > 0 || dryRun {
			return errFaults // nothing is changed
		}
		return nil
	})
	if !errors.Is(err, errFaults) {
		return done, err
	}
	if dryRun {
		return done, nil
	}
	var f exchange.FieldErrors
	for _, fault := range done.Faults {
		f.Add("file", "row %d, %s: %s", fault.Row, cmp.Or(fault.Column, "the row"), fault.Text)
	}
	return done, f.Err()
}

// save adds or changes the master agreement of a row; what is wrong with it is a fault.
func (r signatoryRow) save(ctx context.Context, tx store.Conn, who exchange.Actor, done *SignatoryImport) error {
	fault := func(column, text string) {
		if len(done.Faults) < maxFaults {
			done.Faults = append(done.Faults, SignatoryFault{r.number, column, text})
		}
	}
	for _, column := range signatoryColumns {
		if why := r.wrong[column]; why != "" {
			fault(column, why)
		}
	}
	faults := func(err error) {
		if err == nil {
			return
		}
		known, fields := len(done.Faults), exchange.FieldsOf(err)
		for _, column := range signatoryColumns {
			name := column
			if column == institutionColumn {
				name = "legal_name"
			}
			for _, text := range fields[name] {
				fault(column, text)
			}
		}
		if e, ok := errors.AsType[*exchange.Error](err); ok && len(done.Faults) == known {
			fault("", e.Message)
		}
	}
	before := len(done.Faults)
	i, err := r.institution(ctx, tx, who)
	if exchange.CodeOf(err) == exchange.InvalidInput {
		faults(err)
		return nil
	} else if err != nil {
		return err
	}
	other, err := r.other(ctx, tx)
	if exchange.CodeOf(err) == exchange.InvalidInput {
		faults(err)
		return nil
	} else if err != nil {
		return err
	}
	var kept []party.Master
	if i.ID != 0 {
		if kept, err = tx.Institutions.Masters.Of(ctx, i.ID); err != nil {
			return err
		}
	}
	old, m, err := r.master(i, other, kept)
	if faults(err); err != nil || len(done.Faults) > before {
		return nil
	}
	if i.ID == 0 {
		done.Institutions++
		if i.ID, err = tx.Institutions.Insert(ctx, i); err != nil {
			return err
		}
		m.Institution = i.ID
	}
	switch {
	case old == nil:
		done.Added++
		_, err = tx.Institutions.Masters.Insert(ctx, m)
	case core.Same(*old, m):
		done.Unchanged++
	default:
		done.Changed++
		err = tx.Institutions.Masters.Update(ctx, m.ID, m)
	}
	return err
}

// institution returns the institution of a row: without an id if it is new.
func (r signatoryRow) institution(ctx context.Context, tx store.Conn, who exchange.Actor) (party.Institution, error) {
	body := party.Patch[party.Institution]{}
	for name, column := range map[string]string{"legal_name": institutionColumn, "ror": rorColumn,
		"country": countryColumn} {
		*body.Others()[name].(*exchange.Opt[string]) = exchange.Some(r.cells[column])
	}
	i, err := body.Patch(party.NewInstitution(who.ID))
	wrong := exchange.FieldsOf(err)
	if len(wrong["ror"]) > 0 || len(wrong["legal_name"]) > 0 ||
		r.cells[countryColumn] != "" && len(wrong["country"]) > 0 {
		return i, err
	}
	known, failed := tx.Institutions.Known(ctx, i.ROR, i.Country, i.LegalName)
	if failed != nil {
		return i, failed
	}
	for _, k := range known {
		if i.ROR != "" && k.ROR == i.ROR {
			return k, nil
		}
	}
	known = slices.DeleteFunc(known, func(k party.Institution) bool { return i.ROR != "" && k.ROR != "" })
	switch {
	case len(known) > 1:
		return i, core.FieldError("ror", "is needed: %d institutions have this name", len(known))
	case len(known) == 1:
		return known[0], nil
	}
	return i, err
}

// other returns the counterparty of a row, by its legal name; nil: it names none.
func (r signatoryRow) other(ctx context.Context, tx store.Conn) (*int64, error) {
	name := r.cells[counterpartyColumn]
	if name == "" {
		return nil, nil
	}
	page, err := tx.Institutions.List(ctx, name, core.Everything)
	if err != nil {
		return nil, err
	}
	found := slices.DeleteFunc(page.Items, func(i party.Institution) bool {
		return exchange.SortKey(i.LegalName) != exchange.SortKey(name)
	})
	if len(found) != 1 {
		return nil, core.FieldError(counterpartyColumn, "must be the legal name of one institution; %d have it",
			len(found))
	}
	return &found[0].ID, nil
}

// master returns the master agreement that a row describes, and what is known of it; old nil: it is new.
func (r signatoryRow) master(i party.Institution, counterparty *int64, kept []party.Master) (old *party.Master,
	m party.Master, err error) {
	body := party.Patch[party.Master]{}
	var f exchange.FieldErrors
	for k := range party.MasterFields {
		d := &party.MasterFields[k]
		text := r.cells[d.Name]
		if d.Sheet == 0 || text == "" {
			continue
		}
		if d.Name == "standing" {
			text = strings.ToUpper(text)
		}
		switch slot := d.Slot(&body).(type) {
		case *exchange.Opt[string]:
			*slot = exchange.Some(text)
		case json.Unmarshaler:
			raw, err := json.Marshal(text)
			if err == nil {
				err = slot.UnmarshalJSON(raw)
			}
			if err != nil {
				f.Add(d.Name, "%v", err)
			}
		}
	}
	if err := f.Err(); err != nil {
		return nil, m, err
	}
	begin := party.Master{Institution: i.ID, Standing: party.Signed, Counterparty: counterparty}
	if m, err = body.Patch(begin); err != nil {
		return nil, m, err
	}
	for k := range kept {
		o := &kept[k]
		if o.Family == m.Family && o.Version == m.Version && o.Standing == m.Standing &&
			core.Same(o.Counterparty, m.Counterparty) {
			m, err = body.Patch(*o)
			return o, m, err
		}
	}
	return nil, m, nil
}

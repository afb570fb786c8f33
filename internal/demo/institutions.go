package demo

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"aliquot/internal/agreement/party"
	"aliquot/internal/app/institutions"
)

// institutions.json has the sample institutions, with their offices, labs and master agreements. People and labs are
// named by the registry ids of people.
//
//go:embed institutions.json
var institutionsFile []byte

// fields is a body of the API.
type fields map[string]any

// sampleInstitution is an institution of the file.
type sampleInstitution struct {
	Institution fields
	Masters     []fields // with: the name of an earlier institution, the counterparty
	Labs        []string // registry ids of their owners
	People      []string // registry ids of those whom the admin confirms
	Claims      []string // registry ids of those who say it themselves
	Positions   []struct {
		Position    fields
		Authorities []struct {
			Holder    string // a registry id; "": somebody without an account
			Authority fields
			StandIns  []fields
		}
	}
}

// registerInstitutions makes the sample institutions. The admin confirms them and gives the first authorities.
func (f *filling) registerInstitutions() error {
	var samples []sampleInstitution
	if err := json.Unmarshal(institutionsFile, &samples); err != nil {
		return err
	}
	for _, s := range samples {
		if err := f.registerInstitution(s); err != nil {
			return err
		}
	}
	return nil
}

func (f *filling) registerInstitution(s sampleInstitution) error {
	a := f.app.Institutions
	body, err := party.PatchOf[party.Institution](s.Institution)
	if err != nil {
		return err
	}
	made, err := a.Create(f.ctx, f.actors[AdminID], body)
	if err != nil {
		return err
	}
	for _, one := range s.Positions {
		position, err := add(f, a.Positions, AdminID, made.ID, one.Position)
		if err != nil {
			return err
		}
		for _, held := range one.Authorities {
			held.Authority["position"] = position.ID
			if held.Holder != "" {
				held.Authority["holder"] = f.actors[held.Holder].ID
				f.offices[held.Holder] = made.ID
			}
			authority, err := add(f, a.Authorities, AdminID, made.ID, held.Authority)
			if err != nil {
				return err
			}
			for _, in := range held.StandIns {
				in["authority"] = authority.ID
				if _, err := add(f, a.StandIns, AdminID, made.ID, in); err != nil {
					return err
				}
			}
		}
	}
	f.institutions[made.LegalName] = made.ID
	for _, m := range s.Masters {
		if m["with"] != nil {
			m["counterparty"] = f.institutions[m["with"].(string)]
			delete(m, "with")
		}
		if _, err := add(f, a.Masters, AdminID, made.ID, m); err != nil {
			return err
		}
	}
	confirm, err := party.PatchOf[party.Lab](fields{"confirmed": true})
	if err != nil {
		return err
	}
	for _, owner := range s.Labs {
		lab, err := add(f, a.Labs, owner, made.ID, fields{"organization": f.actors[owner].Owns[0]})
		if err == nil {
			_, err = a.Labs.Update(f.ctx, f.actors[AdminID], made.ID, lab.ID, confirm, nil)
		}
		if err != nil {
			return err
		}
	}
	for _, person := range s.People {
		if _, err := add(f, a.Affiliations, AdminID, made.ID, fields{"person": f.actors[person].ID,
			"confirmed": true}); err != nil {
			return err
		}
	}
	for _, person := range s.Claims {
		if _, err := add(f, a.Affiliations, person, made.ID, fields{}); err != nil {
			return err
		}
	}
	return nil
}

// add adds an entry to an institution.
func add[T party.Described[T]](f *filling, to institutions.Entries[T], by string, institution int64,
	values fields) (entry T, err error) {
	body, err := party.PatchOf[T](values)
	if err == nil {
		entry, err = to.Create(f.ctx, f.actors[by], institution, body)
	}
	if err != nil {
		err = fmt.Errorf("institution %d, %v: %w", institution, values, err)
	}
	return entry, err
}

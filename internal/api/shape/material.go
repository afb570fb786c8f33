package shape

import (
	"aliquot/internal/exchange/material"

	"github.com/google/uuid"
)

// Material is a material as GET shows it. Its JSON has the fields of material.Descriptors.
type Material struct {
	shown material.Shown

	// warnings are doubtful values that were stored nevertheless, by field, in the answer to a change.
	warnings map[string][]string
}

// ShowMaterial returns the JSON form of its argument.
func ShowMaterial(m material.Shown) Material { return Material{shown: m} }

// ShowChanged returns the answer to a change of a material, with warnings.
func ShowChanged(m material.Shown) Material { return Material{m, m.Warnings()} }

// AppendMaterials adds the JSON of a body of materials to b, since encoding/json would check it once more; nil: it is
// another body.
func AppendMaterials(b []byte, body any) ([]byte, error) {
	list, several := body.([]Material)
	if one, ok := body.(Material); ok {
		list = []Material{one}
	} else if !several {
		return nil, nil
	}
	var err error
	if several {
		b = append(b, '[')
	}
	for i := range list {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = list[i].appendJSON(b); err != nil {
			return nil, err
		}
	}
	if several {
		b = append(b, ']')
	}
	return append(b, '\n'), nil
}

// MarshalJSON writes the object of m.
func (m Material) MarshalJSON() ([]byte, error) { return m.appendJSON(nil) }

func (m Material) appendJSON(b []byte) ([]byte, error) {
	b, err := m.appendFields(append(b, '{'), "")
	return append(b, '}'), err
}

// appendFields adds the members of the object of m, but for one.
func (m *Material) appendFields(b []byte, but string) ([]byte, error) {
	b, err := appendTable(b, material.Descriptors, &m.shown.Material, but, m.instead)
	if err == nil && len(m.warnings) > 0 {
		return appendEncoded(append(b, `,"warnings":`...), m.warnings)
	}
	return b, err
}

// instead returns what a field shows in place of its value; nil: its value.
func (m *Material) instead(field string) any {
	switch field {
	case "contact_user":
		return ShowPerson(m.shown.Contact)
	case "grants":
		return m.shown.Grants
	}
	return nil
}

func (m Material) members() []member {
	return membersOfTable(material.Descriptors, &m.shown.Material, m.instead)
}

// GrantMaterial is a material inside a grant, where its contact is a UUID.
type GrantMaterial struct {
	Material
	ContactUser uuid.UUID `json:"contact_user"`
}

// MarshalJSON writes the material with its other contact.
func (m GrantMaterial) MarshalJSON() ([]byte, error) {
	b, err := m.appendFields([]byte("{"), "contact_user")
	return append(b, `,"contact_user":"`+m.ContactUser.String()+`"}`...), err
}

// ImportedMaterial is a material in an import response, where its contact is a UUID; a dataset also has its organisms
// under the name organism.
type ImportedMaterial struct {
	Material
	ContactUser uuid.UUID `json:"contact_user"`
	Organism    []string  `json:"organism,omitzero"`
}

// MarshalJSON writes the material with its other contact and, of a dataset, its organisms twice.
func (m ImportedMaterial) MarshalJSON() ([]byte, error) {
	b, err := m.appendFields([]byte("{"), "contact_user")
	b = append(b, `,"contact_user":"`+m.ContactUser.String()+`"`...)
	if m.Organism != nil {
		b = appendStrings(append(b, `,"organism":`...), m.Organism)
	}
	return append(b, '}'), err
}

package shape

import (
	"bytes"
	"encoding/json"
	"reflect"
	"time"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
)

// Version is one change of a material or an organization. State is the object as GET showed it, so that a PUT of it
// reverts later changes.
type Version[T any] struct {
	Version int64           `json:"version"`
	At      Time            `json:"at"`
	Actor   *Person         `json:"actor"` // null: anonymous
	Action  exchange.Action `json:"action"`
	AsAdmin bool            `json:"as_admin"`
	Changes []Change        `json:"changes"`
	State   T               `json:"state"`
}

// Change is the change of one field. The first version has none.
type Change struct {
	Field string          `json:"field"`
	Old   json.RawMessage `json:"old"`
	New   json.RawMessage `json:"new"`
}

// Act is an audit event.
type Act struct {
	ID      int64           `json:"id"`
	At      Time            `json:"at"`
	Actor   *Person         `json:"actor"` // null: anonymous, or the operator at the machine
	Action  exchange.Action `json:"action"`
	Object  string          `json:"object"`
	AsAdmin bool            `json:"as_admin"`
	Version *int64          `json:"version"`
	Refused *exchange.Code  `json:"refused"` // null: it succeeded
	Times   int64           `json:"times"`
}

// ShowAct returns the JSON form of its argument.
func ShowAct(a core.AuditEntry) Act {
	out := Act{ID: a.ID, At: Time(a.At), Actor: showActor(a.By), Action: a.Action, Object: a.Object, AsAdmin: a.AsAdmin,
		Version: a.Version, Times: a.Times}
	if a.Refused != "" {
		out.Refused = &a.Refused
	}
	return out
}

func showActor(u *person.User) *Person {
	if u == nil {
		return nil
	}
	return new(ShowPerson(*u))
}

// MaterialFacts returns m without what a change of a material does not change: its contact is identified, but the name
// is left out.
func MaterialFacts(m Material) Material {
	m.shown.Contact, m.shown.UpdatedAt = person.User{ID: m.shown.Contact.ID}, time.Time{}
	return m
}

// OrganizationFacts returns o without what a change of an organization does not change: owner and members are
// identified, but their names are left out.
func OrganizationFacts(o Organization) Organization {
	o.shown.OwnerUser, o.shown.UpdatedAt = person.User{ID: o.shown.OwnerUser.ID}, time.Time{}
	o.shown.Members = List(o.shown.Members, func(u person.User) person.User { return person.User{ID: u.ID} })
	return o
}

// ShowVersion returns the JSON form of its argument.
func ShowVersion[In, Out any](v core.Version[In], show func(In) Out, facts func(Out) Out) Version[Out] {
	out := Version[Out]{*v.Version, Time(v.At), showActor(v.By), v.Action, v.AsAdmin, []Change{}, show(v.State)}
	if v.Before == nil {
		return out
	}
	before := show(*v.Before)
	olds, news := membersOf(before), membersOf(out.State)
	was, is := membersOf(facts(before)), membersOf(facts(out.State))
	for i := range was {
		if !bytes.Equal(was[i].value, is[i].value) {
			out.Changes = append(out.Changes, Change{was[i].name, olds[i].value, news[i].value})
		}
	}
	return out
}

// member is a field of an answer, as JSON.
type member struct {
	name  string
	value json.RawMessage
}

func membersOf(body any) (list []member) {
	if m, tabled := body.(interface{ members() []member }); tabled {
		return m.members()
	}
	v := reflect.ValueOf(body)
	for f := range v.Type().Fields() {
		list = append(list, member{f.Tag.Get("json"), literal(v.FieldByIndex(f.Index))})
	}
	return list
}

// literal returns a field as JSON.
func literal(v reflect.Value) json.RawMessage {
	raw, err := json.Marshal(v.Interface())
	if err != nil {
		return json.RawMessage("null") // unreachable: the value was read from JSON
	}
	return raw
}

package party

import (
	"encoding/json"
	"errors"
	"net/mail"
	"regexp"
	"slices"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/field"

	"github.com/google/uuid"
)

// Described is an object with a table of its fields.
type Described[T any] interface {
	// Table returns the fields in the order of answers.
	Table() []field.Descriptor[T]
	// Faults adds what is wrong with the values together, or missing.
	Faults(*exchange.FieldErrors)
}

// Patch is the body of POST, PUT and PATCH of an institution, and of what is registered of one.
type Patch[T Described[T]] struct{ others map[string]any }

// Others implements field.Body.
func (p *Patch[T]) Others() map[string]any {
	if p.others == nil {
		var o T
		p.others = field.Others[Patch[T]](o.Table())
	}
	return p.others
}

// Set sets a field to a value, whose JSON is what a body would have.
func (p *Patch[T]) Set(name string, value any) error {
	slot := p.Others()[name]
	if slot == nil {
		return exchange.FieldErrors{name: {"there is no such field"}}.Err()
	}
	raw, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(raw, slot)
	}
	if err != nil {
		return exchange.FieldErrors{name: {err.Error()}}.Err()
	}
	return nil
}

// PatchOf returns the body with some fields, as Set sets them.
func PatchOf[T Described[T]](values map[string]any) (p Patch[T], err error) {
	for name, value := range values {
		if err := p.Set(name, value); err != nil {
			return p, err
		}
	}
	return p, nil
}

// Patch applies p to o.
func (p Patch[T]) Patch(o T) (T, error) {
	var f exchange.FieldErrors
	field.Apply(&f, o.Table(), &p, &o)
	o.Faults(&f)
	return o, f.Err()
}

// Validate implements Body.
func (p Patch[T]) Validate(bool) exchange.FieldErrors {
	var o T
	_, err := p.Patch(o)
	return exchange.FieldsOf(err)
}

// maxNames is how many items a list of an object may have.
const maxNames = 100

// ListOf completes the descriptor of a list of short texts, each of which canonical returns in its form.
func ListOf[T any](d field.Descriptor[T], canonical func(string) (string, error),
	at func(*T) *[]string) field.Descriptor[T] {
	d.At = func(o *T) any { return at(o) }
	d.Set = func(f *exchange.FieldErrors, slot any, o *T) {
		f.Rule(d.Name, exchange.Rule{Max: maxNames,
			Each: &exchange.Rule{Max: exchange.LineLength, Pattern: exchange.LinePattern}})
		said, list := *slot.(*exchange.Null[exchange.Names]), []string{}
		if !said.Set {
			list = append(list, *at(o)...)
		} else if said.Value != nil {
			for _, text := range *said.Value {
				name := ""
				f.Line(d.Name, exchange.Some(text), exchange.LineLength, &name)
				if name == "" {
					continue
				}
				name, err := canonical(name)
				if err != nil {
					f.Add(d.Name, "%v", err)
				} else if !slices.Contains(list, name) {
					list = append(list, name)
				}
			}
		}
		if len(list) > maxNames {
			f.Add(d.Name, "must be at most %d", maxNames)
		}
		*at(o) = list
	}
	return d
}

func anyText(s string) (string, error) { return s, nil }

var domains = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$`)

func mailDomain(s string) (string, error) {
	if s = strings.ToLower(s); !domains.MatchString(s) {
		return "", errors.New("must be names of domains, such as example.edu")
	}
	return s, nil
}

var codes = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,39}$`)

// Code returns the code of an instrument's family, or of a category, in capital letters.
func Code(s string) (string, error) {
	if s = strings.ToUpper(s); !codes.MatchString(s) {
		return "", errors.New("must be codes of at most 40 letters, digits and _, such as UBMTA")
	}
	return s, nil
}

// mailbox checks an address that may be left out.
func mailbox(f *exchange.FieldErrors, name, address string) {
	f.MailAddress(name)
	if a, err := mail.ParseAddress(address); address != "" && (err != nil || a.Address != address) {
		f.Add(name, "must be an e-mail address, such as name@example.org")
	}
}

// ordered checks that a period does not end before it begins.
func (p Period) ordered(f *exchange.FieldErrors, until string) {
	if p.Until != "" && p.Until <= p.From {
		f.Add(until, "must be later than %s: it is the first day on which this no longer holds", p.From)
	}
}

// known checks a person: a user, or somebody with a name and a mail address.
func (p Person) known(f *exchange.FieldErrors, user string) {
	mailbox(f, "mail", p.Mail)
	if p.User != uuid.Nil || len((*f)["mail"]) > 0 {
		return
	}
	if p.Name == "" {
		f.Add("name", "is required, unless %s has the id of a user", user)
	}
	if p.Mail == "" {
		f.Add("mail", "is required, unless %s has the id of a user", user)
	}
}

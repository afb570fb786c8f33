package exchange

import "slices"

// Rule is what a field of a body may hold, besides its type. The rule of a list is about the list, its Each about the
// items.
type Rule struct {
	Min, Max int      // characters of a text or items of a list; 0: any number
	From, To int      // bounds of a number; both 0: none
	Words    []string // the only accepted values
	Name     string   // of Words
	Pattern  string   // that a text matches: in JSON Schema syntax, with capitals in \uXXXX
	Format   string   // of a text, if no pattern describes it
	Examples []string
	Each     *Rule
	Required bool // a body that creates an object must have it
}

// The patterns of texts: which characters they must not have, and of texts that must not be blank.
const (
	LinePattern        = `^[^` + inNoLine + `]*$`
	neededLinePattern  = `^[^` + inNoLine + `]*[^\s` + inNoLine + `][^` + inNoLine + `]*$`
	linesPattern       = `^[^` + inNoLines + `]*$`
	neededLinesPattern = `^[^` + inNoLines + `]*[^\s` + inNoLine + `][^` + inNoLines + `]*$`
	inNoLine           = `\x00-\x1f\x7f-\x9f\u2028-\u202E\u2066-\u2069`
	inNoLines          = `\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202A-\u202E\u2066-\u2069`

	mailPattern = `^([^@\s]+@[^@\s]+)?$`
)

// noted collects the rules of a body that NoteRules checks; else it is nil.
var noted map[string]Rule

// NoteRules returns the rules of the fields of a body by their JSON names; create: the body creates an object. It is
// for the initialization of packages, before anything else runs.
func NoteRules(body Body, create bool) map[string]Rule {
	noted = map[string]Rule{}
	defer func() { noted = nil }()
	body.Validate(create)
	return noted
}

// Rule records a rule of a field. Checks call it whether the field was sent or not, so that the API documents exactly
// the rules that are checked.
func (f *FieldErrors) Rule(field string, r Rule) {
	if noted != nil {
		r.Required = r.Required || noted[field].Required
		noted[field] = r
	}
}

// Amend changes the recorded rule of a field.
func (f *FieldErrors) Amend(field string, change func(*Rule)) {
	if noted != nil {
		r := noted[field]
		change(&r)
		noted[field] = r
	}
}

// Needed records that a text must not be blank.
func (f *FieldErrors) Needed(field string) {
	f.Amend(field, func(r *Rule) {
		if r.Words != nil {
			r.Words = slices.DeleteFunc(slices.Clone(r.Words), func(word string) bool { return word == "" })
			return
		}
		r.Min = max(r.Min, 1)
		switch r.Pattern {
		case LinePattern:
			r.Pattern = neededLinePattern
		case linesPattern:
			r.Pattern = neededLinesPattern
		}
	})
}

// MailAddress records that a text is a mail address, or empty.
func (f *FieldErrors) MailAddress(field string) {
	f.Amend(field, func(r *Rule) { r.Pattern, r.Examples = mailPattern, []string{"name@example.org"} })
}

// Strings converts values of a string type to strings.
func Strings[T ~string](values []T) []string {
	list := make([]string, len(values))
	for i, value := range values {
		list[i] = string(value)
	}
	return list
}

// Must requires a field, and reports that it is missing unless it is there.
func (f *FieldErrors) Must(field string, there bool, missing string) {
	f.Amend(field, func(r *Rule) { r.Required = true })
	if !there && len((*f)[field]) == 0 {
		f.Add(field, "%s", missing)
	}
}

// Body is what a client sends to create or change an object.
type Body interface {
	// Validate reports what is wrong with the values, independent of the object that they change. create: the body
	// creates an object.
	Validate(create bool) FieldErrors
}

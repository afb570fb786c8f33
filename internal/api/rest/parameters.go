package rest

import (
	"cmp"
	"net/http"
	"reflect"
	"strconv"

	"aliquot/internal/api/jsonschema"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/fulltext"
)

// Parameter is a query parameter of a route: what a call may have and what the document describes are one list.
type Parameter struct {
	Name, Help string
	Schema     func(jsonschema.Set) jsonschema.Object
	Required   bool
	Shared     bool // the document has it once, for all routes
}

// Parameters returns the query parameters of a route.
func (r Route) Parameters() (list []Parameter) {
	if r.Methods[0] == http.MethodGet {
		list = Tagged(r.In)
	}
	if r.asked != nil {
		list = append(list, Tagged(r.asked)...)
	}
	if r.search != nil {
		list = append(list, r.search.parameters()...)
	}
	if r.Out.Kind() != reflect.Slice {
		return list
	}
	for _, f := range r.filters() {
		list = append(list, Parameter{Name: f.name, Help: onlyItems(f.name), Schema: always(f.schema)})
	}
	var orders []string
	for _, f := range r.Fields {
		orders = append(orders, f.Name, "-"+f.Name)
	}
	list = append(list, Parameter{Name: "ordering", Schema: always(jsonschema.Enum(orders...)),
		Help: "The field to sort by, ascending; with - before it, descending. Default: newest first."})
	return append(list, Tagged(reflect.TypeFor[jsonschema.ListPage]())...)
}

// parameters returns the text, the facets to filter by and, except for a feed, the page.
func (s Searched) parameters() []Parameter {
	list := []Parameter{{Name: "search", Help: "Words, \"exact phrases\", -excluded words, and identifiers. Any text " +
		"is a search; its first " + strconv.Itoa(fulltext.MaxWords) + " words count. Words and " +
		"values of filters are at most " + strconv.Itoa(exchange.MaxSearched) + " together.",
		Schema: always(jsonschema.Object{"type": "string", "maxLength": exchange.MaxSearchText})}}
	for _, f := range s.Facets {
		list = append(list, Parameter{Name: f.Name,
			Help: "Only what has this in the facet " + f.Label + ", or one of several.",
			Schema: func(d jsonschema.Set) jsonschema.Object {
				return jsonschema.Object{"type": "array", "items": d.Facet(f), "maxItems": exchange.MaxSearched}
			}})
	}
	if s.Feed {
		return list
	}
	list = append(list, Parameter{Name: "ordering", Schema: always(jsonschema.Enum(s.orders()...)),
		Help: "By relevance, which is the default, or by a field. Archived materials always come last."})
	return append(list, Tagged(reflect.TypeFor[jsonschema.SearchPage]())...)
}

// Tagged returns the parameters that the tags of a struct name.
func Tagged(t reflect.Type) (list []Parameter) {
	for f := range t.Fields() {
		name, of := f.Tag.Get("query"), f.Type
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		list = append(list, Parameter{Name: name,
			Help: cmp.Or(f.Tag.Get("help"), jsonschema.ParameterMeanings[t.Name()+"."+name], onlyItems(name)),
			Schema: func(d jsonschema.Set) jsonschema.Object {
				return jsonschema.Limited(d.ParameterSchema(name,
					of), f)
			},
			Required: f.Tag.Get("required") != "", Shared: f.Tag.Get("shared") != ""})
	}
	return list
}

func onlyItems(name string) string { return "Only items whose `" + name + "` is this." }

func always(schema jsonschema.Object) func(jsonschema.Set) jsonschema.Object {
	return func(jsonschema.Set) jsonschema.Object { return schema }
}

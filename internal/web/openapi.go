package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// contract is the part of an OpenAPI document that the documentation shows.
type contract struct {
	Info       struct{ Title, Description string }
	Tags       []struct{ Name string }
	Paths      map[string]map[string]*operation
	Webhooks   map[string]map[string]*operation
	Components struct {
		Schemas         map[string]*schema
		Parameters      map[string]*parameter
		Headers         map[string]struct{ Description string }
		Responses       map[string]apiResponse
		SecuritySchemes map[string]struct{ Name, Description string }
	}
}

type operation struct {
	OperationID, Summary, Description string
	Tags                              []string
	Parameters                        []parameter
	RequestBody                       struct{ Content map[string]media }
	Responses                         map[string]apiResponse
	Security                          []map[string][]string
}

type parameter struct {
	Ref                   string `json:"$ref"`
	Name, In, Description string
	Required              bool
	Schema                *schema
}

type apiResponse struct {
	Ref         string `json:"$ref"`
	Description string
	Headers     map[string]any
	Content     map[string]media
}

type media struct{ Schema *schema }

type schema struct {
	Ref                          string          `json:"$ref"`
	Kind                         json.RawMessage `json:"type"` // a string or several
	Format, Description, Pattern string
	Enum                         []string
	Items                        *schema
	AnyOf, AllOf                 []*schema
	Properties                   map[string]*schema
	Required                     []string
	Minimum, Maximum             *int
	Default                      any
	Examples                     []any
}

// word is a piece of text: the name of an object that is shown elsewhere, code, or plain.
type word struct {
	Text, Schema string
	Code         bool
}

// words describes the values of a schema.
func (s *schema) words() []word {
	if s == nil {
		return []word{{Text: "any bytes"}}
	}
	switch {
	case s.Ref != "":
		return []word{{Schema: last(s.Ref)}}
	case len(s.AllOf) == 1:
		return s.AllOf[0].words()
	case len(s.AnyOf) > 0:
		var list []word
		for i, one := range s.AnyOf {
			if i > 0 {
				list = append(list, word{Text: " or "})
			}
			list = append(list, one.words()...)
		}
		return list
	case len(s.Enum) > 0:
		var list []word
		for i, value := range s.Enum {
			if i > 0 {
				list = append(list, word{Text: ", "})
			}
			list = append(list, word{Text: value, Code: true})
		}
		return list
	}
	var kinds []string
	if json.Unmarshal(s.Kind, &kinds) != nil {
		kinds = []string{strings.Trim(string(s.Kind), `"`)}
	}
	if slices.Equal(kinds, []string{"array", "boolean", "null", "number", "object", "string"}) {
		return []word{{Text: "any JSON"}}
	}
	var list []word
	for i, kind := range kinds {
		if i > 0 {
			list = append(list, word{Text: " or "})
		}
		text := kind
		switch {
		case kind == "array" && s.Items != nil:
			list = append(append(list, word{Text: "array of "}), s.Items.words()...)
			continue
		case kind == "string" && s.Format != "":
			text = s.Format
		case kind == "string" && len(s.Pattern) > 0:
			text = "string " + s.Pattern
		case s.Minimum != nil && s.Maximum != nil:
			text += fmt.Sprintf(" from %d to %d", *s.Minimum, *s.Maximum)
		case s.Minimum != nil:
			text += fmt.Sprintf(" from %d", *s.Minimum)
		}
		if s.Default != nil {
			text += fmt.Sprintf(", else %v", s.Default)
		}
		list = append(list, word{Text: text})
	}
	return list
}

// last returns the last segment of a reference, the name that it refers to.
func last(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// field is a row of a table: a parameter, or a member of an object.
type field struct {
	Name, Description string
	Required          bool
	Words             []word
}

func (s *schema) fields() []field {
	var list []field
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		text := p.Description
		if len(p.Examples) > 0 && text == "" {
			text = fmt.Sprintf("Such as `%v`.", p.Examples[0])
		}
		list = append(list, field{name, text, slices.Contains(s.Required, name), p.words()})
	}
	return list
}

// call is one operation, with all methods that do the same.
type call struct {
	ID, Path, Summary, Description string
	Methods                        []string
	Parameters                     []field
	Body                           []content
	Answers                        []apiAnswer
	Errors                         []string
	Open, Sent                     bool // it needs no token; we send it
}

type content struct {
	Media string
	Words []word
}

type apiAnswer struct {
	Status, Description string
	Words               []word
	Headers             []string
}

// group is the calls under one heading.
type group struct {
	ID, Title string
	Calls     []call
}

// everywhere are the headers of all answers, which are not repeated for each.
var everywhere = []string{"X-Request-Id", "RateLimit", "RateLimit-Policy"}

// Groups returns all calls in the order of the document's headings.
func (c *contract) Groups() []group {
	var list []group
	for _, tag := range c.Tags {
		g := group{ID: "tag-" + tag.Name,
			Title: strings.ToUpper(tag.Name[:1]) + strings.ReplaceAll(tag.Name[1:], "-", " ")}
		for _, name := range slices.Sorted(maps.Keys(c.Webhooks)) {
			if op := c.Webhooks[name]["post"]; op.Tags[0] == tag.Name {
				sent := c.call(name, "post", op)
				sent.Sent = true
				g.Calls = append(g.Calls, sent)
			}
		}
		for _, path := range slices.Sorted(maps.Keys(c.Paths)) {
			for _, method := range []string{"get", "post", "put", "patch", "delete"} {
				op := c.Paths[path][method]
				if op == nil || op.Tags[0] != tag.Name {
					continue
				}
				if twin := c.Paths[path]["patch"]; method == "put" && twin != nil {
					continue // it does the same, and is shown with it
				}
				g.Calls = append(g.Calls, c.call(path, method, op))
			}
		}
		list = append(list, g)
	}
	return list
}

func (c *contract) call(path, method string, op *operation) call {
	out := call{ID: op.OperationID, Path: path, Summary: op.Summary, Description: op.Description,
		Methods: []string{strings.ToUpper(method)}}
	if method == "patch" && c.Paths[path]["put"] != nil {
		out.Methods = []string{"PUT", "PATCH"}
	}
	for _, p := range op.Parameters {
		if p.Ref != "" {
			p = *c.Components.Parameters[last(p.Ref)]
		}
		where := map[string]string{"path": "In the path.", "header": "A header."}[p.In]
		out.Parameters = append(out.Parameters,
			field{p.Name, strings.TrimSpace(where + " " + p.Description), p.Required, p.Schema.words()})
	}
	for _, kind := range slices.Sorted(maps.Keys(op.RequestBody.Content)) {
		body := content{kind, op.RequestBody.Content[kind].Schema.words()}
		if len(op.RequestBody.Content) == 1 {
			body.Media = ""
		}
		out.Body = append(out.Body, body)
	}
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		r := op.Responses[status]
		if r.Ref != "" {
			out.Errors = append(out.Errors, status)
			continue
		}
		one := apiAnswer{Status: status, Description: r.Description}
		for _, m := range r.Content {
			one.Words = m.Schema.words()
		}
		for _, name := range slices.Sorted(maps.Keys(r.Headers)) {
			if !slices.Contains(everywhere, name) {
				one.Headers = append(one.Headers, name)
			}
		}
		out.Answers = append(out.Answers, one)
	}
	out.Open = slices.ContainsFunc(op.Security, func(s map[string][]string) bool { return len(s) == 0 })
	return out
}

// Failures returns the statuses of errors, each with its codes.
func (c *contract) Failures() []apiAnswer {
	found := map[string]apiAnswer{}
	for _, methods := range c.Paths {
		for _, op := range methods {
			for status, r := range op.Responses {
				if r.Ref != "" {
					found[status] = apiAnswer{Status: status,
						Description: c.Components.Responses[last(r.Ref)].Description}
				}
			}
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b apiAnswer) int {
		x, _ := strconv.Atoi(a.Status)
		y, _ := strconv.Atoi(b.Status)
		return cmp.Compare(x, y)
	})
}

// apiObject is an object of the contract.
type apiObject struct {
	Name, Description string
	Fields            []field
	Words             []word
}

// Schemas returns all objects by name.
func (c *contract) Schemas() []apiObject {
	var list []apiObject
	for _, name := range slices.Sorted(maps.Keys(c.Components.Schemas)) {
		s := c.Components.Schemas[name]
		list = append(list, apiObject{name, s.Description, s.fields(), s.words()})
	}
	return list
}

// prose returns a text as paragraphs, each of plain words and `code`.
func prose(text string) [][]word {
	var paragraphs [][]word
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		var words []word
		for i, part := range strings.Split(paragraph, "`") {
			if part != "" {
				words = append(words, word{Text: part, Code: i%2 == 1})
			}
		}
		if len(words) > 0 {
			paragraphs = append(paragraphs, words)
		}
	}
	return paragraphs
}

package web

import (
	"cmp"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"text/template/parse"
	"time"

	"aliquot/internal/app"
)

// Page is what every page has beside its own content. The server fills in the fields from Who on.
type Page struct {
	Title       string // begins with the most important fact, as "Request 4182, your turn"
	Description string // for search engines, on public pages
	// the section of the navigation: catalog, requests, lab, notifications, account, admin
	Section  string
	Narrow   bool        // one column of text
	Full     bool        // the full width of the window
	NoSearch bool        // no search in the bar: the page has its own
	Errors   FieldErrors // of the form on the page

	Who     *app.Visitor // nil: not signed in
	Theme   string       // light, dark or "": the device's
	Here    string       // the address of the page
	Note    *flash
	Now     time.Time
	Zone    *time.Location
	Version string
	keys    bool
	summary []fieldErrorLine
}

// anyPage is any page that embeds Page.
type anyPage interface{ base() *Page }

func (p *Page) base() *Page { return p }

// Keys reports whether keyboard shortcuts are on.
func (p *Page) Keys() bool { return p.keys }

// FieldErrors are the error texts of a form, by field.
type FieldErrors map[string][]string

// Of returns the errors of a field as one text, "" if it has none.
func (f FieldErrors) Of(field string) string { return strings.Join(f[field], " ") }

// fieldErrorLine is one field's line in the summary of errors.
type fieldErrorLine struct {
	Field, Text string
	Shown       bool // the field is on the page
	place       int
}

// Summary returns the errors of the form, in the order of the fields on the page.
func (p *Page) Summary() []fieldErrorLine { return p.summary }

// inOrder returns the errors in the order of the fields on the page; those of fields that are not on it come last.
func (f FieldErrors) inOrder(page string) []fieldErrorLine {
	var list []fieldErrorLine
	for _, field := range slices.Sorted(maps.Keys(f)) {
		at := strings.Index(page, `id="f-`+template.HTMLEscapeString(field)+`"`)
		l := fieldErrorLine{Field: field, Text: f.Of(field), Shown: at >= 0, place: at}
		if !l.Shown {
			l.place = len(page)
		}
		list = append(list, l)
	}
	slices.SortStableFunc(list, func(a, b fieldErrorLine) int { return cmp.Compare(a.place, b.place) })
	return list
}

// render writes a page. If htmx asks for a fragment that the page's template defines, render writes only that.
func (v *pageRequest) render(w io.Writer, a response) error {
	p := a.page.base()
	p.Theme, p.Here, p.Note, p.Version = v.theme(), v.URL.RequestURI(), v.recall(), v.version
	p.Now, p.Zone = v.app.DB.Read().Now, v.who.Zone
	p.keys = !v.has(keysOff)
	if a.private {
		p.Here = v.URL.Path
	}
	if v.signedIn() {
		p.Who = &v.who
	}
	t := v.templates[a.template]
	if t == nil {
		return fmt.Errorf("no template %s", a.template)
	}
	name := "layout"
	if _, id, is := strings.Cut(v.Header.Get("HX-Target"), "#"); is && v.Header.Get("HX-Request-Type") == "partial" &&
		t.Lookup("#"+id) != nil {
		name = "#" + id
	}
	if len(p.Errors) > 0 { // the summary is above the fields, whose order is known once they are rendered
		var page strings.Builder
		if err := t.ExecuteTemplate(&page, name, a.page); err != nil {
			return err
		}
		p.summary = p.Errors.inOrder(page.String())
	}
	return t.ExecuteTemplate(w, name, a.page)
}

// readTemplates parses each page with what it uses of the layout and the shared parts.
func readTemplates(names map[string]string) (map[string]*template.Template, error) {
	functions := template.FuncMap{
		"asset": func(name string) (string, error) {
			if names[name] == "" {
				return "", fmt.Errorf("no asset %s", name)
			}
			return names[name], nil
		},
		"icon":   func(name string) template.HTML { return icon(names["icons.svg"], name, "") },
		"icon_s": func(name string) template.HTML { return icon(names["icons.svg"], name, " s") },
		"icon_l": func(name string) template.HTML { return icon(names["icons.svg"], name, " l") },
		"logo":   func() template.HTML { return logo(names["icons.svg"]) },
		"prose":  prose,
		"dict":   dict,
		"count":  count,
		"badge":  badge,
		"bytes":  size,
		"days":   days,
		"took":   took[int64],
		"pace":   took[time.Duration],
		"add":    func(a, b int64) int64 { return a + b },
		"plural": plural,
		"noun":   noun,
		"lower":  strings.ToLower,
		"join":   strings.Join,
	}
	shared, err := readTrees("templates/layout.html", "templates/part/*.html")
	if err != nil {
		return nil, err
	}
	list, err := fs.Glob(files, "templates/page/*.html")
	if err != nil {
		return nil, err
	}
	pages := map[string]*template.Template{}
	for _, name := range list {
		trees, err := readTrees(name)
		if err != nil {
			return nil, err
		}
		t := template.New(name).Funcs(functions)
		for _, root := range append(slices.Sorted(maps.Keys(trees)), "layout") { // fragments are rendered alone
			if err := reach(t, root,
				func(name string) *parse.Tree { return cmp.Or(trees[name], shared[name]) }); err != nil {
				return nil, err
			}
		}
		pages[strings.TrimSuffix(path.Base(name), ".html")] = t
	}
	for _, name := range []string{"docs", "unsubscribe"} { // which do not use the layout
		if pages[name], err = template.New(name+".html").Funcs(functions).ParseFS(files, "templates/"+name+
			".html"); err != nil {
			return nil, err
		}
	}
	return pages, nil
}

// readTrees parses files into all the templates that they define.
func readTrees(patterns ...string) (map[string]*parse.Tree, error) {
	trees := map[string]*parse.Tree{}
	for _, pattern := range patterns {
		list, err := fs.Glob(files, pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range list {
			text, err := fs.ReadFile(files, name)
			if err != nil {
				return nil, err
			}
			t := parse.New(name)
			t.Mode = parse.SkipFuncCheck // html/template checks that
			if _, err := t.Parse(string(text), "", "", trees); err != nil {
				return nil, err
			}
		}
	}
	return trees, nil
}

// reach adds the template of that name to t, with all that it uses: with every template in every page, they take
// four times the memory.
func reach(t *template.Template, name string, defined func(name string) *parse.Tree) error {
	tree := defined(name)
	if tree == nil || t.Lookup(name) != nil {
		return nil
	}
	tree = tree.Copy()
	if _, err := t.AddParseTree(name, tree); err != nil {
		return err
	}
	var walk func(list *parse.ListNode) error
	walk = func(list *parse.ListNode) (err error) {
		if list == nil {
			return nil
		}
		for _, node := range list.Nodes {
			switch n := node.(type) {
			case *parse.TemplateNode:
				err = reach(t, n.Name, defined)
			case *parse.IfNode:
				err = errors.Join(walk(n.List), walk(n.ElseList))
			case *parse.RangeNode:
				err = errors.Join(walk(n.List), walk(n.ElseList))
			case *parse.WithNode:
				err = errors.Join(walk(n.List), walk(n.ElseList))
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return walk(tree.Root)
}

func icon(sprite, name, class string) template.HTML {
	return template.HTML(`<svg class="i` + class + `" aria-hidden="true"><use href="` + sprite + "#i-" + template.HTMLEscapeString(name) + `"/></svg>`) //nolint:gosec // escaped
}

func logo(sprite string) template.HTML {
	return template.HTML(`<svg role="img" aria-label="Aliquot home"><use href="` + sprite + `#logo"/></svg>`) //nolint:gosec // an address of ours
}

// dict returns a map of names and values, for a part that takes several arguments.
func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, fmt.Errorf("dict takes names and values in turn")
	}
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		name, is := pairs[i].(string)
		if !is {
			return nil, fmt.Errorf("dict: %v is no name", pairs[i])
		}
		m[name] = pairs[i+1]
	}
	return m, nil
}

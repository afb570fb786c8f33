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

// Page is what each page has beside its own content. The door fills in what every page has.
type Page struct {
	Title       string // begins with the fact, as "Request 4182, your turn"
	Description string // for search engines, of pages for everybody
	// the part of the navigation where it is: catalog, requests, lab, notifications, account, admin
	Section  string
	Narrow   bool        // one column of text
	Full     bool        // to the edges
	NoSearch bool        // no search in the bar: the page has one of its own
	Errors   FieldErrors // of the form on it

	Who     *app.Visitor // nil: nobody is signed in
	Theme   string       // light, dark or "": as the device
	Here    string       // the address of the page
	Note    *flash
	Now     time.Time
	Zone    *time.Location
	Version string
	keys    bool
	summary []fieldErrorLine
}

// anyPage is a page.
type anyPage interface{ base() *Page }

func (p *Page) base() *Page { return p }

// Keys reports whether there are keyboard shortcuts.
func (p *Page) Keys() bool { return p.keys }

// Faults are what is wrong with the fields of a form.
type FieldErrors map[string][]string

// Of is what is wrong with a field, "" for nothing.
func (f FieldErrors) Of(field string) string { return strings.Join(f[field], " ") }

// fieldErrorLine is what is wrong with one field.
type fieldErrorLine struct {
	Field, Text string
	Shown       bool // the field is on the page
	place       int
}

// Summary is what is wrong with the form, in the order in which the page has its fields.
func (p *Page) Summary() []fieldErrorLine { return p.summary }

// inOrder are faults in the order in which a page has their fields, and behind them those of fields that it has not.
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

// render writes a page, or where htmx asks for a part of it that the page's template has, that part alone.
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
	if len(p.Errors) > 0 { // the summary is above the fields, whose order is known when they are written
		var page strings.Builder
		if err := t.ExecuteTemplate(&page, name, a.page); err != nil {
			return err
		}
		p.summary = p.Errors.inOrder(page.String())
	}
	return t.ExecuteTemplate(w, name, a.page)
}

// readTemplates parses each page with what it uses of the layout and the parts that all share.
func readTemplates(names map[string]string) (map[string]*template.Template, error) {
	functions := template.FuncMap{
		"asset": func(name string) (string, error) {
			if names[name] == "" {
				return "", fmt.Errorf("no asset %s", name)
			}
			return names[name], nil
		},
		"icon":     func(name string) template.HTML { return icon(names["icons.svg"], name, "") },
		"icon_s":   func(name string) template.HTML { return icon(names["icons.svg"], name, " s") },
		"icon_l":   func(name string) template.HTML { return icon(names["icons.svg"], name, " l") },
		"logo":     func() template.HTML { return logo(names["icons.svg"]) },
		"prose":    prose,
		"dict":     dict,
		"count":    count,
		"badge":    badge,
		"bytes":    size,
		"days":     days,
		"took":     took[int64],
		"pace":     took[time.Duration],
		"shipping": shippingFormOf,
		"add":      func(a, b int64) int64 { return a + b },
		"plural":   plural,
		"noun":     noun,
		"lower":    strings.ToLower,
		"join":     strings.Join,
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
		for _, root := range append(slices.Sorted(maps.Keys(trees)), "layout") { // parts of it are asked for alone
			if err := reach(t, root,
				func(name string) *parse.Tree { return cmp.Or(trees[name], shared[name]) }); err != nil {
				return nil, err
			}
		}
		pages[strings.TrimSuffix(path.Base(name), ".html")] = t
	}
	for _, name := range []string{"docs", "unsubscribe"} { // which stand alone
		if pages[name], err = template.New(name+".html").Funcs(functions).ParseFS(files, "templates/"+name+
			".html"); err != nil {
			return nil, err
		}
	}
	return pages, nil
}

// readTrees parses files into all that they define.
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

// reach adds to t what is defined by a name and all that it uses: with everything in every page, templates take
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

// dict makes a map of names and values, for a part that takes several.
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

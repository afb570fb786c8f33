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

	"aliquot/internal/web/ui"
)

// render writes a page. If htmx asks for a fragment that the page's template defines, render writes only that.
func (v *pageRequest) render(w io.Writer, a ui.Response) error {
	p := a.Page.Frame()
	p.Theme, p.Here, p.Note, p.Version = v.Theme(), v.URL.RequestURI(), v.recall(), v.version
	p.Now, p.Zone = v.app.DB.Read().Now, v.Who.Zone
	p.Keys = !v.HasCookie(ui.KeysOffCookie)
	if a.Private {
		p.Here = v.URL.Path
	}
	if v.SignedIn() {
		p.Who = &v.Who
	}
	t := v.templates[a.Template]
	if t == nil {
		return fmt.Errorf("no template %s", a.Template)
	}
	name := "layout"
	if _, id, is := strings.Cut(v.Header.Get("HX-Target"), "#"); is && v.Header.Get("HX-Request-Type") == "partial" &&
		t.Lookup("#"+id) != nil {
		name = "#" + id
	}
	if len(p.Errors) > 0 { // the summary is above the fields, whose order is known once they are rendered
		var page strings.Builder
		if err := t.ExecuteTemplate(&page, name, a.Page); err != nil {
			return err
		}
		p.Summary = p.Errors.InOrder(page.String())
	}
	return t.ExecuteTemplate(w, name, a.Page)
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
		"count":  ui.Count,
		"badge":  ui.Badge,
		"bytes":  ui.Bytes,
		"days":   ui.Days,
		"took":   ui.Took[int64],
		"pace":   ui.Took[time.Duration],
		"add":    func(a, b int64) int64 { return a + b },
		"plural": ui.Plural,
		"noun":   ui.Noun,
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

package web

import (
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"path"
	"strings"
	"text/template/parse"
	"time"

	"aliquot/internal/agreement/party"
	"aliquot/internal/web/ui"
)

// render writes a page. If htmx asks for a fragment that the page's template defines, render writes only that.
func (v *pageRequest) render(w io.Writer, a ui.Response) error {
	p := a.Page.Frame()
	p.Theme, p.Here, p.Note, p.Version = v.Theme(), v.URL.RequestURI(), v.recall(), v.version
	p.Now, p.Zone = v.app.DB.Read().Now, v.Who.Zone
	p.Keys, p.FileTypes = !v.HasCookie(ui.KeysOffCookie), v.app.DocumentTypes
	if a.Private {
		p.Here = v.URL.Path
	}
	if v.SignedIn() {
		p.Who = &v.Who
	}
	name := a.Template + " layout"
	if _, id, is := strings.Cut(v.Header.Get("HX-Target"), "#"); is && v.Header.Get("HX-Request-Type") == "partial" &&
		v.templates.Lookup(a.Template+" #"+id) != nil {
		name = a.Template + " #" + id
	}
	if len(p.Errors) > 0 { // the summary is above the fields, whose order is known once they are rendered
		var page strings.Builder
		if err := v.templates.ExecuteTemplate(&page, name, a.Page); err != nil {
			return err
		}
		p.Summary = p.Errors.InOrder(page.String())
	}
	return v.templates.ExecuteTemplate(w, name, a.Page)
}

// readTemplates parses all templates into one set. What a page defines has the name of the page and a space before its
// name, and each page has its own "layout", which calls its "head" and "main".
func readTemplates(names map[string]string) (*template.Template, error) {
	functions := template.FuncMap{
		"asset": func(name string) (string, error) {
			if names[name] == "" {
				return "", fmt.Errorf("no asset %s", name)
			}
			return names[name], nil
		},
		"icon":    func(name string) template.HTML { return icon(names["icons.svg"], name, "") },
		"icon_s":  func(name string) template.HTML { return icon(names["icons.svg"], name, " s") },
		"icon_l":  func(name string) template.HTML { return icon(names["icons.svg"], name, " l") },
		"logo":    func() template.HTML { return logo(names["icons.svg"]) },
		"prose":   prose,
		"dict":    dict,
		"count":   ui.Count,
		"badge":   ui.Badge,
		"bytes":   ui.Bytes,
		"days":    ui.Days,
		"took":    ui.Took[int64],
		"pace":    ui.Took[time.Duration],
		"add":     func(a, b int64) int64 { return a + b },
		"plural":  ui.Plural,
		"noun":    ui.Noun,
		"lower":   strings.ToLower,
		"join":    strings.Join,
		"capital": ui.Capital,
		"label":   func(code any) string { return party.Label(fmt.Sprint(code)) },
	}
	all := template.New("").Funcs(functions)
	shared, err := readTrees("templates/*.html", "templates/part/*.html")
	if err != nil {
		return nil, err
	}
	for name, tree := range shared {
		if _, err := all.AddParseTree(name, tree); err != nil {
			return nil, err
		}
	}
	list, err := fs.Glob(files, "templates/page/*.html")
	if err != nil {
		return nil, err
	}
	for _, file := range list {
		own, err := readTrees(file)
		if err != nil {
			return nil, err
		}
		own["layout"] = shared["layout"].Copy()
		page := strings.TrimSuffix(path.Base(file), ".html") + " "
		for name, tree := range own {
			callOwn(tree.Root, own, page)
			if _, err := all.AddParseTree(page+name, tree); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
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

// callOwn makes the templates in a list call those that their page defines by the names that they have in the set.
func callOwn(list *parse.ListNode, own map[string]*parse.Tree, page string) {
	if list == nil {
		return
	}
	for _, node := range list.Nodes {
		switch n := node.(type) {
		case *parse.TemplateNode:
			if own[n.Name] != nil {
				n.Name = page + n.Name
			}
		case *parse.IfNode:
			callOwn(n.List, own, page)
			callOwn(n.ElseList, own, page)
		case *parse.RangeNode:
			callOwn(n.List, own, page)
			callOwn(n.ElseList, own, page)
		case *parse.WithNode:
			callOwn(n.List, own, page)
			callOwn(n.ElseList, own, page)
		}
	}
}

func icon(sprite, name, class string) template.HTML {
	//nolint:gosec // escaped
	return template.HTML(`<svg class="i` + class + `" aria-hidden="true"><use href="` + sprite + "#i-" +
		template.HTMLEscapeString(name) + `"/></svg>`)
}

func logo(sprite string) template.HTML {
	//nolint:gosec // an address of ours
	return template.HTML(`<svg role="img" aria-label="Aliquot home"><use href="` + sprite + `#logo"/></svg>`)
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

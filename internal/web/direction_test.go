package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"aliquot/internal/store/storetest"

	"golang.org/x/net/html"
)

// hebrew is a name that is written from right to left.
const hebrew = "מעבדת"

// TestPages_PeoplesWordsHaveADirectionOfTheirOwn gives labs, people, materials and files names that are written from
// right to left: wherever a page shows one, its element finds the direction by itself.
func TestPages_PeoplesWordsHaveADirectionOfTheirOwn(t *testing.T) {
	t.Parallel()
	w := alone(t)
	at := func(format string, id int64) string { return fmt.Sprintf(format, id) }
	material, request := w.material("HeLa"), w.requestFor("HeLa").ID
	pages := []string{"/", "/catalog", "/catalog?show=labs", "/requests", "/requests/shipping", "/labs", "/notifications",
		"/share", "/account", "/account/addresses", at("/catalog/%d", material.ID), at("/catalog/%d/request", material.ID),
		at("/catalog/%d/edit", material.ID), at("/requests/%d", request), at("/requests/%d", w.requestFor("MCF-7").ID),
		at("/labs/%d", material.OrganizationID), at("/labs/%d/people", material.OrganizationID),
		at("/labs/%d/insights", material.OrganizationID)}
	pool := storetest.SQL(t, w.db)
	for _, column := range []string{"organizations name", "organizations description", "users first_name",
		"materials title", "attachments filename", "material_requests note", "material_requests quantity"} {
		table, name, _ := strings.Cut(column, " ")
		_, err := pool.ExecContext(w.Context(), "UPDATE "+table+" SET "+name+" = $1 || "+name+" WHERE "+name+" <> ''", hebrew)
		w.must(err)
	}
	for _, who := range []string{"olivia", "josiah"} {
		v := w.as(who)
		for _, path := range pages {
			a := v.get(path)
			if a.status == http.StatusForbidden || a.status == http.StatusNotFound {
				continue
			}
			a.want(http.StatusOK)
			for _, text := range undirected(a.doc.Nodes[0], false) {
				t.Errorf("%s, %s: %.90q has no direction of its own", who, path, text)
			}
		}
	}
}

// undirected returns what is written from right to left below a node, unless an element around it has dir="auto" or is
// a bdi; directed reports whether one has. The titles of documents, the options of
// lists and the texts of drawings are single words or have no element within.
func undirected(n *html.Node, directed bool) (found []string) {
	switch {
	case n.Type == html.TextNode && !directed && strings.Contains(n.Data, hebrew):
		return []string{strings.TrimSpace(n.Data) + " in " + n.Parent.Data + " of " + n.Parent.Parent.Data}
	case n.Type == html.ElementNode:
		switch n.Data {
		case "title", "option", "script", "desc", "text":
			return nil
		case "bdi":
			directed = true
		}
		for _, attr := range n.Attr {
			directed = directed || attr.Key == "dir" && attr.Val == "auto"
			if attr.Key == "value" && n.Data == "input" && strings.Contains(attr.Val, hebrew) && !directed &&
				attrOf(n, "type") != "hidden" {
				found = append(found, "the field "+attrOf(n, "name"))
			}
		}
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		found = append(found, undirected(child, directed)...)
	}
	return found
}

func attrOf(n *html.Node, name string) string {
	for _, attr := range n.Attr {
		if attr.Key == name {
			return attr.Val
		}
	}
	return ""
}

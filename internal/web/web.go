// Package web is the door for people: pages of HTML, complete when they arrive, without script
// and without anything of another host.
package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"aliquot/internal/app"
)

//go:embed templates assets
var files embed.FS

// policy allows a page what it needs and nothing else: no script, no frame, no other host.
const policy = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// Mount puts the pages on a mux: /docs, which shows an OpenAPI document, /unsubscribe and /assets/.
func Mount(mux *http.ServeMux, a *app.App, openAPI []byte) error {
	assets, names, err := readAssets()
	if err != nil {
		return err
	}
	var shown contract
	if err := json.Unmarshal(openAPI, &shown); err != nil {
		return err
	}
	pages, err := template.New("pages").Funcs(template.FuncMap{
		"asset": func(name string) (string, error) {
			if names[name] == "" {
				return "", fmt.Errorf("no asset %s", name)
			}
			return names[name], nil
		},
		"prose": prose,
	}).ParseFS(files, "templates/*.html")
	if err != nil {
		return err
	}
	var docs bytes.Buffer
	if err := pages.ExecuteTemplate(&docs, "docs.html", &shown); err != nil {
		return err
	}
	show := only(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("Cache-Control", "no-cache")
		send(w, r, docs.Bytes())
	})
	unsubscribe := subscriptions{app: a, page: pages.Lookup("unsubscribe.html"), log: a.Log}
	mux.Handle("/unsubscribe", unsubscribe)
	mux.Handle("/unsubscribe/{$}", unsubscribe)
	mux.Handle("/docs", show)
	mux.Handle("/docs/{$}", show)
	mux.Handle("/assets/", only(func(w http.ResponseWriter, r *http.Request) {
		content, ok := assets[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		kind := map[string]string{".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}[path.Ext(r.URL.Path)]
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		send(w, r, content)
	}))
	return nil
}

// only answers GET and HEAD.
func only(serve http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "This page is only for reading.", http.StatusMethodNotAllowed)
			return
		}
		serve(w, r)
	})
}

// send answers with content, or 304 where the caller has it.
func send(w http.ResponseWriter, r *http.Request, content []byte) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("ETag", `"`+sum(content)+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

func sum(content []byte) string {
	hash := sha256.Sum256(content)
	return hex.EncodeToString(hash[:8])
}

// readAssets gives the content of each asset by its address, and the address of each by its
// name. The address tells the content, so that a browser may keep it forever.
func readAssets() (contents map[string][]byte, addresses map[string]string, err error) {
	contents, addresses = map[string][]byte{}, map[string]string{}
	list, err := fs.ReadDir(files, "assets")
	for _, entry := range list {
		content, err := files.ReadFile("assets/" + entry.Name())
		if err != nil {
			return nil, nil, err
		}
		ending := path.Ext(entry.Name())
		address := "/assets/" + strings.TrimSuffix(entry.Name(), ending) + "." + sum(content) + ending
		contents[address], addresses[entry.Name()] = content, address
	}
	return contents, addresses, err
}

// prose is a text as paragraphs, each of plain words and `code`.
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

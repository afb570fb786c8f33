package web

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"aliquot/internal/web/ui"
)

//go:embed templates assets
var files embed.FS

// bundles are the assets made of all files of a folder, in the order of their names.
var bundles = map[string]string{"app.css": "assets/css/*.css", "app.js": "assets/js/*.js"}

// asset is one file as it is sent.
type asset struct{ plain, zipped []byte }

type assets map[string]asset // by address

var kinds = map[string]string{".css": "text/css; charset=utf-8", ".svg": "image/svg+xml",
	".js": "text/javascript; charset=utf-8"}

// ServeHTTP sends an asset. Its address contains a hash of its content, so browsers may keep it forever.
func (a assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	only(func(w http.ResponseWriter, r *http.Request) {
		found, ok := a[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		content := found.plain
		w.Header().Set("Content-Type", kinds[path.Ext(r.URL.Path)])
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		w.Header().Set("Vary", "Accept-Encoding")
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			w.Header().Set("Content-Encoding", "gzip")
			content = found.zipped
		}
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("ETag", ui.ETag(content))
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}).ServeHTTP(w, r)
}

// readAssets returns all assets, and the address of each by its name.
func readAssets() (assets, map[string]string, error) {
	contents := map[string][]byte{}
	list, err := fs.Glob(files, "assets/*.*")
	if err != nil {
		return nil, nil, err
	}
	for _, name := range list {
		if contents[path.Base(name)], err = files.ReadFile(name); err != nil {
			return nil, nil, err
		}
	}
	for name, pattern := range bundles {
		parts, err := fs.Glob(files, pattern)
		if err != nil {
			return nil, nil, err
		}
		var all []byte
		for _, part := range parts {
			content, err := files.ReadFile(part)
			if err != nil {
				return nil, nil, err
			}
			all = append(append(all, content...), '\n')
		}
		contents[name] = all
	}
	found, addresses := assets{}, map[string]string{}
	for name, content := range contents {
		var zipped bytes.Buffer
		z, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
		if err != nil {
			return nil, nil, err
		}
		if _, err := z.Write(content); err != nil {
			return nil, nil, err
		}
		if err := z.Close(); err != nil {
			return nil, nil, err
		}
		ending := path.Ext(name)
		address := "/assets/" + strings.TrimSuffix(name, ending) + "." + ui.ContentHash(content) + ending
		found[address], addresses[name] = asset{content, zipped.Bytes()}, address
	}
	return found, addresses, nil
}

// only allows GET and HEAD.
func only(serve http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "This page is read-only.", http.StatusMethodNotAllowed)
			return
		}
		serve(w, r)
	})
}

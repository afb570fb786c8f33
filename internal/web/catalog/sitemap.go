package catalog

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"time"

	"aliquot/internal/web/ui"
)

// robots lists for crawlers what to read: the pages of materials and labs, but neither searches, of which there are
// endlessly many, nor what only signed-in people see.
func (v *pageRequest) robots() (ui.Response, error) {
	text := "User-agent: *\nAllow: /\nDisallow: /catalog?\nDisallow: /catalog/suggest\nDisallow: /catalog/*/request\n" +
		"Disallow: /catalog/*/inquiry\nDisallow: /inquiry\n" +
		"Disallow: /account\nDisallow: /admin\nDisallow: /basket\nDisallow: /drafts\nDisallow: /notifications\n" +
		"Disallow: /requests\nDisallow: /share\n" +
		"Disallow: /signin\nDisallow: /v1/\n\nSitemap: " + v.App.PublicURL + "/sitemap.xml\n"
	return public("text/plain; charset=utf-8", []byte(text)), nil
}

// The elements of sitemaps.org.
type (
	sitemapIndex struct {
		XMLName  xml.Name       `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 sitemapindex"`
		Sitemaps []sitemapEntry `xml:"sitemap"`
	}
	urlSet struct {
		XMLName xml.Name       `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 urlset"`
		URLs    []sitemapEntry `xml:"url"`
	}
	sitemapEntry struct {
		Location string `xml:"loc"`
		Modified string `xml:"lastmod,omitempty"` // W3C date and time
	}
)

// sitemaps is the index of the sitemaps.
func (v *pageRequest) sitemaps() (ui.Response, error) {
	parts, err := v.App.Materials.Parts(v.Context())
	if err != nil {
		return ui.Response{}, err
	}
	index := sitemapIndex{}
	for n := range parts {
		index.Sitemaps = append(index.Sitemaps,
			sitemapEntry{Location: fmt.Sprintf("%s/sitemap/%d", v.App.PublicURL, n+1)})
	}
	return publicXML(index)
}

// sitemap lists the pages of a part of the materials that are offered to everybody. The first also lists the
// pages that introduce the site.
func (v *pageRequest) sitemap(part int64) (ui.Response, error) {
	offered, err := v.App.Materials.Part(v.Context(), part)
	if err != nil {
		return ui.Response{}, err
	}
	set := urlSet{}
	if part == 1 {
		for _, page := range []string{"/", "/labs", "/help"} {
			set.URLs = append(set.URLs, sitemapEntry{Location: v.App.PublicURL + page})
		}
	}
	for _, m := range offered {
		set.URLs = append(set.URLs,
			sitemapEntry{v.App.PublicURL + materialAt(m.ID), m.UpdatedAt.UTC().Format(time.RFC3339)})
	}
	return publicXML(set)
}

func publicXML(v any) (ui.Response, error) {
	body, err := xml.Marshal(v)
	return public("application/xml", append([]byte(xml.Header), body...)), err
}

// public returns a response that is the same for everybody and may be an hour old.
func public(mediaType string, body []byte) ui.Response {
	return ui.Response{Serve: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		w.Header().Set("Cache-Control", "public, max-age=3600")
		w.Header().Del("Vary")
		_, _ = w.Write(body)
	}}
}

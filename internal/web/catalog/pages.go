package catalog

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/web/ui"
)

// sizes are the numbers of hits that a page may have; the first is the usual one.
var sizes = []int{20, 50, 100}

// page reads which part of the hits is asked for: by its number, as far as an offset may skip hits, or by the position
// where the page before ended.
func (a *searchParams) page(f *exchange.FieldErrors) {
	a.search.Page = exchange.SearchPage{Limit: sizes[0], After: placeOf(a.values.Get("after"))}
	if text := a.values.Get("size"); text != "" {
		size, _ := strconv.Atoi(text) // 0 is none of the sizes
		if a.search.Page.Limit = size; !slices.Contains(sizes, size) {
			a.search.Page.Limit = sizes[0]
			f.Add("size", "must be one of %v", sizes)
		}
	}
	if text := a.values.Get("page"); text != "" && a.search.Page.After == nil {
		n, err := strconv.Atoi(text)
		if last := exchange.MaxOffset / a.search.Page.Limit; err != nil || n < 1 || n > last {
			f.Add("page", "must be a number from 1 to %d", last)
			return
		}
		a.search.Page.Offset = (n - 1) * a.search.Page.Limit
	}
}

// place encodes the start of a page of hits for its address; placeOf decodes it, nil for the first page.
func place(p exchange.SearchPosition) string {
	text, _ := json.Marshal(p) // a number and a text always marshal
	return base64.RawURLEncoding.EncodeToString(text)
}

func placeOf(text string) *exchange.SearchPosition {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	var p exchange.SearchPosition
	if err != nil || json.Unmarshal(raw, &p) != nil || p.Offset < 1 {
		return nil
	}
	return &p
}

// pageLink is the link to a page by its number; 0 stands for pages that are left out.
type pageLink struct {
	Number  int
	Address string
	Here    bool
}

// around is how many pages before and after the present one have a link.
const around = 2

// pagesOf returns the links to the first page, to those around the present one and, if all hits were counted, to the
// last. Pages that an offset cannot reach have none.
func (a searchParams) pagesOf(before int, found exchange.Count) (links []pageLink) {
	size := a.search.Page.Limit
	here := before/size + 1
	last := min((int(found.N)+size-1)/size, exchange.MaxOffset/size)
	previous := 0
	for n := 1; n <= last; n++ {
		if n != 1 && (n != last || found.AtLeast) && (n < here-around || n > here+around) {
			continue
		}
		if n > previous+1 {
			links = append(links, pageLink{})
		}
		number := strconv.Itoa(n)
		if n == 1 {
			number = ""
		}
		links, previous = append(links, pageLink{n, a.address("page", number), n == here}), n
	}
	if previous < last {
		links = append(links, pageLink{})
	}
	return links
}

// counted sets how many hits there are, which of them the page shows, and the links to the others.
func counted[T any](p *catalogPage, a searchParams, found exchange.SearchResult[T], what string) {
	p.Found = found.Count.N
	p.Count = ui.Plural(found.Count, what)
	if strings.HasSuffix(what, "person") && found.Count.N != 1 {
		p.Count = ui.Count(found.Count) + " people"
	}
	before := a.search.Page.Offset
	if after := a.search.Page.After; after != nil {
		before = after.Offset
	}
	if before > 0 {
		p.First = a.address()
	}
	if n := len(found.Items); n > 0 && (before > 0 || found.Next != nil) {
		p.Span = fmt.Sprintf("%s to %s of %s", ui.Count(before+1), ui.Count(before+n),
			strings.TrimSuffix(strings.TrimSuffix(p.Count, "s"), " "+what))
		p.Pages = a.pagesOf(before, found.Count)
	}
	if found.Next != nil {
		p.Next = a.address("after", place(*found.Next))
	}
	if found.Count.N > int64(sizes[0]) {
		for _, size := range sizes {
			p.Sizes = append(p.Sizes, choice{strconv.Itoa(size), strconv.Itoa(size), size == a.search.Page.Limit})
		}
	}
}

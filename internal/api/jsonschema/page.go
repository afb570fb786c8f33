package jsonschema

// A cursor is [list, id of a row, its value in the field of the order], as JSON in base64: the position after which a
// page begins, whatever was added or changed in the meantime. The cursor of a search is [search, number of hits before,
// the position]. Callers take it unchanged from Link, or from next.

// MaxCursorLength is longer than any cursor of ours, in bytes: one of a sort key in which each character needs the
// most.
const MaxCursorLength = 4096

// ListPage holds the parameters by which a list is paged (contract.md section 1, "Lists").
type ListPage struct {
	Limit  PageSize   `query:"limit" least:"1" most:"200" default:"50" shared:"true"`
	Cursor CursorText `query:"cursor" shared:"true"`
	Count  *counting  `query:"count" shared:"true"`
}

// counting is how far the items of a list are counted.
type counting string

const countExact counting = "exact"

// PageSize is how many items a page has at most, and CursorText says where it begins.
type (
	PageSize   int64
	CursorText string
)

// SearchPage holds the parameters by which a search is paged.
type SearchPage struct {
	Limit  PageSize   `query:"limit" least:"1" most:"200" default:"20" help:"The maximum number of items on a page."`
	Offset HitOffset  `query:"offset"`
	Cursor CursorText `query:"cursor" shared:"true"`
	Count  *counting  `query:"count" shared:"true"`
	Facets bool       `query:"facets" default:"true" help:"Whether facets are counted."`
}

// HitOffset is how many hits are before a page, at most exchange.MaxOffset.
type HitOffset int64

package ui

import (
	"net/url"
	"strings"
)

func CatalogAddress(values url.Values) string {
	return strings.TrimSuffix("/catalog?"+values.Encode(), "?")
}

package ui

import (
	"net/url"
	"strconv"
	"strings"
)

// CatalogAddress returns the address of the catalog with these parameters.
func CatalogAddress(values url.Values) string {
	return strings.TrimSuffix("/catalog?"+values.Encode(), "?")
}

// MaxAddress is the most characters of an address that a visitor is sent back to: proxies read 4 KiB of the head of an
// answer.
const MaxAddress = 1000

// LocalAddress returns next if it is an address on this host, "/" otherwise.
func LocalAddress(next string) string {
	u, err := url.Parse(next)
	if err != nil || len(next) > MaxAddress || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") ||
		strings.ContainsAny(next, "\\\r\n\t") || u.Host != "" || u.Scheme != "" {
		return "/"
	}
	return next
}

// ParseID parses a positive number, nil if the text is not one.
func ParseID(text string) *int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return nil
	}
	return &n
}

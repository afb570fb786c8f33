package field

import "strings"

// SplitItems splits a cell at semicolons and line ends. An item in quotation marks may contain these; a quotation mark
// within it is doubled.
func SplitItems(cell string) []string {
	items := []string{}
	add := func(item string) {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	for cell != "" {
		cell = strings.TrimLeft(cell, " \t\r\n;")
		if item, rest, ok := quotedItem(cell); ok {
			items, cell = append(items, item), rest
			continue
		}
		end := strings.IndexAny(cell, ";\n\r")
		if end < 0 {
			end = len(cell)
		}
		add(cell[:end])
		cell = cell[end:]
	}
	return items
}

// quotedItem reads a quoted item that is followed by a separator or by the end of the cell.
func quotedItem(cell string) (item, rest string, ok bool) {
	if !strings.HasPrefix(cell, `"`) {
		return "", "", false
	}
	for i := 1; i < len(cell); i++ {
		if cell[i] != '"' {
			continue
		}
		if i+1 < len(cell) && cell[i+1] == '"' {
			i++
			continue
		}
		rest = strings.TrimLeft(cell[i+1:], " \t")
		return strings.ReplaceAll(cell[1:i], `""`, `"`), rest, rest == "" ||
			strings.ContainsRune(";\n\r", rune(rest[0]))
	}
	return "", "", false
}

// JoinItems writes items so that SplitItems returns them unchanged.
func JoinItems(items []string) string {
	var b strings.Builder
	for i, item := range items {
		if i > 0 {
			b.WriteString("; ")
		}
		if item == "" || strings.ContainsAny(item, ";\"\r\n") || strings.TrimSpace(item) != item {
			item = `"` + strings.ReplaceAll(item, `"`, `""`) + `"`
		}
		b.WriteString(item)
	}
	return b.String()
}

package ui

import "strings"

// AdminParts returns the entries of the admin navigation.
func AdminParts() []AdminPart {
	return []AdminPart{{"", "Overview", "chart"}, {"users", "Users", "users"}, {"organizations", "Labs", "lab"},
		{"jobs", "Jobs", "settings"},
		{"stuck", "Stuck requests", "clock"}, {"mail", "Failed mail", "mail"}, {"audit", "Audit", "eye"}}
}

// AdminPart is an entry of the admin navigation.
type AdminPart struct{ Place, Words, Icon string }

// Address returns the address of an entry.
func (p AdminPart) Address() string { return strings.TrimSuffix("/admin/"+p.Place, "/") }

package party

import "strings"

// The roles in which a letter is signed: the scientists, and the officials of the institutions, of both sides.
const (
	ProviderScientist  = "PROVIDER_SCIENTIST"
	RecipientScientist = "RECIPIENT_SCIENTIST"
	ProviderOfficial   = "PROVIDER_OFFICIAL"
	RecipientOfficial  = "RECIPIENT_OFFICIAL"
)

// Roles returns all of them, in the order in which letters name them.
func Roles() []string {
	return []string{ProviderScientist, RecipientScientist, ProviderOfficial, RecipientOfficial}
}

// Provides reports whether a role is of the side that provides.
func Provides(role string) bool { return strings.HasPrefix(role, "PROVIDER_") }

// IsOfficial reports whether an institution signs in a role, and not a scientist.
func IsOfficial(role string) bool { return strings.HasSuffix(role, "_OFFICIAL") }

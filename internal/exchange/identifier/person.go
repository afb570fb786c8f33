package identifier

import (
	"fmt"
	"strings"
)

var orcid = newForm(`(?:(?:https?://)?(?:www\.)?(?:sandbox\.)?orcid\.org/|orcid(?: id)?:?\s*)?`+
	`(\d{4})-?(\d{4})-?(\d{4})-?(\d{3}[\dX])/?`, "$1-$2-$3-$4", strings.ToUpper,
	"an ORCID iD has 16 digits, such as 0000-0002-1825-0097")

// ORCID parses the iD of a person: 16 digits, of which the last is an ISO 7064 MOD 11-2 check digit, where X stands for
// 10. Canonical: 0000-0002-1825-0097, without the address. Source: ORCID, "Structure of the ORCID Identifier".
func ORCID(s string) (string, error) {
	id, err := orcid.parse(s)
	if err != nil {
		return "", err
	}
	digits := strings.ReplaceAll(id, "-", "")
	if digits[15] != mod11(digits[:15]) {
		return "", fmt.Errorf("%s; the check digit does not match", orcid.expected)
	}
	return id, nil
}

// Subject parses the id of a person at an identity provider other than ORCID: at most 255 printable ASCII characters,
// without spaces. It has only one form, so nothing is corrected. Source: OpenID Connect Core, section 2.
func Subject(s string) (string, error) {
	if s == "" || len(s) > longest || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("the id of a person has at most %d letters, digits and signs, and no spaces", longest)
	}
	return s, nil
}

// mod11 returns the ISO 7064 MOD 11-2 check character of a string of digits.
func mod11(digits string) byte {
	sum := 0
	for _, d := range digits {
		sum = (sum + int(d-'0')) * 2
	}
	return "0123456789X"[(12-sum%11)%11]
}

var ror = newForm(`(?:(?:https?://)?(?:www\.)?ror\.org/|ror:)?(0[a-hj-km-np-tv-z0-9]{6}\d{2})/?`,
	"https://ror.org/$1", strings.ToLower,
	"a ROR ID is 0, six letters or digits and two check digits, such as https://ror.org/05dxps055")

// ROR parses the ID of a research organization: seven characters of Crockford's base 32, of which the first is 0, and
// two ISO 7064 MOD 97-10 check digits. Canonical: https://ror.org/05dxps055. Source: ROR, "ROR identifier pattern".
func ROR(s string) (string, error) {
	id, err := ror.parse(s)
	if err != nil {
		return "", err
	}
	code := strings.TrimPrefix(id, "https://ror.org/")
	value := 0
	for _, c := range code[:7] {
		value = value*32 + strings.IndexRune("0123456789abcdefghjkmnpqrstvwxyz", c)
	}
	if code[7:] != fmt.Sprintf("%02d", 98-value*100%97) {
		return "", fmt.Errorf("%s; the check digits do not match", ror.expected)
	}
	return id, nil
}

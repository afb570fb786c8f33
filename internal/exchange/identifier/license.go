package identifier

import (
	"errors"
	"regexp"
	"strings"

	"github.com/github/go-spdx/v2/spdxexp"
)

var (
	licensePage = regexp.MustCompile(`^(?i:(?:https?://)?(?:www\.)?(?:spdx\.org/licenses` +
		`|opensource\.org/licenses?)/([^/?#]+?)(?:\.html|\.json)?/?)$`)
	creativeCommons = regexp.MustCompile(`^(?i:(?:https?://)?(?:www\.)?creativecommons\.org/(?:licenses/(by(?:-nc)?` +
		`(?:-sa|-nd)?)/(\d\.\d)|publicdomain/(zero)/1\.0)(?:/(?:legalcode|deed)(?:\.[a-z-]+)?)?/?)$`)
	licenseVersion = regexp.MustCompile(`-V(?:ERSION-)?(\d)`)
	errLicense     = errors.New("a licence is the short name of the SPDX License List, such as CC-BY-4.0 or CC0-1.0")
)

// SPDX parses the name of a licence: its short name in the SPDX License List in any case and with spaces for hyphens
// ("cc by 4.0"), or the address of its page at spdx.org, opensource.org or creativecommons.org. CC0 without a version
// is CC0-1.0, its only one; other names without a version are refused, since versions differ. Canonical: CC-BY-4.0.
func SPDX(s string) (string, error) {
	name := clean(s)
	if cc := creativeCommons.FindStringSubmatch(name); cc != nil {
		name = "CC-" + cc[1] + "-" + cc[2]
		if cc[3] != "" {
			name = "CC0-1.0"
		}
	} else if page := licensePage.FindStringSubmatch(name); page != nil {
		name = page[1]
	}
	name = strings.Join(strings.Fields(strings.ReplaceAll(name, "-", " ")), "-")
	name = licenseVersion.ReplaceAllString(strings.TrimSuffix(strings.ToUpper(name), "-LICENSE"), "-$1")
	if name == "CC0" {
		name = "CC0-1.0"
	}
	known, canonical := spdxexp.ActiveLicense(name)
	if !known {
		return "", errLicense
	}
	return canonical, nil
}

package identifier

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// authority issues RRIDs: its name as written, what separates it from the local part, and the pattern of the local
// part.
type authority struct {
	name, separator string
	local           *regexp.Regexp
	example         string
}

func newAuthority(name, separator, local, example string) authority {
	return authority{name, separator, regexp.MustCompile(`^(?:` + local + `)$`), example}
}

// authorities holds the sources of RRIDs (rrids.org, "RRID system") that a material may come from, by their name in
// lower case.
var authorities = func() map[string]authority {
	const stock = `[A-Za-z0-9.-]{1,60}`
	all := map[string]authority{}
	for _, a := range []authority{
		newAuthority("AB", "_", `\d{1,10}`, "AB_262044"),                                     // antibodies
		newAuthority("Addgene", "_", `[1-9]\d{0,6}(-[A-Za-z0-9.]{1,20})?`, "Addgene_12260"),  // plasmids
		newAuthority("AGSC", "_", `\d{1,6}[A-Z]?`, "AGSC_100E"),                              // axolotls
		newAuthority("BCBC", "_", stock, "BCBC_3000"),                                        // beta cell biology
		newAuthority("BDSC", "_", `[1-9]\d{0,6}`, "BDSC_5"),                                  // flies, Bloomington
		newAuthority("CVCL", "_", `[A-Z0-9]{4}`, "CVCL_0030"),                                // cell lines
		newAuthority("DGGR", "_", `[1-9]\d{0,6}`, "DGGR_106795"),                             // flies, Kyoto
		newAuthority("EZRC", "_", stock, "EZRC_1"),                                           // zebrafish, Europe
		newAuthority("FlyBase", "_", `FB[a-z]{2}\d{7}`, "FlyBase_FBst0000005"),               // flies
		newAuthority("IMSR", "_", `[A-Z]{2,8}:[A-Za-z0-9._-]{1,60}`, "IMSR_JAX:000664"),      // mice
		newAuthority("MGI", ":", `[1-9]\d{0,7}`, "MGI:3840442"),                              // mice
		newAuthority("MMRRC", "_", `\d{6}(-[A-Z]{2,4})?`, "MMRRC_000002-UNC"),                // mice
		newAuthority("NCBITaxon", "_", `[1-9]\d{0,8}`, "NCBITaxon_7955"),                     // organisms
		newAuthority("NSRRC", "_", stock, "NSRRC_0009"),                                      // pigs
		newAuthority("NXR", "_", stock, "NXR_1049"),                                          // frogs
		newAuthority("RGD", "_", `[1-9]\d{0,9}`, "RGD_10395233"),                             // rats
		newAuthority("RRRC", "_", stock, "RRRC_00001"),                                       // rats
		newAuthority("SCR", "_", `\d{6}`, "SCR_007358"),                                      // software and services
		newAuthority("TSC", "_", stock, "TSC_SD00001"),                                       // ciliates
		newAuthority("WB-STRAIN", ":", `[A-Za-z0-9]{1,40}`, "WB-STRAIN:WBStrain00000001"),    // worms
		newAuthority("XEP", "_", stock, "XEP_Xla100"),                                        // frogs
		newAuthority("ZFIN", "_", `ZDB-[A-Z]{2,12}-\d{6}-\d{1,6}`, "ZFIN_ZDB-GENO-960809-7"), // zebrafish
		newAuthority("ZIRC", "_", `ZL\d{1,7}(\.\d{1,3})?`, "ZIRC_ZL1"),                       // zebrafish
	} {
		all[strings.ToLower(a.name)] = a
	}
	return all
}()

var (
	// The text after the last "RRID:" of a citation or of a resolver's address.
	rridCited = regexp.MustCompile(`^(?i:.*RRID:)?\s*(.*?)[\s).,;/]*$`)
	rridParts = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9-]{0,29})([_:])([A-Za-z0-9._:()+-]{1,100})$`)
	errRRID   = errors.New("an RRID is RRID:, an authority and a number, such as RRID:CVCL_0030 or " +
		"RRID:IMSR_JAX:000664")
)

// RRID parses a Research Resource Identifier: the name of its authority, then _ or :, then the authority's own number,
// which may contain colons. Canonical: RRID:IMSR_JAX:000664, with the authority's own spelling of its name. An unknown
// authority causes a warning.
func RRID(s string) (canonical, warning string, err error) {
	cited := rridCited.FindStringSubmatch(clean(s))
	if cited == nil {
		return "", "", errRRID
	}
	if sample, err := BioSample(cited[1]); err == nil {
		return "RRID:" + sample, "", nil // the one authority without a separator
	}
	parts := rridParts.FindStringSubmatch(cited[1])
	if parts == nil {
		return "", "", errRRID
	}
	name, separator, local := parts[1], parts[2], parts[3]
	a, known := authorities[strings.ToLower(name)]
	if !known {
		return "RRID:" + name + separator + local, fmt.Sprintf("%s is not a known RRID authority; please check the "+
			"identifier", name), nil
	}
	if a.name == "IMSR" { // it has repositories, and the leading zeros of JAX numbers count
		strain, err := IMSR("IMSR_" + local)
		if err != nil {
			return "", "", err
		}
		return "RRID:" + strain, "", nil
	}
	for _, spelling := range []string{local, strings.ToUpper(local)} {
		if a.local.MatchString(spelling) {
			return "RRID:" + a.name + a.separator + spelling, "", nil
		}
	}
	return "", "", fmt.Errorf("an RRID of %s is written like RRID:%s", a.name, a.example)
}

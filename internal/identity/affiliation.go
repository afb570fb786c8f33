package identity

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// maxAffiliations is how many affiliations a provider may assert about a person at once.
const maxAffiliations = 100

// atInstitution are the affiliations of eduPerson of people who are at an institution. Others are not: an affiliate, an
// alumnus, somebody who walks into the library.
var atInstitution = []string{"member", "faculty", "staff", "employee", "student"}

// affiliations are the claims with scoped affiliations, such as member@uni.example, by the names that proxies give them
// (REFEDS "OpenID Connect claims for eduPerson", voPerson). Keys of JSON match whatever their case.
type affiliations struct {
	EduPerson      texts `json:"eduperson_scoped_affiliation"`
	EduPersonSAML  texts `json:"eduPersonScopedAffiliation"`
	VOPerson       texts `json:"voperson_external_affiliation"`
	VOPersonSAML   texts `json:"voPersonExternalAffiliation"`
	VOPersonScoped texts `json:"voperson_scoped_affiliation"`
}

func (a affiliations) all() []string {
	return slices.Concat(a.EduPerson, a.EduPersonSAML, a.VOPerson, a.VOPersonSAML, a.VOPersonScoped)
}

// texts are a claim that is a text or a list of them.
type texts []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *texts) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*t = nil
		if one != "" {
			*t = texts{one}
		}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(t))
}

// checkAffiliations refuses more affiliations than anybody has: what is left out would count as ended.
func checkAffiliations(list []string) error {
	if len(list) > maxAffiliations {
		return fmt.Errorf("the provider asserts %d affiliations; at most %d are read", len(list), maxAffiliations)
	}
	return nil
}

// At reports whether the provider asserted that the person is at the institution of a domain.
func (p Person) At(domain string) bool {
	return slices.ContainsFunc(p.Affiliations, func(s string) bool {
		as, scope, _ := strings.Cut(strings.ToLower(s), "@")
		return scope == domain && slices.Contains(atInstitution, as)
	})
}

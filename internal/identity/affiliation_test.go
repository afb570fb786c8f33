package identity

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/exchange"
)

func TestFurtherProvider_AssertsAffiliationsAndNoORCID(t *testing.T) {
	t.Parallel()
	staff := []string{"staff@uni.example", "member@uni.example"}
	for name, c := range map[string]struct {
		change func(*provider)
		want   []string
		fails  bool
	}{
		"in the id_token": {func(p *provider) { p.claims["eduperson_scoped_affiliation"] = staff }, staff, false},
		"as a text":       {func(p *provider) { p.claims["eduPersonScopedAffiliation"] = staff[0] }, staff[:1], false},
		"of voPerson":     {func(p *provider) { p.claims["voperson_external_affiliation"] = staff }, staff, false},
		"in userinfo":     {func(p *provider) { p.info["voPersonExternalAffiliation"] = staff }, staff, false},
		"nowhere":         {func(*provider) {}, nil, false},
		"empty":           {func(p *provider) { p.claims["eduperson_scoped_affiliation"] = []string{} }, nil, false},
		"of another subject": {func(p *provider) {
			p.info = map[string]any{"sub": "other",
				"eduperson_scoped_affiliation": staff}
		}, nil, true},
		"in a userinfo that fails": {func(p *provider) {
			p.userinfo = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }
		}, nil, true},
		"more than anybody has": {func(p *provider) {
			p.claims["eduperson_scoped_affiliation"] = slices.Repeat(staff, maxAffiliations)
		}, nil, true},
		"a number": {func(p *provider) { p.claims["eduperson_scoped_affiliation"] = 7 }, nil, true},
		"an orcid": {func(p *provider) { p.answer["orcid"] = otherID }, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := startProvider(t, func(p *provider) {
				p.claims["sub"], p.info["sub"] = "staff-7", "staff-7"
				p.claims["given_name"], p.claims["family_name"] = "Josiah", "Carberry"
				c.change(p)
			})
			got, err := newClient(t, Config{Issuer: p.issuer, Further: true, Affiliations: true}).Exchange(t.Context(),
				"code", origin, Proof{})
			if c.fails {
				wantCode(t, err, exchange.Unavailable)
				return
			}
			if err != nil || !slices.Equal(got.Affiliations, c.want) || got.RegistryID != "staff-7" ||
				got.Issuer != p.issuer || got.Name != "Josiah Carberry" {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestPerson_IsAtAnInstitutionOnlyByItsOwnDomain(t *testing.T) {
	t.Parallel()
	for asserted, want := range map[string]bool{"member@uni.example": true, "Student@UNI.EXAMPLE": true,
		"employee@uni.example": true, "alum@uni.example": false, "affiliate@uni.example": false,
		"library-walk-in@uni.example": false, "member@sub.uni.example": false, "member@uni.example.evil.example": false,
		"member": false, "@uni.example": false, "member@uni.example@evil.example": false, "": false,
		strings.Repeat("a", 1<<16): false} {
		if got := (Person{Affiliations: []string{asserted}}).At("uni.example"); got != want {
			t.Errorf("%.40q: %v", asserted, got)
		}
	}
}

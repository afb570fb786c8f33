package lint_test

import (
	"strings"
	"testing"

	"aliquot/internal/agreement/lint"
	"aliquot/internal/agreement/party"
)

const formText = `Material transfer agreement of the Lind Lab
This agreement is between the provider and the recipient that are named below.
Institution of the recipient: ______________________ and its address
The recipient uses the material for teaching and for research that is not commercial.
The recipient does not pass the material on to anybody else without consent.
Signature of the recipient: ......................`

func paperOf(text string) *lint.Paper { return &lint.Paper{Pages: []lint.Page{{Text: text}}} }

// TestCheck_ComparesAPaperWithTheFormOfTheLab, which has no letter.
func TestCheck_ComparesAPaperWithTheFormOfTheLab(t *testing.T) {
	t.Parallel()
	berg := lint.Side{Institution: party.Institution{ID: 2, LegalName: "Berg Institute for Cell Biology", Aliases: []string{"BICB"}}}
	filled := strings.NewReplacer("______________________", "Berg Institute for Cell Biology, where the work is done by "+
		"everybody of the group of Ines Ortega,", "......................", "Ines Ortega").Replace(formText)
	for what, c := range map[string]struct {
		known lint.Case
		want  lint.Class
		says  string
	}{
		"a form that was filled in": {lint.Case{Paper: paperOf(filled), Form: paperOf(formText), Recipient: berg}, "", ""},
		"broken at other places": {lint.Case{Paper: paperOf(strings.ReplaceAll(filled, "research that", "re-\nsearch\nthat")),
			Form: paperOf(formText), Recipient: berg}, "", ""},
		"a word is missing": {lint.Case{Paper: paperOf(strings.ReplaceAll(filled, "does not pass", "may pass")),
			Form: paperOf(formText), Recipient: berg}, lint.TextDiffers, "1 of 4 lines"},
		"another form": {lint.Case{Paper: paperOf("Simple letter. Both parties agree that everything is fine, BICB included."),
			Form: paperOf(formText), Recipient: berg}, lint.TextDiffers, "little of the form"},
		"the blank form": {lint.Case{Paper: paperOf(formText), Form: paperOf(formText), Blank: true}, lint.BlankTemplate, "filled in"},
		"no institution": {lint.Case{Paper: paperOf(strings.ReplaceAll(filled, "Berg Institute", "Bergen")), Form: paperOf(formText),
			Recipient: berg}, lint.InstitutionsDiffer, "Berg Institute for Cell Biology"},
		"its short name": {lint.Case{Paper: paperOf(strings.ReplaceAll(filled, "Berg Institute", "BICB")), Form: paperOf(formText),
			Recipient: berg}, "", ""},
		"a page is missing":        {lint.Case{Paper: paperOf(filled + "\nPage 1 of 2"), Form: paperOf(formText)}, lint.PartsMissing, "Page 2"},
		"a form that is not known": {lint.Case{Paper: paperOf(filled)}, "", ""},
		"a scan": {lint.Case{Paper: &lint.Paper{Pages: []lint.Page{{Images: 1}}}, Form: paperOf(formText)}, lint.UnreadableScan,
			"picture"},
	} {
		found := lint.Check(c.known)
		if c.want == "" && len(found) > 0 || c.want != "" && (len(found) != 1 || found[0].Class != c.want ||
			!strings.Contains(found[0].Message, c.says)) {
			t.Errorf("%s: %+v", what, found)
		}
	}
}

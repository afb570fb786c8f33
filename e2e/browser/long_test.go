package browser

import (
	"strings"
	"testing"
)

// unbroken is a name of 200 characters without a place to break it, as plasmids and files have them.
var unbroken = strings.Repeat("pLenti_CMV_GFP_Puro_", 10)

// TestPages_FitTheirWindowWhateverTheNamesAre visits what each role finds where labs, people, materials, files and
// what people wrote are words of 200 characters.
func TestPages_FitTheirWindowWhateverTheNamesAre(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.furnish()
	all := everyPage(s)
	for _, column := range []string{"organizations name", "organizations description", "users last_name",
		"materials title", "materials citation", "materials additional_info", "attachments filename", "grants title",
		"request_issues text", "material_requests quantity", "material_requests note", "material_requests tracking",
		"institutions legal_name", "institutions kind_evidence", "positions title", "authorities name",
		"authorities delegation", "stand_ins reason", "masters evidence", "material_requests requester_abstract", "material_requests rejection_reason"} {
		table, name, _ := strings.Cut(column, " ")
		s.change("UPDATE "+table+" SET "+name+" = $1 WHERE "+name+" IS NOT NULL AND "+name+" <> ''", unbroken)
	}
	tabs, visited := map[string]*tab{}, map[string]bool{}
	for _, f := range all {
		if visited[f.pattern] || !f.html || f.status != 200 {
			continue
		}
		visited[f.pattern] = true
		who := roles[f.role]
		if tabs[who] == nil {
			tabs[who] = s.open(who)
		}
		tabs[who].visit(f.path)
		for _, width := range []int64{1280, 768, 390, 320} {
			tabs[who].fit(width)
			if over := see[string](tabs[who], overflowing); over != "" {
				t.Errorf("%s: %s at %d px is wider than the window: %s", f.role, f.path, width, over)
			}
		}
	}
}

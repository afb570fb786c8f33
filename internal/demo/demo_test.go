package demo

import (
	"encoding/json"
	"io/fs"
	"log/slog"
	"path"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/app"
	"aliquot/internal/app/catalog"
	"aliquot/internal/app/evidence"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	searched "aliquot/internal/exchange/fulltext"
	"aliquot/internal/exchange/identifier"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	contentstore "aliquot/internal/files"
	"aliquot/internal/identity"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

func newApp(t testing.TB, db *store.DB) *app.App {
	t.Helper()
	folder, err := contentstore.OpenFolder(filepath.Join(t.TempDir(), "files"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := folder.Close(); err != nil {
			t.Error(err)
		}
	})
	return app.New(app.Config{
		DB: db, Files: folder, Access: exchange.AccessMembers, Registration: []string{"open"},
		TokenLifetime: time.Hour, UploadLimit: 1 << 20, Reminders: request.Reminders{7, 14, 28}, Escalation: 21,
		Log: slog.New(slog.DiscardHandler),
	})
}

// actor signs a sample person in.
func actor(t *testing.T, a *app.App, registryID string) exchange.Actor {
	t.Helper()
	signed, err := a.Accounts.SignIn(t.Context(), identity.Person{RegistryID: registryID}, person.Registration{})
	if err != nil {
		t.Fatal(err)
	}
	if signed.New {
		t.Fatalf("%s is not among the sample people", registryID)
	}
	who, err := a.Accounts.Actor(t.Context(), signed.Token)
	if err != nil {
		t.Fatal(err)
	}
	return who
}

// requests returns every request, as the admin sees them.
func requests(t *testing.T, a *app.App) []request.Detail {
	t.Helper()
	part, err := a.Requests.Requests(t.Context(), actor(t, a, AdminID), exchange.Page{Limit: 1000}, request.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	return part.Items
}

func materials(t *testing.T, a *app.App) exchange.ListPage[material.Shown] {
	t.Helper()
	part, err := a.Materials.Materials(t.Context(), exchange.Actor{}, exchange.Page{Limit: 1000}, material.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	return part
}

func turn(q request.Detail) *request.Turn {
	return request.WaitingOn(q.Terms, q.Targets, q.Request)
}

func TestDemo(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		a := newApp(t, db)
		if err := Fill(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		t.Run("every status has a request", func(t *testing.T) { everyStatus(t, a) })
		t.Run("every step is waited for somewhere", func(t *testing.T) { everyStep(t, a) })
		t.Run("something waits for every person", func(t *testing.T) { everyPerson(t, a) })
		t.Run("every person sees agreements, in each state that waits for somebody", func(t *testing.T) { everyLetter(t, a) })
		t.Run("every material is listed", func(t *testing.T) { everyMaterial(t, a) })
		t.Run("every material is found by what it is called", func(t *testing.T) { everyName(t, a) })
		t.Run("events and files verify", func(t *testing.T) { verifies(t, a) })
		t.Run("requests take hours and days", func(t *testing.T) { paced(t, a) })
		t.Run("some wait for longer than others", func(t *testing.T) { waited(t, a) })
		t.Run("ids rise with time", func(t *testing.T) { inOrder(t, a) })
		t.Run("nobody is notified of the past again", func(t *testing.T) { toldAlready(t, a) })
		t.Run("the admin alone is an admin", func(t *testing.T) { oneAdmin(t, a) })
		t.Run("filling twice changes nothing", func(t *testing.T) { twice(t, a) })
	})
}

func everyStatus(t *testing.T, a *app.App) {
	seen := map[request.Status]bool{}
	for _, q := range requests(t, a) {
		seen[q.Status] = true
	}
	for _, s := range request.Statuses {
		if !seen[s] {
			t.Errorf("no request is %s", s)
		}
	}
}

func everyStep(t *testing.T, a *app.App) {
	seen := map[string]bool{}
	for _, q := range requests(t, a) {
		if turn := turn(q); turn != nil {
			for _, step := range turn.What {
				seen[step] = true
			}
		}
	}
	for _, step := range []string{
		request.StepCorrection, request.StepDecision, request.StepShipment, request.StepIssue, request.StepReceipt,
		string(request.NeedSignedMTA), string(request.NeedIRB), string(request.NeedExecutedMTA),
	} {
		if !seen[step] {
			t.Errorf("no request waits for the step %s", step)
		}
	}
}

func everyPerson(t *testing.T, a *app.App) {
	waitedFor := map[uuid.UUID]bool{}
	for _, q := range requests(t, a) {
		switch turn := turn(q); {
		case turn == nil:
		case turn.Side == request.LabSide:
			waitedFor[q.AssignedTo] = true
		default:
			waitedFor[q.Requester] = true
		}
	}
	for _, p := range People() {
		if !waitedFor[actor(t, a, p.RegistryID).ID] {
			t.Errorf("nothing waits for %s (%s)", p.Name, p.Role)
		}
	}
}

func everyLetter(t *testing.T, a *app.App) {
	all := func(who exchange.Actor) []letter.Agreement {
		page, err := a.Letters.Letters(t.Context(), who, letter.Filter{}, exchange.Page{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		return page.Items
	}
	for _, p := range People() {
		if len(all(actor(t, a, p.RegistryID))) == 0 {
			t.Errorf("%s (%s) sees no agreement", p.Name, p.Role)
		}
	}
	seen := map[string]bool{}
	ada := actor(t, a, AdminID)
	for _, l := range all(ada) {
		v, err := a.Letters.Letter(t.Context(), ada, l.ID)
		if err != nil {
			t.Fatal(err)
		}
		seen[string(l.State)] = true
		for _, role := range l.Waits {
			seen["waits for "+role] = true
		}
		for _, s := range v.Signatures {
			seen["by standing approval"] = seen["by standing approval"] || s.Approval != nil
		}
		for _, c := range v.Conflicts {
			seen["conflicts with a playbook"] = seen["conflicts with a playbook"] || !c.Settled
		}
		seen["has a precedent"] = seen["has a precedent"] || v.Precedent != nil
		seen["something is missing"] = seen["something is missing"] || len(v.Missing()) > 0
	}
	for _, want := range []string{"DRAFT", "SENT", "EXECUTED", "DECLINED", "by standing approval", "something is missing",
		"conflicts with a playbook", "has a precedent",
		"waits for PROVIDER_SCIENTIST", "waits for PROVIDER_OFFICIAL", "waits for RECIPIENT_OFFICIAL"} {
		if !seen[want] {
			t.Errorf("no agreement: %s", want)
		}
	}
}

func everyMaterial(t *testing.T, a *app.App) {
	part := materials(t, a)
	if want := len(Materials()); int(part.Total.N) != want || len(part.Items) != want {
		t.Errorf("%d materials are listed, want %d", part.Total.N, want)
	}
	labs := map[int64]bool{}
	for _, m := range part.Items {
		labs[m.OrganizationID] = true
		if m.Imported != (m.ImportIdentifier != nil) {
			t.Errorf("%s: imported %v, but its identifier is %v", m.Title, m.Imported, m.ImportIdentifier)
		}
	}
	if len(labs) != 3 {
		t.Errorf("the materials are in %d labs, want 3", len(labs))
	}
}

// everyName looks for each material by its title and by each of its identifiers, as anyone does.
func everyName(t *testing.T, a *app.App) {
	find := func(text string, limit int) catalog.Results[material.Shown] {
		found, err := a.Materials.SearchMaterials(t.Context(), exchange.Actor{},
			exchange.Search{Query: searched.Parse(text), Page: exchange.SearchPage{Limit: limit}, Facets: true})
		if err != nil || int64(len(found.Items)) != min(found.Count.N, int64(limit)) || len(found.Approximate) > 0 {
			t.Fatalf("%q: %d of %d, %v, %v", text, len(found.Items), found.Count.N, found.Approximate, err)
		}
		return found
	}
	all := find("", 1000)
	if want := materials(t, a).Total.N; all.Count.N != want ||
		all.Facets["is_archived"].Values["false"]+all.Facets["is_archived"].Values["true"] != want {
		t.Errorf("%d are found, %v, of %d", all.Count.N, all.Facets["is_archived"], want)
	}
	for _, m := range all.Items {
		if found := find(m.Title, 1); found.Count.N == 0 || found.Items[0].Title != m.Title {
			t.Errorf("%q finds %d first %q", m.Title, found.Count.N, titles(found.Items))
		}
		var values map[string]json.RawMessage
		if err := json.Unmarshal(m.Metadata, &values); err != nil {
			t.Fatal(err)
		}
		c, _ := category.Get(m.Category)
		for _, f := range c.Fields {
			for _, item := range category.Items(values[f.Key]) {
				if f.Type != category.Identifier {
					continue
				}
				if found := find(item, 20); !slices.Contains(titles(found.Items), m.Title) {
					t.Errorf("%s of %q finds %q", item, m.Title, titles(found.Items))
				}
			}
		}
	}
}

func titles(list []material.Shown) []string {
	var titles []string
	for _, m := range list {
		titles = append(titles, m.Title)
	}
	return titles
}

func verifies(t *testing.T, a *app.App) {
	report, err := a.Evidence.Verify(t.Context(), evidence.Verification{Files: true})
	if err != nil {
		t.Fatal(err)
	}
	if report.Requests == 0 || report.Files == 0 || len(report.Faults) > 0 {
		t.Errorf("%+v", report)
	}
}

func oneAdmin(t *testing.T, a *app.App) {
	for _, p := range People() {
		if who := actor(t, a, p.RegistryID); who.Admin != (p.RegistryID == AdminID) {
			t.Errorf("%s: admin is %v", p.Name, who.Admin)
		}
	}
}

func twice(t *testing.T, a *app.App) {
	state := func() any {
		r := recorded(t, a) // sign-ins of the sample people are more events
		return []any{r.Requests, r.Files, r.Bytes, materials(t, a).Total, requests(t, a)}
	}
	before := state()
	if err := Fill(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, state()); diff != "" {
		t.Error(diff)
	}
}

func TestDemo_FilledOnlyAfterFill(t *testing.T) {
	t.Parallel()
	a := newApp(t, storetest.Open(t, storetest.SQLite))
	for _, want := range []bool{false, true} {
		got, err := Filled(t.Context(), a)
		if err != nil || got != want {
			t.Errorf("filled is %v, %v; want %v", got, err, want)
		}
		if err := Fill(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDemo_PeopleHaveValidORCIDs(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, p := range People() {
		if id, err := identifier.ORCID(p.RegistryID); err != nil || id != p.RegistryID || seen[id] {
			t.Errorf("%s: %s is malformed or taken: %v", p.Name, p.RegistryID, err)
		}
		if p.Role == "" || p.Email == "" {
			t.Errorf("%s has no role or no e-mail address", p.Name)
		}
		seen[p.RegistryID] = true
	}
	if people := People(); people[len(people)-1].RegistryID != AdminID {
		t.Error("the admin does not come last")
	}
	if _, err := identity.NewDemo("http://127.0.0.1:8080/demo/identity", People()); err != nil {
		t.Error(err)
	}
}

func TestDemo_MaterialsHaveNoErrorAndNoWarning(t *testing.T) {
	t.Parallel()
	for _, p := range Materials() {
		c, ok := category.Get(p.Category.Value)
		if !ok {
			t.Fatalf("%s: there is no category %s", p.Title.Value, p.Category.Value)
		}
		var meta map[string]json.RawMessage
		if err := json.Unmarshal(p.Metadata.Value, &meta); err != nil {
			t.Fatal(err)
		}
		clean, faults, warnings := c.Check(meta)
		if len(faults)+len(warnings) > 0 {
			t.Errorf("%s: %v %v", p.Title.Value, faults, warnings)
		}
		for key := range meta {
			if _, ok := c.Field(key); !ok {
				t.Errorf("%s: %s has no field %s", p.Title.Value, p.Category.Value, key)
			}
			if !slices.Equal(category.Items(clean[key]), category.Items(meta[key])) {
				t.Errorf("%s: %s is %s, in canonical form %s", p.Title.Value, key, meta[key], clean[key])
			}
		}
	}
}

func TestDemo_OneMaterialIsComplete(t *testing.T) {
	t.Parallel()
	list := Materials()
	p := list[len(list)-1]
	var meta map[string]json.RawMessage
	if err := json.Unmarshal(p.Metadata.Value, &meta); err != nil {
		t.Fatal(err)
	}
	c, _ := category.Get(p.Category.Value)
	if missing := c.Missing(meta); p.Title.Value != mapped || len(missing) > 0 {
		t.Errorf("%s lacks %v", p.Title.Value, missing)
	}
}

func TestDemo_FilesAreWhatTheirNamesSay(t *testing.T) {
	t.Parallel()
	types := map[string]string{".pdf": "application/pdf", ".png": "image/png", ".gb": contentstore.GenBank}
	list, err := fs.ReadDir(files, "files")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range list {
		data, err := files.ReadFile("files/" + entry.Name())
		if err != nil {
			t.Fatal(err)
		}
		got, err := contentstore.Sniff(data, entry.Name())
		if want := types[path.Ext(entry.Name())]; err != nil || got != want {
			t.Errorf("%s is %s, %v; want %s", entry.Name(), got, err, want)
		}
	}
}

func BenchmarkFill(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		a := newApp(b, storetest.Open(b, storetest.SQLite))
		b.StartTimer()
		if err := Fill(b.Context(), a); err != nil {
			b.Fatal(err)
		}
	}
}

package instrument

import (
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"fmt"
	"os"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/playbook"
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/exchange"
)

const day = exchange.Date("2026-06-15")

// installed returns a library in which the operator has installed every official text.
func installed(t testing.TB) *Library {
	t.Helper()
	list, err := Box()
	if err != nil {
		t.Fatal(err)
	}
	for n := range list {
		if list[n].Template == "" {
			list[n].Template = "The official text."
			sum := sha256.Sum256([]byte(list[n].Template))
			list[n].SHA256 = hex.EncodeToString(sum[:])
		}
	}
	l, err := NewLibrary(list)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestBox_PassesTheLint(t *testing.T) {
	t.Parallel()
	list, err := Box()
	if err != nil {
		t.Fatal(err)
	}
	if err := Lint(list); err != nil {
		t.Error(err)
	}
	ours := 0
	for _, i := range list {
		if i.Reviewed {
			t.Errorf("%s claims to be reviewed by counsel", i.ID)
		}
		if i.Template != "" {
			ours++
		}
	}
	if ours != 8 {
		t.Errorf("the box has %d letters of its own, not 8", ours)
	}
}

func TestDefaults_CoverEveryCaseOnceAndLeadToAnInstrument(t *testing.T) {
	t.Parallel()
	l := installed(t)
	report := l.defaults.Check()
	if len(report.Gaps) > 0 || len(report.Overlaps) > 0 || len(report.Dead) > 0 {
		t.Errorf("gaps %v, overlaps %v, dead %v", report.Gaps, report.Overlaps, report.Dead)
	}
	for _, family := range l.defaults.Results() {
		if !slices.ContainsFunc(l.instruments, func(i Instrument) bool { return i.Family == family }) {
			t.Errorf("no instrument is of the family %s", family)
		}
	}
}

// transfer returns the transfer of a row of cases.csv, and its day.
func transfer(row map[string]string) (Transfer, exchange.Date) {
	t := Transfer{
		Provider:  party.Institution{ID: 1, Kind: party.Kind(row["provider"])},
		Recipient: party.Institution{ID: 2, Kind: party.Kind(row["recipient"])},
		Category:  row["category"], Purpose: row["purpose"],
		Facts: requirement.Facts{Human: requirement.Human(row["human"]), PlantTreaty: requirement.Answer(row["plant"]),
			ExportControlled: requirement.Answer(row["export"]), Encumbered: requirement.Answer(row["encumbered"]),
			Proprietary: requirement.Answer(row["proprietary"])},
	}
	for n, side := range []string{"provider", "recipient"} {
		if on := row[side+"_ubmta"]; on != "" {
			t.Masters = append(
				t.Masters,
				party.Master{Institution: int64(n + 1), Family: "UBMTA", Standing: party.Signed,
					SignedOn: exchange.Date(on), WithdrawnOn: exchange.Date(row[side+"_ubmta_ended"])},
			)
		}
	}
	if on := row["bilateral"]; on != "" {
		t.Masters = append(t.Masters, party.Master{Institution: 1, Counterparty: new(int64(2)), Family: "BILATERAL",
			Standing: party.Bilateral, SignedOn: exchange.Date(on)})
	}
	return t, exchange.Date(row["day"])
}

func TestResolve_FindsTheInstrumentOfEveryCase(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/cases.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil || len(records) < 151 {
		t.Fatalf("%d cases: %v", len(records)-1, err)
	}
	l := installed(t)
	for n, record := range records[1:] {
		row := map[string]string{}
		for i, name := range records[0] {
			row[name] = record[i]
		}
		got, err := l.Resolve(transfer(row))
		if err != nil {
			t.Fatal(err)
		}
		id := "-"
		if got.Instrument != nil {
			id = got.Instrument.ID
		}
		if id != row["instrument"] {
			t.Errorf("line %d: %s because of %v, not %s: %v", n+2, id, got.Because, row["instrument"], row)
		}
	}
}

func drawTransfer(t *rapid.T) (Transfer, exchange.Date) {
	days := []string{"", "1996-01-01", "2026-06-14", "2026-06-15", "2026-06-16"}
	row := map[string]string{"day": rapid.SampledFrom(days[2:]).Draw(t, "day")}
	for name, values := range map[string][]string{
		"provider": party.Kinds(), "recipient": party.Kinds(), "purpose": purposes, "bilateral": days,
		"category": {"PLASMID", "MODEL_ORGANISM", "PDX", "DATASET", "PROTOCOL"},
		"human":    {"", "NO", "ANONYMISED", "IDENTIFIABLE"}, "plant": {"", "YES", "NO"}, "export": {"", "YES", "NO"},
		"encumbered": {"", "YES", "NO"}, "proprietary": {"", "YES", "NO"},
		"provider_ubmta": days, "recipient_ubmta": days, "provider_ubmta_ended": days, "recipient_ubmta_ended": days,
	} {
		row[name] = rapid.SampledFrom(values).Draw(t, name)
	}
	tr, d := transfer(row)
	tr.Choice = rapid.SampledFrom([]string{"", "UBMTA_LETTER", "OPEN_MTA", "NO_SUCH"}).Draw(t, "choice")
	tr.Altered = rapid.Bool().Draw(t, "altered")
	families := rapid.SliceOf(rapid.SampledFrom([]string{"UBMTA_LETTER", "OPEN_MTA", "HOUSE", "NONE"}))
	tr.Recipient.Playbook.Accept = families.Draw(t, "accept")
	tr.Provider.Playbook.Provide = []playbook.Preference{{Families: families.Draw(t, "prefer")}}
	for _, id := range rapid.SliceOf(rapid.SampledFrom([]string{"UBMTA_LETTER", "OPEN_MTA", "SIMPLE_LETTER_1999",
		"HOUSE"})).Draw(t, "precedents") {
		tr.Precedents = append(tr.Precedents, Precedent{Instrument: id,
			Category: rapid.SampledFrom([]string{"PLASMID", "PDX"}).Draw(t, "of")})
	}
	return tr, d
}

func TestResolve_NeverChoosesWhatIsNotValid(t *testing.T) {
	t.Parallel()
	l := installed(t)
	rapid.Check(t, func(t *rapid.T) {
		tr, d := drawTransfer(t)
		got, err := l.Resolve(tr, d)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := l.Resolve(tr, d); !reflect.DeepEqual(got, again) {
			t.Fatal("the same input gives another answer")
		}
		total := len(got.Alternatives)
		for _, a := range got.Alternatives {
			if len(a.WhyNot) == 0 {
				t.Fatalf("no reason against %s", a.Instrument)
			}
		}
		i := got.Instrument
		if i == nil {
			if total != len(l.instruments) {
				t.Fatalf("%d of %d instruments have a reason", total, len(l.instruments))
			}
			return
		}
		if total != len(l.instruments)-1 || len(got.Because) == 0 {
			t.Fatalf("%d alternatives, because of %v", total, got.Because)
		}
		for n, p := range []int64{tr.Provider.ID, tr.Recipient.ID} {
			other := []int64{tr.Recipient.ID, tr.Provider.ID}[n]
			if _, ok := party.MasterInForce(tr.Masters, i.Master, p, other, d); i.Master != "" && !ok {
				t.Fatalf("%s without the master agreement of %d on %s", i.ID, p, d)
			}
		}
		if i.Family == "UBMTA_LETTER" &&
			(tr.Facts.Human != requirement.NotHuman || tr.Facts.ExportControlled != requirement.No ||
				tr.Facts.Encumbered != requirement.No) ||
			i.FixedText && tr.Altered {
			t.Fatalf("%s for %+v", i.ID, tr)
		}
		if accept := tr.Recipient.Playbook.Accept; len(accept) > 0 && i.Family != tr.Choice &&
			!slices.Contains(accept, i.Family) {
			t.Fatalf("%s is not among what the recipient accepts: %v", i.ID, accept)
		}
	})
}

func TestResolve_UnknownFactsOnlyAddQuestions(t *testing.T) {
	t.Parallel()
	l := installed(t)
	rapid.Check(t, func(t *rapid.T) {
		tr, d := drawTransfer(t)
		before, err := l.Resolve(tr, d)
		if err != nil {
			t.Fatal(err)
		}
		tr.Facts = requirement.Facts{PlantTreaty: tr.Facts.PlantTreaty}
		after, err := l.Resolve(tr, d)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range before.Questions {
			if !slices.Contains(after.Questions, q) {
				t.Fatalf("the question about %s disappears", q)
			}
		}
	})
}

func TestResolve_FollowsAChoiceAndThePlaybooks(t *testing.T) {
	t.Parallel()
	l := installed(t)
	tr, _ := transfer(
		map[string]string{"category": "PLASMID", "human": "NO", "plant": "NO", "export": "NO", "encumbered": "NO",
			"proprietary": "NO", "provider": "NONPROFIT", "recipient": "NONPROFIT", "purpose": "RESEARCH"},
	)
	prefer := func(families ...string) playbook.Playbook {
		return playbook.Playbook{Provide: []playbook.Preference{{Categories: []string{"PDX"}, Families: []string{"HOUSE"}},
			{Categories: []string{"PLASMID"}, Families: families}}}
	}
	for want, c := range map[string]struct {
		choice           string
		provider, accept playbook.Playbook
	}{
		"SIMPLE_LETTER_1995/D12": {"", playbook.Playbook{}, playbook.Playbook{}},
		"OPEN_MTA/P1":            {"OPEN_MTA", prefer("NONE"), playbook.Playbook{}},
		"NONE/P2":                {"UBMTA_LETTER", prefer("UBMTA_LETTER", "NONE"), playbook.Playbook{}},
		"HOUSE/P3":               {"", prefer("NONE"), playbook.Playbook{Accept: []string{"BRUNSWICK", "OPEN_MTA", "HOUSE"}}},
		"-/":                     {"", playbook.Playbook{}, playbook.Playbook{Accept: []string{"UBMTA_LETTER"}}},
	} {
		tr.Choice, tr.Provider.Playbook, tr.Recipient.Playbook = c.choice, c.provider, c.accept
		r, err := l.Resolve(tr, day)
		if err != nil {
			t.Fatal(err)
		}
		got := "-/"
		if r.Instrument != nil {
			got = fmt.Sprintf("%s/%s", r.Instrument.ID, r.Because[0].Rule)
		}
		if got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}

func TestResolve_FollowsAPrecedentAfterTheProvidersPlaybook(t *testing.T) {
	t.Parallel()
	l := installed(t)
	row := map[string]string{"category": "PLASMID", "human": "NO", "plant": "NO", "export": "NO", "encumbered": "NO",
		"proprietary": "NO", "provider": "NONPROFIT", "recipient": "NONPROFIT", "purpose": "RESEARCH"}
	before := func(ids ...string) (list []Precedent) {
		for _, id := range ids {
			list = append(list, Precedent{Instrument: id, Category: "PLASMID"})
		}
		return list
	}
	for name, c := range map[string]struct {
		precedents []Precedent
		change     func(*Transfer)
		want       string
	}{
		"the newest":          {before("HOUSE", "SIMPLE_LETTER_1999"), func(*Transfer) {}, "HOUSE/P8"},
		"of another category": {[]Precedent{{Instrument: "HOUSE", Category: "PDX"}}, func(*Transfer) {}, "SIMPLE_LETTER_1995/D12"},
		"not valid today":     {before("UBMTA_LETTER", "HOUSE"), func(*Transfer) {}, "HOUSE/P8"},
		"gives up rights":     {before("NONE", "OPEN_MTA"), func(*Transfer) {}, "SIMPLE_LETTER_1995/D12"},
		"not accepted": {before("HOUSE"), func(t *Transfer) {
			t.Recipient.Playbook.Accept = []string{"SIMPLE_LETTER"}
		}, "SIMPLE_LETTER_1995/D12"},
		"the provider prefers another": {before("HOUSE"), func(t *Transfer) {
			t.Provider.Playbook.Provide = []playbook.Preference{{Families: []string{"SIMPLE_LETTER"}}}
		}, "SIMPLE_LETTER_1995/P2"},
		"somebody chose": {before("HOUSE"), func(t *Transfer) { t.Choice = "OPEN_MTA" }, "OPEN_MTA/P1"},
	} {
		tr, _ := transfer(row)
		tr.Precedents = c.precedents
		c.change(&tr)
		r, err := l.Resolve(tr, day)
		if err != nil || r.Instrument == nil {
			t.Fatal(name, err)
		}
		if got := fmt.Sprintf("%s/%s", r.Instrument.ID, r.Because[0].Rule); got != c.want {
			t.Errorf("%s: %s, not %s", name, got, c.want)
		}
	}
}

func TestSettled_NeedsTheSameTextAfterTheLastChange(t *testing.T) {
	t.Parallel()
	i := Instrument{ID: "A", SHA256: "x"}
	executed := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	earlier, later := executed.AddDate(0, 0, -1), executed.AddDate(0, 0, 1)
	list := []Precedent{{Instrument: "A", Text: "x", On: executed}}
	for name, c := range map[string]struct {
		list  []Precedent
		after *time.Time
		want  bool
	}{
		"never changed":   {list, nil, true},
		"changed before":  {list, &earlier, true},
		"changed after":   {list, &later, false},
		"changed at once": {list, &executed, false},
		"another text":    {[]Precedent{{Instrument: "A", Text: "y", On: executed}}, nil, false},
		"another form":    {[]Precedent{{Instrument: "B", Text: "x", On: executed}}, nil, false},
		"no precedent":    {nil, nil, false},
	} {
		if got := i.Settled(c.list, nil, c.after); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestResolve_AnOfficialTextThatIsNotInstalledIsNotChosen(t *testing.T) {
	t.Parallel()
	list, err := Box()
	if err != nil {
		t.Fatal(err)
	}
	l, err := NewLibrary(list)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		tr, d := drawTransfer(t)
		r, err := l.Resolve(tr, d)
		if err != nil || r.Instrument != nil && r.Instrument.Template == "" {
			t.Fatalf("%+v, %v", r.Instrument, err)
		}
	})
}

func TestResolve_RefusesAPurposeThatDoesNotExist(t *testing.T) {
	t.Parallel()
	if _, err := installed(t).Resolve(Transfer{Purpose: "FUN"}, day); err == nil {
		t.Error("it is accepted")
	}
}

func TestResolve_SaysWhyNotWhereItComesFromAndWhatWouldChangeIt(t *testing.T) {
	t.Parallel()
	l := installed(t)
	row := map[string]string{"category": "PLASMID", "human": "NO", "plant": "NO", "export": "NO", "encumbered": "NO",
		"proprietary": "NO", "provider": "NONPROFIT", "recipient": "NONPROFIT", "purpose": "RESEARCH", "provider_ubmta": "1996-01-01"}
	for name, c := range map[string]struct {
		change  func(*Transfer)
		against string
		want    Reason
	}{
		"a signatory too few": {func(*Transfer) {}, "UBMTA_LETTER", noMasterThere},
		"another few":         {func(t *Transfer) { t.Masters[0].Institution = 2 }, "UBMTA_LETTER", noMasterHere},
		"no signatory":        {func(t *Transfer) { t.Masters = nil }, "UBMTA_LETTER", noMaster},
		"an unknown kind":     {func(t *Transfer) { t.Recipient.Kind = party.Unknown }, "SIMPLE_LETTER_1995", unknownKind},
		"a company":           {func(t *Transfer) { t.Recipient.Kind = party.ForProfit }, "UBMTA_LETTER", wrongParties},
		"controlled":          {func(t *Transfer) { t.Facts.ExportControlled = requirement.Yes }, "UBMTA_LETTER", exportExcluded},
		"perhaps controlled":  {func(t *Transfer) { t.Facts.ExportControlled = "" }, "UBMTA_LETTER", exportUnknown},
		"a third party":       {func(t *Transfer) { t.Facts.Encumbered = requirement.Yes }, "UBMTA_LETTER", encumbered},
		"perhaps one":         {func(t *Transfer) { t.Facts.Encumbered = "" }, "UBMTA_LETTER", rightsUnknown},
		"a changed text":      {func(t *Transfer) { t.Altered = true }, "UBMTA_LETTER", alteredText},
		"outranked":           {func(*Transfer) {}, "OPEN_MTA", notPreferred},
		"not accepted":        {func(t *Transfer) { t.Recipient.Playbook.Accept = []string{"HOUSE"} }, "OPEN_MTA", notAccepted},
		"gives up rights":     {func(t *Transfer) { t.Recipient.Playbook.Accept = []string{"OPEN_MTA"} }, "OPEN_MTA", neverItself},
	} {
		tr, _ := transfer(row)
		c.change(&tr)
		r, err := l.Resolve(tr, day)
		if err != nil {
			t.Fatal(err)
		}
		n := slices.IndexFunc(r.Alternatives, func(a Alternative) bool { return a.Instrument == c.against })
		if n < 0 || !slices.ContainsFunc(r.Alternatives[n].WhyNot, func(why Reason) bool {
			return why.Rule == c.want.Rule && why.Why == c.want.Why && why.Remedy == c.want.Remedy
		}) {
			t.Errorf("%s: %+v, not %+v", name, r, c.want)
		}
	}
}

func TestResolve_EveryReasonHasItsCitation(t *testing.T) {
	t.Parallel()
	l := installed(t)
	rapid.Check(t, func(t *rapid.T) {
		tr, d := drawTransfer(t)
		r, err := l.Resolve(tr, d)
		if err != nil {
			t.Fatal(err)
		}
		reasons := r.Because
		for _, a := range r.Alternatives {
			reasons = append(reasons, a.WhyNot...)
		}
		for _, why := range reasons {
			if why.Rule == "" || why.Why == "" || why.Citation == "" {
				t.Fatalf("%+v", why)
			}
		}
	})
}

func BenchmarkResolve(b *testing.B) {
	l := installed(b)
	tr, d := transfer(
		map[string]string{"category": "PLASMID", "human": "NO", "plant": "NO", "export": "NO", "encumbered": "NO",
			"proprietary": "NO", "provider": "NONPROFIT", "recipient": "NONPROFIT", "purpose": "RESEARCH", "day": string(day),
			"provider_ubmta": "1996-01-01", "recipient_ubmta": "1997-01-01"},
	)
	for range 20 {
		tr.Precedents = append(tr.Precedents, Precedent{Instrument: "BRUNSWICK", Category: "PDX"})
	}
	for b.Loop() {
		if _, err := l.Resolve(tr, d); err != nil {
			b.Fatal(err)
		}
	}
}

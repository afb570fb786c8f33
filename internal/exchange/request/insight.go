package request

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

// Stage is a step of a request that takes one side's time.
type Stage string

// The stages, in the order of a successful request.
const (
	DecisionStage    Stage = "decision"
	DocumentsStage   Stage = "documents" // what the requester owes: an abstract, an answer, documents
	CountersignStage Stage = "countersign"
	ShippingStage    Stage = "shipping"
	ProblemStage     Stage = "problem"
	ReceiptStage     Stage = "receipt"
)

// Stages lists all of them.
var Stages = []Stage{DecisionStage, DocumentsStage, CountersignStage, ShippingStage, ProblemStage, ReceiptStage}

// Side returns whose time a stage takes.
func (s Stage) Side() Side {
	if s == DocumentsStage || s == ReceiptStage {
		return RequesterSide
	}
	return LabSide
}

// Stage returns the stage that a turn belongs to, "" if it is nobody's turn.
func (t TurnRecord) Stage() Stage {
	has := func(step string) bool { return slices.Contains(t.What, step) }
	switch {
	case t.Side == Nobody:
		return ""
	case has(StepReceipt):
		return ReceiptStage
	case t.Side == RequesterSide:
		return DocumentsStage
	case has(StepIssue):
		return ProblemStage
	case has(StepShipment):
		return ShippingStage
	case has(string(NeedExecutedMTA)):
		return CountersignStage
	}
	return DecisionStage
}

// State is the state in which insights count a request.
type State string

// The states: the first two are of active requests, the others of those that ended.
const (
	IsNew      State = "new" // not decided yet
	InProgress State = "in_progress"
	Completed  State = "completed"
	Declined   State = "declined"
	Withdrawn  State = "cancelled"
	Void       State = "invalid"
	Shut       State = "closed" // closed by the lab without outcome
)

// Endings lists the states of requests that ended.
var Endings = []State{Completed, Declined, Withdrawn, Void, Shut}

// State returns the state of a request in this turn.
func (t TurnRecord) State() State {
	switch {
	case t.Side != Nobody && t.Status == Open:
		return IsNew
	case t.Side != Nobody:
		return InProgress
	}
	switch t.Status {
	case Verified:
		return Completed
	case Rejected:
		return Declined
	case Cancelled:
		return Withdrawn
	case Invalid:
		return Void
	}
	return Shut
}

// TurnHistory is all turns of one request, in order, with the facts that insights group by.
type TurnHistory struct {
	Material int64
	Category string // of the material
	Country  string // where its parcel goes; "": not specified
	Turns    []TurnRecord
}

// InsightCounts is what happened to the requests of a lab in a period.
type InsightCounts struct {
	Received  int64               `json:"n,omitempty"`
	Materials map[int64]int64     `json:"m,omitempty"` // requests received, by material
	Ended     map[State]int64     `json:"e,omitempty"` // a request that is reopened may end again
	Countries map[string]int64    `json:"c,omitempty"` // requests completed, by country
	Sides     map[Side]int64      `json:"w,omitempty"` // seconds of the turns that ended, by side
	Stages    map[Stage]Durations `json:"s,omitempty"` // seconds of the stages that ended
	Whole     Durations           `json:"t,omitempty"` // seconds from request to receipt, of the completed ones
	New       int64               `json:"a,omitempty"` // net change in new requests; Progress: in those in progress
	Progress  int64               `json:"b,omitempty"`
}

// Durations are durations in seconds, in no particular order.
type Durations []int64

// MarshalText writes them in a short form, since a year of a large lab has many.
func (d Durations) MarshalText() ([]byte, error) {
	var b []byte
	for i, n := range d {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendInt(b, n, 36)
	}
	return b, nil
}

// UnmarshalText reads what MarshalText wrote.
func (d *Durations) UnmarshalText(text []byte) error {
	list := slices.Grow((*d)[:0], len(text)/4+1)
	var n int64
	for _, c := range text { // by hand, which takes a third of the time
		switch {
		case c == ' ':
			list, n = append(list, n), 0
		case c >= '0' && c <= '9':
			n = n*36 + int64(c-'0')
		case c >= 'a' && c <= 'z':
			n = n*36 + int64(c-'a') + 10
		default:
			return fmt.Errorf("%q is not a digit of a duration", c)
		}
	}
	if len(text) > 0 {
		list = append(list, n)
	}
	*d = list
	return nil
}

// Percentile returns the smallest duration that at least p percent of the durations do not exceed; ok is false if there
// are none. It reorders d.
func (d Durations) Percentile(p int) (seconds int64, ok bool) {
	if len(d) == 0 {
		return 0, false
	}
	at := max((len(d)*p+99)/100, 1) - 1
	list, low, high := d, 0, len(d)-1
	for low < high { // quickselect: sorting would take ten times as long
		pivot := middle(list[low], list[(low+high)/2], list[high])
		i, j := low, high
		for i <= j {
			for list[i] < pivot {
				i++
			}
			for list[j] > pivot {
				j--
			}
			if i <= j {
				list[i], list[j] = list[j], list[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case at <= j:
			high = j
		case at >= i:
			low = i
		default:
			return list[at], true
		}
	}
	return list[at], true
}

func middle(a, b, c int64) int64 { return max(min(a, b), min(max(a, b), c)) }

// Within adds to f what happened in a history from a moment until before another.
func (f *InsightCounts) Within(a TurnHistory, from, until time.Time) {
	inside := func(t time.Time) bool { return !t.Before(from) && t.Before(until) }
	var stage time.Time // when the current stage began
	for i, t := range a.Turns {
		if i == 0 {
			if stage = t.BeganAt; inside(t.BeganAt) {
				f.Received++
				tally(&f.Materials, a.Material, 1)
				f.enter(t.State(), 1)
			}
			continue
		}
		was := a.Turns[i-1]
		if now := inside(t.BeganAt); now {
			tally(&f.Sides, was.Side, seconds(was.BeganAt, t.BeganAt))
			f.step(a, was, t)
			if s := was.Stage(); s != "" && s != t.Stage() {
				if f.Stages == nil {
					f.Stages = map[Stage]Durations{}
				}
				f.Stages[s] = append(f.Stages[s], seconds(stage, t.BeganAt))
			}
		}
		if was.Stage() != t.Stage() {
			stage = t.BeganAt
		}
	}
	delete(f.Sides, Nobody)
}

// step counts a request that changes its state from one turn to the next.
func (f *InsightCounts) step(a TurnHistory, was, is TurnRecord) {
	before, after := was.State(), is.State()
	if before == after {
		return
	}
	f.enter(before, -1)
	f.enter(after, 1)
	if after == Completed {
		f.Whole = append(f.Whole, seconds(a.Turns[0].BeganAt, is.BeganAt))
		if a.Country != "" {
			tally(&f.Countries, a.Country, 1)
		}
	}
}

func (f *InsightCounts) enter(s State, n int64) {
	switch {
	case s == IsNew:
		f.New += n
	case s == InProgress:
		f.Progress += n
	case n > 0:
		tally(&f.Ended, s, n)
	}
}

func seconds(from, until time.Time) int64 { return until.Unix() - from.Unix() }

func tally[K comparable](to *map[K]int64, key K, n int64) {
	if *to == nil {
		*to = map[K]int64{}
	}
	(*to)[key] += n
}

// Add adds the counts of another period.
func (f *InsightCounts) Add(g InsightCounts) {
	f.Received, f.New, f.Progress = f.Received+g.Received, f.New+g.New, f.Progress+g.Progress
	sum(&f.Materials, g.Materials)
	sum(&f.Ended, g.Ended)
	sum(&f.Countries, g.Countries)
	sum(&f.Sides, g.Sides)
	if f.Stages == nil {
		f.Stages = map[Stage]Durations{}
	}
	for s, list := range g.Stages {
		f.Stages[s] = append(f.Stages[s], list...)
	}
	f.Whole = append(f.Whole, g.Whole...)
}

func sum[K comparable](to *map[K]int64, more map[K]int64) {
	if *to == nil {
		*to = make(map[K]int64, len(more))
	}
	for k, n := range more {
		(*to)[k] += n
	}
}

// Counted is a key with its count.
type Counted[K any] struct {
	Key K
	N   int64
}

// TopCounts returns the entries with the highest counts, at most limit of them (0: all); of entries with equal counts
// the lesser key comes first.
func TopCounts[K int64 | string](counts map[K]int64, limit int) []Counted[K] {
	list := make([]Counted[K], 0, len(counts))
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, Counted[K]{k, counts[k]})
	}
	slices.SortStableFunc(list, func(a, b Counted[K]) int { return int(b.N - a.N) })
	if limit > 0 && len(list) > limit {
		list = list[:limit]
	}
	return list
}

// EndedAs returns how many requests ended in a state.
func (f InsightCounts) EndedAs(s string) int64 { return f.Ended[State(s)] }

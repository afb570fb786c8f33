package jsonschema

import (
	"maps"
	"reflect"
	"slices"

	"aliquot/internal/agreement/duty"
	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/lint"
	"aliquot/internal/agreement/playbook"
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/agreement/term"
	"aliquot/internal/api/shape"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/publish"
	"aliquot/internal/exchange/request"
)

// WordsOf returns the possible values of a field; nil if they are not limited.
func WordsOf(name string, t reflect.Type, of rules) (words []string) {
	if of[name].Words != nil {
		return of[name].Words
	}
	e, _ := EnumOf(name, t)
	return e.Words
}

// Enum returns the schema of a text that is one of values.
func Enum[T any](values ...T) Object { return Object{"type": "string", "enum": values} }

// enumeration is a text with few values.
type enumeration struct {
	name  string
	Words []string
}

func enumerate[T ~string](name string, values ...T) enumeration {
	e := enumeration{name: name}
	for _, value := range values {
		e.Words = append(e.Words, string(value))
	}
	return e
}

var enumerations = map[reflect.Type]enumeration{
	reflect.TypeFor[mailing.Delivery]():   enumerate("MailDelivery", mailing.Deliveries...),
	reflect.TypeFor[shape.CountIs]():      enumerate("CountIs", shape.CountExactly, shape.CountAtLeast),
	reflect.TypeFor[exchange.Code]():      enumerate("ErrorCode", slices.Sorted(maps.Keys(shape.Statuses))...),
	reflect.TypeFor[request.Status]():     enumerate("RequestStatus", request.Statuses...),
	reflect.TypeFor[request.EventKind]():  enumerate("EventKind", request.EventKinds...),
	reflect.TypeFor[letter.State]():       enumerate("AgreementState", letter.States...),
	reflect.TypeFor[document.ScanState](): enumerate("ScanState", document.ScanStates...),
	reflect.TypeFor[lint.PaperState]():    enumerate("PaperState", lint.PaperStates...),
	reflect.TypeFor[requirement.State]():  enumerate("OwedState", requirement.States...),
	reflect.TypeFor[duty.State]():         enumerate("AgreementDutyState", duty.States...),
	reflect.TypeFor[playbook.Position]():  enumerate("PlaybookPosition", playbook.Positions...),
	reflect.TypeFor[term.Term]():          enumerate("AgreementTerm", term.All()...),
	reflect.TypeFor[term.Relation]():      enumerate("LineageRelation", term.Relations...),
	reflect.TypeFor[term.Verdict]():       enumerate("SharingVerdict", term.Verdicts...),
	reflect.TypeFor[counting]():           enumerate("Counting", string(countExact)),
	reflect.TypeFor[exchange.Scope]():     enumerate("TokenScope", exchange.Scopes...),
	reflect.TypeFor[document.Slot]():      enumerate("DocumentName", document.Slots...),
	reflect.TypeFor[document.Review](): enumerate(
		"DocumentState", document.Delivered, document.Accepted, document.Returned, document.Superseded),
	reflect.TypeFor[request.Need](): enumerate(
		"RequirementName", request.NeedAbstract, request.NeedSignedMTA, request.NeedIRB,
		request.NeedAddress, request.NeedPayment, request.NeedExecutedMTA),
	reflect.TypeFor[request.Due](): enumerate(
		"RequirementState", request.NotNeeded, request.OwedByRequester, request.OwedByLab, request.Done),
	reflect.TypeFor[request.Side]():            enumerate("Party", request.RequesterSide, request.LabSide),
	reflect.TypeFor[mailing.Category]():        enumerate("NotificationCategory", mailing.AllCategories...),
	reflect.TypeFor[mailing.State]():           enumerate("MailState", mailing.States...),
	reflect.TypeFor[notify.NotificationKind](): enumerate("NotificationKind", notify.NotificationKinds...),
	reflect.TypeFor[lab.Role]():                enumerate("OrganizationRole", lab.OrganizationRoles...),
	reflect.TypeFor[lab.JoinStatus]():          enumerate("JoinStatus", lab.JoinStatuses...),
	reflect.TypeFor[publish.Format]():          enumerate("CitationFormat", publish.Formats...),
	reflect.TypeFor[exchange.JobState]():       enumerate("JobState", exchange.JobStates...),
	reflect.TypeFor[material.BulkMode]():       enumerate("BulkMode", material.BulkModes...),
	reflect.TypeFor[lab.InvitationStatus]():    enumerate("InvitationStatus", lab.InvitationStatuses...),
	reflect.TypeFor[notify.EventType](): enumerate(
		"EventType", append(slices.Clone(notify.EventTypes), notify.Ping)...),
	reflect.TypeFor[notify.DeliveryState](): enumerate("DeliveryState", notify.DeliveryStates...),
}

// categories are the values of every field and parameter that is called category.
var categories = enumerate("MaterialCategory", category.Codes()...)

// EnumOf returns the enumeration of the values of a field or parameter by its name and type.
func EnumOf(name string, t reflect.Type) (e enumeration, ok bool) {
	if e, ok = enumerations[t]; !ok && name == "category" && t.Kind() == reflect.String {
		e, ok = categories, true
	}
	return e, ok
}

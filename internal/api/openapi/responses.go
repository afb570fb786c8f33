package openapi

import (
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/api/jsonschema"
	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
	"aliquot/internal/exchange"
	"aliquot/internal/server"
)

// sharedHeaders are headers that many answers have.
var sharedHeaders = jsonschema.Object{
	"X-Request-Id": headerOf("Names this call in the server's log.", "string"),
	"RateLimit": headerOf("What remains of the limit closest to being reached: `\"user\";r=99;t=1`.",
		"string"),
	"RateLimit-Policy": headerOf("That limit: `\"user\";q=100;w=5`.", "string"),
	"ETag":             headerOf("The version, for If-None-Match and If-Match.", "string"),
	"Link": headerOf("For a list, the next page, `<...>; rel=\"next\"`; absent on the last one. For an object, its "+
		"page for people, `<...>; rel=\"alternate\"; type=\"text/html\"`.", "string"),
	"Location": headerOf("The address of the new object.", "string"),
	"X-Total-Count": headerOf("How many items there are on all pages. Absent if there are more than 10,000, unless "+
		"the call has `count=exact`.", "integer"),
	"X-Total-Count-At-Least": headerOf("10,000 if there are more items than that and `X-Total-Count` is absent.",
		"integer"),
	"X-Unread-Count":   headerOf("How many of the user's notifications are unread.", "integer"),
	"Retry-After":      headerOf("How many seconds to wait before trying again.", "integer"),
	"WWW-Authenticate": headerOf("Always `Token`.", "string"),
	"Idempotency-Replayed": headerOf("`true` on the stored answer of an earlier call with the same Idempotency-Key.",
		"string"),
	"Content-Disposition": headerOf("Always a download, with the filename.", "string"),
}

func headerOf(description, kind string) jsonschema.Object {
	return jsonschema.Object{"description": description, "schema": jsonschema.Object{"type": kind}}
}

func headers(names ...string) jsonschema.Object {
	list := jsonschema.Object{}
	for _, name := range append(names, "X-Request-Id", "RateLimit", "RateLimit-Policy") {
		list[name] = jsonschema.Object{"$ref": "#/components/headers/" + name}
	}
	return list
}

// errors returns the answer for each error status, from the table of codes.
func (d description) errors() jsonschema.Object {
	codes := map[int][]string{}
	for code, status := range shape.Statuses {
		codes[status] = append(codes[status], string(code))
	}
	list := jsonschema.Object{}
	for status, names := range codes {
		slices.Sort(names)
		extra := map[int][]string{401: {"WWW-Authenticate"}, 412: {"ETag"}, 416: {"ETag"}, 409: {"Retry-After"},
			429: {"Retry-After"}, 503: {"Retry-After"}}[status]
		list[errorName(status)] = jsonschema.Object{
			"description": strings.Join(names, ", "), "headers": headers(extra...),
			"content": jsonOf(d.schemas.Schema(reflect.TypeFor[shape.Error]())),
		}
	}
	return list
}

// errorName returns "NotFound" for 404.
func errorName(status int) string { return strings.ReplaceAll(http.StatusText(status), " ", "") }

func (d description) responses(r rest.Route, method string) jsonschema.Object {
	list := jsonschema.Object{}
	for _, status := range failures(r, method) {
		list[strconv.Itoa(status)] = jsonschema.Object{"$ref": "#/components/responses/" + errorName(status)}
	}
	single := method == http.MethodGet && r.Out.Kind() == reflect.Struct && !r.File && !r.Events
	names := []string{}
	switch {
	case r.Action == exchange.NotificationRead && r.Out.Kind() == reflect.Slice:
		names = append(names, "X-Unread-Count", "X-Total-Count", "X-Total-Count-At-Least", "Link")
	case r.Out.Kind() == reflect.Slice:
		names = append(names, "X-Total-Count", "X-Total-Count-At-Least", "Link")
	case single:
		names = append(names, "ETag")
		if r.Page != "" {
			names = append(names, "Link")
		}
		if len(r.Parameters()) > 0 {
			list["302"] = jsonschema.Object{"description": "It is at Location, for a minute; only with redirect=true.",
				"headers": headers("Location")}
		}
		list["304"] = jsonschema.Object{"description": "It is the version that If-None-Match names.",
			"headers": headers(names...)}
	case d.locates(r, method) || r.Status == http.StatusAccepted:
		names = append(names, "Location")
	}
	if r.Repeatable(method) {
		names = append(names, "Idempotency-Replayed")
	}
	good := jsonschema.Object{"description": http.StatusText(r.Status), "headers": headers(names...)}
	list[strconv.Itoa(r.Status)] = good
	switch r.Out {
	case reflect.TypeFor[rest.None]():
	case reflect.TypeFor[rest.Body]():
		content := jsonschema.Object{}
		for _, kind := range r.Types {
			content[kind] = jsonschema.Object{"schema": contentOf(kind)}
		}
		good["content"], good["headers"] = content, headers(append(names, "Content-Disposition")...)
	default:
		good["content"] = jsonOf(d.schemas.Schema(r.Out))
	}
	switch {
	case r.There != nil && r.Status == http.StatusOK:
		good["description"] = "OK, or: " + r.There.When
		good["content"] = jsonOf(jsonschema.Object{"anyOf": []jsonschema.Object{d.schemas.Schema(r.Out),
			d.schemas.Schema(r.There.Out)}})
	case r.There != nil:
		list["200"] = jsonschema.Object{"description": r.There.When, "headers": good["headers"],
			"content": jsonOf(d.schemas.Schema(r.There.Out))}
	}
	if r.File {
		good["headers"], good["content"] = headers("Content-Disposition"), anything
	}
	if r.Events {
		text := jsonschema.Object{"schema": jsonschema.Object{"type": "string"}}
		good["content"] = jsonschema.Object{server.EventStream: text}
	}
	if r.Action == exchange.AttachmentContent {
		good["headers"] = headers("ETag", "Content-Disposition")
		good["content"] = anything
		list["206"] = jsonschema.Object{"description": "The range that was asked for.", "headers": good["headers"],
			"content": good["content"]}
		if len(r.Parameters()) > 0 {
			list["302"] = jsonschema.Object{"description": "It is at Location, for a minute; only with redirect=true.",
				"headers": headers("Location")}
		}
		list["304"] = jsonschema.Object{"description": "It is the version that If-None-Match names.",
			"headers": headers("ETag")}
		list["416"] = jsonschema.Object{"$ref": "#/components/responses/" + errorName(416)}
	}
	return list
}

// failures returns the error statuses of a route.
func failures(r rest.Route, method string) []int {
	list := []int{400, 401, 421, 429, 500, 503}
	get := method == http.MethodGet
	if strings.Contains(r.Path, "{") || r.Action == exchange.InvitationOpen {
		list = append(list, 404)
	}
	if !get || exchange.PolicyFor(exchange.AccessMembers)[r.Action]&exchange.Anyone == 0 {
		list = append(list, 403)
	}
	if r.AsksSource() {
		list = append(list, 502) // an error of the source
	}
	if !get || r.File || r.Action == exchange.AttachmentContent { // a file may be withheld
		list = append(list, 409)
	}
	if !get && method != http.MethodPost || get && r.Out.Kind() == reflect.Struct && !r.File && !r.Events {
		list = append(list, 412)
	}
	if r.HasBody() {
		list = append(list, 413, 415)
	}
	if !get {
		list = append(list, 507)
	}
	return list
}

// locates reports whether a call creates an object that has an address of its own.
func (d description) locates(r rest.Route, method string) bool {
	return r.Action == exchange.MaterialImport || r.Status == http.StatusAccepted || r.Repeatable(method) &&
		slices.ContainsFunc(d.routes, func(one rest.Route) bool {
			rest, ok := strings.CutPrefix(one.Path, r.Path+"/{")
			return ok && !strings.Contains(rest, "/") && one.Methods[0] == http.MethodGet
		})
}

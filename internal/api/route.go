package api

import (
	"context"
	"net/http"
	"reflect"
	"strings"
	"time"

	"aliquot/internal/app"
	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

// route is one row of the table of routes.
type route struct {
	methods []string
	path    string
	action  exchange.Action
	status  int
	name    string       // of the operation in clients
	text    string       // the description; its first sentence is the title
	there   *outcome     // the answer of a POST if the object already exists
	silent  bool         // the answer has no JSON
	stream  bool         // the handler reads the body itself, without the limit on JSON
	types   []string     // content types of a Body
	in, out reflect.Type // of the bodies, and of a GET's query; None if there is none
	fields  []exchange.Field
	asked   reflect.Type // parameters of a POST; nil: none
	file    bool         // it sends a file
	events  bool         // it streams events for as long as the client is connected
	search  *searched    // nil: it is not a search
	page    string       // the path of the page of the object, before its id; "": it has none
	serve   func(*Call) error
}

// outcome is another successful answer than a route's usual one.
type outcome struct {
	when string
	out  reflect.Type
}

// None is the body of a request or response that has none.
type None struct{}

// Body is the answer of a GET that is not our JSON, such as a citation. It is held in memory, and is tagged and
// compressed as every answer; a file is streamed instead, as getContent does.
type Body struct {
	Type  string
	Bytes []byte
	Name  string // the file name for a browser to save it under; "": shown in the browser
}

// on makes a route of a typed handler: In is decoded from the body, or from the query of a GET; Out is the answer. text
// is the description in the OpenAPI document.
func on[In, Out any](name, pattern string, action exchange.Action, status int,
	handle func(*Call, In) (Out, error), text string) route {
	methods, path, _ := strings.Cut(pattern, " ")
	r := route{
		name: name, methods: strings.Split(methods, ","), path: path, action: action, status: status, text: text,
		in: reflect.TypeFor[In](), out: reflect.TypeFor[Out](),
	}
	hasInput := r.in != reflect.TypeFor[None]()
	places := placesOf(path)
	r.silent = r.out == reflect.TypeFor[None]()
	get := r.methods[0] == http.MethodGet
	isList, single := get && r.out.Kind() == reflect.Slice, get && r.out.Kind() == reflect.Struct
	r.serve = func(c *Call) error {
		var in In
		var err error
		switch {
		case isList:
			err = c.readList(&in)
		case c.searched != nil:
			err = c.readSearch()
		case hasInput && get:
			err = c.readQuery(&in)
		default:
			if err = c.query().faults.Err(); err == nil && hasInput && !c.stream {
				err = c.decode(&in)
			}
		}
		if err == nil {
			err = c.checkPath(places)
		}
		if err != nil {
			return asSent(c, in, err)
		}
		var out Out
		if c.searched != nil || r.out == reflect.TypeFor[Suggestions]() || isList && c.narrowed() {
			request := c.Request
			err = c.App.Expensive(c.Context(), c.caller(), func(ctx context.Context) (err error) {
				c.Request = c.WithContext(ctx)
				out, err = handle(c, in)
				return err
			})
			c.Request = request
		} else {
			out, err = handle(c, in)
		}
		switch {
		case err != nil:
			return asSent(c, in, err)
		case c.written:
			return nil
		case r.silent:
			c.w.WriteHeader(c.status)
			return nil
		case single:
			return c.answerOne(out)
		}
		return answer(c.w, c.status, out)
	}
	return r
}

// sortedBy sets the fields that the parameter ordering of a list can name.
func (r route) sortedBy(fields []exchange.Field) route {
	r.fields = fields
	return r
}

// searches sets what a search accepts besides its text.
func (r route) searches(s searched) route {
	r.search = &s
	return r
}

// shownAt sets the path of the page of an object, before its id.
func (r route) shownAt(page string) route {
	r.page = page
	return r
}

// streams marks a route whose handler reads the body itself.
func (r route) streams() route {
	r.stream = true
	return r
}

// asks sets the parameters of a POST: a struct whose tags name them.
func (r route) asks(parameters any) route {
	r.asked = reflect.TypeOf(parameters)
	return r
}

// sendsFile marks a GET that sends a file which is generated as it is sent.
func (r route) sendsFile() route {
	r.file = true
	return r
}

// sendsEvents marks a GET that streams server-sent events.
func (r route) sendsEvents() route {
	r.events = true
	return r
}

// as sets the content types of the Body that a GET returns.
func (r route) as(types ...string) route {
	r.types = types
	return r
}

// already documents when a POST finds its object and answers 200, with a body like example.
func (r route) already(when string, example any) route {
	r.there = &outcome{when, reflect.TypeOf(example)}
	return r
}

// hasBody reports whether calls have a body.
func (r route) hasBody() bool {
	return r.methods[0] != http.MethodGet && (r.in != reflect.TypeFor[None]() || r.stream)
}

// patterns returns the patterns of the route for net/http's mux.
func (r route) patterns() []string {
	var list []string
	for _, method := range r.methods {
		list = append(list, patterns(method, r.path)...)
	}
	return list
}

// patterns returns the patterns of one method of a path: at the root and under /v1, with and without a trailing slash.
func patterns(method, path string) []string {
	return []string{method + " " + path, method + " " + path + "/{$}", method + " /v1" + path, method + " /v1" + path +
		"/{$}"}
}

// Call is one HTTP request on its way through a handler.
type Call struct {
	*http.Request
	App      *app.App // whose transaction stays open for the whole call if it has an Idempotency-Key
	API      *API
	Actor    exchange.Actor
	w        http.ResponseWriter
	status   int // of success
	stream   bool
	fields   []exchange.Field
	filters  []filter    // of a list, in addition to those of its query
	list     listQuery   // of a list
	searched *searched   // nil: the route does not search
	search   searchQuery // of a search
	written  bool        // the handler has written the answer itself
	user     uuid.UUID   // in the path

	page       string   // the address of the page of the object, before its id
	parameters []string // the allowed query parameters
	body       []byte   // JSON, as sent
}

// minTransferRate is the lowest speed of a connection, in bytes a second, at which a whole file can still be sent.
const minTransferRate = 64 << 10

// extendDeadlines extends the deadlines of the connection for n bytes; the server's own deadlines are meant for JSON.
func (c *Call) extendDeadlines(n int64) {
	until := time.Now().Add(time.Minute + time.Duration(n/minTransferRate)*time.Second)
	connection := http.NewResponseController(c.w)
	_ = connection.SetReadDeadline(until) // fails only if a connection has no deadlines
	_ = connection.SetWriteDeadline(until)
}

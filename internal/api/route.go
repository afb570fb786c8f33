package api

import (
	"context"
	"net/http"
	"reflect"
	"runtime"
	"strings"
	"time"

	"aliquot/internal/exchange"
)

// route is one line of the table.
type route struct {
	methods []string
	path    string
	action  exchange.Action
	status  int
	name    string       // of the handler, which clients call it by
	text    string       // the first sentence is its title
	there   *outcome     // of a POST whose object is there already
	silent  bool         // no JSON comes back
	stream  bool         // the handler reads the body itself, and no limit on JSON applies
	types   []string     // of a Body
	in, out reflect.Type // of the bodies, and of a GET's query; None where there is none
	fields  []exchange.Field
	asked   reflect.Type // parameters of a POST; nil: none
	file    bool         // it sends a file
	events  bool         // it sends events, for as long as the caller listens
	search  *searched    // it searches; nil: it does not
	page    string       // the path of the page of the object, before its id; "": it has none
	serve   func(*API, *Call) error
}

// outcome is another success than a route's usual one.
type outcome struct {
	when string
	out  reflect.Type
}

// None is the body of a request or response that has none.
type None struct{}

// Body is the answer of a GET that is no JSON of ours, such as a reference. It is held whole, and is
// tagged and compressed as every answer; a file is streamed instead, as getContent does.
type Body struct {
	Type  string
	Bytes []byte
	Name  string // of the file that a browser saves it as; "" shows it
}

// on makes a route of a typed handler: In is decoded from the body, or from the query of a GET;
// Out is the answer. text says in the OpenAPI document what the route does.
func on[In, Out any](pattern string, action exchange.Action, status int, handle func(*API, *Call, In) (Out, error),
	text string) route {
	methods, path, _ := strings.Cut(pattern, " ")
	r := route{
		methods: strings.Split(methods, ","), path: path, action: action, status: status, text: text,
		in: reflect.TypeFor[In](), out: reflect.TypeFor[Out](),
	}
	symbol := runtime.FuncForPC(reflect.ValueOf(handle).Pointer()).Name()
	r.name = symbol[strings.LastIndexByte(symbol, '.')+1:]
	hasInput := r.in != reflect.TypeFor[None]()
	r.silent = r.out == reflect.TypeFor[None]()
	get := r.methods[0] == http.MethodGet
	isList, single := get && r.out.Kind() == reflect.Slice, get && r.out.Kind() == reflect.Struct
	r.serve = func(a *API, c *Call) error {
		a.ifMatch(c)
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
		if err != nil {
			return a.asSent(c, in, err)
		}
		var out Out
		do := func(ctx context.Context) (err error) {
			c.Request = c.WithContext(ctx)
			out, err = handle(a, c, in)
			return err
		}
		request := c.Request
		if c.searched != nil || r.out == reflect.TypeFor[Suggestions]() || isList && c.narrowed() {
			err = a.App.Expensive(c.Context(), c.caller(), do)
		} else {
			err = do(c.Context())
		}
		c.Request = request
		switch {
		case err != nil:
			return a.asSent(c, in, err)
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

// sortedBy gives a list the fields that its parameter ordering can name.
func (r route) sortedBy(fields []exchange.Field) route {
	r.fields = fields
	return r
}

// searches says what a search takes beside its text.
func (r route) searches(s searched) route {
	r.search = &s
	return r
}

// shownAt gives an object the path of its page, before its id.
func (r route) shownAt(page string) route {
	r.page = page
	return r
}

// streams marks a route whose handler reads the body itself.
func (r route) streams() route {
	r.stream = true
	return r
}

// asks gives a POST parameters: a struct whose tags name them.
func (r route) asks(parameters any) route {
	r.asked = reflect.TypeOf(parameters)
	return r
}

// sendsFile marks a GET that sends a file which is made for it as it goes.
func (r route) sendsFile() route {
	r.file = true
	return r
}

// sendsEvents marks a GET that streams server-sent events.
func (r route) sendsEvents() route {
	r.events = true
	return r
}

// as says what content types the Body that a GET gives may have.
func (r route) as(types ...string) route {
	r.types = types
	return r
}

// already says when a POST finds its object there and answers 200, with a body like example.
func (r route) already(when string, example any) route {
	r.there = &outcome{when, reflect.TypeOf(example)}
	return r
}

// hasBody reports whether calls bring a body.
func (r route) hasBody() bool {
	return r.methods[0] != http.MethodGet && (r.in != reflect.TypeFor[None]() || r.stream)
}

// patterns are those under which net/http's mux knows the route.
func (r route) patterns() []string {
	var list []string
	for _, method := range r.methods {
		list = append(list, patterns(method, r.path)...)
	}
	return list
}

// patterns are those of one method of a path: at the root and under /v1, with and without a slash at its end.
func patterns(method, path string) []string {
	return []string{method + " " + path, method + " " + path + "/{$}", method + " /v1" + path, method + " /v1" + path +
		"/{$}"}
}

// Call is one request on its way through a handler.
type Call struct {
	*http.Request
	Actor    exchange.Actor
	w        http.ResponseWriter
	status   int // of success
	stream   bool
	fields   []exchange.Field
	filters  []filter    // of a list, beside those of its query
	list     listQuery   // of a list
	searched *searched   // nil: the route does not search
	search   searchQuery // of a search
	written  bool        // the handler wrote the answer itself

	page       string   // the address of the page of the object, before its id
	parameters []string // those that the query may have
	body       []byte   // JSON, as it was sent
}

// slowest is the speed of a connection, in bytes a second, at which a whole file still passes.
const slowest = 64 << 10

// forFile gives the connection the time for n bytes; the server's own limits are meant for JSON.
func (c *Call) forFile(n int64) {
	until := time.Now().Add(time.Minute + time.Duration(n/slowest)*time.Second)
	connection := http.NewResponseController(c.w)
	_ = connection.SetReadDeadline(until) // fails only where a connection has no deadlines
	_ = connection.SetWriteDeadline(until)
}

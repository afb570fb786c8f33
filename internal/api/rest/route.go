package rest

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"aliquot/internal/api/shape"
	"aliquot/internal/app"
	"aliquot/internal/exchange"
	"aliquot/internal/server"

	"github.com/google/uuid"
)

// Route is one row of the table of routes.
type Route struct {
	Methods []string
	Path    string
	Action  exchange.Action
	Status  int
	Name    string           // of the operation in clients
	Text    string           // the description; its first sentence is the title
	There   *outcome         // the answer of a POST if the object already exists
	silent  bool             // the answer has no JSON
	Stream  bool             // the handler reads the body itself, without the limit on JSON
	Types   []string         // content types of a Body
	In, Out reflect.Type     // of the bodies, and of a GET's query; None if there is none
	Fields  []exchange.Field // of a list, that it can be sorted by
	asked   reflect.Type     // parameters of a POST; nil: none
	File    bool             // it sends a file
	Events  bool             // it streams events for as long as the client is connected
	search  *Searched        // nil: it is not a search
	Page    string           // the path of the page of the object, before its id; "": it has none
	serve   func(*Call) error
}

// outcome is another successful answer than a route's usual one.
type outcome struct {
	When string
	Out  reflect.Type
}

// None is the body of a request or response that has none.
type None struct{}

// Body is the answer of a GET that is not our JSON, such as a citation. It is held in memory, and is tagged and
// compressed as every answer; a file is streamed instead, as GetContent does.
type Body struct {
	Type  string
	Bytes []byte
	Name  string // the file name for a browser to save it under; "": shown in the browser
}

// On makes a route of a typed handler: In is decoded from the body, or from the query of a GET; Out is the answer. text
// is the description in the OpenAPI document.
func On[In, Out any](name, pattern string, action exchange.Action, status int,
	handle func(*Call, In) (Out, error), text string) Route {
	methods, path, _ := strings.Cut(pattern, " ")
	r := Route{
		Name: name, Methods: strings.Split(methods, ","), Path: path, Action: action, Status: status, Text: text,
		In: reflect.TypeFor[In](), Out: reflect.TypeFor[Out](),
	}
	hasInput := r.In != reflect.TypeFor[None]()
	places := placesOf(path)
	r.silent = r.Out == reflect.TypeFor[None]()
	get := r.Methods[0] == http.MethodGet
	isList, single := get && r.Out.Kind() == reflect.Slice, get && r.Out.Kind() == reflect.Struct
	r.serve = func(c *Call) error {
		var in In
		var err error
		switch {
		case isList:
			err = c.readList(&in)
		case c.Searched != nil:
			err = c.readSearch()
		case hasInput && get:
			err = c.ReadQuery(&in)
		default:
			if err = c.query().faults.Err(); err == nil && hasInput && !c.stream {
				err = c.Decode(&in)
			}
		}
		if err == nil {
			err = c.checkPath(places)
		}
		if err != nil {
			return AsSent(c, in, err)
		}
		var out Out
		if c.Searched != nil || r.Out == reflect.TypeFor[shape.Suggestions]() || isList && c.narrowed() {
			request := c.Request
			until := server.Waits(c.Writer) // it has a queue of its own
			err = c.App.Expensive(c.Context(), c.Caller(), func(ctx context.Context) (err error) {
				c.Request = c.WithContext(ctx)
				out, err = handle(c, in)
				return err
			})
			until()
			c.Request = request
		} else {
			out, err = handle(c, in)
		}
		switch {
		case err != nil:
			return AsSent(c, in, err)
		case c.Written:
			return nil
		case r.silent:
			c.Writer.WriteHeader(c.Status)
			return nil
		case single:
			return c.answerOne(out)
		}
		return Answer(c.Writer, c.Status, out)
	}
	return r
}

// SortedBy sets the fields that the parameter ordering of a list can name.
func (r Route) SortedBy(fields []exchange.Field) Route {
	r.Fields = fields
	return r
}

// Searches sets what a search accepts besides its text.
func (r Route) Searches(s Searched) Route {
	r.search = &s
	return r
}

// ShownAt sets the path of the page of an object, before its id.
func (r Route) ShownAt(page string) Route {
	r.Page = page
	return r
}

// Streams marks a route whose handler reads the body itself.
func (r Route) Streams() Route {
	r.Stream = true
	return r
}

// Asks sets the parameters of a POST: a struct whose tags name them.
func (r Route) Asks(parameters any) Route {
	r.asked = reflect.TypeOf(parameters)
	return r
}

// SendsFile marks a GET that sends a file which is generated as it is sent.
func (r Route) SendsFile() Route {
	r.File = true
	return r
}

// SendsEvents marks a GET that streams server-sent events.
func (r Route) SendsEvents() Route {
	r.Events = true
	return r
}

// As sets the content types of the Body that a GET returns.
func (r Route) As(types ...string) Route {
	r.Types = types
	return r
}

// Already documents when a POST finds its object and answers 200, with a body like example.
func (r Route) Already(when string, example any) Route {
	r.There = &outcome{when, reflect.TypeOf(example)}
	return r
}

// HasBody reports whether calls have a body.
func (r Route) HasBody() bool {
	return r.Methods[0] != http.MethodGet && (r.In != reflect.TypeFor[None]() || r.Stream)
}

// AsksSource reports whether a call waits for a public source.
func (r Route) AsksSource() bool {
	return r.Status == http.StatusOK &&
		slices.Contains([]exchange.Action{exchange.MaterialImport, exchange.MaterialPreview, exchange.PublicationRead},
			r.Action)
}

// Repeatable reports whether a call accepts an Idempotency-Key.
func (r Route) Repeatable(method string) bool {
	return method == http.MethodPost && !answersSecret(r.Action)
}

// Address returns the path as OpenAPI has it, where no parameter has slashes.
func (r Route) Address() string { return strings.Replace(r.Path, "...}", "}", 1) }

// patterns returns the patterns of the route for net/http's mux.
func (r Route) patterns() []string {
	var list []string
	for _, method := range r.Methods {
		list = append(list, patterns(method, r.Path)...)
	}
	return list
}

// patterns returns the patterns of one method of a path: at the root and under /v1, with and without a trailing slash,
// unless its end is whatever follows.
func patterns(method, path string) []string {
	if strings.HasSuffix(path, "...}") {
		return []string{method + " " + path, method + " /v1" + path}
	}
	return []string{method + " " + path, method + " " + path + "/{$}", method + " /v1" + path, method + " /v1" + path +
		"/{$}"}
}

// Call is one HTTP request on its way through a handler.
type Call struct {
	*http.Request
	App      *app.App // whose transaction stays open for the whole call if it has an Idempotency-Key
	API      *API
	Actor    exchange.Actor
	Writer   http.ResponseWriter
	Status   int // of success
	stream   bool
	fields   []exchange.Field
	filters  []filter    // of a list, in addition to those of its query
	List     listQuery   // of a list
	Searched *Searched   // nil: the route does not search
	Search   searchQuery // of a search
	Written  bool        // the handler has written the answer itself
	User     uuid.UUID   // in the path

	page       string   // the address of the page of the object, before its id
	parameters []string // the allowed query parameters
	body       []byte   // JSON, as sent
}

// minTransferRate is the lowest speed of a connection, in bytes a second, at which a whole file can still be sent.
const minTransferRate = 64 << 10

// extendDeadlines extends the deadlines of the connection for n bytes; the server's own deadlines are meant for JSON.
func (c *Call) extendDeadlines(n int64) {
	until := time.Now().Add(time.Minute + time.Duration(n/minTransferRate)*time.Second)
	connection := http.NewResponseController(c.Writer)
	_ = connection.SetReadDeadline(until) // fails only if a connection has no deadlines
	_ = connection.SetWriteDeadline(until)
}

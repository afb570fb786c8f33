package ui

// Route is one row of the table of pages: its address and its handler.
type Route struct {
	Pattern   string // for net/http's mux
	Handle    func(*PageRequest) (Response, error)
	SignedIn  bool // visitors who are not signed in are sent to sign in, and come back afterwards
	Uploads   bool // the handler reads the body itself, which may be large
	SignsIn   bool // counts as a login
	TakesLong bool // its queries may be slow, so callers take turns
}

// Private marks a page that needs a signed-in user. Forms always do.
func (p Route) Private() Route {
	p.SignedIn = true
	return p
}

// Open marks a form that visitors send who are not signed in.
func (p Route) Open() Route {
	p.SignedIn = false
	return p
}

// TakesFiles marks a form whose handler reads the body itself.
func (p Route) TakesFiles() Route {
	p.Uploads = true
	return p
}

// Limited marks a page that signs people in, which has its own rate limit.
func (p Route) Limited() Route {
	p.SignsIn = true
	return p
}

// Expensive marks a page whose queries may be slow, for which visitors take turns.
func (p Route) Expensive() Route {
	p.TakesLong = true
	return p
}

// Get returns the route of a page. H is the type of an area whose methods are its handlers.
func Get[H ~struct{ *PageRequest }](path string, handle func(*H) (Response, error)) Route {
	return Route{Pattern: "GET " + path, Handle: func(v *PageRequest) (Response, error) { return handle(&H{v}) }}
}

// Post returns the route of a form.
func Post[H ~struct{ *PageRequest }](path string, handle func(*H) (Response, error)) Route {
	return Route{Pattern: "POST " + path, SignedIn: true,
		Handle: func(v *PageRequest) (Response, error) { return handle(&H{v}) }}
}

// GetID is Get for a handler that takes the id in the path.
func GetID[H ~struct{ *PageRequest }](path string, handle func(*H, int64) (Response, error)) Route {
	return Get(path, withID(handle))
}

// PostID is Post for a handler that takes the id in the path.
func PostID[H ~struct{ *PageRequest }](path string, handle func(*H, int64) (Response, error)) Route {
	return Post(path, withID(handle))
}

func withID[H ~struct{ *PageRequest }](handle func(*H, int64) (Response, error)) func(*H) (Response, error) {
	return func(v *H) (Response, error) {
		id, err := (struct{ *PageRequest })(*v).PathID("id")
		if err != nil {
			return Response{}, err
		}
		return handle(v, id)
	}
}

package hostile

// method is a request with a method, without a body.
func method(name, target string, headers ...string) string {
	return lines(append([]string{name + " " + target + " HTTP/1.1", host}, headers...)...)
}

// deletes are headers and parameters by which some frameworks take another method than that of the request.
const deletes = "/materials/{material}?_method=DELETE&method=DELETE"

// methods are methods that do not exist, or that must not do what they do elsewhere.
var methods = []attack{
	{name: "TRACE", send: method("TRACE", "/materials", "X-Secret: a"), direct: "405 METHOD_NOT_ALLOWED, ok",
		proxy: "405"},
	{name: "TRACE of a page", send: method("TRACE", "/catalog"), direct: "404, ok", proxy: "405"},
	{name: "TRACK", send: method("TRACK", "/materials"), want: "405 METHOD_NOT_ALLOWED, ok"},
	{name: "CONNECT", send: method("CONNECT", "evil.example:443"), direct: "404 NOT_FOUND, ok", proxy: "400"},
	{name: "CONNECT to ourselves", send: method("CONNECT", "localhost:5432"), direct: "404 NOT_FOUND, ok",
		proxy: "400"},
	{name: "CONNECT with a path", send: method("CONNECT", "/materials"), direct: "405 METHOD_NOT_ALLOWED, ok",
		proxy: "405"},
	{name: "OPTIONS of everything", send: method("OPTIONS", "*"), direct: "200, ok", proxy: "400"},
	{name: "get", send: method("get", "/materials"), direct: "405 METHOD_NOT_ALLOWED, ok", proxy: "400"},
	{name: "Get of a page", send: method("Get", "/catalog"), direct: "404, ok", proxy: "400"},
	{name: "a method of 6,000 letters", send: method(many(6_000, "A"), "/materials"),
		want: "405 METHOD_NOT_ALLOWED, ok"},
	{name: "a method of 100,000 letters", send: method(many(100_000, "A"), "/materials"), direct: "431", proxy: "414"},
	{name: "a method with a blank before it", send: method(" GET", "/materials"), want: "400"},
	{name: "a method in brackets", send: method("(GET)", "/materials"), want: "400"},
	{name: "a method with NUL", send: method("G\x00ET", "/materials"), want: "400"},
	{name: "a method in Chinese", send: method("取", "/materials"), want: "400"},
	{name: "no method", send: method("", "/materials"), want: "400"},
	{name: "PROPFIND", send: method("PROPFIND", "/", "Depth: infinity"), want: "404, ok"},
	{name: "MOVE of a file", send: method("MOVE", "{file}", "Destination: /a"), want: "405 METHOD_NOT_ALLOWED, ok"},
	{name: "PURGE", send: method("PURGE", "/materials"), want: "405 METHOD_NOT_ALLOWED, ok"},
	{name: "DEBUG", send: method("DEBUG", "/materials", "Command: stop-debug"), want: "405 METHOD_NOT_ALLOWED, ok"},
	{name: "PUT of a page", send: method("PUT", "/index.html", "Content-Length: 0"), want: "404 NOT_FOUND, ok"},
	{name: "DELETE of all", send: method("DELETE", "/materials", "Authorization: Token {token}"),
		want: "405 METHOD_NOT_ALLOWED, ok"},
	{name: "PATCH of a page", send: method("PATCH", "/account", "Cookie: __Host-session={token}"),
		want: "404, ok"},
	{name: "HEAD of what only POST does", send: method("HEAD", "/login"), want: "405, ok"},
	{name: "HEAD of a page that signs out", send: method("HEAD", "/signout", "Cookie: __Host-session={token}"),
		want: "404, ok"},
	{name: "GET that signs out", send: page("/signout"), want: "404, ok"},
	{name: "GET that ends sessions", send: page("/account/sessions/all"), want: "404, ok"},
	{name: "DELETE in a parameter", send: get(deletes, "Authorization: Token {token}"), want: "400 INVALID_INPUT, ok"},
	{name: "DELETE in X-HTTP-Method-Override", send: get("/materials/{material}", "Authorization: Token {token}",
		"X-HTTP-Method-Override: DELETE"), want: "200, ok"},
	{name: "DELETE in X-HTTP-Method and X-Method-Override", send: get("/materials/{material}",
		"Authorization: Token {token}", "X-HTTP-Method: DELETE", "X-Method-Override: DELETE"), want: "200, ok"},
	{name: "DELETE in a form", send: form("/materials/{material}", "_method=DELETE", "Authorization: Token {token}"),
		want: "405 METHOD_NOT_ALLOWED, ok"},
	{name: "DELETE of a page in a form", send: form("/catalog/{material}", "_method=DELETE"), want: "404, ok"},
}

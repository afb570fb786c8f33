package hostile

// ranges asks for parts of a file.
func ranges(of string) string {
	return get("{file}", "Authorization: Token {token}", "Range: "+of)
}

// connections are connections that ask to become something else, wait, or ask for a file in pieces.
var connections = []attack{
	{name: "a part", send: ranges("bytes=0-9"), want: "206, ok"},
	{name: "a thousand parts of a file", send: ranges("bytes=" + many(999, "0-,") + "0-"), want: "200, ok"},
	{name: "parts that overlap", send: ranges("bytes=" + many(1_000, "%d-,") + "0-"), want: "200, ok"},
	{name: "parts of one byte", send: ranges("bytes=" + many(1_000, "%d-%d,") + "0-0"), want: "206, ok"},
	{name: "a part beyond the end", send: ranges("bytes=999999999-"), want: "416 RANGE_NOT_SATISFIABLE, ok"},
	{name: "a part beyond 64 bits", send: ranges("bytes=0-18446744073709551616"),
		want: "416 RANGE_NOT_SATISFIABLE, ok"},
	{name: "a part from below zero", send: ranges("bytes=-9223372036854775808"), want: "416 RANGE_NOT_SATISFIABLE, ok"},
	{name: "a part that ends before it begins", send: ranges("bytes=9-0"), want: "416 RANGE_NOT_SATISFIABLE, ok"},
	{name: "parts in another unit", send: ranges("evil=0-1"), want: "416 RANGE_NOT_SATISFIABLE, ok"},
	{name: "parts without sense", send: ranges("bytes=a-b"), want: "416 RANGE_NOT_SATISFIABLE, ok"},
	{name: "a part of a list", send: get("/materials", "Range: bytes=0-1"), want: "200, ok"},
	{name: "a part of a page", send: get("/catalog", "Range: bytes=0-1"), want: "200, ok"},
	{name: "a part of an asset, a thousand times", send: get("/favicon.ico", "Range: bytes="+many(999, "0-,")+"0-"),
		want: "302 /assets/favicon.5539c69587ee3fcf.svg, ok"},
	{name: "a part that replaces a file", send: sized("PUT {file}", "", "Content-Range: bytes 0-9/100",
		"Content-Type: text/csv"), want: "400 INVALID_INPUT, ok"},
	{name: "Expect", send: call("PATCH /materials/{material}", `{"title": 7}`, "Expect: 100-continue"),
		want: "100, 400 INVALID_INPUT, ok"},
	{name: "Expect without a body", send: get("/materials", "Expect: 100-continue"), direct: "200, ok",
		proxy: "100, 200, ok"},
	{name: "Expect of something else", send: call("PATCH /materials/{material}", `{"title": 7}`, "Expect: evil"),
		direct: "417", proxy: "400 INVALID_INPUT, ok"},
	{name: "Expect before a body that is too large", send: lines("PATCH /materials/{material} HTTP/1.1", host,
		"Authorization: Token {token}", "Content-Type: application/json", "Expect: 100-continue",
		"Content-Length: 2000000"), halts: true, direct: "413 TOO_LARGE", proxy: "100"},
	{name: "h2c", send: get("/materials", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c",
		"HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA"), want: "200, ok"},
	{name: "a websocket", send: get("/notifications/stream", "Connection: Upgrade", "Upgrade: websocket",
		"Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="),
		want: "303 /signin?next=%2Fnotifications%2Fstream, ok"},
	{name: "a websocket of the API", send: get("/materials", "Connection: Upgrade", "Upgrade: websocket",
		"Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="), want: "200, ok"},
	{name: "TLS within HTTP", send: get("/materials", "Connection: Upgrade", "Upgrade: TLS/1.0"),
		want: "200, ok"},
	{name: "a head that stops", send: "GET /materials HTTP/1.1\r\nHost: loc", halts: true, want: "closed"},
	{name: "a head that stops before its last line", send: "GET /materials HTTP/1.1\r\nHost: localhost\r\n",
		halts: true, want: "closed"},
	{name: "a first line that stops", send: "GET /mat", halts: true, direct: "400", proxy: "closed"},
	{name: "nothing at all", send: "", halts: true, want: "closed"},
	{name: "keep-alive forever", send: get("/materials", "Connection: keep-alive", "Keep-Alive: timeout=999999999"),
		want: "200, ok"},
	{name: "a hundred requests at once", send: many(100, get("/robots.txt")),
		want: many(100, "200, ") + "ok"},
}

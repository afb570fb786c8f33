package hostile

import "fmt"

// smuggled is a request that must never be answered: it hides in the body of another.
const smuggled = "GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"

// hidden is the length of that request, and inChunk it as the only chunk.
var (
	hidden  = fmt.Sprintf("Content-Length: %d", len(smuggled))
	inChunk = fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(smuggled), smuggled)
)

// chunked is a body in one chunk.
const chunked = "2\r\n{}\r\n0\r\n\r\n"

// post is the head of a request whose body is as other fields say.
func post(headers ...string) string {
	return lines(append([]string{"POST /login HTTP/1.1", host, "Content-Type: application/json"}, headers...)...)
}

// smuggling are requests of which two readers might disagree where they end.
var smuggling = []attack{
	{name: "nothing wrong, with a length", send: post("Content-Length: 2") + "{}", want: "400 INVALID_INPUT, ok"},
	{name: "nothing wrong, in chunks", send: post("Transfer-Encoding: chunked") + chunked, direct: "400 INVALID_INPUT",
		proxy: "400 INVALID_INPUT, ok"},
	{name: "CL.TE: a request after the last chunk", send: post(fmt.Sprintf("Content-Length: %d", len(smuggled)+5),
		"Transfer-Encoding: chunked") + "0\r\n\r\n" + smuggled, direct: "400 INVALID_INPUT", proxy: "400"},
	{name: "TE.CL: a request in a chunk", send: post("Transfer-Encoding: chunked", "Content-Length: 4") +
		inChunk, direct: "400 MALFORMED_JSON", proxy: "400"},
	{name: "TE.TE: a second coding that nobody knows", send: post("Transfer-Encoding: chunked",
		"Transfer-Encoding: x") + chunked, direct: "501", proxy: "400"},
	{name: "TE.TE: chunked twice", send: post("Transfer-Encoding: chunked", "Transfer-Encoding: chunked") + chunked,
		direct: "501", proxy: "400"},
	{name: "TE.TE: chunked twice in a list", send: post("Transfer-Encoding: chunked, chunked") + chunked,
		want: "501"},
	{name: "chunked and then identity", send: post("Transfer-Encoding: chunked, identity") + chunked,
		want: "501"},
	{name: "identity", send: post("Transfer-Encoding: identity", "Content-Length: 2") + "{}", want: "501"},
	{name: "gzip and then chunked", send: post("Transfer-Encoding: gzip, chunked") + chunked, want: "501"},
	{name: "xchunked", send: post("Transfer-Encoding: xchunked", "Content-Length: 2") + "{}", want: "501"},
	{name: "chunked in quotes", send: post(`Transfer-Encoding: "chunked"`) + chunked, want: "501"},
	{name: "chunked in capitals", send: post("Transfer-Encoding: CHUNKED") + chunked, direct: "400 INVALID_INPUT",
		proxy: "400 INVALID_INPUT, ok"},
	{name: "chunked after a vertical tab", send: post("Transfer-Encoding: \vchunked", "Content-Length: 2") + "{}",
		direct: "400", proxy: "501"},
	{name: "chunked after a tab", send: post("Transfer-Encoding:\tchunked") + chunked, direct: "400 INVALID_INPUT",
		proxy: "501"},
	{name: "a blank before the colon", send: post("Transfer-Encoding : chunked", "Content-Length: 2") + "{}",
		want: "400"},
	{name: "a blank before the name", send: post(" Transfer-Encoding: chunked", "Content-Length: 2") + "{}",
		direct: "415 UNSUPPORTED_MEDIA, ok", proxy: "400"},
	{name: "an underscore in the name", send: post("Transfer_Encoding: chunked", "Content-Length: 2") + "{}",
		want: "400 INVALID_INPUT, ok"},
	{name: "NUL in the name", send: post("Transfer-\x00Encoding: chunked", "Content-Length: 2") + "{}",
		want: "400"},
	{name: "NUL in the coding", send: post("Transfer-Encoding: chunked\x00", "Content-Length: 2") + "{}",
		want: "400"},
	{name: "obs-fold: the coding on the next line", send: post("Transfer-Encoding:", " chunked") + chunked,
		direct: "400 INVALID_INPUT", proxy: "400"},
	{name: "obs-fold: the length on the next line", send: post("Content-Length:", " 2") + "{}",
		direct: "400 INVALID_INPUT, ok", proxy: "400"},
	{name: "a coding without a name", send: post("Transfer-Encoding:", "Content-Length: 2") + "{}",
		want: "501"},
	{name: "chunks in HTTP/1.0", send: lines("POST /login HTTP/1.0", host, "Transfer-Encoding: chunked",
		"Content-Type: application/json") + chunked, direct: "400 INVALID_INPUT", proxy: "400"},
	{name: "two lengths that differ",
		send: post("Content-Length: 2", fmt.Sprintf("Content-Length: %d", len(smuggled)+2)) + "{}" + smuggled,
		want: "400"},
	{name: "two lengths that agree", send: post("Content-Length: 2", "Content-Length: 2") + "{}",
		direct: "400 INVALID_INPUT, ok", proxy: "400"},
	{name: "two lengths in a list", send: post("Content-Length: 2, 2") + "{}", want: "400"},
	{name: "a length with a sign", send: post("Content-Length: +2") + "{}", want: "400"},
	{name: "a length below zero", send: post("Content-Length: -1") + "{}", want: "400"},
	{name: "a length in hexadecimal", send: post("Content-Length: 0x2") + "{}", want: "400"},
	{name: "a length with a fraction", send: post("Content-Length: 2.0") + "{}", want: "400"},
	{name: "a length with an exponent", send: post("Content-Length: 2e0") + "{}", want: "400"},
	{name: "a length with an underscore", send: post("Content-Length: 0_2") + "{}", want: "400"},
	{name: "a length in Arabic digits", send: post("Content-Length: ٢") + "{}", want: "400"},
	{name: "a length beyond 64 bits", send: post("Content-Length: 18446744073709551618") + "{}",
		want: "400"},
	{name: "a length that is no number", send: post("Content-Length: many") + "{}", want: "400"},
	{name: "a length without digits", send: post("Content-Length:") + "{}", want: "400"},
	{name: "a length with leading zeros", send: post("Content-Length: 0002") + "{}", want: "400 INVALID_INPUT, ok"},
	{name: "a length after NUL", send: post("Content-Length: \x002") + "{}", want: "400"},
	{name: "a length of zero before a body", send: post("Content-Length: 0") + "{}", want: "400 INVALID_INPUT, 400"},
	{name: "no length before a body", send: post() + "{}", want: "400 INVALID_INPUT, 400"},
	{name: "GET with a body", send: get("/materials", hidden) + smuggled, want: "200, ok"},
	{name: "GET with a body in chunks", send: get("/materials", "Transfer-Encoding: chunked") +
		inChunk, want: "200, ok"},
	{name: "HEAD with a body", send: lines("HEAD /materials HTTP/1.1", host, hidden) + smuggled,
		want: "200, ok"},
	{name: "a chunk with an extension", send: post("Transfer-Encoding: chunked") + "2;a=b\r\n{}\r\n0\r\n\r\n",
		direct: "400 INVALID_INPUT", proxy: "400 INVALID_INPUT, ok"},
	{name: "a chunk with a line feed in its extension", send: post("Transfer-Encoding: chunked") +
		"2;\n{}\r\n0\r\n\r\n", direct: "400 MALFORMED_JSON", proxy: "400 INVALID_INPUT, ok"},
	{name: "a chunk with an extension without end", send: post("Transfer-Encoding: chunked") + "2;" +
		many(20_000, "a") + "\r\n{}\r\n0\r\n\r\n", direct: "400 MALFORMED_JSON", proxy: "400 INVALID_INPUT, ok"},
	{name: "thousands of chunks with extensions", send: post("Transfer-Encoding: chunked") +
		many(20_000, "1;aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n \r\n") + "0\r\n\r\n",
		direct: "400 MALFORMED_JSON", proxy: "400 MALFORMED_JSON, ok"},
	{name: "a chunk whose size has a sign", send: post("Transfer-Encoding: chunked") + "+2\r\n{}\r\n0\r\n\r\n",
		direct: "400 MALFORMED_JSON", proxy: "400"},
	{name: "a chunk whose size has a prefix", send: post("Transfer-Encoding: chunked") + "0x2\r\n{}\r\n0\r\n\r\n",
		direct: "400 MALFORMED_JSON", proxy: "400"},
	{name: "a chunk whose size is beyond 64 bits", send: post("Transfer-Encoding: chunked") +
		"10000000000000002\r\n{}\r\n0\r\n\r\n", direct: "400 MALFORMED_JSON", proxy: "400"},
	{name: "a chunk without a size", send: post("Transfer-Encoding: chunked") + "\r\n{}\r\n0\r\n\r\n",
		direct: "400 MALFORMED_JSON", proxy: "400"},
	{name: "a chunk that is longer than its size", send: post("Transfer-Encoding: chunked") +
		"1\r\n{}\r\n0\r\n\r\n", direct: "400 MALFORMED_JSON", proxy: "400"},
	{name: "a chunk that ends in a line feed", send: post("Transfer-Encoding: chunked") + "2\n{}\n0\n\n",
		direct: "400 MALFORMED_JSON", proxy: "400 INVALID_INPUT, ok"},
	{name: "a chunk that ends in a carriage return", send: post("Transfer-Encoding: chunked") + "2\r{}\r0\r\r",
		direct: "400 MALFORMED_JSON", proxy: "400"},
	{name: "fields after the last chunk", send: post("Transfer-Encoding: chunked", "Trailer: X-Forwarded-For") +
		"2\r\n{}\r\n0\r\nX-Forwarded-For: 8.8.8.8\r\n\r\n", direct: "400 INVALID_INPUT",
		proxy: "400 INVALID_INPUT, ok"},
	{name: "a length after the last chunk", send: post("Transfer-Encoding: chunked") +
		"2\r\n{}\r\n0\r\nContent-Length: 43\r\n\r\n", direct: "400 INVALID_INPUT", proxy: "400 INVALID_INPUT, ok"},
	{name: "lines that end in a line feed", send: "GET /materials HTTP/1.1\nHost: localhost\n\n",
		want: "200, ok"},
	{name: "lines that end in a carriage return", send: "GET /materials HTTP/1.1\rHost: localhost\r\r\n\r\n",
		want: "400"},
	{name: "a carriage return in a value", send: get("/materials", "X-A: b\rTransfer-Encoding: chunked"),
		want: "400"},
	{name: "a line feed in a value", send: get("/materials", "X-A: b\nContent-Length: 0"), want: "200, ok"},
	{name: "empty lines before the request", send: "\r\n\r\n" + get("/materials"), direct: "400", proxy: "200, ok"},
	{name: "a hidden connection header", send: get("/materials", "Connection: close, Host, Authorization"),
		want: "200"},
	{name: "a body that is named by Connection", send: post("Connection: Content-Length", "Content-Length: 2") + "{}",
		want: "400 INVALID_INPUT, ok"},
	{name: "two requests at once", send: get("/materials") + get("/organizations"), want: "200, 200, ok"},
	{name: "HTTP/2 without being asked", send: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", direct: "404 NOT_FOUND",
		proxy: "400"},
}

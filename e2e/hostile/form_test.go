package hostile

import "fmt"

// parts is a call with a form of parts, whose boundary is b.
func parts(target, body string) string {
	return sized("POST "+target, body, "Content-Type: multipart/form-data; boundary=b")
}

// formed is the form of a page, of some kind.
func formed(kind, body string) string {
	return lines("POST /account HTTP/1.1", host, "Cookie: __Host-session={token}", "Content-Type: "+kind,
		fmt.Sprintf("Content-Length: %d", len(body))) + body
}

const multipart = "multipart/form-data; boundary=b"

// part is one part of a form.
func part(head, body string) string {
	return "--b\r\nContent-Disposition: form-data; " + head + "\r\n\r\n" + body + "\r\n"
}

// forms are forms of pages and of the API.
var forms = []attack{
	{name: "no boundary", send: sized("POST /attachments", "--b--", "Content-Type: multipart/form-data"),
		want: "400 INVALID_INPUT, ok"},
	{name: "an empty boundary", send: sized("POST /attachments", "----\r\n",
		"Content-Type: multipart/form-data; boundary="), want: "400 INVALID_INPUT, ok"},
	{name: "a boundary of 1,000 characters", send: sized("POST /attachments", "--"+many(1_000, "b")+"--",
		"Content-Type: multipart/form-data; boundary="+many(1_000, "b")), want: "400 INVALID_INPUT, ok"},
	{name: "two boundaries", send: sized("POST /attachments", "--b--",
		"Content-Type: multipart/form-data; boundary=b; boundary=c"), want: "415 UNSUPPORTED_MEDIA, ok"},
	{name: "no part", send: parts("/attachments", "--b--\r\n"), want: "400 INVALID_INPUT, ok"},
	{name: "no end", send: parts("/attachments", part(`name="file"; filename="a"`, "a")),
		want: "400 INVALID_INPUT, ok"},
	{name: "nothing", send: parts("/attachments", ""), want: "400 INVALID_INPUT, ok"},
	{name: "no parts at all", send: parts("/attachments", many(100_000, "a")), want: "400 INVALID_INPUT, ok"},
	{name: "a thousand parts", send: parts("/attachments", many(1_000, part(`name="a%d"`, "b"))+"--b--\r\n"),
		want: "413 TOO_LARGE, ok"},
	{name: "a part with a huge field", send: parts("/attachments", "--b\r\nX-Large: "+many(100_000, "a")+
		"\r\n\r\na\r\n--b--\r\n"), want: "400 INVALID_INPUT, ok"},
	{name: "a part with fields without end", send: parts("/attachments", "--b\r\n"+many(20_000, "X-%d: a\r\n")+
		"\r\na\r\n--b--\r\n"), want: "400 INVALID_INPUT, ok"},
	{name: "a part with 12 MiB of fields", send: parts("/attachments", "--b\r\n"+many(12, "X-%d: "+
		many(1<<20, "a")+"\r\n")+"\r\na\r\n--b--\r\n"), direct: "400 INVALID_INPUT", proxy: "400 INVALID_INPUT, ok"},
	{name: "a part without fields", send: parts("/attachments", "--b\r\n\r\na\r\n--b--\r\n"),
		want: "400 INVALID_INPUT, ok"},
	{name: "a part without a name", send: parts("/attachments", "--b\r\nContent-Disposition: form-data\r\n\r\na\r\n"+
		"--b--\r\n"), want: "400 INVALID_INPUT, ok"},
	{name: "a part in base64", send: parts("/attachments", "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n"+
		"Content-Transfer-Encoding: base64\r\n\r\n!!!!\r\n--b--\r\n"), want: "400 INVALID_INPUT, ok"},
	{name: "two files", send: parts("/attachments", part(`name="file"; filename="a"`, "a")+
		part(`name="file"; filename="b"`, "b")+"--b--\r\n"), want: "400 INVALID_INPUT, ok"},
	{name: "a field of 200 KB", send: parts("/attachments", part(`name="description"`, many(200_000, "a"))+
		"--b--\r\n"), want: "413 TOO_LARGE, ok"},
	{name: "a field of no UTF-8", send: parts("/attachments", part(`name="description"`, "\xff\xfe")+"--b--\r\n"),
		want: "400 INVALID_INPUT, ok"},
	{name: "a file name of no UTF-8", send: parts("/attachments", part("name=\"file\"; filename=\"\xff\xfe\"", "a")+
		"--b--\r\n"), want: "400 INVALID_INPUT, ok"},
	{name: "a file name with NUL", send: parts("/attachments", part("name=\"file\"; filename=\"a\x00b\"", "a")+
		"--b--\r\n"), want: "400 INVALID_INPUT, ok"},
	{name: "a file name with a line feed", send: parts("/attachments",
		part(`name="file"; filename*=UTF-8''a%0d%0aX-Injected%3a%20b`, "a")+"--b--\r\n"),
		want: "400 INVALID_INPUT, ok"},
	{name: "a file name from right to left", send: parts("/attachments",
		part("name=\"file\"; filename=\"invoice\u202efdp.exe\"", "a")+"--b--\r\n"), want: "400 INVALID_INPUT, ok"},
	{name: "a file name of 10,000 characters", send: parts("/attachments",
		part(`name="file"; filename="`+many(10_000, "a")+`"`, "a")+"--b--\r\n"), want: "400 INVALID_INPUT, ok"},
	{name: "parts within parts", send: parts("/attachments", "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n"+
		"Content-Disposition: form-data; name=\"a\"\r\n\r\n--c\r\n\r\n--c--\r\n--b--\r\n"),
		want: "400 INVALID_INPUT, ok"},
	{name: "a script as a document", send: parts("/attachments", part(`name="file"; filename="a.pdf"`,
		"<html><script>alert(1)</script></html>")+part(`name="kind"`, "x")+"--b--\r\n"),
		want: "415 UNSUPPORTED_MEDIA, ok"},
	{name: "a page's form of 2 MiB", send: form("/account", "first_name="+many(2<<20, "a")), direct: "413",
		proxy: "413, ok"},
	{name: "a page's form with 100,000 fields", send: form("/account", many(100_000, "a%d=b&")),
		want: "400, ok"},
	{name: "a page's form with a field 100,000 times", send: form("/account", many(100_000, "a=b&")+"first_name=%00"),
		want: "400, ok"},
	{name: "a page's form of no UTF-8", send: form("/account", "first_name=%ff%fe"), want: "400, ok"},
	{name: "a page's form with NUL", send: form("/account", "first_name=%00&last_name=a"), want: "422, ok"},
	{name: "a page's form with a broken escape", send: form("/account", "first_name=%zz"), want: "400, ok"},
	{name: "a page's form with semicolons", send: form("/account", "first_name=a;last_name=b"), want: "400, ok"},
	{name: "a page's form as JSON", send: formed("application/json", `{"first_name": "a"}`),
		want: "400, ok"},
	{name: "a page's form as text", send: formed("text/plain", "first_name=a"), want: "400, ok"},
	{name: "a page's form with 5,000 parts", send: formed(multipart,
		many(5_000, part(`name="a%d"`, "b"))+"--b--\r\n"), want: "413, ok"},
	{name: "a page's form with parts of 12 MiB of fields", send: formed(multipart, "--b\r\n"+
		many(12, "X-%d: "+many(1<<20, "a")+"\r\n")+"\r\na\r\n--b--\r\n"), direct: "413", proxy: "413, ok"},
	{name: "a page's form without an end", send: formed(multipart, part(`name="first_name"`, "a")),
		want: "400, ok"},
	{name: "a page's form without a boundary", send: formed("multipart/form-data", "a"),
		want: "400, ok"},
	{name: "a page's form from another site", send: form("/account", "first_name=a", "Origin: https://evil.example"),
		want: "403, ok"},
	{name: "a page's form from a sandbox", send: form("/account", "first_name=a", "Origin: null"),
		want: "403, ok"},
	{name: "a page's form that a browser calls cross-site", send: form("/account", "first_name=a",
		"Sec-Fetch-Site: cross-site"), want: "403, ok"},
	{name: "a call from another site", send: call("PATCH /materials/{material}", `{"title": "b"}`,
		"Origin: https://evil.example"), want: "403 CROSS_SITE, ok"},
	{name: "CORS from another site", send: lines("OPTIONS /materials HTTP/1.1", host, "Origin: https://evil.example",
		"Access-Control-Request-Method: POST"), want: "204, ok"},
	{name: "CORS from no site", send: lines("OPTIONS /materials HTTP/1.1", host, "Origin: null",
		"Access-Control-Request-Method: POST"), want: "204, ok"},
}

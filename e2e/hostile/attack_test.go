package hostile

import (
	"fmt"
	"strings"
)

// attack is what an attacker sends on one connection. In send, {token}, {user}, {lab}, {material} and {file} stand for
// the token of a person who is signed in, their id, and the objects that they may change; {host} is our address.
type attack struct {
	name, send string
	want       string // the answers, as the function send returns them
	direct     string // those of the server, if nginx has others: it mostly refuses more
	proxy      string // those through nginx
	halts      bool   // the attack stops in the middle of a request: no sentinel follows
}

// host is the header field that every request but those about hosts has.
const host = "Host: localhost"

// lines are lines of a head as they are sent, with the empty line at the end.
func lines(list ...string) string { return strings.Join(append(list, "", ""), "\r\n") }

// get is a request without a body.
func get(target string, headers ...string) string {
	return lines(append([]string{"GET " + target + " HTTP/1.1", host}, headers...)...)
}

// call is a call of the API with a token and a JSON body; call is such as "POST /materials".
func call(call, body string, headers ...string) string {
	return sized(call, body, append([]string{"Content-Type: application/json"}, headers...)...)
}

// sized is a call of the API with a token and a body.
func sized(call, body string, headers ...string) string {
	return lines(append([]string{call + " HTTP/1.1", host, "Authorization: Token {token}",
		fmt.Sprintf("Content-Length: %d", len(body))}, headers...)...) + body
}

// form is a form of a page that is sent by someone who is signed in.
func form(target, body string, headers ...string) string {
	return lines(append([]string{"POST " + target + " HTTP/1.1", host, "Cookie: __Host-session={token}",
		"Content-Type: application/x-www-form-urlencoded", fmt.Sprintf("Content-Length: %d", len(body))},
		headers...)...) + body
}

// page is the address of a page that is visited by someone who is signed in.
func page(target string, headers ...string) string {
	return get(target, append([]string{"Cookie: __Host-session={token}"}, headers...)...)
}

// many repeats a text, in which %d is the number of the repetition.
func many(n int, text string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(text, "%d", fmt.Sprint(i)))
	}
	return b.String()
}

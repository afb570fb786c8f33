// Command providers runs an OpenID provider that is not ours, for the tests of signing in: zitadel's or ory's. It is a
// module of its own, so that Aliquot does not need what they need.
//
// It says its issuer on the first line of its output and runs until its standard input ends. Its one client has the id
// and the secret of the flags; people sign in as test-user@127.0.0.1 with the password verysecure.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
)

// client is the one that is registered at the provider.
type client struct {
	id, secret string
	redirects  []string
	after      []string // where people may go after signing out at the provider
	claims     map[string]any
}

const (
	username = "test-user@127.0.0.1"
	password = "verysecure"
)

func main() {
	kind := flag.String("kind", "zitadel", "zitadel or ory")
	var c client
	flag.StringVar(&c.id, "id", "aliquot", "client id")
	flag.StringVar(&c.secret, "secret", "", "client secret")
	redirects := flag.String("redirects", "", "redirect addresses, with commas between them")
	after := flag.String("after", "", "addresses after signing out, with commas between them")
	claims := flag.String("claims", "{}", "further claims of ory's id token, as JSON")
	address := flag.String("addr", "127.0.0.1:0", "address to listen on")
	flag.Parse()
	c.redirects, c.after = strings.Split(*redirects, ","), strings.Split(*after, ",")
	if err := json.Unmarshal([]byte(*claims), &c.claims); err != nil {
		log.Fatal("claims: ", err)
	}
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		log.Fatal(err)
	}
	issuer := "http://" + listener.Addr().String()
	serve := map[string]func(string, client) (http.Handler, error){"zitadel": zitadel, "ory": ory}[*kind]
	handler, err := serve(issuer, c)
	if err != nil {
		log.Fatal(err)
	}
	go func() { log.Fatal(http.Serve(listener, handler)) }() //nolint:gosec // for a test
	fmt.Println(issuer)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// Command providers runs an OpenID provider that is not ours, for the tests of signing in: zitadel's or ory's. It is a
// module of its own, so that Aliquot does not need what they need.
//
// It says its issuer on the first line of its output and runs until its standard input ends. Its one client has the id
// and the secret of the flags; people sign in as test-user@127.0.0.1 with the password verysecure.
package main

import (
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
	flag.Parse()
	c.redirects = strings.Split(*redirects, ",")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
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

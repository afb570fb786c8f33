// Package deploy has the examples of how to run Aliquot, for the programs and tests that run them.
package deploy

import _ "embed" // of the examples

// The examples of proxies, with the addresses, the host name and the certificate that stand for those of an
// installation.
var (
	//go:embed nginx/aliquot.conf
	Nginx string
	//go:embed caddy/Caddyfile
	Caddyfile string
)

//go:build unix

package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"strings"
	"time"

	"aliquot/deploy"
)

// The places of the examples that are not those of the cluster.
const (
	exampleHost        = "aliquot.example.org"
	exampleCertificate = "/etc/ssl/aliquot/certificate.pem"
	exampleKey         = "/etc/ssl/aliquot/key.pem"
	exampleWeb1        = "127.0.0.1:8081"
	exampleWeb2        = "127.0.0.1:8082"
)

// startNginx starts nginx with its example and what a package of nginx has in nginx.conf.
func (c *cluster) startNginx(ctx context.Context, program string, port int, webs []string) error {
	insecure, err := freePort()
	if err != nil {
		return err
	}
	site, err := replaced(deploy.Nginx,
		"listen 80;", fmt.Sprintf("listen 127.0.0.1:%d;", insecure),
		"listen 443 ", fmt.Sprintf("listen 127.0.0.1:%d ", port),
		"https://"+exampleHost, fmt.Sprintf("https://localhost:%d", port),
		exampleHost, "localhost", exampleCertificate, c.path("tls.pem"), exampleKey, c.path("tls.key"),
		exampleWeb1, webs[0], exampleWeb2, webs[1],
		// The provider to try out is in the memory of the process that serves it.
		"location / {", "location /demo/identity/ {\n        proxy_pass http://"+webs[0]+";\n    }\n\n    location / {")
	if err != nil {
		return err
	}
	user := ""
	if os.Geteuid() == 0 {
		user = "user root;\n" // otherwise its processes may not enter the folder
	}
	folders := ""
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		folders += fmt.Sprintf("    %s_temp_path %s;\n", kind, c.path("nginx-"+kind))
	}
	main := fmt.Sprintf("%spid %s;\nworker_processes 2;\nevents {}\nhttp {\n    access_log off;\n%s%s}\n", user,
		c.path("nginx.pid"), folders, site)
	if err := os.WriteFile(c.path("nginx.conf"), []byte(main), 0o600); err != nil {
		return err
	}
	p := &process{name: "nginx", address: fmt.Sprintf("127.0.0.1:%d", port)}
	return c.launch(ctx, p, nil, program, "-e", "stderr", "-g", "daemon off;", "-c", c.path("nginx.conf"))
}

// startCaddy starts Caddy with its example, without what it does beyond this machine.
func (c *cluster) startCaddy(ctx context.Context, program string, port int, webs []string) error {
	insecure, err := freePort()
	if err != nil {
		return err
	}
	site, err := replaced(deploy.Caddyfile,
		"{$SITE:", fmt.Sprintf("{\n\tadmin off\n\thttp_port %d\n}\n\n{$SITE:", insecure),
		"# tls "+exampleCertificate+" "+exampleKey, "tls "+c.path("tls.pem")+" "+c.path("tls.key"),
		"reverse_proxy ", "bind 127.0.0.1\n\treverse_proxy /demo/identity/* "+webs[0]+"\n\treverse_proxy ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(c.path("Caddyfile"), []byte(site), 0o600); err != nil {
		return err
	}
	p := &process{name: "caddy", address: fmt.Sprintf("127.0.0.1:%d", port)}
	environ := []string{"XDG_DATA_HOME=" + c.folder, "XDG_CONFIG_HOME=" + c.folder,
		fmt.Sprintf("SITE=https://localhost:%d", port), "PROCESSES=" + strings.Join(webs, " ")}
	return c.launch(ctx, p, environ, program, "run", "--adapter", "caddyfile", "--config", c.path("Caddyfile"))
}

// replaced replaces each first text by the second one of its pair. Each has to be there: otherwise the example has
// changed, and would run with what is not of this machine.
func replaced(example string, pairs ...string) (string, error) {
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(example, pairs[i]) {
			return "", fmt.Errorf("the example of the proxy does not have %q", pairs[i])
		}
	}
	return strings.NewReplacer(pairs...).Replace(example), nil
}

// certificate writes a certificate for this machine that vouches for itself, and its key.
func certificate(certFile, keyFile string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	now := time.Now()
	about := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "Aliquot on this machine"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(0, 0, 30), IsCA: true, BasicConstraintsValid: true,
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	cert, certErr := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	raw, keyErr := x509.MarshalPKCS8PrivateKey(key)
	if err := errors.Join(certErr, keyErr); err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), 0o600),
		os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}), 0o600))
}

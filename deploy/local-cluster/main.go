//go:build unix

// Command local-cluster runs Aliquot on this machine as on several: PostgreSQL with a standby, an S3 server, two
// processes for requests and one for background jobs, behind one proxy or two with TLS, with sample data.
//
//	local-cluster --aliquot FILE --s3 FILE [--nginx FILE] [--caddy FILE] [--port NUMBER]
//
// The files are the programs: Aliquot, versitygw, nginx and Caddy; that of PostgreSQL is found. All of it ends with
// SIGINT or SIGTERM, and what it stored is removed. A process that ends before is named and not started again, so that
// one can see what happens without it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"aliquot/internal/store/storetest/pgserver"
)

// programs are the paths of what the cluster runs, and the port of its proxy.
type programs struct {
	aliquot, s3, nginx, caddy string
	port                      int
}

func main() {
	var p programs
	flag.StringVar(&p.aliquot, "aliquot", "", "path of Aliquot")
	flag.StringVar(&p.s3, "s3", "", "path of versitygw")
	flag.StringVar(&p.nginx, "nginx", "", "path of nginx")
	flag.StringVar(&p.caddy, "caddy", "", "path of Caddy; with nginx too, it listens on another port")
	flag.IntVar(&p.port, "port", 8443, "port of the proxy; 0 picks a free one")
	flag.Parse()
	if flag.NArg() > 0 || p.aliquot == "" || p.s3 == "" || p.nginx == "" && p.caddy == "" {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, p, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "local-cluster:", err)
		os.Exit(1)
	}
}

// run starts the cluster and ends it when ctx ends.
func run(ctx context.Context, p programs, out io.Writer) (err error) {
	folder, err := os.MkdirTemp("", "aliquot-cluster-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	fmt.Fprintf(out, "starting; logs are in %s\n", folder)
	primary, standby, database, err := pgserver.Pair(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, standby.Stop(), primary.Stop()) }()
	c := &cluster{folder: folder, out: out}
	defer func() { err = errors.Join(err, c.stop()) }()
	fmt.Fprintf(out, "%-10s %s\n%-10s %s\n", "primary", primary.URL(), "standby", standby.URL())
	addresses, err := c.start(ctx, p, database)
	if ctx.Err() != nil {
		return nil // it was asked to end while it started
	}
	if err != nil {
		return err
	}
	for _, address := range addresses {
		fmt.Fprintf(out, "Aliquot is ready at %s\n", address)
	}
	fmt.Fprintf(out, "Browsers warn of the certificate, which is in %s. Ctrl-C ends everything.\n", c.path("tls.pem"))
	<-ctx.Done()
	return nil
}

// start starts all but PostgreSQL, and returns the addresses of the proxies.
func (c *cluster) start(ctx context.Context, p programs, database string) (addresses []string, err error) {
	if err := certificate(c.path("tls.pem"), c.path("tls.key")); err != nil {
		return nil, err
	}
	s3, err := c.startS3(ctx, p.s3)
	if err != nil {
		return nil, err
	}
	if p.port == 0 {
		if p.port, err = freePort(); err != nil {
			return nil, err
		}
	}
	port := p.port
	a := aliquot{program: p.aliquot, database: database, files: s3,
		publicURL: fmt.Sprintf("https://localhost:%d", port), certificate: c.path("tls.pem")}
	var webs []string
	for _, name := range []string{"web-1", "web-2", "worker"} {
		address, err := c.startAliquot(ctx, a, name)
		if err != nil {
			return nil, err
		}
		if name != "worker" {
			webs = append(webs, address)
		}
	}
	for _, proxy := range []struct {
		program string
		start   func(ctx context.Context, program string, port int, webs []string) error
	}{{p.nginx, c.startNginx}, {p.caddy, c.startCaddy}} {
		if proxy.program == "" {
			continue
		}
		if len(addresses) > 0 {
			if port, err = freePort(); err != nil {
				return nil, err
			}
		}
		if err := proxy.start(ctx, proxy.program, port, webs); err != nil {
			return nil, err
		}
		addresses = append(addresses, fmt.Sprintf("https://localhost:%d", port))
	}
	return addresses, nil
}

// aliquot is what all processes of Aliquot have in common.
type aliquot struct{ program, database, files, publicURL, certificate string }

// keys are the files of the data folder that every process needs the same.
var keys = []string{"secret.key", "record.key", "seal.key", "seal.pem"}

// startAliquot starts a process of Aliquot with a data folder of its own, as on a machine of its own. The first one
// makes the keys and the sample data; the others get copies of the keys.
func (c *cluster) startAliquot(ctx context.Context, a aliquot, name string) (address string, err error) {
	port, err := freePort()
	if err != nil {
		return "", err
	}
	address = fmt.Sprintf("127.0.0.1:%d", port)
	data, sample := c.path(name), "--demo"
	if name != "web-1" {
		sample = "--identity=demo"
		if err := os.Mkdir(data, 0o700); err != nil {
			return "", err
		}
		for _, key := range keys {
			raw, err := os.ReadFile(filepath.Join(c.path("web-1"), key))
			if err == nil {
				err = os.WriteFile(filepath.Join(data, key), raw, 0o600)
			}
			if err != nil {
				return "", err
			}
		}
	}
	role := "web"
	if name == "worker" {
		role = "worker"
	}
	p := &process{name: name, address: address, ready: "http://" + address + "/readyz"}
	// The identity provider is behind the proxy, and so is reached by its certificate.
	return address, c.launch(ctx, p, append(s3Keys(), "SSL_CERT_FILE="+a.certificate), a.program, "serve",
		"--role", role, "--addr", address, "--data", data, "--database", a.database, "--files", a.files,
		"--public-url", a.publicURL, "--access", "members", "--trusted-proxies", "127.0.0.1", sample)
}

// The key of the S3 server, which nobody else reaches.
const (
	accessKey = "local-access"
	secretKey = "local-secret-key"
)

func s3Keys() []string {
	return []string{"AWS_ACCESS_KEY_ID=" + accessKey, "AWS_SECRET_ACCESS_KEY=" + secretKey}
}

// startS3 starts the S3 server with an empty bucket and returns the setting files for it.
func (c *cluster) startS3(ctx context.Context, program string) (files string, err error) {
	port, err := freePort()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(c.path("s3/aliquot"), 0o700); err != nil {
		return "", err
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	p := &process{name: "s3", address: address, ready: "http://" + address + "/health"}
	return "s3://aliquot?endpoint=http://" + address, c.launch(ctx, p,
		[]string{"ROOT_ACCESS_KEY=" + accessKey, "ROOT_SECRET_KEY=" + secretKey},
		program, "--port", address, "--health", "/health", "--quiet", "posix", c.path("s3"))
}

//go:build unix

// Command withpostgres runs a command with a PostgreSQL server that lives as long as it:
//
//	withpostgres [-durable] [--] COMMAND [ARGUMENT...]
//
// The server is the newest one installed, in a temporary folder of its own (see pgserver), on a free port of
// 127.0.0.1 and on a socket in that folder. The command finds the server's URL in
// ALIQUOT_TEST_POSTGRES. Server and folder go when the command ends, also on SIGINT, SIGTERM and SIGHUP.
// The exit code is the command's, or 1 when the server did not start.
//
// The server gives up durability for speed; with -durable it keeps what it has committed, as in
// production: for benchmarks and for tests that kill it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"aliquot/internal/store/storetest/pgserver"
)

func main() {
	durable := flag.Bool("durable", false, "fsync what is committed, as in production")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: withpostgres [-durable] [--] COMMAND [ARGUMENT...]")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	code, err := run(ctx, *durable, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "withpostgres:", err)
	}
	os.Exit(code)
}

// run starts the server, runs the command and stops the server. It gives the command's exit code.
func run(ctx context.Context, durable bool, args []string) (code int, err error) {
	server, err := pgserver.Start(ctx, durable)
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()

	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "ALIQUOT_TEST_POSTGRES="+server.URL())
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second // then it is killed
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() > 0 {
		return exit.ExitCode(), nil
	}
	if err != nil {
		return 1, err
	}
	return 0, nil
}

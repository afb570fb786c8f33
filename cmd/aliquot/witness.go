package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"

	"aliquot/internal/atomicfile"
	"aliquot/internal/record"
	"aliquot/internal/server"
	"aliquot/internal/witness"

	"golang.org/x/mod/sumdb/note"
)

// witnessing is "aliquot witness".
type witnessing struct {
	Addr  string   `default:"127.0.0.1:8081" help:"Listening address; port 0 picks a free port."`
	State string   `required:"" help:"File of the state: what was cosigned last of each log."`
	Key   string   `required:"" help:"File of the private key, created if it is missing."`
	Name  string   `help:"Name of a key that is created, such as witness.example.org."`
	Keys  []string `name:"log-key" required:"" help:"${log_key}"`
	Log   string   `enum:"auto,text,json" default:"auto" help:"Log format, as of aliquot serve."`
}

// Run serves as a witness until it is asked to stop. It prints its public key, which those who ask it need.
func (w *witnessing) Run(e environment) error {
	private, err := w.key()
	if err != nil {
		return fmt.Errorf("key: %w", err)
	}
	public, err := record.WitnessKey(private)
	if err != nil {
		return fmt.Errorf("key: %s: %w", w.Key, err)
	}
	opened, err := record.OpenWitness(w.State, private, w.Keys...)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", w.Addr)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(e.stdout, "Witness %s is ready at http://%s\n", public, l.Addr()); err != nil {
		return errors.Join(err, l.Close())
	}
	return server.Serve(e.ctx, l, witness.Handler(opened), nil, e.logger(w.Log))
}

// key reads the private key, which is created if there is none.
func (w *witnessing) key() (string, error) {
	raw, err := os.ReadFile(w.Key)
	if !errors.Is(err, fs.ErrNotExist) {
		return strings.TrimSuffix(string(raw), "\n"), err
	}
	if w.Name == "" {
		return "", fmt.Errorf("there is no file %s; to create a key, give it a name with --name", w.Key)
	}
	private, _, err := note.GenerateKey(rand.Reader, w.Name)
	if err == nil {
		err = atomicfile.Create(w.Key, []byte(private+"\n"))
	}
	return private, err
}

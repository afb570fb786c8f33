package config_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aliquot/internal/config"

	"github.com/alecthomas/kong"
)

var update = flag.Bool("update", false, "rewrite docs/settings.md")

// settings is what "aliquot serve" takes.
type settings struct {
	config.Store
	config.Server
	config.Sources
}

func parse(t *testing.T, env map[string]string, args ...string) (settings, error) {
	t.Helper()
	var s settings
	p, err := kong.New(&s, config.HelpTexts, kong.Resolvers(config.FromEnvironment(func(name string) string { return env[name] })))
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Parse(args)
	return s, err
}

func TestSettings_PageDescribesTheStruct(t *testing.T) {
	t.Parallel()
	var s settings
	p, err := kong.New(&s, config.HelpTexts)
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	page.WriteString("# Settings\n\nEach setting is a flag or an environment variable. The variable's name with the suffix " +
		"`_FILE` takes the path of a file\nthat contains the value; use this for secrets. Generated from " +
		"`internal/config` by `make golden`.\n\n" +
		"| Flag | Variable | Default | Meaning |\n|---|---|---|---|\n")
	for _, f := range p.Model.Flags {
		if f.Name == "help" {
			continue
		}
		fmt.Fprintf(&page, "| `--%s` | `%s` | %s | %s |\n", f.Name, config.Env(f.Name), code(f.Default), f.Help)
	}
	file := filepath.Join("..", "..", "docs", "settings.md")
	if *update {
		if err := os.WriteFile(file, page.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, page.Bytes()) {
		t.Errorf("docs/settings.md does not match the settings; run make golden")
	}
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

func TestSettings_FlagBeatsVariableBeatsFile(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("hush\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := parse(t, map[string]string{
		"ALIQUOT_IDENTITY_CLIENT_SECRET_FILE": secret, "ALIQUOT_TOKEN_LIFETIME": "2h", "ALIQUOT_ADDR": "127.0.0.1:1",
		"ALIQUOT_REGISTRATION": "example.org,0000-0002-1825-0097", "ALIQUOT_UPLOAD_LIMIT": "2GiB",
		"ALIQUOT_MAIL_FILE": secret,
	}, "--addr", "127.0.0.1:2")
	if err != nil {
		t.Fatal(err)
	}
	if s.IdentityClientSecret != "hush" || s.Mail != "hush" || s.TokenLifetime != 2*time.Hour ||
		s.Addr != "127.0.0.1:2" || len(s.Registration) != 2 || s.UploadLimit != 2<<30 {
		t.Errorf("got %+v", s)
	}
}

func TestSettings_ContradictionsAreRefusedByName(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no port":                   {[]string{"--addr", "localhost"}, "addr:"},
		"open to the world unasked": {[]string{"--addr", "0.0.0.0:80"}, "access:"},
		"a folder that holds":       {[]string{"--files-hold"}, "files-hold: needs files to be a bucket"},
		"links into a folder":       {[]string{"--files-links"}, "files-links: needs files to be a bucket"},
		"every address unasked":     {[]string{"--addr", ":80"}, "access:"},
		"the demo provider for all": {[]string{"--addr", "192.0.2.1:80", "--access", "members", "--identity",
			"demo"}, "identity:"},
		"a demo for all": {[]string{"--addr", "192.0.2.1:80", "--access", "members", "--demo"},
			"identity:"},
		"a demo behind a proxy": {[]string{"--demo", "--public-url", "https://aliquot.example.org"},
			"identity:"},
		"a demo behind a proxy, for members": {[]string{"--demo", "--access", "members", "--public-url",
			"https://aliquot.example.org"}, "identity:"},
		"the demo provider behind a proxy": {[]string{"--access", "open", "--identity", "demo", "--public-url",
			"https://192.0.2.1"}, "identity:"},
		"open behind a proxy unasked":   {[]string{"--public-url", "https://aliquot.example.org"}, "access:"},
		"a name that is like localhost": {[]string{"--public-url", "https://localhost.example.org"}, "access:"},
		"cookies that browsers refuse": {[]string{"--access", "members", "--public-url",
			"http://aliquot.example.org"}, "public-url: must begin with https://"},
		"cookies refused on the network": {[]string{"--access", "members", "--public-url", "http://10.0.0.7:8080"},
			"public-url: must begin with https://"},
		"every address, reached nowhere": {[]string{"--addr", ":80", "--access", "members"}, "public-url: set it"},
		"a public address with a password": {[]string{"--access", "members", "--public-url",
			"https://ada:hush@aliquot.example.org"}, "public-url:"},
		"a public address without a host": {[]string{"--access", "members", "--public-url", "https://:443"},
			"public-url:"},
		"a provider without client":           {[]string{"--identity", "https://orcid.org"}, "identity-client-id:"},
		"a public address that is no address": {[]string{"--public-url", "aliquot"}, "public-url:"},
		"an origin with a path": {[]string{"--cors-origins", "https://lab.example.org/"},
			"cors-origins:"},
		"an origin that is none": {[]string{"--cors-origins", "*,lab.example.org"}, "cors-origins:"},
		"a proxy that is no address": {[]string{"--trusted-proxies", "10.0.0.7,proxy.example.org"},
			"trusted-proxies:"},
		"a network that is none":              {[]string{"--trusted-proxies", "10.0.0.0/33"}, "trusted-proxies:"},
		"a proxy in two forms":                {[]string{"--trusted-proxies", "::ffff:10.0.0.7"}, "trusted-proxies:"},
		"every proxy of the world":            {[]string{"--trusted-proxies", "0.0.0.0/0"}, "trusted-proxies:"},
		"a token that never works":            {[]string{"--token-lifetime", "0s"}, "token-lifetime:"},
		"a contact that is none":              {[]string{"--contact-email", "Ada <ada@example.org>"}, "contact-email:"},
		"a key with a blank":                  {[]string{"--eutils-key", "a b"}, "eutils-key:"},
		"a token of two lines":                {[]string{"--protocols-token", "a\nb"}, "protocols-token:"},
		"nobody to work":                      {[]string{"--workers", "0"}, "workers:"},
		"more work than connections":          {[]string{"--workers", "17"}, "workers:"},
		"a reminder at once":                  {[]string{"--reminders", "0,7"}, "reminders:"},
		"reminders that go back":              {[]string{"--reminders", "7,28,14"}, "reminders:"},
		"two reminders on one day":            {[]string{"--reminders", "7,7"}, "reminders:"},
		"a reminder before the turn":          {[]string{"--reminders=-1"}, "reminders:"},
		"a reminder in eleven years":          {[]string{"--reminders", "7,4000"}, "reminders:"},
		"an escalation before the turn":       {[]string{"--escalation=-1"}, "escalation:"},
		"an escalation in eleven years":       {[]string{"--escalation", "4000"}, "escalation:"},
		"a reminder every day without an end": {[]string{"--reminders", days(31)}, "reminders:"},
		"a timestamp from nowhere":            {[]string{"--tsa-url", "tsa.example.org"}, "tsa-url:"},
		"a witness without a key":             {[]string{"--witnesses", "https://witness.example.org"}, "witnesses:"},
		"a witness without an address":        {[]string{"--witnesses", "w+0a1b2c3d+AA=="}, "witnesses:"},
		"a lease that is over at once":        {[]string{"--job-lease", "10ms"}, "job-lease:"},
	} {
		s, err := parse(t, nil, c.args...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := errors.Join(s.Check(&s.Store), s.Complete("example.org")); err == nil ||
			!strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: got %v, want one that starts with %s", name, err, c.want)
		}
	}
	for _, wrong := range [][]string{{"--access", "all"}, {"--upload-limit", "much"}, {"--upload-limit", "-1MiB"},
		{"--role", "king"}, {"--token-lifetime", "soon"}, {"--reminders", "weekly"}, {"--escalation", "soon"}} {
		if _, err := parse(t, nil, wrong...); err == nil {
			t.Errorf("%v is accepted", wrong)
		}
	}
}

func TestSettings_MailComesFromTheHostOfTheBaseURL(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"https://aliquot.example.org:8443": "Aliquot <aliquot@aliquot.example.org>",
		"http://127.0.0.1:8080":            "Aliquot <aliquot@localhost>", // an address of the network names no host
		"http://[::1]:8080":                "Aliquot <aliquot@localhost>",
	} {
		if got := (&config.Server{PublicURL: url}).Sender(); got != want {
			t.Errorf("%s: got %s, want %s", url, got, want)
		}
	}
	if got := (&config.Server{PublicURL: "https://aliquot.example.org",
		MailFrom: "lab@example.org"}).Sender(); got != "lab@example.org" {
		t.Errorf("got %s", got)
	}
}

// days are the days from 1 to n, as a setting.
func days(n int) string {
	list := "1"
	for day := 2; day <= n; day++ {
		list += fmt.Sprint(",", day)
	}
	return list
}

func TestSettings_RemindersAreRisingDaysOrNone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		env  string
		args []string
		want string
	}{
		{"", nil, "[7 14 28]"}, {"3", nil, "[3]"}, {"0", nil, "[]"},
		{"3", []string{"--reminders", "1,3650"}, "[1 3650]"},
		{"", []string{"--reminders="}, "[]"}, {"", []string{"--reminders=0"}, "[]"},
		{"", []string{"--reminders", days(30)}, "[" + strings.ReplaceAll(days(30), ",", " ") + "]"},
	} {
		s, err := parse(t, map[string]string{"ALIQUOT_REMINDERS": c.env}, c.args...)
		if err == nil {
			err = s.Check(&s.Store)
		}
		if got := fmt.Sprint(s.Reminders); err != nil || got != c.want {
			t.Errorf("%q %v: got %s, %v, want %s", c.env, c.args, got, err, c.want)
		}
	}
}

func TestSettings_EscalationIsADayOrNever(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]int{"": 21, "--escalation=0": 0, "--escalation=1": 1,
		"--escalation=3650": 3650} {
		s, err := parse(t, nil, strings.Fields(args)...)
		if err == nil {
			err = s.Check(&s.Store)
		}
		if err != nil || s.Escalation != want {
			t.Errorf("%q: got %d, %v, want %d", args, s.Escalation, err, want)
		}
	}
}

func TestSettings_OpenAccessIsTheDefaultOnlyOnLoopback(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--addr 127.0.0.1:8080": "open", "--addr localhost:1": "open", "--addr [::1]:8080": "open",
		"--public-url http://LOCALHOST:80": "open",
		"--public-url http://127.0.0.2":    "open", "--public-url https://[::1]:8443": "open",
		"--identity demo --public-url http://localhost":                               "open",
		"--addr 0.0.0.0:80 --access members --public-url https://aliquot.example.org": "members",
		// as in a container
		"--addr 0.0.0.0:80 --access members --public-url http://localhost:8080":           "members",
		"--addr 127.0.0.1:8080 --access open --public-url https://aliquot.example.org/":   "open",
		"--addr 127.0.0.1:8080 --access members --public-url https://aliquot.example.org": "members",
	} {
		s, err := parse(t, nil, strings.Fields(args)...)
		if err == nil {
			err = s.Check(&s.Store)
		}
		if err != nil || s.Access != want || strings.HasSuffix(s.PublicURL, "/") {
			t.Errorf("%s: got %q, %q, %v", args, s.Access, s.PublicURL, err)
		}
	}
}

func TestSettings_DemoHasItsOwnFolderAndProvider(t *testing.T) {
	t.Parallel()
	s, err := parse(t, nil, "--demo")
	if err == nil {
		err = s.Check(&s.Store)
	}
	if err != nil || s.Data != "./aliquot-demo" || s.Identity != "demo" {
		t.Errorf("got data %q, identity %q, %v", s.Data, s.Identity, err)
	}
}

func FuzzBytes(f *testing.F) {
	for _, s := range []string{"100MiB", "1B", "2GiB", "", "MiB", "-1B", "1e9GiB", "9999999999GiB"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var b config.Bytes
		if err := b.UnmarshalText([]byte(s)); err == nil && b < 1 {
			t.Errorf("%q is %d bytes", s, b)
		}
	})
}

func TestProxies_AreAddressesAndNetworks(t *testing.T) {
	t.Parallel()
	s, err := parse(t, map[string]string{"ALIQUOT_TRUSTED_PROXIES": "10.1.2.3/8,192.0.2.7,fd00::/8,2001:db8::1"})
	if err == nil {
		err = s.Check(&s.Store)
	}
	list, _ := s.Proxies()
	if got := fmt.Sprint(list); err != nil || got != "[10.0.0.0/8 192.0.2.7/32 fd00::/8 2001:db8::1/128]" {
		t.Errorf("got %s, %v", got, err)
	}
}

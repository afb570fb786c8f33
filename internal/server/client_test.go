package server_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"aliquot/internal/server"
)

func prefixes(texts ...string) (list []netip.Prefix) {
	for _, text := range texts {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}

// clientOf is the address that a request with headers is taken to come from.
func clientOf(trusted []netip.Prefix, peer string, log io.Writer, headers ...string) string {
	r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
	r.RemoteAddr = peer
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	got := ""
	server.Clients(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got, _,
			_ = net.SplitHostPort(r.RemoteAddr)
	}),
		trusted, slog.New(slog.NewTextHandler(log, nil))).ServeHTTP(httptest.NewRecorder(), r)
	return got
}

func TestClients_AreReadFromTheRight(t *testing.T) {
	t.Parallel()
	const f, x, proxy = "Forwarded", "X-Forwarded-For", "10.0.0.1"
	trusted := prefixes("10.0.0.0/8", "fd00::/8", "192.0.2.7/32")
	for _, c := range []struct {
		headers []string
		want    string
	}{
		{nil, proxy},
		{[]string{x, "203.0.113.9"}, "203.0.113.9"},
		{[]string{x, "1.2.3.4, 203.0.113.9"}, "203.0.113.9"}, // the client sent the first itself
		{[]string{x, "1.2.3.4,203.0.113.9 , 10.9.9.9, 192.0.2.7"}, "203.0.113.9"},
		{[]string{x, "1.2.3.4", x, "203.0.113.9", x, "10.2.2.2"}, "203.0.113.9"},
		{[]string{x, "nonsense, 203.0.113.9"}, "203.0.113.9"}, // nonsense that nobody reads
		{[]string{x, "203.0.113.9, nonsense"}, proxy},
		{[]string{x, "203.0.113.9,"}, proxy}, {[]string{x, ""}, proxy},
		{[]string{x, "203.0.113.9:4711"}, "203.0.113.9"},
		{[]string{x, "2001:db8::9"}, "2001:db8::9"}, {[]string{x, "[2001:db8::9]:4711"}, "2001:db8::9"},
		{[]string{x, "[2001:db8::9]"}, "2001:db8::9"},
		{[]string{x, "2001:DB8:0::9"}, "2001:db8::9"}, {[]string{x, "::ffff:203.0.113.9"}, "203.0.113.9"},
		{[]string{x, "203.0.113.9, ::ffff:10.1.1.1"}, "203.0.113.9"},
		{[]string{x, "fe80::1%eth0"}, proxy}, {[]string{x, "[203.0.113.9]"}, proxy},
		{[]string{x, "[2001:db8::9"}, proxy}, {[]string{x, "[2001:db8::9]x"}, proxy},
		{[]string{x, "203.0.113.999"}, proxy}, {[]string{x, "unknown"}, proxy}, {[]string{x, "010.0.113.9"}, proxy},
		{[]string{x, `"203.0.113.9"`}, proxy},
		// all are proxies: the first began it
		{[]string{x, "10.7.7.7"}, "10.7.7.7"}, {[]string{x, "10.7.7.7, 10.8.8.8"}, "10.7.7.7"},
		{[]string{f, "for=203.0.113.9"}, "203.0.113.9"},
		{[]string{f, `For="203.0.113.9:4711";proto=https;by=10.0.0.1;host="a;b,c"`}, "203.0.113.9"},
		{[]string{f, `proto=https;for="[2001:db8::9]:4711"`}, "2001:db8::9"},
		{[]string{f, `for="[2001:db8::9]"`}, "2001:db8::9"},
		{[]string{f, `for="\2\03.0.113.9"`}, "203.0.113.9"},
		{[]string{f, "for=1.2.3.4, for=203.0.113.9;proto=https,for=10.2.2.2"}, "203.0.113.9"},
		{[]string{f, "for=1.2.3.4", f, "for=203.0.113.9", f, `for="[fd00::2]:9"`}, "203.0.113.9"},
		{[]string{f, `for=1.2.3.4;by="`, f, "for=203.0.113.9"}, "203.0.113.9"}, // a line that nobody reads
		// a quotation that would swallow what the proxy added
		{[]string{f, `for=1.2.3.4;by=", for=203.0.113.9`}, proxy},
		{[]string{f, `for=1.2.3.4;by=", for="[2001:db8::9]"`}, proxy},
		{[]string{f, "for=unknown"}, proxy}, {[]string{f, "for=_hidden"}, proxy},
		{[]string{f, `for="_hidden:_port"`}, proxy}, {[]string{f, "for=1.2.3.4, for=_hidden, for=10.2.2.2"}, proxy},
		{[]string{f, "proto=https"}, proxy}, {[]string{f, "for=1.2.3.4, proto=https"}, proxy}, {[]string{f, ""}, proxy},
		{[]string{f, "for="}, proxy}, {[]string{f, "203.0.113.9"}, proxy},
		{[]string{f, "for=203.0.113.9;for=1.2.3.4"}, proxy}, {[]string{f, `for="203.0.113.9`}, proxy},
		{[]string{f, "for=203.0.113.9;"}, proxy}, {[]string{f, "for=203.0.113.9 x"}, proxy},
		{[]string{f, "for=203.0.113.9", x, "203.0.113.9"}, "203.0.113.9"},
		{[]string{f, "for=1.2.3.4", x, "203.0.113.9"}, proxy}, // one of them is the client's own
		{[]string{f, "nonsense", x, "203.0.113.9"}, proxy},
		{[]string{"X-Real-IP", "1.2.3.4"}, proxy}, {[]string{"True-Client-IP", "1.2.3.4"}, proxy},
		{[]string{"CF-Connecting-IP", "1.2.3.4"}, proxy},
	} {
		if got := clientOf(trusted, proxy+":80", io.Discard, c.headers...); got != c.want {
			t.Errorf("%q: got %s, want %s", c.headers, got, c.want)
		}
	}
	// who is no proxy of ours says what they like
	for _, peer := range []string{"198.51.100.3", "192.0.2.8", "2001:db8::1"} {
		if got := clientOf(trusted, net.JoinHostPort(peer, "80"), io.Discard, x, "203.0.113.9", f,
			"for=203.0.113.9"); got != peer {
			t.Errorf("%s is believed: %s", peer, got)
		}
	}
	if got := clientOf(trusted, "[::ffff:10.0.0.1]:80", io.Discard, x, "203.0.113.9"); got != "203.0.113.9" {
		t.Errorf("an IPv4 proxy on an IPv6 socket: %s", got)
	}
}

func TestClients_WithoutTrustedProxiesHeadersAreIgnoredAndThatIsSaidOnce(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	got := ""
	h := server.Clients(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.RemoteAddr }), nil,
		slog.New(slog.NewTextHandler(&log, nil)))
	for _, name := range []string{"X-Forwarded-For", "Forwarded", "X-Forwarded-For"} {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		r.Header.Set(name, "for=203.0.113.9")
		if h.ServeHTTP(httptest.NewRecorder(), r); got != r.RemoteAddr || strings.Contains(got, "203.0.113.9") {
			t.Errorf("%s: got %s", name, got)
		}
	}
	if n := strings.Count(log.String(), "trusted-proxies"); n != 1 {
		t.Errorf("said %d times: %s", n, log.String())
	}
}

func TestClients_BehindARealProxy(t *testing.T) {
	t.Parallel()
	backend := httptest.NewServer(server.Clients(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_,
			_ = io.WriteString(w, r.RemoteAddr)
	}),
		prefixes("127.0.0.0/8"), slog.New(slog.DiscardHandler)))
	defer backend.Close()
	target, err := url.Parse(backend.URL)
	if err != nil {
		t.Fatal(err)
	}
	// One proxy that adds to what came, as most do, on an address of the network, played by a header that it sets.
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.Header["X-Forwarded-For"] = r.In.Header["X-Forwarded-For"]
		r.In.RemoteAddr = "203.0.113.9:1"
		r.SetURL(target)
		r.SetXForwarded()
	}})
	defer proxy.Close()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, proxy.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Forwarded-For", "1.2.3.4")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if got, _ := io.ReadAll(response.Body); string(got) != "203.0.113.9:0" {
		t.Errorf("got %s", got)
	}
}

func TestRecord_HasTheShortenedAddressAndTheActor(t *testing.T) {
	t.Parallel()
	for remote, want := range map[string]any{
		"203.0.113.9:4711": "203.0.113.0/24", "[2001:db8:1:2:3:4:5:6]:1": "2001:db8:1::/48",
		"[::ffff:203.0.113.9]:1": "203.0.113.0/24", "[fe80::1%eth0]:1": "fe80::/48", "nowhere": "",
	} {
		for _, actor := range []string{"", "0190b9a4-0000-7000-8000-000000000001"} {
			r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
			r.RemoteAddr = remote
			r.Header.Set("Accept-Encoding", "gzip")
			_, records := record(t, func(w http.ResponseWriter,
				r *http.Request) {
				server.SetUser(server.Zip(w, r), actor)
			}, r)
			got, named := records[0]["actor"]
			if records[0]["client"] != want || named != (actor != "") || named && got != actor {
				t.Errorf("%s, %q: %v", remote, actor, records[0])
			}
		}
	}
}

func FuzzClients(f *testing.F) {
	for _, seed := range []string{"", "for=1.2.3.4", `for="[2001:db8::9]:4711";by="\"`, "a=b;;,", ",,,",
		"1.2.3.4, [::1", `"`, `for="`, "=;=", "for=_x"} {
		f.Add(seed, seed)
	}
	trusted := prefixes("10.0.0.0/8")
	f.Fuzz(func(t *testing.T, standard, common string) {
		// Whatever clients send, the address that the proxy adds behind it is the client or nobody is.
		if got := clientOf(trusted, "10.0.0.1:80", io.Discard, "X-Forwarded-For", common+
			", 203.0.113.9"); got != "203.0.113.9" {
			t.Errorf("%q: %s", common, got)
		}
		if got := clientOf(trusted, "10.0.0.1:80", io.Discard, "Forwarded", standard+
			", for=203.0.113.9"); got != "203.0.113.9" && got != "10.0.0.1" {
			t.Errorf("%q: %s", standard, got)
		}
	})
}

package e2e

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

var keycloakFolder = flag.String("keycloak", "", "the folder of Keycloak for TestSAML; empty: it does not run")

// TestSAML_SignsInThroughKeycloak has somebody sign in at an identity provider of SAML, by way of Keycloak as docs/deploy.md
// has it set up. Their affiliation holds while the provider asserts it, and they stay the same person with another address
// of mail. The realm that plays the institution is reached by another name of this host, so that its cookies are apart.
func TestSAML_SignsInThroughKeycloak(t *testing.T) {
	if *keycloakFolder == "" {
		return // make saml-check runs it
	}
	in := install(t, "sqlite", t.TempDir())
	number, address := in.newInstitution(t), freeAddress(t)
	k := startKeycloak(t, *keycloakFolder, address)
	row := university(t, k.base+"/realms/federation")
	row["identity_domains"] = map[string]int{"uni.example": number}
	server := in.serve(t, "--addr", address, "--identity-providers", providersFile(t, row))

	// signIn chooses the institution at Keycloak, signs in there, and sends what the institution answers.
	signIn := func(s *surfer) seen {
		t.Helper()
		choice := s.visit(http.MethodGet, server.base+"/signin/start?provider=uni", nil, "")
		link, err := choice.at.Parse(choice.doc.Find("#social-institution").AttrOr("href", ""))
		if err != nil || link.Path == choice.at.Path {
			t.Fatalf("%d at %s offers no institution: %s", choice.status, choice.at, choice.doc.Text())
		}
		return s.signIn(s.signIn(s.visit(http.MethodGet, link.String(), nil, ""), ""), "")
	}
	expect := func(landed seen, path string) {
		t.Helper()
		if landed.status != http.StatusOK || landed.at.Path != path {
			t.Fatalf("%d at %s: %s", landed.status, landed.at, landed.doc.Find("body").Text())
		}
	}
	s := &surfer{t, map[string]map[string]string{}}
	expect(signIn(s), "/signin/link")
	s.link(server.base)
	expect(signIn(&surfer{t, map[string]map[string]string{}}), "/")
	list := affiliationsAt(t, server.base, number)
	if len(list) != 1 || list[0].Source != "IDENTITY_PROVIDER" || list[0].Expires <= list[0].From {
		t.Errorf("asserted: %+v", list)
	}
	k.change(t, func(user map[string]any) {
		user["email"] = "josiah@uni.example"
		delete(user["attributes"].(map[string]any), "affiliation")
	})
	expect(signIn(&surfer{t, map[string]map[string]string{}}), "/")
	list = affiliationsAt(t, server.base, number)
	if len(list) != 1 || list[0].Expires > list[0].From {
		t.Errorf("asserted no longer: %+v", list)
	}
}

// keycloak is a Keycloak with the realms of testdata/keycloak.
type keycloak struct{ base, token string }

// startKeycloak starts one for a server of Aliquot that will listen on an address.
func startKeycloak(t *testing.T, folder, address string) *keycloak {
	t.Helper()
	at := freeAddress(t)
	_, port, err := net.SplitHostPort(at)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(folder, "bin", "kc.sh"), "start-dev", "--db=dev-mem",
		"--http-host=127.0.0.1", "--http-port="+port)
	cmd.Env = append(os.Environ(), "KC_BOOTSTRAP_ADMIN_USERNAME=admin", "KC_BOOTSTRAP_ADMIN_PASSWORD="+odd,
		"JAVA_OPTS_APPEND=-Xmx1g")
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // it is a shell, and its Java
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // t's context has ended
	k := &keycloak{base: "http://" + at}
	for deadline := time.Now().Add(patience); k.signIn() != nil; time.Sleep(time.Second) {
		if time.Now().After(deadline) {
			t.Fatalf("Keycloak does not begin: %v", k.signIn())
		}
	}
	values := strings.NewReplacer("{proxy}", k.base, "{institution}", "http://localhost:"+port, "{aliquot}",
		"http://"+address, "{secret}", odd)
	for _, name := range []string{"institution", "federation"} {
		realm, err := os.ReadFile(filepath.Join("testdata", "keycloak", name+".json"))
		if err == nil {
			_, err = k.call(http.MethodPost, "/admin/realms", []byte(values.Replace(string(realm))))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return k
}

// signIn signs in as the administrator.
func (k *keycloak) signIn() error {
	response, err := http.PostForm(k.base+"/realms/master/protocol/openid-connect/token", url.Values{ //nolint:noctx // a test
		"grant_type": {"password"}, "client_id": {"admin-cli"}, "username": {"admin"}, "password": {odd}})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var answer struct {
		Token string `json:"access_token"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || answer.Token == "" {
		return fmt.Errorf("status %d: %w", response.StatusCode, err)
	}
	k.token = answer.Token
	return nil
}

// call makes a call of Keycloak's API for administrators.
func (k *keycloak) call(method, path string, body []byte) (answer []byte, err error) {
	r, err := http.NewRequest(method, k.base+path, bytes.NewReader(body)) //nolint:noctx // a test
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+k.token)
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(response.Body)
	if err == nil && response.StatusCode > 299 {
		err = fmt.Errorf("%s %s: %d %s", method, path, response.StatusCode, answer)
	}
	return answer, err
}

// change changes the person at the institution.
func (k *keycloak) change(t *testing.T, how func(user map[string]any)) {
	t.Helper()
	const users = "/admin/realms/institution/users"
	var list []map[string]any
	err := k.signIn() // a token lasts a minute
	var answer []byte
	if err == nil {
		answer, err = k.call(http.MethodGet, users+"?briefRepresentation=false", nil)
	}
	if err == nil {
		err = json.Unmarshal(answer, &list)
	}
	if err != nil || len(list) != 1 {
		t.Fatalf("%s: %v", answer, err)
	}
	how(list[0])
	body, err := json.Marshal(list[0])
	if err == nil {
		_, err = k.call(http.MethodPut, users+"/"+fmt.Sprint(list[0]["id"]), body)
	}
	if err != nil {
		t.Fatal(err)
	}
}

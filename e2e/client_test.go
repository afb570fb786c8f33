package e2e

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	api "aliquot/client"

	"github.com/google/uuid"
	"github.com/oapi-codegen/nullable"
)

// The people of the stories; the built-in provider knows their names.
const (
	josiah = "0000-0002-1825-0097" // the requester
	olivia = "0000-0000-0000-0108" // the lab's owner
	mario  = "0000-0000-0000-0204" // its manager
	tomas  = "0000-0000-0000-0407" // its transfer officer
)

// client calls one server as one person; without a token as nobody.
type client struct {
	base, token string
	id          string       // of the user
	by          *http.Client // nil: web
}

// answer is what a call gave.
type answer struct {
	call   string // method and path
	status int
	header http.Header
	body   []byte
}

// web is a browser that follows no redirect.
var web = &http.Client{
	Timeout:       patience,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// send makes one call; an error means that no whole answer came.
func (c client) send(method, path, contentType string, body io.Reader) (answer, error) {
	return c.sendKeyed("", method, path, contentType, body)
}

// sendKeyed is send with an Idempotency-Key, unless that is empty.
func (c client) sendKeyed(key, method, path, contentType string, body io.Reader) (answer, error) {
	r, err := http.NewRequest(method, c.base+path, body)
	if err != nil {
		return answer{}, err
	}
	for name, value := range map[string]string{"Content-Type": contentType, "Idempotency-Key": key} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Token "+c.token)
	}
	response, err := cmp.Or(c.by, web).Do(r)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	return answer{method + " " + path, response.StatusCode, response.Header, raw}, err
}

// call sends JSON, or no body where it is empty.
func (c client) call(method, path, body string) (answer, error) {
	if body == "" {
		return c.send(method, path, "", nil)
	}
	return c.send(method, path, "application/json", strings.NewReader(body))
}

// readiness is an error unless /readyz answers with the status and has the text, as it does within a second.
func (c client) readiness(status int, text string) error {
	a, err := c.call("GET", "/readyz", "")
	if err == nil && (a.status != status || !strings.Contains(string(a.body), text)) {
		err = fmt.Errorf("readyz: %d %s, want %d and %s", a.status, a.body, status, text)
	}
	return err
}

// upload makes an attachment with content; fields are as "description=signed by us".
func (c client) upload(filename string, content []byte, fields ...string) (answer, error) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	var errs []error
	for _, field := range fields {
		name, value, _ := strings.Cut(field, "=")
		errs = append(errs, form.WriteField(name, value))
	}
	part, err := form.CreateFormFile("file", filename)
	if err != nil {
		return answer{}, err
	}
	_, err = part.Write(content)
	if err := errors.Join(append(errs, err, form.Close())...); err != nil {
		return answer{}, err
	}
	return c.send("POST", "/attachments/", form.FormDataContentType(), &body)
}

// refusal is the error of a call that got an answer, but not of success.
type refusal struct{ answer }

// Error gives the answer.
func (r refusal) Error() string { return fmt.Sprintf("%s: %d %s", r.call, r.status, r.body) }

// did is an answer that must be of success.
func did(a answer, err error) (answer, error) {
	if err == nil && (a.status < 200 || a.status > 299) {
		err = refusal{a}
	}
	return a, err
}

// at is the text of a member by its path, as "waiting_on.party" or "0.id"; what is no string
// comes as JSON.
func (a answer) at(path string) (string, error) {
	var v any
	decoder := json.NewDecoder(bytes.NewReader(a.body))
	decoder.UseNumber()
	if err := decoder.Decode(&v); err != nil {
		return "", err
	}
	for key := range strings.SplitSeq(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			member, ok := in[key]
			if !ok {
				return "", fmt.Errorf("no member %q of %q in %s", key, path, a.body)
			}
			v = member
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(in) {
				return "", fmt.Errorf("no element %q of %q in %s", key, path, a.body)
			}
			v = in[i]
		default:
			return "", fmt.Errorf("no %q in %s", path, a.body)
		}
	}
	if s, ok := v.(string); ok {
		return s, nil
	}
	raw, err := json.Marshal(v)
	return string(raw), err
}

// signIn walks the whole OpenID Connect round with the built-in provider.
func signIn(base, orcid string) (client, error) { return client{base: base}.signIn(orcid) }

// signIn returns the client of a person who has signed in by it.
func (c client) signIn(orcid string) (client, error) {
	origin := c.base + "/"
	query := url.Values{
		"client_id": {"aliquot"}, "response_type": {"code"}, "scope": {"openid"},
		"redirect_uri": {origin}, "state": {"s"}, "login_hint": {orcid},
	}
	asked, err := c.call("GET", "/demo/identity/authorize?"+query.Encode(), "")
	if err != nil {
		return c, err
	}
	back, err := url.Parse(asked.header.Get("Location"))
	if err != nil || asked.status != http.StatusFound {
		return c, fmt.Errorf("authorize: %w", errors.Join(refusal{asked}, err))
	}
	nobody, err := c.typed()
	if err != nil {
		return c, err
	}
	login, err := nobody.LoginWithResponse(context.Background(),
		api.Credentials{Code: back.Query().Get("code"), OriginURL: origin})
	if err != nil {
		return c, fmt.Errorf("login: %w", err)
	}
	c.token, c.id = login.JSON200.Token, login.JSON200.UserID.String()
	return c, nil
}

// typed is the client of the package client, for the same person.
func (c client) typed() (*api.ClientWithResponses, error) {
	return api.New(c.base, c.token, cmp.Or(c.by, web))
}

// lab is an organization of three people with one material that asks for everything.
type lab struct {
	owner, manager, officer client
	id, shipping, material  string
}

// lab opens a lab at a process.
func (p *process) lab(t testing.TB) lab {
	t.Helper()
	l, err := openLab(p.base)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func openLab(base string) (l lab, err error) {
	for orcid, person := range map[string]*client{olivia: &l.owner, mario: &l.manager, tomas: &l.officer} {
		if *person, err = signIn(base, orcid); err != nil {
			return l, err
		}
	}
	ctx := context.Background()
	owner, err := l.owner.typed()
	if err != nil {
		return l, err
	}
	manager, officer := uuid.MustParse(l.manager.id), uuid.MustParse(l.officer.id)
	organization, err := owner.CreateOrganizationWithResponse(ctx, api.OrganizationNew{
		Name: new("Sample Cell Bank"), Owner: new(uuid.MustParse(l.owner.id)), Members: []api.UserID{manager, officer},
	})
	if err != nil {
		return l, err
	}
	if err := l.join(organization.JSON201.ID); err != nil {
		return l, err
	}
	shipping, err := owner.CreateShippingWithResponse(ctx, api.ShippingNew{
		Organization: organization.JSON201.ID, NeedsShippingAddress: new(true), NeedsPayment: new(true),
		AcceptsShippingCode: new(true),
	})
	if err != nil {
		return l, err
	}
	material, err := owner.CreateMaterialWithResponse(ctx, api.MaterialNew{
		Category: api.MaterialCategoryCELLLINE, Title: "HT-29", OrganizationID: organization.JSON201.ID,
		ContactUserID:          &manager,
		ShippingRequirementsID: nullable.NewNullableWithValue(shipping.JSON201.ID),
		NeedsMTA:               new(true), NeedsIRB: new(true), NeedsAbstract: new(true),
		Organisms:          nullable.NewNullableWithValue([]string{"Homo sapiens"}),
		AdditionalMetadata: &api.Metadata{"cell_line_name": "HT-29", "rrid": "RRID:CVCL_0320"},
	})
	if err != nil {
		return l, err
	}
	l.id, l.shipping, l.material = fmt.Sprint(organization.JSON201.ID), fmt.Sprint(shipping.JSON201.ID),
		fmt.Sprint(material.JSON201.ID)
	return l, nil
}

// join has those accept whom the lab invited, which is nobody where access is open.
func (l lab) join(organization int64) error {
	a, err := did(l.owner.call("GET", fmt.Sprintf("/organizations/%d/invitations", organization), ""))
	if err != nil {
		return err
	}
	var list []struct {
		ID         int64
		RegistryID string `json:"registry_id"`
	}
	if err := json.Unmarshal(a.body, &list); err != nil {
		return err
	}
	invited := map[string]client{mario: l.manager, tomas: l.officer}
	for _, i := range list {
		who := invited[i.RegistryID]
		if _, err := did(who.call("POST", fmt.Sprintf("/users/%s/invitations/%d/accept", who.id, i.ID),
			"")); err != nil {
			return err
		}
	}
	return nil
}

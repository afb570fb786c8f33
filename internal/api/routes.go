package api

import (
	"net/http"
	"reflect"
	"strings"
	"time"

	"aliquot/internal/exchange"
)

// routes is the contract as a table: method and path, the action that the policy table rules,
// the status of success, and the handler. Every path answers with and without a trailing slash,
// at the root and under /v1.
var routes = []route{
	on("POST /login", exchange.Login, 200, (*API).login),
	on("POST /logout", exchange.Logout, 204, (*API).logout),

	on("POST /users", exchange.Register, 201, (*API).register),
	on("GET /users/{id}", exchange.UserRead, 200, (*API).getUser),
	on("PUT,PATCH /users/{id}", exchange.UserUpdate, 200, (*API).updateUser),
	on("GET /users/{id}/notifications", exchange.NotificationRead, 200, (*API).listNotifications),
	on("POST /users/{id}/notifications/read", exchange.NotificationRead, 204, (*API).readNotifications),
	on("PUT,PATCH /users/{id}/notifications/{notification}", exchange.NotificationRead, 204, (*API).updateNotification),

	on("POST /users/{id}/addresses", exchange.AddressWrite, 200, (*API).createAddress),
	on("GET /users/{id}/addresses", exchange.AddressRead, 200, (*API).listAddresses),
	on("GET /users/{id}/addresses/{address}", exchange.AddressRead, 200, (*API).getAddress),
	on("PUT,PATCH /users/{id}/addresses/{address}", exchange.AddressWrite, 200, (*API).updateAddress),
	on("DELETE /users/{id}/addresses/{address}", exchange.AddressWrite, 204, (*API).deleteAddress),

	on("GET /users/{id}/tokens", exchange.TokenRead, 200, (*API).listTokens),
	on("DELETE /users/{id}/tokens", exchange.TokenRevoke, 204, (*API).revokeTokens),
	on("DELETE /users/{id}/tokens/{token}", exchange.TokenRevoke, 204, (*API).revokeToken),
	on("POST /users/{id}/invitations/{invitation}/accept", exchange.InvitationAnswer, 200, (*API).acceptInvitation),
	on("POST /users/{id}/invitations/{invitation}/decline", exchange.InvitationAnswer, 200, (*API).declineInvitation),

	on("POST /organizations", exchange.OrganizationCreate, 201, (*API).createOrganization),
	on("GET /organizations", exchange.OrganizationRead, 200, (*API).listOrganizations),
	on("GET /organizations/{id}", exchange.OrganizationRead, 200, (*API).getOrganization),
	on("PUT,PATCH /organizations/{id}", exchange.OrganizationUpdate, 200, (*API).updateOrganization),
	on("GET /organizations/{id}/members", exchange.OrganizationRead, 200, (*API).listMembers),
	on("GET /organizations/{id}/materials", exchange.MaterialRead, 200, (*API).listMaterialsOf),
	on("GET /organizations/{id}/grants", exchange.OrganizationGrants, 200, (*API).listGrantsOf),
	on("GET /organizations/{id}/invitations", exchange.InvitationRead, 200, (*API).listInvitations),
	on("POST /organizations/{id}/invitations", exchange.InvitationWrite, 201, (*API).invite),
	on("DELETE /organizations/{id}/invitations/{invitation}", exchange.InvitationWrite, 204, (*API).withdraw),
	on("GET /organizations/{id}/history", exchange.OrganizationHistory, 200, (*API).listOrganizationHistory),

	on("GET /organization-user-settings", exchange.SettingsRead, 200, (*API).listSettings),
	on("GET /organization-user-settings/{id}", exchange.SettingsRead, 200, (*API).getSettings),
	on("PUT,PATCH /organization-user-settings/{id}", exchange.SettingsUpdate, 200, (*API).updateSettings),

	on("POST /shipping-requirements", exchange.ShippingWrite, 201, (*API).createShipping),
	on("GET /shipping-requirements", exchange.ShippingRead, 200, (*API).listShippings),
	on("GET /shipping-requirements/{id}", exchange.ShippingRead, 200, (*API).getShipping),
	on("PUT,PATCH /shipping-requirements/{id}", exchange.ShippingWrite, 200, (*API).updateShipping),

	on("POST /materials", exchange.MaterialCreate, 201, (*API).createMaterial),
	on("POST /materials/import", exchange.MaterialImport, 200, (*API).importMaterial),
	on("POST /materials/import/preview", exchange.MaterialPreview, 200, (*API).previewImport),
	on("GET /publications", exchange.PublicationRead, 200, (*API).getPublication),
	on("GET /materials", exchange.MaterialRead, 200, (*API).listMaterials),
	on("GET /materials/{id}", exchange.MaterialRead, 200, (*API).getMaterial),
	on("PUT,PATCH /materials/{id}", exchange.MaterialUpdate, 200, (*API).updateMaterial),
	on("DELETE /materials/{id}", exchange.MaterialArchive, 204, (*API).archiveMaterial),
	on("GET /materials/{id}/history", exchange.MaterialHistory, 200, (*API).listMaterialHistory),

	on("POST /grants", exchange.GrantCreate, 200, (*API).createGrant),
	on("GET /grants", exchange.GrantList, 200, (*API).listGrants),
	on("GET /grants/{id}", exchange.GrantRead, 200, (*API).getGrant),
	on("PUT,PATCH /grants/{id}", exchange.GrantUpdate, 200, (*API).updateGrant),
	on("GET /grants/{id}/materials", exchange.GrantRead, 200, (*API).listFunded),
	on("POST /grants/{id}/materials", exchange.GrantUpdate, 201, (*API).fund),
	on("DELETE /grants/{id}/materials/{material}", exchange.GrantUpdate, 204, (*API).unfund),

	on("POST /attachments", exchange.AttachmentCreate, 201, (*API).createAttachment).streams(),
	on("GET /attachments", exchange.AttachmentList, 200, (*API).listAttachments),
	on("GET /attachments/{id}", exchange.AttachmentRead, 200, (*API).getAttachment),
	on("PUT,PATCH /attachments/{id}", exchange.AttachmentUpdate, 200, (*API).updateAttachment),
	on("DELETE /attachments/{id}", exchange.AttachmentDelete, 204, (*API).deleteAttachment),
	on("GET /uploaded-file/{attachment}/{filename}", exchange.AttachmentContent, 200, (*API).getContent),
	on("PUT /uploaded-file/{attachment}/{filename}", exchange.AttachmentUpdate, 200, (*API).putContent).streams(),

	on("POST /material-requests", exchange.RequestCreate, 201, (*API).createRequest),
	on("GET /material-requests", exchange.RequestList, 200, (*API).listRequests),
	on("GET /material-requests/{id}", exchange.RequestRead, 200, (*API).getRequest),
	on("PUT,PATCH /material-requests/{id}", exchange.RequestUpdate, 200, (*API).updateRequest),
	on("DELETE /material-requests/{id}", exchange.RequestDelete, 204, (*API).deleteRequest),
	on("GET /material-requests/{id}/events", exchange.RequestRead, 200, (*API).listEvents),
	on("GET /material-requests/{id}/messages", exchange.RequestRead, 200, (*API).listMessages),
	on("POST /material-requests/{id}/messages", exchange.RequestUpdate, 201, (*API).sendMessage),
	on("GET /material-requests/{id}/issues", exchange.RequestRead, 200, (*API).listIssues),
	on("POST /material-requests/{id}/issues", exchange.RequestUpdate, 201, (*API).openIssue),
	on("POST /material-requests/{id}/issues/{issue}/close", exchange.RequestUpdate, 200, (*API).closeIssue),
	on("PUT,PATCH /material-requests/{id}/shipment", exchange.RequestShip, 200, (*API).shipRequest),
	on("POST /material-requests/{id}/documents/{document}/accept", exchange.RequestUpdate, 200, (*API).acceptDocument),
	on("POST /material-requests/{id}/documents/{document}/return", exchange.RequestUpdate, 200, (*API).returnDocument),

	on("GET /audit-events", exchange.AuditRead, 200, (*API).listAudit),
}

// route is one line of the table.
type route struct {
	methods []string
	path    string
	action  exchange.Action
	status  int
	silent  bool         // no JSON comes back
	stream  bool         // the handler reads the body itself, and no limit on JSON applies
	in, out reflect.Type // of the bodies; None where there is none
	serve   func(*API, *Call) error
}

// None is the body of a request or response that has none.
type None struct{}

// on makes a route of a typed handler: In is decoded from the body, Out is the answer.
func on[In, Out any](pattern string, action exchange.Action, status int, handle func(*API, *Call, In) (Out, error)) route {
	methods, path, _ := strings.Cut(pattern, " ")
	r := route{
		methods: strings.Split(methods, ","), path: path, action: action, status: status,
		in: reflect.TypeFor[In](), out: reflect.TypeFor[Out](),
	}
	hasBody := r.in != reflect.TypeFor[None]()
	r.silent = r.out == reflect.TypeFor[None]()
	single := r.methods[0] == http.MethodGet && r.out.Kind() == reflect.Struct
	r.serve = func(a *API, c *Call) error {
		c.ifMatch()
		var in In
		if hasBody && !c.stream {
			if err := decode(c.Request, &in); err != nil {
				return err
			}
		}
		out, err := handle(a, c, in)
		switch {
		case err != nil:
			return err
		case c.written:
			return nil
		case r.silent:
			c.w.WriteHeader(c.status)
			return nil
		case single:
			return c.answerOne(out)
		}
		return answer(c.w, c.status, out)
	}
	return r
}

// streams marks a route whose handler reads the body itself.
func (r route) streams() route {
	r.stream = true
	return r
}

// patterns are those under which net/http's mux knows the route.
func (r route) patterns() []string {
	var list []string
	for _, method := range r.methods {
		for _, base := range []string{"", "/v1"} {
			list = append(list, method+" "+base+r.path, method+" "+base+r.path+"/{$}")
		}
	}
	return list
}

// Call is one request on its way through a handler.
type Call struct {
	*http.Request
	Actor   exchange.Actor
	w       http.ResponseWriter
	status  int // of success
	stream  bool
	written bool // the handler wrote the answer itself
}

// slowest is the speed of a connection, in bytes a second, at which a whole file still passes.
const slowest = 64 << 10

// forFile gives the connection the time for n bytes; the server's own limits are meant for JSON.
func (c *Call) forFile(n int64) {
	until := time.Now().Add(time.Minute + time.Duration(n/slowest)*time.Second)
	connection := http.NewResponseController(c.w)
	_ = connection.SetReadDeadline(until) // fails only where a connection has no deadlines
	_ = connection.SetWriteDeadline(until)
}

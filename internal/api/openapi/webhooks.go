package openapi

import (
	"reflect"
	"strings"

	"aliquot/internal/api/jsonschema"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/request"
)

// webhookHeaders are those of each message to a webhook.
var webhookHeaders = []jsonschema.Object{
	webhookHeader("webhook-id",
		"Identifies the message. It is the same in every attempt, so that duplicates can be discarded.", "string"),
	webhookHeader("webhook-timestamp", "When this attempt was made, in Unix seconds. Reject a message whose "+
		"timestamp is off by more than five minutes.", "integer"),
	webhookHeader("webhook-signature", "`v1,` and base64 of HMAC-SHA256 of the id, a full stop, the timestamp, a "+
		"full stop and the body as it came, under the bytes of the secret; while a secret is being replaced, one for "+
		"each secret, separated by a space.", "string"),
}

func webhookHeader(name, text, kind string) jsonschema.Object {
	return jsonschema.Object{"name": name, "in": "header", "required": true, "description": text,
		"schema": jsonschema.Object{"type": kind}}
}

// webhooks describes the messages to webhooks, one entry for each type.
func (d description) webhooks() jsonschema.Object {
	list := jsonschema.Object{string(notify.Ping): d.webhook(notify.Ping, "Test a webhook",
		"Sent when the owner of the organization requests it, with a single attempt.", notify.PingMessage{})}
	for _, kind := range request.EventKinds {
		list[string(notify.TypeOf(kind))] = d.webhook(notify.TypeOf(kind), "Event: "+
			strings.ReplaceAll(string(kind), "_", " "),
			"It happened to a request of a material of the organization.", notify.EventMessage{})
	}
	for _, t := range notify.AgreementTypes {
		list[string(t)] = d.webhook(t, "Event: "+strings.ReplaceAll(string(t), ".", " "),
			"It happened to an agreement for requests of materials of the organization.", notify.AgreementMessage{})
	}
	return list
}

func (d description) webhook(t notify.EventType, title, text string, message any) jsonschema.Object {
	schema := d.schemas.Schema(reflect.TypeOf(message))
	schema["properties"] = jsonschema.Object{"type": jsonschema.Object{"const": t}}
	taken := jsonschema.Object{
		"description": "It was accepted. Respond within 15 seconds, and do longer work afterwards."}
	return jsonschema.Object{"post": jsonschema.Object{
		"operationId": "tell" + strings.NewReplacer(".", "_").Replace("."+string(t)), "summary": title,
		"description": text, "tags": []string{webhooksTag},
		"security": []jsonschema.Object{}, "parameters": webhookHeaders,
		"requestBody": jsonschema.Object{"required": true, "content": jsonOf(schema)},
		"responses": jsonschema.Object{"2XX": taken,
			"410": jsonschema.Object{
				"description": "The receiver wants no more messages: the webhook is switched off."},
			"default": jsonschema.Object{
				"description": "It is sent again, after Retry-After where that is later, up to ten " +
					"times in four days. Redirects are not followed."}},
	}}
}

// webhooksTag is the heading of the messages to webhooks.
const webhooksTag = "webhooks"

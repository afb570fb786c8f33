package api

import (
	"reflect"
	"strings"

	"aliquot/internal/exchange"
)

// webhookHeaders are those of each message to a webhook.
var webhookHeaders = []object{
	webhookHeader("webhook-id", "Names the message. It is the same at every try, so that one that comes twice can be "+
		"left out.", "string"),
	webhookHeader("webhook-timestamp", "When this try was made, in seconds since 1970. One that is more than five "+
		"minutes off was sent by somebody else.", "integer"),
	webhookHeader("webhook-signature", "`v1,` and base64 of HMAC-SHA256 of the id, a full stop, the timestamp, a "+
		"full stop and the body as it came, "+
		"under the bytes of the secret; while a secret is changed one for each, with a blank between them.", "string"),
}

func webhookHeader(name, text, kind string) object {
	return object{"name": name, "in": "header", "required": true, "description": text, "schema": object{"type": kind}}
}

// webhooks describes the messages to webhooks, one entry for each type.
func (d description) webhooks() object {
	list := object{string(exchange.Ping): d.webhook(exchange.Ping, "Try a webhook out",
		"It is sent when the owner of the organization asks for it, and tried once.", exchange.PingMessage{})}
	for _, kind := range exchange.EventKinds {
		list[string(kind.Type())] = d.webhook(kind.Type(), "Tell of an event: "+
			strings.ReplaceAll(string(kind), "_", " "),
			"It happened to a request of a material of the organization.", exchange.EventMessage{})
	}
	return list
}

func (d description) webhook(t exchange.EventType, title, text string, message any) object {
	schema := d.schema(reflect.TypeOf(message))
	schema["properties"] = object{"type": object{"const": t}}
	taken := object{"description": "It was taken. Answer within 15 seconds, and do what takes longer after that."}
	return object{"post": object{
		"operationId": "tell" + strings.NewReplacer(".", "_").Replace("."+string(t)), "summary": title,
		"description": text, "tags": []string{webhooksTag},
		"security": []object{}, "parameters": webhookHeaders,
		"requestBody": object{"required": true, "content": jsonOf(schema)},
		"responses": object{"2XX": taken,
			"410": object{"description": "No more messages are wanted: the webhook is switched off."},
			"default": object{"description": "It is sent again, after Retry-After where that is later, up to ten " +
				"times in four days. Redirects are not followed."}},
	}}
}

// webhooksTag is the heading of the messages to webhooks.
const webhooksTag = "webhooks"

package webhook

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// TestSign_EqualsThePublishedVector is the vector of the official libraries.
func TestSign_EqualsThePublishedVector(t *testing.T) {
	t.Parallel()
	got, err := Sign([]string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}, "msg_p5jXN8AQM9LWM0D4loKWxJek",
		time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestSign_EachOfTwoSecretsVerifies(t *testing.T) {
	t.Parallel()
	now, payload := time.Now(), []byte(`{"type":"ping"}`)
	old, present := NewSecret(), NewSecret()
	signature, err := Sign([]string{present, old}, "msg_1", now, payload)
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{"Webhook-Id": {"msg_1"}, "Webhook-Timestamp": {fmt.Sprint(now.Unix())},
		"Webhook-Signature": {signature}}
	verify := func(secret string, payload []byte) error {
		official, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			t.Fatal(err)
		}
		return official.Verify(payload, header)
	}
	for _, secret := range []string{old, present} {
		if err := verify(secret, payload); err != nil {
			t.Error(err)
		}
		if verify(secret, []byte(`{"type":"pong"}`)) == nil {
			t.Error("another payload is verified")
		}
	}
	if verify(NewSecret(), payload) == nil {
		t.Error("a secret that did not sign is verified")
	}
}

func TestSign_SecretsHave24To64Bytes(t *testing.T) {
	t.Parallel()
	a, b := NewSecret(), NewSecret()
	if key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(a, "whsec_")); err != nil || len(key) != 32 ||
		a == b {
		t.Errorf("NewSecret gave %q and %q", a, b)
	}
	of := func(n int) string { return "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, n)) }
	for secret, good := range map[string]bool{of(23): false, of(24): true, of(64): true, of(65): false, "": false,
		"whsec_": false, "whsec_%": false,
		strings.TrimPrefix(of(32), "whsec_"): false} {
		if _, err := Sign([]string{secret}, "msg_1", time.Now(), nil); (err == nil) != good {
			t.Errorf("Sign with %q: %v", secret, err)
		}
	}
}

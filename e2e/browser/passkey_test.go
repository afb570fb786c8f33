package browser

import (
	"testing"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
)

// device gives the browser an authenticator that knows its user by itself.
func (t *tab) device() {
	t.Helper()
	_, err := chromedp.Call(t.ctx, webauthn.Enable, webauthn.EnableParams{})
	t.must(err)
	_, err = chromedp.Call(t.ctx, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{
		Options: &webauthn.VirtualAuthenticatorOptions{Protocol: webauthn.AuthenticatorProtocolCtap2,
			Transport: webauthn.AuthenticatorTransportInternal, HasResidentKey: true, HasUserVerification: true,
			IsUserVerified: true, AutomaticPresenceSimulation: true}})
	t.must(err)
}

// newPasskey registers the device of the browser.
func (t *tab) newPasskey(name string) {
	t.Helper()
	t.device()
	t.visit("/account/passkeys")
	t.fill("New passkey on", name)
	t.followIn("main", "Add passkey")
	t.followIn("main", "Make passkey")
	t.says("Passkey registered.")
}

func TestPasskey_IsMadeByTheDeviceAndRemoved(t *testing.T) {
	t.Parallel()
	me := newStrangeSite(t, strange{named: true}).open("josiah")
	me.newPasskey("Office laptop")
	me.says("Office laptop")

	me.fill("New passkey on", "Again")
	me.followIn("main", "Add passkey")
	me.pressIn("main", "Make passkey")
	me.says("This device has a passkey of yours already.")

	me.visit("/account/passkeys")
	me.followIn("main", "Remove Office laptop")
	me.says("Passkey removed.")
	me.says("public key is kept")
}

func TestPasskey_SaysThatItNeedsScript(t *testing.T) {
	t.Parallel()
	me := newStrangeSite(t, strange{named: true}).open("josiah")
	me.scriptless()
	me.visit("/account/passkeys")
	me.fill("New passkey on", "Office laptop")
	me.followIn("main", "Add passkey")
	me.says("needs JavaScript")
}

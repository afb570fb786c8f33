"""Checks evidence of passkeys with webauthn and fido2 of PyPI: python3 passkey_check.py passkeys.json

The entry "good" must be accepted by both, each of "altered" refused. What is compared is what the evidence claims
with what the statement of "good" says: the keys and the letter that people know from elsewhere."""
import base64, hashlib, json, sys
from fido2 import cbor
from fido2.cose import CoseKey
from fido2.webauthn import AuthenticatorData, CollectedClientData
from webauthn import verify_authentication_response

SITE, ORIGIN = "aliquot.example.org", "https://aliquot.example.org"
data = json.load(open(sys.argv[1]))
known = data["good"]

def raw(entry, name):
    return base64.b64decode(entry[name] or "")

def url(b):
    return base64.urlsafe_b64encode(b).rstrip(b"=").decode()

def by_webauthn(e):
    answer = {"id": url(raw(e, "credential_id")), "rawId": url(raw(e, "credential_id")), "type": "public-key",
              "clientExtensionResults": {}, "response": {"clientDataJSON": url(raw(e, "client_data")),
              "authenticatorData": url(raw(e, "authenticator_data")), "signature": url(raw(e, "signature"))}}
    verify_authentication_response(
        credential=answer, expected_challenge=hashlib.sha256(e["statement"].encode()).digest(),
        expected_rp_id=SITE, expected_origin=ORIGIN, credential_public_key=raw(known, "public_key"),
        credential_current_sign_count=0, require_user_verification=True)
    return not json.loads(raw(e, "client_data")).get("crossOrigin")

def by_fido2(e):
    client, authenticator = CollectedClientData(raw(e, "client_data")), AuthenticatorData(raw(e, "authenticator_data"))
    key = CoseKey.parse(cbor.decode(raw(known, "public_key")))
    key.verify(authenticator + client.hash, raw(e, "signature"))
    return (client.type == "webauthn.get" and client.origin == ORIGIN and not client.cross_origin and
            client.challenge == hashlib.sha256(e["statement"].encode()).digest() and authenticator.is_user_present() and
            authenticator.is_user_verified() and authenticator.rp_id_hash == hashlib.sha256(SITE.encode()).digest())

def accepted(e, check):
    try:
        same = all(e[k] == known[k] for k in ("credential_id", "public_key", "rp_id", "origin"))
        return same and bool(check(e))
    except Exception:
        return False

wrong = 0
for name, check in (("webauthn", by_webauthn), ("fido2", by_fido2)):
    if not accepted(known, check):
        print(name, "refuses the good one")
        wrong += 1
    for what, e in data["altered"].items():
        if accepted(e, check):
            print(name, "accepts", what)
            wrong += 1
if wrong or len(data["altered"]) < 50:
    sys.exit("passkeys: not as they should be")
print(f"webauthn and fido2: accept the signature, refuse {len(data['altered'])} altered ones")

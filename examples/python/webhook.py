#!/usr/bin/env python3
"""Takes what Aliquot tells a webhook, checks who sent it, and prints each message once.

    ALIQUOT_WEBHOOK_SECRET=whsec_... python3 webhook.py 8000

It needs Python 3.9 and nothing else. In the place of print do what is quick, such as keeping the
message in a database: Aliquot waits 15 seconds for the answer. Put it behind a server that speaks https.
"""

import base64
import hashlib
import hmac
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

TOLERANCE = 5 * 60  # seconds
LARGEST = 1 << 20  # bytes


def verified(secret, headers, body):
    """Reports whether a message was signed with the secret, within the last minutes."""
    sent = headers.get("webhook-timestamp", "")
    if not sent.isascii() or not sent.isdigit() or abs(time.time() - int(sent)) > TOLERANCE:
        return False  # or anyone who saw it once could send it forever
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{headers.get('webhook-id', '')}.{sent}.".encode() + body  # the bytes as they came
    want = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    given = headers.get("webhook-signature", "").encode("ascii", "replace").split(b" ")
    return any(hmac.compare_digest(want, one) for one in given)  # more than one while the secret is changed


class Receiver(BaseHTTPRequestHandler):
    secret = ""
    taken = set()  # ids; a database remembers them longer
    timeout = 15

    def do_POST(self):
        length = self.headers.get("content-length", "")
        if not length.isdigit() or int(length) > LARGEST:
            return self.answer(413)
        body = self.rfile.read(int(length))
        if not verified(self.secret, self.headers, body):
            return self.answer(401)
        if self.headers["webhook-id"] not in self.taken:  # a message may come twice
            message = json.loads(body)
            request = message["data"].get("request")
            print(message["type"], f"request {request['id']} is {request['status']}" if request else "", flush=True)
            self.taken.add(self.headers["webhook-id"])
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def main():
    Receiver.secret = os.environ.get("ALIQUOT_WEBHOOK_SECRET", "")
    if len(sys.argv) != 2 or not Receiver.secret.startswith("whsec_"):
        sys.exit("usage: ALIQUOT_WEBHOOK_SECRET=whsec_... webhook.py PORT")
    server = HTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver)
    print(f"listening at http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()

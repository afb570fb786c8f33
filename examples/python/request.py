#!/usr/bin/env python3
"""Asks for a material, submits a signed document, and waits for the lab's answer.

    ALIQUOT_URL=https://aliquot.example.org ALIQUOT_TOKEN=alq_... \\
        python3 request.py "HT-29" signed-mta.pdf "We study how intestinal cells polarise."

It needs Python 3.9 and nothing else.
"""

import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

TRIES = 6


class Refused(Exception):
    """The server's answer to a call that it does not do; says what to do about it."""

    def __init__(self, status, body):
        lines = [f"{status} {body.get('error_code', '')}: {body.get('error', 'no reason given')}"]
        lines += [f"  {name}: {'; '.join(faults)}" for name, faults in body.get("fields", {}).items()]
        lines += [f"  request id {body['request_id']}"] if "request_id" in body else []
        super().__init__("\n".join(lines))


class Aliquot:
    """A client of one server, as one person."""

    def __init__(self, url, token):
        self.url, self.token = url.rstrip("/"), token

    def call(self, method, path, body=None, kind="application/json", **headers):
        """Makes one call and gives its body, None for 304, and its headers.

        It tries again when the server says so with Retry-After (429 and 503, or 409 while the same
        call still runs) and after a broken connection. That is safe: a PATCH sets the same values
        once more, and a POST bears a key, under which it takes effect once.
        """
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        headers["Authorization"] = "Token " + self.token
        if body is not None:
            headers["Content-Type"] = kind
            body = body if isinstance(body, bytes) else json.dumps(body).encode()
        if method == "POST":
            headers["Idempotency-Key"] = str(uuid.uuid4())
        for last in [False] * (TRIES - 1) + [True]:
            request = urllib.request.Request(self.url + path, data=body, headers=headers, method=method)
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:
                    return json.loads(answer.read() or "null"), answer.headers
            except urllib.error.HTTPError as error:
                if error.code == 304:
                    return None, error.headers
                if "Retry-After" not in error.headers or last:
                    raise Refused(error.code, fault(error.read())) from None
                pause = float(error.headers["Retry-After"])
            except (http.client.HTTPException, OSError):  # URLError is an OSError
                if last:
                    raise
                pause = 1
            time.sleep(pause)

    def found(self, words):
        """Gives every material that a search finds, the best first, page by page: next leads on."""
        path = "/v1/search/materials/?" + urllib.parse.urlencode({"search": words, "facets": "false", "limit": 50})
        while path:
            page, _ = self.call("GET", path)
            yield from page["results"]
            path = page["next"]

    def upload(self, file, description):
        """Makes an attachment of a file and gives its id."""
        boundary = uuid.uuid4().hex
        name = os.path.basename(file).replace('"', "%22")
        with open(file, "rb") as content:
            form = b"".join([
                f'--{boundary}\r\nContent-Disposition: form-data; name="description"\r\n\r\n{description}\r\n'.encode(),
                f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode(),
                content.read(),
                f"\r\n--{boundary}--\r\n".encode(),
            ])
        made, _ = self.call("POST", "/v1/attachments/", form, kind=f"multipart/form-data; boundary={boundary}")
        return made["id"]

    def changes(self, path, pause):
        """Gives an object each time that it changed; in between the server only answers 304."""
        tag = ""
        while True:
            found, headers = self.call("GET", path, If_None_Match=tag)
            tag = headers["ETag"]
            if found is not None:
                yield found
            time.sleep(pause)


def fault(raw):
    """The body of an error; a proxy on the way may answer with something else than JSON."""
    try:
        return json.loads(raw)
    except ValueError:
        return {}


def main(title, document, abstract):
    for name in ("ALIQUOT_URL", "ALIQUOT_TOKEN"):
        if not os.environ.get(name):
            sys.exit(f"{name} must be set, see the top of this file")
    server = Aliquot(os.environ["ALIQUOT_URL"], os.environ["ALIQUOT_TOKEN"])
    pause = float(os.environ.get("ALIQUOT_POLL", 60))  # seconds between two looks at the request

    for material in server.found(title):
        if material["title"] == title:
            break
    else:
        sys.exit(f"nobody lists {title}")
    print("material", material["id"])

    request, _ = server.call("POST", "/v1/material-requests/", {"material": material["id"], "requester_abstract": abstract})
    path = f"/v1/material-requests/{request['id']}"
    print("request", request["id"], "is", request["status"])

    server.call("PATCH", path, {"requester_signed_mta_attachment": server.upload(document, "MTA, signed by us")})
    print("submitted", document, flush=True)

    for now in server.changes(path, pause):
        if now["status"] != request["status"]:
            print("request", request["id"], "is", now["status"])
            return


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(f"usage: {sys.argv[0]} TITLE DOCUMENT ABSTRACT")
    try:
        main(*sys.argv[1:])
    except (Refused, OSError) as error:
        sys.exit(str(error))

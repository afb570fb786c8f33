"""Checks a dossier of Aliquot with nothing but Python 3: python3 verify.py DOSSIER.zip [PUBLIC-KEY ...]"""
import base64, hashlib, hmac, json, re, struct, sys, zlib

def check(ok, what):
    ok or sys.exit("NOT VALID: " + what)
sha = lambda b: hashlib.sha256(b).hexdigest()
join = lambda *parts: b"".join(b"%d:%s\n" % (len(p.encode()), p.encode()) for p in parts)  # each behind its length

def unzip(raw):  # nothing is compressed, and every byte that is not content follows from the contents
    files, at, central, name = {}, 0, b"", b""
    while raw[at:at + 4] == b"PK\3\4" and len(raw) >= at + 30:
        (size, length), last = struct.unpack("<LH", raw[at + 22:at + 28]), name
        name, body = raw[at + 30:at + 30 + length], raw[at + 30 + length:at + 30 + length + size]
        head = struct.pack("<HHHHHLLLHH", 20, 0, 0, 0, 33, zlib.crc32(body), len(body), len(body), len(name), 0)
        check(raw[at + 4:at + 30] == head and name > last and re.fullmatch(rb"[\w-][\w.-]*(/[\w-][\w.-]*)*", name),
              "entry %d, %r, was altered or cut" % (len(files) + 1, name))
        central += b"PK\1\2\x14\3" + head + struct.pack("<HHHLL", 0, 0, 0, 0o100644 << 16, at) + name
        files[name.decode()], at = body, at + 30 + length + size
    end = struct.pack("<HHHHLLH", 0, 0, len(files), len(files), len(central), at, 0)
    check(raw[at:] == central + b"PK\5\6" + end, "the ZIP file behind %r was altered" % name)
    return files

P, L = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493  # Ed25519, RFC 8032
D, ROOT = -121665 * pow(121666, -1, P) % P, pow(2, (P - 1) // 4, P)
def add(a, b):
    t = D * a[0] * b[0] * a[1] * b[1]
    return (a[0] * b[1] + b[0] * a[1]) * pow(1 + t, -1, P) % P, (a[1] * b[1] + a[0] * b[0]) * pow(1 - t, -1, P) % P
def times(n, a):
    return (0, 1) if n == 0 else add(times(n - 1, a), a) if n & 1 else times(n // 2, add(a, a))
def point(b):
    y = int.from_bytes(b, "little") % 2**255
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = next((x for r in (1, ROOT) for x in [r * pow(square, (P + 3) // 8, P) % P] if x * x % P == square), None)
    check(x is not None, "a key or signature that is not on the curve")
    return (x if x & 1 == b[31] >> 7 else P - x), y

def open_note(note, keys):  # C2SP signed-note and tlog-cosignature: the text and the names of those who signed it
    (text, _, lines), names = note.decode().partition("\n\n"), []
    for name, value in (line[2:].split(" ") for line in lines.splitlines()):
        value = base64.b64decode(value)
        for owner, hashed, key in (k.split("+", 2) for k in keys):
            key, sig = base64.b64decode(key), value[-64:]
            if owner == name and value[:4].hex() == hashed == sha(name.encode() + b"\n" + key)[:8]:
                message = ("cosignature/v1\ntime %d\n" % int.from_bytes(value[4:12], "big") if key[0] == 4 else "") + text + "\n"
                h = int.from_bytes(hashlib.sha512(sig[:32] + key[1:] + message.encode()).digest(), "little") % L
                s = times(int.from_bytes(sig[32:], "little") % L, point((4 * pow(5, -1, P) % P).to_bytes(32, "little")))
                check(s == add(point(sig[:32]), times(h, point(key[1:]))), "the signature of " + name)
                names.append(name)
    return text.split("\n"), names

def main(path, *trusted):
    files = unzip(open(path, "rb").read())
    for manifest, data in ("manifest-sha256.txt", True), ("tagmanifest-sha256.txt", False):
        want = ["%s  %s\n" % (sha(files[n]), n) for n in sorted(files) if n.startswith("data/") == data and n[:4] != "tagm"]
        got = files[manifest].decode().splitlines(True)
        check(want == got, "%s does not agree with %s" % (manifest, sorted(l[66:-1] for l in set(want) ^ set(got))))
    keys, checkpoint = trusted or files["proof/keys.txt"].decode().split(), files["proof/checkpoint"]
    (origin, size, root), names = open_note(checkpoint, keys)
    seal, owners = open_note(files["proof/manifest.note"], keys)
    check(origin in names and origin in owners and seal == ["aliquot-dossier-1", origin, sha(files["manifest-sha256.txt"])],
          "no known key of %s signed it" % origin)
    heads, named, missing = {}, set(), {}
    for e in map(json.loads, files["data/events.jsonl"].decode().splitlines()):
        (seq, prev), texts = heads.get(e["chain"], (0, "")), e.get("texts", {})
        what = "%s, event %d" % (e["chain"], e["seq"])
        check(e["seq"] == seq + 1 and e["prev"] == prev, "%s does not follow event %d" % (what, seq))
        detail = join(*(part for field in sorted(e["detail"].items()) for part in field)).decode()
        check(e["hash"] == sha(join("aliquot-event-2", e["chain"], str(e["seq"]), prev, e["kind"], e["actor"],
                                    str(e["at"]), detail)), what + " was altered")
        heads[e["chain"]] = e["seq"], e["hash"]
        for name, value in e["detail"].items():
            if value[0] == "#" and name in texts:
                text, salt = join(texts[name]["text"]), bytes.fromhex(texts.pop(name)["salt"])
                mac = hmac.new(salt, text + b"\0" * (-len(text) % 64), "sha256").hexdigest()
                check(value[1:] == mac, "%s: the text of %s was altered" % (what, name))
            elif value[0] == "#" or value[0] == "=" and re.fullmatch(r"(set\.document\.\d+|document)\.sha256", name):
                missing["%s.%s" % (what, name)] = value[1:]
            named |= {value[1:]} if name.endswith("sha256") else set()
        check(not texts, what + ": a text that it has no commitment to")
        for gone in e["detail"]["values"][1:].split() if e["kind"] == "erased" else ():
            print(what, "erased", gone, missing.pop("%s, event %s" % (e["chain"], gone), "") and "")
    made = "data/events.jsonl", "data/ro-crate-metadata.json", "data/cover.html", "data/cover.pdf"
    documents = {sha(b): n for n, b in files.items() if n.startswith("data/") and n not in made}
    check(named >= documents.keys(), "no event names %s" % sorted(n for h, n in documents.items() if h not in named))
    lost = sorted(place for place, h in missing.items() if h not in documents)
    check(not lost, "missing, and no event erased it: %s" % lost)
    for chain, (seq, head) in heads.items():
        proof, _, same = files["proof/%s.tlog-proof" % chain.replace("/", "-")].partition(b"\n\n")  # C2SP tlog-proof
        hashes, h, last = proof.decode().split("\n"), hashlib.sha256(b"\0" + head.encode()).digest(), int(size) - 1
        check(same == checkpoint and (index := int(hashes[1][6:])) <= last, "the proof of " + chain)
        for other in map(base64.b64decode, hashes[2:]):  # RFC 9162, 2.1.3.2
            left = index & 1 or index == last
            h = hashlib.sha256(b"\1" + (other + h if left else h + other)).digest()
            while left and index and not index & 1: index, last = index // 2, last // 2
            index, last = index // 2, last // 2
        check(last == 0 and h == base64.b64decode(root), chain + " is not in the log")
        print("%s: %d events, in the log %s of %s entries" % (chain, seq, origin, size))
    print(len(documents), "documents, signed by", *names, "with keys", *keys, *[] if trusted else ["(compare them)"], "\nVALID")
main(*sys.argv[1:])

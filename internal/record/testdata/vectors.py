"""Makes vectors.json by other programs than ours: hashlib and hmac, PyPI pymerkle 7.0.0 and cryptography 50.0.2."""
import base64, hashlib, hmac, json
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from pymerkle import InmemoryTree

part = lambda s: b"%d:%s\n" % (len(s.encode()), s.encode())

detail = "".join(part(s).decode() for s in ["from", "=OPEN", "reason", "#" + "ab" * 32, "set.status", "=APPROVED", "x", "-"])
at = 1773308400000001
event = ["aliquot-event-2", "request/17", "3", "cd" * 32, "status_changed", "018f0a53-0000-7000-8000-000000000001", str(at), detail]
raw = b"".join(part(s) for s in event)

salt, text = bytes(range(32)), "Ä clone of Dr. Müller"
padded = part(text)
padded += b"\0" * (-len(padded) % 64)

trees = []
leaves = [hashlib.sha256(b"%d" % i).hexdigest() for i in range(300)]
for size in [1, 2, 3, 7, 8, 255, 256, 257, 300]:
    tree = InmemoryTree(algorithm="sha256")
    for leaf in leaves[:size]:
        tree.append_entry(leaf.encode())
    index, old = size // 3, max(1, size // 2)
    path = tree.prove_inclusion(index + 1, size).serialize()
    trees.append({"size": size, "root": tree.get_root().hex(), "index": index, "old": old, "old_root": tree.get_root(old).hex(),
                  "inclusion": path["path"][1:]})

seed = bytes(range(32))
key = Ed25519PrivateKey.from_private_bytes(seed)
public = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
name = "aliquot.example.org/log/2026"
text64 = lambda b: base64.b64encode(b).decode()
identity = hashlib.sha256(name.encode() + b"\n\x01" + public).digest()[:4]
checkpoint = "%s\n300\n%s\n" % (name, text64(bytes.fromhex(trees[-1]["root"])))
note = checkpoint + "\n\u2014 %s %s\n" % (name, text64(identity + key.sign(checkpoint.encode())))
witness, when = "witness.example.org", 1773308401
witness_id = hashlib.sha256(witness.encode() + b"\n\x04" + public).digest()[:4]
message = b"cosignature/v1\ntime %d\n%s" % (when, checkpoint.encode())
cosignature = "\u2014 %s %s\n" % (witness, text64(witness_id + when.to_bytes(8, "big") + key.sign(message)))

json.dump({
    "event": {"bytes": text64(raw), "hash": hashlib.sha256(raw).hexdigest(), "detail": detail, "at": at},
    "commitment": {"salt": salt.hex(), "text": text, "value": hmac.new(salt, padded, hashlib.sha256).hexdigest()},
    "state": hashlib.sha256(part("aliquot-state-2") + part("status") + part("=APPROVED")).hexdigest(),
    "trees": trees,
    "key": {"private": "PRIVATE+KEY+%s+%s+%s" % (name, identity.hex(), text64(b"\x01" + seed)),
            "public": "%s+%s+%s" % (name, identity.hex(), text64(b"\x01" + public)),
            "witness": "%s+%s+%s" % (witness, witness_id.hex(), text64(b"\x04" + public)),
            "note": note, "cosignature": cosignature},
}, open("vectors.json", "w"), indent=1, ensure_ascii=False)

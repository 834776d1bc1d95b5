#!/usr/bin/env python3
"""Makes vectors.json with an independent implementation: Python's `cryptography` and `hashlib`.

usage: make-vectors.py > vectors.json        (pip install cryptography)

The files are golden: they are made once and never again. Every input is derived from its name, so that the same
script gives the same bytes. The chunked encryption and the sealed file are written here from their specifications,
<https://c2sp.org/chunked-encryption> and Docs/ProtectedFileFormat.md, without a look at the Swift code.
"""
import hashlib
import hmac
import json
import struct

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF, HKDFExpand
from cryptography.hazmat.primitives.keywrap import aes_key_wrap

CHUNK = 16384


def pseudorandom(name, count):
    return hashlib.shake_128(name.encode()).digest(count)


def expand(key, info, count=32, algorithm=None):
    return HKDFExpand(algorithm or hashes.SHA256(), count, info).derive(key)


def extract(salt, ikm):
    return hmac.digest(salt, ikm, "sha256")


def chunked(key, salt, context, plaintext):
    label = b"c2sp.org/chunked-encryption@v1+AEAD_AES_256_GCM\0"
    derived = expand(key, label + salt + context, 76, hashes.SHA512())
    aead, base, commitment = AESGCM(derived[:32]), derived[32:44], derived[44:]
    message = salt + commitment
    for index in range(len(plaintext) // CHUNK + 1):
        nonce = (int.from_bytes(base, "big") ^ index).to_bytes(12, "big")
        message += aead.encrypt(nonce, plaintext[index * CHUNK:(index + 1) * CHUNK], None)
    return message, commitment


def public(private):
    return X25519PrivateKey.from_private_bytes(private).public_key().public_bytes(
        serialization.Encoding.Raw, serialization.PublicFormat.Raw)


def agree(private, peer):
    return X25519PrivateKey.from_private_bytes(private).exchange(X25519PublicKey.from_public_bytes(peer))


def label(purpose):
    return b"state-restoration/v1/" + purpose.encode() + b"\0"


CLASSES = {"complete": 1, "completeUnlessOpen": 2, "completeUntilFirstUserAuthentication": 3, "none": 4}


def hpke(private, peer, info, psk, psk_id, context):
    """RFC 9180: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, export only, mode PSK; the sender's side."""
    kem, suite = b"KEM\x00\x20", b"HPKE\x00\x20\x00\x01\xff\xff"

    def labeled_extract(suite, salt, name, ikm):
        return extract(salt, b"HPKE-v1" + suite + name + ikm)

    def labeled_expand(suite, prk, name, info, length=32):
        return expand(prk, struct.pack(">H", length) + b"HPKE-v1" + suite + name + info, length)

    enc = public(private)
    shared = labeled_expand(
        kem, labeled_extract(kem, b"", b"eae_prk", agree(private, peer)), b"shared_secret", enc + peer)
    schedule = (b"\x01" + labeled_extract(suite, b"", b"psk_id_hash", psk_id)
                + labeled_extract(suite, b"", b"info_hash", info))
    exporter = labeled_expand(suite, labeled_extract(suite, shared, b"secret", psk), b"exp", schedule)
    return labeled_expand(suite, exporter, b"sec", context)


def sealed_file(name, magic, protection, plaintext):
    one_way = protection == "completeUnlessOpen"
    keybag, class_id = (pseudorandom(f"{name} {part}", 16) for part in ("keybag", "class id"))
    class_key, none_key, ephemeral = (
        pseudorandom(f"{name} {part}", 32) for part in ("class key", "none key", "ephemeral"))
    name_key, salt = pseudorandom(f"{name} name key", 32), pseudorandom(f"{name} salt", 24)
    parts = [b"com.example.notes", b"scene-1", b"archive"]
    identity = hmac.digest(name_key, b"".join(struct.pack("<I", len(p)) + p for p in parts), "sha256")
    generation, flags = 7, 0
    # Salt, commitment, and a tag for each chunk, of which the last is always shorter than a whole one.
    length = 24 + 32 + len(plaintext) + 16 * (len(plaintext) // CHUNK + 1)
    header = (magic + struct.pack("<HBBI", 1, CLASSES[protection], 0, 112 if one_way else 80) + class_id
              + identity + struct.pack("<QQ", generation, length | flags << 48))
    assert len(header) == 80
    if one_way:
        header += public(ephemeral)
        sender = label("one-way-sender")
        file_key = hpke(ephemeral, public(class_key), label("one-way"), expand(none_key, sender), sender, header + salt)
    else:
        file_key = expand(class_key, label("file-key") + header + salt)
    message, commitment = chunked(file_key, salt, header, plaintext)
    # In the order in which a sealer draws them.
    random = salt + (ephemeral if one_way else b"")
    return {
        "name": name, "protection": protection, "keybag": keybag.hex(), "classKeyIdentifier": class_id.hex(),
        "classKey": class_key.hex(), "noneKey": none_key.hex(), "nameKey": name_key.hex(),
        "application": "com.example.notes", "scene": "scene-1", "slot": "archive", "identity": identity.hex(),
        "generation": generation, "flags": flags,
        "random": random.hex(), "fileKey": file_key.hex(), "plaintext": plaintext.hex(), "header": header.hex(),
        "commitment": commitment.hex(), "file": (header + message).hex(),
    }


def record(magic, keybag, body, key, context=b""):
    start = magic + struct.pack("<HH", 1, 0) + keybag + body
    return start + hmac.digest(key, start + context, "sha256")


def store(archive):
    """A frame behind an archive, and the store's own small files that name it."""
    keybag, identity, commitment = (bytes.fromhex(archive[part]) for part in ("keybag", "identity", "commitment"))
    file_key = bytes.fromhex(archive["fileKey"])
    frame, salt = "One letter more.".encode(), pseudorandom("worked example frame salt", 24)
    message, frame_commitment = chunked(file_key, salt, commitment + struct.pack("<Q", 1) + commitment, frame)
    ledger_key, marker_key = (pseudorandom(f"worked example {part} key", 32) for part in ("ledger", "marker"))
    epoch, boot = pseudorandom("worked example epoch", 8), pseudorandom("worked example boot", 16)
    number = archive["generation"]
    revision, node = 1, 3
    # One part, at place 0.
    current = struct.pack("<QB", number, 1) + struct.pack(
        "<BQ32sBBQ", 0, number, commitment, CLASSES[archive["protection"]], 0, len(archive["file"]) // 2)
    name = b"".join(struct.pack("<I", len(part)) + part.encode() for part in
                    (archive["application"], archive["scene"], archive["slot"]))
    name += bytes(-len(name) % 64)
    name_key, name_salt = (pseudorandom(f"worked example slot name {part}", count)
                           for part, count in (("key", 32), ("salt", 24)))
    sealed_name, _ = chunked(name_key, name_salt, identity, name)
    ledger = identity + epoch + struct.pack("<QQBBBBB", revision, number, 0, 1, 0, 0, 0) + current + sealed_name
    slots = struct.pack("<QBI", revision, 0, 1) + identity[:16] + epoch + b"\0"
    # The first attempt of the boot runs; none has died.
    attempt = commitment + boot + struct.pack("<IHBB", 0xffffffff, 0, 0, 0)
    marker = struct.pack("<B3x", 1) + attempt + bytes(56 * 15)
    return {
        "frame": frame.hex(), "salt": salt.hex(), "commitment": frame_commitment.hex(),
        "frameBytes": (struct.pack("<I", len(message)) + message).hex(),
        "ledgerKey": ledger_key.hex(), "markerKey": marker_key.hex(), "epoch": epoch.hex(), "boot": boot.hex(),
        "slotNameKey": name_key.hex(), "slotNameSalt": name_salt.hex(),
        "revision": revision, "node": node,
        "ledger": record(b"SRLEDGER", keybag, ledger, ledger_key).hex(),
        "slots": record(b"SRSLOTS\n", keybag, slots, ledger_key).hex(),
        "marker": (record(b"SRMARKER", keybag, marker, marker_key, identity) + struct.pack("<I", node)).hex(),
    }


def main():
    vectors = {"hmac": [], "hkdf": [], "wrap": [], "x25519": [], "scrypt": [], "gcm": [], "chunked": [], "files": []}
    for index, size in enumerate((0, 1, 31, 32, 33, 64, 65, 200)):
        key, message = pseudorandom(f"hmac key {index}", 32), pseudorandom(f"hmac message {index}", size)
        vectors["hmac"].append(
            {"key": key.hex(), "message": message.hex(), "code": hmac.digest(key, message, "sha256").hex()})
        salt, ikm, info = (pseudorandom(f"hkdf {part} {index}", count) for part, count in
                           (("salt", 32), ("ikm", 32), ("info", size)))
        okm = HKDF(hashes.SHA256(), 32, salt, info).derive(ikm)
        vectors["hkdf"].append({"salt": salt.hex(), "ikm": ikm.hex(), "info": info.hex(), "okm": okm.hex()})
        kek, secret = pseudorandom(f"wrap kek {index}", 32), pseudorandom(f"wrap secret {index}", 16 + 8 * index)
        vectors["wrap"].append({"kek": kek.hex(), "secret": secret.hex(), "wrapped": aes_key_wrap(kek, secret).hex()})
        mine, theirs = pseudorandom(f"x25519 mine {index}", 32), pseudorandom(f"x25519 theirs {index}", 32)
        vectors["x25519"].append({
            "private": mine.hex(), "public": public(mine).hex(), "peer": public(theirs).hex(),
            "shared": agree(mine, public(theirs)).hex()})
        nonce, data = pseudorandom(f"gcm nonce {index}", 12), pseudorandom(f"gcm data {index}", size)
        vectors["gcm"].append({
            "key": key.hex(), "nonce": nonce.hex(), "data": data.hex(), "message": message.hex(),
            "sealed": AESGCM(key).encrypt(nonce, message, data).hex()})
    for work, block, lanes in ((16, 1, 1), (1024, 8, 1), (1024, 8, 4), (16384, 8, 1)):
        passcode, salt = f"passcode {work}".encode(), pseudorandom(f"scrypt {work}", 32)
        okm = hashlib.scrypt(passcode, salt=salt, n=work, r=block, p=lanes, maxmem=1 << 28, dklen=32)
        vectors["scrypt"].append({
            "passcode": passcode.hex(), "salt": salt.hex(), "work": work, "blockSize": block, "parallelism": lanes,
            "key": okm.hex()})
    for size in (0, 1, 100, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 3 * CHUNK + 5, 300 * CHUNK + 7):
        name = f"chunked {size}"
        key, salt, context = pseudorandom(name + " key", 32), pseudorandom(name + " salt", 24), name.encode()
        plaintext = pseudorandom(name + " plaintext", 256) * (size // 256 + 1)
        message, commitment = chunked(key, salt, context, plaintext[:size])
        # The plaintext repeats 256 bytes; of the message there is a digest only, to keep this file small.
        vectors["chunked"].append({
            "key": key.hex(), "salt": salt.hex(), "context": context.hex(), "byteCount": size,
            "pattern": plaintext[:256].hex(), "commitment": commitment.hex(),
            "messageSHA512": hashlib.sha512(message).hexdigest(), "messageByteCount": len(message),
            "message": message.hex() if size <= 100 else None})
    text = "The state of a window, sealed.".encode()
    vectors["files"].append(sealed_file("worked example", b"SRARCHIV", "complete", text))
    vectors["files"].append(sealed_file("worked example, one way", b"SRARCHIV", "completeUnlessOpen", text))
    vectors["files"].append(
        sealed_file("after first unlock", b"SRPRFILE", "completeUntilFirstUserAuthentication", b""))
    vectors["files"].append(sealed_file("always", b"SRPRFILE", "none", pseudorandom("always", 20000)))
    vectors["store"] = store(vectors["files"][0])
    print(json.dumps(vectors, indent=1))


main()

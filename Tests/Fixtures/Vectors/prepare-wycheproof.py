#!/usr/bin/env python3
"""Makes the Wycheproof vectors readable for the tests.

usage: prepare-wycheproof.py SOURCE TARGET

Copies the JSON files from SOURCE to TARGET. In the file of the chunked encryption the ciphertexts are compressed with
zlib, which nothing in the tests can undo; they become files of their own, TARGET/chunked/<tcId>.
"""
import json
import pathlib
import shutil
import sys
import zlib

source, target = map(pathlib.Path, sys.argv[1:])
chunked = target / "chunked"
chunked.mkdir(parents=True, exist_ok=True)
for path in sorted(source.glob("*.json")):
    if "chunked_encryption" not in path.name:
        shutil.copyfile(path, target / path.name)
        continue
    vectors = json.loads(path.read_text())
    for group in vectors["testGroups"]:
        for test in group["tests"]:
            (chunked / str(test["tcId"])).write_bytes(zlib.decompress(bytes.fromhex(test.pop("ct"))))
    (target / path.name).write_text(json.dumps(vectors))

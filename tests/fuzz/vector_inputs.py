# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The inputs that the vectors of tests/conformance give to the fuzz targets named go_*."""
import base64
import hashlib
import json
import pathlib

CONFORMANCE = pathlib.Path(__file__).resolve().parents[1] / "conformance"


def specs(vector):
    for file in vector.get("files", []):
        if "content" in file:
            yield file["content"].encode()
        elif "content_b64" in file:
            yield base64.b64decode(file["content_b64"])


def vectors():
    for path in sorted(CONFORMANCE.glob("*.json")):
        if path.name != "deviations.json":
            yield json.loads(path.read_text(encoding="utf-8"))


def rows(table):
    for path in sorted((CONFORMANCE / "tables").glob("go-*.json")):
        yield from json.loads(path.read_text(encoding="utf-8")).get(table, [])


def lines(pairs):
    return "\n".join(text for pair in pairs for text in pair).encode()


def inputs(target):
    """The inputs of the vectors for a target."""
    if target == "go_spec":
        return [text for vector in vectors() for text in specs(vector)]
    if target == "go_inject":
        return [json.dumps(vector["oci"]).encode() + b"\x1e" + text
                for vector in vectors() for text in specs(vector) if vector.get("oci")]
    if target == "go_names":
        return [row["in"].encode() for row in rows("names")] + [
            f"{row['kind']}\x1e{row['transient_id']}".encode() for row in rows("spec_names")]
    return [lines((row["in"] or {}).items()) for row in rows("parse_annotations")] + [
        lines([(row["plugin"], row["device_id"]), *((text, "") for text in row["devices"] or [])])
        for row in rows("update_annotations")]


def write(texts, folder):
    """Writes inputs to files of a folder, which exists."""
    for text in texts:
        if len(text) <= 4096:
            (pathlib.Path(folder) / hashlib.sha1(text).hexdigest()).write_bytes(text)

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The messages of NRI that the tests need, from and to JSON values with protobuf's JSON names.

A schema has the number and the type of each field. A type in a list is repeated; a map of texts is
MAP. Integers of 64 bits are texts in protobuf's JSON, and are so here, too.
"""
TEXT, INT, INT64, BOOL, MAP, BYTES = "text", "int", "int64", "bool", "map", "bytes"

PAIR = {"key": (1, TEXT), "value": (2, TEXT)}
OPTIONAL = {"value": (1, INT)}
NAMED = {"name": (1, TEXT)}
MOUNT = {"destination": (1, TEXT), "type": (2, TEXT), "source": (3, TEXT), "options": (4, [TEXT])}
HOOK = {"path": (1, TEXT), "args": (2, [TEXT]), "env": (3, [TEXT]), "timeout": (4, OPTIONAL)}
HOOKS = {name: (number, [HOOK]) for number, name in enumerate(
    ("prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop"), 1)}
DEVICE = {"path": (1, TEXT), "type": (2, TEXT), "major": (3, INT64), "minor": (4, INT64),
          "fileMode": (5, OPTIONAL), "uid": (6, OPTIONAL), "gid": (7, OPTIONAL)}
CGROUP_RULE = {"allow": (1, BOOL), "type": (2, TEXT), "major": (3, OPTIONAL),
               "minor": (4, OPTIONAL), "access": (5, TEXT)}
RESOURCES = {"devices": (7, [CGROUP_RULE])}
ADJUSTMENT = {"annotations": (2, MAP), "mounts": (3, [MOUNT]), "env": (4, [PAIR]),
              "hooks": (5, HOOKS),
              "linux": (6, {"devices": (1, [DEVICE]), "resources": (2, RESOURCES),
                            "netDevices": (9, {"key": (1, TEXT), "value": (2, NAMED)})}),
              "CDIDevices": (8, [NAMED])}
POD = {"id": (1, TEXT), "name": (2, TEXT), "uid": (3, TEXT), "namespace": (4, TEXT),
       "labels": (5, MAP), "annotations": (6, MAP)}
CONTAINER = {"id": (1, TEXT), "podSandboxId": (2, TEXT), "name": (3, TEXT), "state": (4, INT),
             "labels": (5, MAP), "annotations": (6, MAP), "args": (7, [TEXT]), "env": (8, [TEXT]),
             "mounts": (9, [MOUNT]), "hooks": (10, HOOKS), "linux": (11, {"devices": (2, [DEVICE])}),
             "CDIDevices": (20, [NAMED])}
REGISTER = {"pluginName": (1, TEXT), "pluginIdx": (2, TEXT), "NRIVersion": (3, TEXT)}
CONFIGURE = {"config": (1, TEXT), "runtimeName": (2, TEXT), "runtimeVersion": (3, TEXT),
             "registrationTimeout": (4, INT), "requestTimeout": (5, INT), "NRIVersion": (6, TEXT)}
CONFIGURED = {"events": (2, INT), "failurePolicy": (3, {"failRequest": (1, BOOL),
                                                        "keepConnected": (2, BOOL)})}
SYNCHRONIZE = {"pods": (1, [POD]), "containers": (2, [CONTAINER]), "more": (3, BOOL)}
SYNCHRONIZED = {"more": (2, BOOL)}
CREATE = {"pod": (1, POD), "container": (2, CONTAINER)}
CREATED = {"adjust": (1, ADJUSTMENT)}
# ttrpc's own.
REQUEST = {"service": (1, TEXT), "method": (2, TEXT), "payload": (3, BYTES), "timeout": (4, INT)}
RESPONSE = {"status": (1, {"code": (1, INT), "message": (2, TEXT)}), "payload": (2, BYTES)}


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out) + bytes([number])


def encode(schema, value):
    """The bytes of a message."""
    out = b""
    for name, member in value.items():
        number, kind = schema[name]
        if kind == MAP:
            kind, member = [PAIR], [{"key": key, "value": text} for key, text in member.items()]
        for item in member if isinstance(kind, list) else [member]:
            out += encode_field(number, kind[0] if isinstance(kind, list) else kind, item)
    return out


def encode_field(number, kind, item):
    if kind in (INT, INT64, BOOL):
        return varint(number << 3) + varint(int(item))
    if isinstance(kind, dict):
        item = encode(kind, item)
    elif kind == TEXT:
        item = item.encode("utf-8", "surrogateescape")
    return varint(number << 3 | 2) + varint(len(item)) + item


def fields(data):
    """The number and the value of each field of a message: an integer, or bytes."""
    at = 0

    def number():
        nonlocal at
        result = shift = 0
        while True:
            result |= (data[at] & 127) << shift
            shift += 7
            at += 1
            if data[at - 1] < 128:
                return result
    while at < len(data):
        key = number()
        size = number()
        if key & 7 == 0:
            yield key >> 3, size
        elif key & 7 == 2 and at + size <= len(data):
            yield key >> 3, data[at:at + size]
            at += size
        else:
            raise ValueError(f"a field of wire type {key & 7} that ends after the message")


def decode(schema, data):
    """The JSON value of a message. An unknown field is an error."""
    names = {number: (name, kind) for name, (number, kind) in schema.items()}
    out = {}
    for number, value in fields(data):
        name, kind = names[number]
        if kind == MAP:
            pair = decode(PAIR, value)
            out.setdefault(name, {})[pair.get("key", "")] = pair.get("value", "")
        elif isinstance(kind, list):
            out.setdefault(name, []).append(decode_value(kind[0], value))
        else:
            out[name] = decode_value(kind, value)
    return out


def decode_value(kind, value):
    if isinstance(kind, dict):
        return decode(kind, value)
    return {TEXT: bytes.decode, INT64: str, BOOL: bool}.get(kind, lambda same: same)(value)

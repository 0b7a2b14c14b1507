# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The kubelet's side of DRA as a script, on gRPC of Python. Messages are encoded by hand, from
field numbers of the protocol and not from the definitions of cdi-dra."""
import sys
import unittest
import urllib.parse

from nri_messages import BOOL, INT64, TEXT, decode, encode

try:
    import grpc
except ImportError:
    sys.path.append("/usr/lib/python3/dist-packages")  # python3 may be another than Debian's
    try:
        import grpc
    except ImportError:
        grpc = None

PATIENCE = 30  # seconds
DRA = {version: f"/k8s.io.kubelet.pkg.apis.dra.{version}.DRAPlugin/" for version in
       ("v1", "v1beta1")}
HEALTH = {version: f"/{version}.DRAResourceHealth/NodeWatchResources" for version in
          ("v1", "v1alpha1")}
INFO = {"type": (1, TEXT), "name": (2, TEXT), "endpoint": (3, TEXT), "versions": (4, [TEXT])}
STATUS = {"registered": (1, BOOL), "error": (2, TEXT)}
CLAIMS = {"claims": (1, [{"namespace": (1, TEXT), "uid": (2, TEXT), "name": (3, TEXT)}])}
DEVICE = {"requests": (1, [TEXT]), "pool": (2, TEXT), "device": (3, TEXT), "ids": (4, [TEXT]),
          "share": (5, TEXT)}
PREPARED = {"claims": (1, [{"key": (1, TEXT), "value": (2, {"devices": (1, [DEVICE]),
                                                            "error": (2, TEXT)})}])}
UNPREPARED = {"claims": (1, [{"key": (1, TEXT), "value": (2, {"error": (1, TEXT)})}])}
WATCHED = {"devices": (1, [{
    "device": (1, {"pool": (1, TEXT), "name": (2, TEXT)}), "health": (2, INT64),
    "updated": (3, INT64), "timeout": (4, INT64), "message": (5, TEXT)}])}
UNKNOWN, HEALTHY, UNHEALTHY = "0", "1", "2"


def need_grpc():
    """Skips the tests without gRPC for Python."""
    if grpc is None:
        raise unittest.SkipTest("gRPC for Python is not installed: python3-grpcio")


def same(data):
    return data


class Socket:
    """A connection to a socket of the driver."""

    def __init__(self, path):
        self.channel = grpc.insecure_channel("unix:" + urllib.parse.quote(str(path)),
                                             (("grpc.use_local_subchannel_pool", 1),))

    def close(self):
        self.channel.close()

    def start(self, path, request, timeout=PATIENCE):
        """Starts a call; its result is bytes."""
        return self.channel.unary_unary(path, same, same).future(
            request, timeout=timeout, wait_for_ready=True)

    def call(self, path, request=b"", timeout=PATIENCE):
        return self.start(path, request, timeout).result()

    def status(self, path, request=b"", timeout=PATIENCE):
        """The code and the text with which a call fails."""
        try:
            self.call(path, request, timeout)
        except grpc.RpcError as error:
            return error.code().name, error.details()
        raise AssertionError("the call succeeds")

    def watch(self, version="v1"):
        """The stream of the states of devices: a list of (pool, name, health, message) each."""
        stream = self.channel.unary_stream(HEALTH[version], same, same)(
            b"", timeout=PATIENCE, wait_for_ready=True)
        return stream, ([(device["device"]["pool"], device["device"]["name"], device["health"],
                          device.get("message", "")) for device in
                         decode(WATCHED, data).get("devices", [])] for data in stream)


class Registration(Socket):
    """The registration socket."""

    def info(self):
        return decode(INFO, self.call("/pluginregistration.Registration/GetInfo"))

    def notify(self, timeout=PATIENCE, **status):
        self.call("/pluginregistration.Registration/NotifyRegistrationStatus",
                  encode(STATUS, status), timeout)


def request(*names):
    """A request about claims, each a tuple of UID and name, in the default namespace."""
    return encode(CLAIMS, {"claims": [{"namespace": "default", "uid": uid, "name": name}
                                      for uid, name in names]})


def by_uid(schema, data):
    """The answers in a map; a UID that is there twice is an error."""
    entries = decode(schema, data).get("claims", [])
    out = {entry["key"]: entry.get("value", {}) for entry in entries}
    assert len(out) == len(entries), entries
    return out


class Service(Socket):
    """The socket for claims."""

    def prepare(self, *names, version="v1", timeout=PATIENCE):
        return by_uid(PREPARED, self.call(DRA[version] + "NodePrepareResources", request(*names),
                                          timeout))

    def unprepare(self, *names, version="v1", timeout=PATIENCE):
        return by_uid(UNPREPARED, self.call(DRA[version] + "NodeUnprepareResources",
                                            request(*names), timeout))

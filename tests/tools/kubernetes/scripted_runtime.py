# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A runtime with NRI that does what a test says: it needs neither Go nor containers.

On one socket there are two connections: the runtime calls the plugin on the first, and the plugin
the runtime on the second. Each is a stream of ttrpc messages, cut into frames.
"""
import fcntl
import socket
import struct
import termios
import time

import nri_messages as nri

PLUGIN, RUNTIME = 1, 2  # connections
REQUEST, RESPONSE, DATA = 1, 2, 3  # types of ttrpc messages
PLUGIN_SERVICE = "nri.pkg.api.v1alpha1.Plugin"
PATIENCE = 20  # seconds, for a plugin on a slow machine
SIOCOUTQ = termios.TIOCOUTQ


class Closed(Exception):
    """The plugin closed the connection."""


class Failed(Exception):
    """The plugin answered with an error."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


def frame(connection, payload):
    return struct.pack(">II", connection, len(payload)) + payload


def message(stream, kind, payload):
    return struct.pack(">IIBB", len(payload), stream, kind, 0) + payload


def call_of(method, payload, service=PLUGIN_SERVICE):
    return nri.encode(nri.REQUEST, {"service": service, "method": method, "payload": payload,
                                    "timeout": 2_000_000_000})


class Connection:
    """A plugin that has connected. `cut` is the size of the payload of each frame; with `drip`, the
    bytes of a message reach the plugin one by one."""

    def __init__(self, accepted, cut=4096, drip=False):
        self.socket, self.cut, self.drip = accepted, cut, drip
        self.socket.settimeout(PATIENCE)
        self.stream = -1
        self.received = {PLUGIN: b"", RUNTIME: b""}
        self.frames = []  # sizes of those that came

    def close(self):
        self.socket.close()

    def send_bytes(self, data):
        pieces = [data[i:i + 1] for i in range(len(data))] if self.drip else [data]
        for piece in pieces:
            try:
                self.socket.sendall(piece)
            except (BrokenPipeError, ConnectionResetError):
                raise Closed from None
            if self.drip:
                self.wait_until_read()

    def wait_until_read(self):
        """Waits until the plugin has read what was sent."""
        until = time.monotonic() + PATIENCE
        while struct.unpack("i", fcntl.ioctl(self.socket, SIOCOUTQ, b"\0" * 4))[0]:
            if time.monotonic() > until:
                raise TimeoutError("the plugin does not read")

    def send(self, connection, data):
        frames = [frame(connection, data[i:i + self.cut]) for i in range(0, len(data), self.cut)]
        self.send_bytes(b"".join(frames))

    def read(self, size):
        out = b""
        while len(out) < size:
            try:
                more = self.socket.recv(size - len(out))
            except ConnectionResetError:
                more = b""
            if not more:
                raise Closed
            out += more
        return out

    def receive(self, connection):
        """The stream, the type and the payload of the next message."""
        while True:
            data = self.received[connection]
            if len(data) >= 10:
                size, stream, kind, _ = struct.unpack(">IIBB", data[:10])
                if len(data) >= 10 + size:
                    self.received[connection] = data[10 + size:]
                    return stream, kind, data[10:10 + size]
            number, size = struct.unpack(">II", self.read(8))
            self.frames.append(size)
            self.received[number] += self.read(size)

    def call(self, method, schema, value, answer, **more):
        """What the plugin answers to a request."""
        return nri.decode(answer, self.call_raw(method, nri.encode(schema, value), **more))

    def call_raw(self, method, payload, **more):
        self.stream += 2
        self.send(PLUGIN, message(self.stream, REQUEST, call_of(method, payload, **more)))
        return self.answer(self.stream)

    def answer(self, expected):
        stream, kind, data = self.receive(PLUGIN)
        assert (stream, kind) == (expected, RESPONSE), (stream, kind)
        response = nri.decode(nri.RESPONSE, data)
        status = response.get("status", {})
        if status.get("code", 0):
            raise Failed(status["code"], status.get("message", ""))
        return response.get("payload", b"")

    # The steps of a start, each its own, so that a test can stop between them.

    def receive_registration(self):
        """How the plugin registers, and the stream to answer on."""
        stream, kind, data = self.receive(RUNTIME)
        assert kind == REQUEST, kind
        request = nri.decode(nri.REQUEST, data)
        assert request["method"] == "RegisterPlugin", request
        return nri.decode(nri.REGISTER, request["payload"]), stream

    def accept_registration(self, stream):
        self.send(RUNTIME, message(stream, RESPONSE, b""))

    def configure(self, name="containerd", version="v2.4.2", config="", limit=60_000):
        return self.call("Configure", nri.CONFIGURE, {
            "config": config, "runtimeName": name, "runtimeVersion": version,
            "registrationTimeout": 5000, "requestTimeout": limit, "NRIVersion": "v0.12.4"},
            nri.CONFIGURED)

    def synchronize(self, pods=(), containers=(), more=False):
        return self.call("Synchronize", nri.SYNCHRONIZE, {
            "pods": list(pods), "containers": list(containers), "more": more}, nri.SYNCHRONIZED)

    def create(self, request):
        """The adjustment that the plugin asks for."""
        return self.call("CreateContainer", nri.CREATE, request, nri.CREATED).get("adjust", {})

    def start(self, **runtime):
        """All steps until the plugin waits for containers."""
        _, stream = self.receive_registration()
        self.accept_registration(stream)
        configured = self.configure(**runtime)
        self.synchronize()
        return configured


class Runtime:
    """A socket to which plugins connect."""

    def __init__(self, path):
        self.path = path
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen()
        self.listener.settimeout(PATIENCE)

    def accept(self, **how):
        return Connection(self.listener.accept()[0], **how)

    def close(self):
        self.listener.close()
        self.path.unlink(missing_ok=True)

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""An HTTPS server that answers like the API server of Kubernetes, as far as a DRA driver asks it."""
import collections
import copy
import http.server
import json
import re
import socket
import ssl
import subprocess
import threading
import time
import urllib.parse

from nri_peers import PATIENCE

GROUP = "/apis/resource.k8s.io"
Seen = collections.namedtuple("Seen", "at method path body status token")


def make_certificate(folder):
    """A certificate of 127.0.0.1, and its key."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
         "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", folder / "tls.key",
         "-out", folder / "ca.crt", "-days", "2", "-subj", "/CN=fake", "-addext",
         "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)


class Fault:
    """What the server does in the place of an answer, to the next `count` matching requests."""

    def __init__(self, method, path, status=0, count=1, **how):
        self.method, self.path, self.status, self.count = method, re.compile(path), status, count
        self.headers = how.pop("headers", {})
        self.body = how.pop("body", None)
        self.act = how.pop("act", None)
        assert not how, how


class FakeApiServer:
    """The objects, and the requests that came."""

    def __init__(self, folder):
        self.folder = folder
        self.changed = threading.Condition(threading.RLock())
        self.nodes = {"node1": "node-uid"}
        self.slices, self.claims = {}, {}
        self.versions = ["v1"]
        self.drops = set()  # members of devices and slices, of features that are disabled
        self.tokens = {"token"}
        self.faults, self.requests = [], []
        self.version = 100
        make_certificate(folder)
        self.hung = threading.Event()
        self.server, self.port = None, 0
        self.start()

    def start(self):
        """Serves, at the same port as before."""
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self):
                owner.handle(self)

            do_GET = do_POST = do_PUT = do_DELETE = handle_any

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            sockets = set()

            def finish_request(self, request, client_address):
                request.settimeout(PATIENCE)
                try:
                    with owner.tls.wrap_socket(request, server_side=True) as connection:
                        self.sockets.add(connection)
                        try:
                            super().finish_request(connection, client_address)
                        finally:
                            self.sockets.discard(connection)
                except OSError:
                    pass  # the driver ended the connection, or does not trust the certificate

        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(self.folder / "ca.crt", self.folder / "tls.key")
        self.server = Server(("127.0.0.1", self.port), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self):
        """Ends, with all connections."""
        self.hung.set()
        self.server.shutdown()
        self.server.server_close()
        for connection in list(self.server.sockets):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    @property
    def url(self):
        return f"https://127.0.0.1:{self.port}"

    def kubeconfig(self, user):
        text = json.dumps({
            "clusters": [{"name": "c", "cluster": {
                "server": self.url, "certificate-authority": str(self.folder / "ca.crt")}}],
            "users": [{"name": "u", "user": user}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x"})
        path = self.folder / "kubeconfig"
        path.write_text(text, encoding="ascii")
        return path

    # What a test sees and does.

    def fail(self, *arguments, **how):
        with self.changed:
            self.faults.append(Fault(*arguments, **how))

    def wait(self, condition, what):
        """Waits until a condition holds after a request."""
        with self.changed:
            if not self.changed.wait_for(condition, PATIENCE):
                raise AssertionError(f"waited {PATIENCE} s: {what}\n" + "\n".join(
                    f"{one.method} {one.path} {one.status}" for one in self.requests))

    def wait_for(self, method, path, count=1, status=None):
        def found():
            return len(self.seen(method, path, status)) >= count
        self.wait(found, f"{count} times {method} {path}")

    def seen(self, method, path, status=None):
        """The requests of a method whose path has a part."""
        with self.changed:
            return [one for one in self.requests if one.method == method and path in one.path and
                    status in (None, one.status)]

    def writes(self):
        with self.changed:
            return [(one.method, one.status) for one in self.requests if one.method != "GET"]

    def forget(self):
        with self.changed:
            self.requests.clear()

    def specs(self):
        """The specs of the slices, by name."""
        with self.changed:
            return {name: one["spec"] for name, one in self.slices.items()}

    def devices(self):
        """The devices of the slices, by name, as in v1."""
        found = {}
        for spec in self.specs().values():
            for device in spec.get("devices", ()):
                found[device["name"]] = {**device, **device.get("basic", {})}
        return found

    def put_slice(self, name, spec):
        with self.changed:
            self.version += 1
            self.slices[name] = {
                "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice",
                "metadata": {"name": name, "uid": f"uid-{name}",
                             "resourceVersion": str(self.version)}, "spec": copy.deepcopy(spec)}

    # Answers.

    def handle(self, handler):
        length = int(handler.headers.get("Content-Length") or 0)
        text = handler.rfile.read(length)
        token = (handler.headers.get("Authorization") or "").removeprefix("Bearer ")
        body = json.loads(text) if text else None
        at = time.monotonic()
        with self.changed:
            fault = self.take_fault(handler)
            if fault and fault.act:
                fault.act()
            if fault and fault.status:
                status, answer, headers = fault.status, fault.body, fault.headers
            elif fault and fault.status is None:
                status, answer, headers = None, None, {}
            else:
                status, answer = self.answer(handler.command, handler.path, body, token)
                headers = {}
            self.requests.append(Seen(at, handler.command, handler.path, body, status, token))
            self.changed.notify_all()
        if status is None:  # hangs
            self.hung.wait(PATIENCE)
            handler.close_connection = True
            return
        data = answer if isinstance(answer, bytes) else json.dumps(
            answer or self.status(status)).encode()
        handler.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": len(data),
                            **headers}.items():
            handler.send_header(name, str(value))
        handler.end_headers()
        handler.wfile.write(data)

    def take_fault(self, handler):
        for fault in self.faults:
            if fault.method == handler.command and fault.path.search(handler.path):
                fault.count -= 1
                if not fault.count:
                    self.faults.remove(fault)
                return fault
        return None

    @staticmethod
    def status(code, message="", reason=""):
        return {"kind": "Status", "apiVersion": "v1", "code": code, "status": "Failure",
                "reason": reason, "message": message or f"fault {code}"}

    def answer(self, method, target, body, token):
        """The status and the object of an answer."""
        url = urllib.parse.urlsplit(target)
        query = urllib.parse.parse_qs(url.query)
        if token not in self.tokens:
            return 401, self.status(401, "Unauthorized")
        if url.path == GROUP:
            if not self.versions:
                return 404, b"404 page not found\n"
            return 200, {"kind": "APIGroup", "versions": [
                {"groupVersion": f"resource.k8s.io/{one}", "version": one}
                for one in self.versions]}
        if node := re.fullmatch("/api/v1/nodes/(.*)", url.path):
            if node[1] not in self.nodes:
                return 404, self.status(404, f'nodes "{node[1]}" not found', "NotFound")
            return 200, {"kind": "Node", "metadata": {"name": node[1],
                                                      "uid": self.nodes[node[1]]}}
        place = re.fullmatch(GROUP + "/([^/]*)/(.*)", url.path)
        if not place or place[1] not in self.versions:
            return 404, b"404 page not found\n"
        if claim := re.fullmatch("namespaces/(.*)/resourceclaims/(.*)", place[2]):
            found = self.claims.get(claim.groups())
            return (200, found) if found else (
                404, self.status(404, f'resourceclaims "{claim[2]}" not found', "NotFound"))
        return self.answer_slices(method, place[1], place[2].partition("/")[2], query, body)

    def answer_slices(self, method, version, name, query, body):
        if method == "GET":
            driver, node = "", ""
            for part in query.get("fieldSelector", [""])[0].split(","):
                key, _, value = part.partition("=")
                driver = value if key == "spec.driver" else driver
                node = value if key == "spec.nodeName" else node
            found = [one for one in self.slices.values() if
                     (one["spec"].get("driver"), one["spec"].get("nodeName")) == (driver, node)]
            return 200, {"kind": "ResourceSliceList", "metadata": {
                "resourceVersion": str(self.version)}, "items": copy.deepcopy(found)}
        there = self.slices.get(name)
        if name and not there:
            return 404, self.status(404, f'resourceslices "{name}" not found', "NotFound")
        if method == "DELETE":
            wanted = body["preconditions"]
            metadata = there["metadata"]
            if any(wanted[key] != metadata[key] for key in ("uid", "resourceVersion")):
                return 409, self.status(409, "precondition", "Conflict")
            del self.slices[name]
            return 200, self.status(200)
        if body["apiVersion"] != f"resource.k8s.io/{version}":
            return 400, self.status(400, "the version is not that of the path")
        if (query.get("fieldValidation") == ["Strict"]) != (version == "v1"):
            return 400, self.status(400, "wrong fieldValidation")
        metadata = body["metadata"]
        if there and metadata.get("resourceVersion") != there["metadata"]["resourceVersion"]:
            return 409, self.status(409, "the object has been modified", "Conflict")
        if there and there["spec"]["pool"]["name"] != body["spec"]["pool"]["name"]:
            return 422, self.status(422, "spec.pool.name: field is immutable", "Invalid")
        self.version += 1
        name = name or f"{metadata['generateName']}{self.version}"
        kept = self.kept(body)
        kept["metadata"] = {**metadata, "name": name, "resourceVersion": str(self.version),
                            "uid": there["metadata"]["uid"] if there else f"uid-{name}"}
        self.slices[name] = kept
        return 200 if there else 201, copy.deepcopy(kept)

    def kept(self, body):
        """What the server stores of an object: it adds times, and drops disabled members."""
        out = copy.deepcopy(body)
        spec = out["spec"]
        if not spec.get("devices", True):
            del spec["devices"]
        for member in self.drops & set(spec):
            del spec[member]
        for device in spec.get("devices", ()):
            inner = device.get("basic", device)
            for member in self.drops & set(inner):
                del inner[member]
            for taint in inner.get("taints", ()):
                taint.setdefault("timeAdded", "2026-11-26T00:00:00Z")
        return out

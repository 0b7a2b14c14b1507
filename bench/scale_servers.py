# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The API servers of dra_scale.py, with the requests that they got."""
import base64
import collections
import datetime
import json
import os
import pathlib
import re
import signal
import subprocess
import time
import urllib.request

from api_cluster import Cluster, path_of
from fake_api_server import FakeApiServer
from nri_peers import Process

DRIVER = "gpu.cdi.local"
MANIFEST = (pathlib.Path(__file__).resolve().parents[1] /
            "tools/dra/deploy/cdi-dra.yaml")
# Requests of an administrator, and of the server to itself, are not those of drivers. A watch
# counts when it begins.
AUDIT = """\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - {level: None, userGroups: ["system:masters"]}
  - {level: Metadata, verbs: [watch], omitStages: [ResponseComplete]}
  - {level: Metadata, omitStages: [ResponseStarted]}
"""
Request = collections.namedtuple("Request", "at who verb resource status")


def seconds_of(text):
    """The time of an audit event, in seconds since 1970."""
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def size_of(process):
    """Resident memory in MB."""
    status = pathlib.Path(f"/proc/{process}/status").read_text("ascii")
    return int(re.search(r"VmRSS:\s*(\d+)", status)[1]) / 1000


def process_of(program, word):
    """The id of the process of a program that was started with a word."""
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue  # it has ended
        if os.path.basename(words[0]) == program and word in words:
            return int(path.parent.name)
    raise SystemExit(f"dra_scale.py: no {program} was started with {word}")


def processor_time(process):
    fields = pathlib.Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class RealServer:
    """kube-apiserver and etcd, with the manifests of cdi-dra."""

    def __init__(self, programs, folder):
        import yaml  # pylint: disable=import-outside-toplevel
        self.programs, self.folder = pathlib.Path(programs), folder / "server"
        self.audit = self.folder / "audit.log"
        self.folder.mkdir()
        policy = self.folder / "audit.yaml"
        policy.write_text(AUDIT, encoding="ascii")
        option = f"--audit-log-path={self.audit}"
        self.cluster = Cluster(programs, self.folder, f"--audit-policy-file={policy}", option)
        self.pid, self.again = process_of("kube-apiserver", option), None
        self.etcd = process_of("etcd", f"--data-dir={self.folder}/etcd")
        self.command = pathlib.Path(f"/proc/{self.pid}/cmdline").read_bytes()[:-1].split(b"\0")
        items = list(yaml.safe_load_all(MANIFEST.read_text("ascii")))
        for item in items:
            self.cluster.create(item)
        daemons, = (item for item in items if item["kind"] == "DaemonSet")
        self.template = daemons["spec"]["template"]

    def join(self, node):
        """Makes a node and its pod; the kubeconfig of the pod."""
        self.cluster.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": node}})
        pod = self.cluster.create({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": node, "namespace": "cdi-dra", **self.template["metadata"]},
            "spec": {**self.template["spec"], "nodeName": node}})
        return self.kubeconfig(self.cluster.pod_token("cdi-dra", "cdi-dra", pod.object["metadata"]))

    def kubeconfig(self, token):
        text = pathlib.Path(self.cluster.kubeconfig).read_text(encoding="ascii")
        authority = base64.b64encode((self.folder / "ca.crt").read_bytes()).decode()
        return re.sub("certificate-authority: [^}]*", f"certificate-authority-data: {authority}",
                      text.replace(self.cluster.token, token))

    def requests(self):
        """The requests of drivers, by the node that their token names, or else by their account."""
        found = []
        with open(self.audit, encoding="utf-8") as log:
            for event in map(json.loads, log):
                user, about = event["user"], event.get("objectRef", {})
                node = user.get("extra", {}).get("authentication.kubernetes.io/node-name", [""])[0]
                found.append(Request(seconds_of(event["requestReceivedTimestamp"]),
                                     node or user.get("username", ""), event["verb"],
                                     about.get("resource") or event["requestURI"],
                                     event["responseStatus"]["code"]))
        return found

    def stop(self):
        """The API server goes without a word; etcd stays."""
        os.kill(self.pid, signal.SIGKILL)

    def start(self):
        """The same server again, at the same port. Waits until it is ready."""
        with open(self.folder / "apiserver2.log", "ab") as log:
            self.again = subprocess.Popen(self.command, cwd=self.folder, stdout=log, stderr=log,
                                          executable=self.programs / "kube-apiserver")
        self.pid = self.again.pid
        while not self.is_ready():
            time.sleep(0.1)

    def is_ready(self):
        try:
            with self.get("/readyz") as answer:
                return answer.status == 200
        except OSError:  # also an answer with another status
            return False

    def get(self, path):
        return urllib.request.urlopen(urllib.request.Request(self.cluster.url + path, headers={
            "Authorization": f"Bearer {self.cluster.token}"}), context=self.cluster.tls, timeout=60)

    def end(self):
        if self.again:
            self.again.kill()
            self.again.wait()
        self.cluster.stop()

    def load(self):
        """What has grown since the start."""
        out = {"seconds of processor time of kube-apiserver": processor_time(self.pid),
               "seconds of processor time of etcd": processor_time(self.etcd)}
        with self.get("/metrics") as answer:
            for line in answer.read().decode().splitlines():
                if line.startswith("etcd_requests_total{") and "resourceslices" in line:
                    operation = re.search('operation="([^"]*)"', line)[1]
                    out[f"{operation} of slices in etcd"] = float(line.rpartition(" ")[2])
        return out

    def show_sizes(self):
        print(f"  kube-apiserver {size_of(self.pid):.0f} MB resident, etcd "
              f"{size_of(self.etcd):.0f} MB")
        url = re.search(r"--etcd-servers=([^\0]*)", b"\0".join(self.command).decode())[1]
        first, last = (base64.b64encode(b"/registry/resourceslices" + end).decode()
                       for end in (b"/", b"0"))
        request = urllib.request.Request(f"{url}/v3/kv/range", method="POST", data=json.dumps(
            {"key": first, "range_end": last}).encode())
        with urllib.request.urlopen(request) as answer:
            kept = json.load(answer).get("kvs", ())
        stored = sum(len(base64.b64decode(one["value"])) for one in kept)
        sent = sum(len(json.dumps(one, separators=(",", ":")))
                   for one in self.cluster.get("ResourceSlice").object["items"])
        for name, size in (("in etcd", stored), ("as JSON", sent)):
            if kept:
                print(f"  {len(kept)} slices {name}: {size / len(kept):.0f} bytes each")

    def check(self, count, taint):
        """Each node has its slice, with a taint of this value."""
        specs = [one["spec"] for one in self.cluster.get("ResourceSlice").object["items"]
                 if one["spec"]["driver"] == DRIVER]
        tainted = sum(any(one["value"] == taint for device in spec["devices"]
                          for one in device.get("taints", ())) for spec in specs)
        print(f"{tainted} of {count} nodes have a slice with the right taint")

    # Drivers in Go.

    def start_peers(self, count, stack):
        if not count:
            return
        self.cluster.create({"apiVersion": "v1", "kind": "ServiceAccount",
                             "metadata": {"name": "peer", "namespace": "default"}})
        self.cluster.create({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
            "metadata": {"name": "peer"}, "subjects": [
                {"kind": "ServiceAccount", "name": "peer", "namespace": "default"}],
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                        "name": "cluster-admin"}})
        token = self.cluster.request(
            "POST", path_of("ServiceAccount", "peer") + "/token",
            {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
             "spec": {}}).object["status"]["token"]
        path = self.folder / "peer.kubeconfig"
        path.write_text(self.kubeconfig(token), encoding="ascii")
        for number in range(count):
            place = self.folder / f"peer{number}"
            place.mkdir()
            self.cluster.create({"apiVersion": "v1", "kind": "Node",
                                 "metadata": {"name": place.name}})
            started = Process(
                [str(self.programs / "demo-driver"), "-driver", "peer.cdi.local", "-node",
                 place.name, "-root", str(place), "-cdi-dir", str(place / "cdi"), "-kubeconfig",
                 str(path)], str(place / "log"))
            stack.callback(started.kill)

    def show_peers(self, count, begin, end):
        names = collections.Counter(
            f"{one.verb} {one.resource} {one.status}" for one in self.requests()
            if begin <= one.at < end and one.who == "system:serviceaccount:default:peer")
        for name, many in names.items():
            print(f"  a driver in Go: {name}: {many / count * 3600 / (end - begin):.1f} in an hour")


class FakeServer:
    """The API server of the tests."""

    VERBS = {"POST": "create", "PUT": "update", "DELETE": "delete"}

    def __init__(self, folder):
        self.folder = folder / "server"
        self.folder.mkdir()
        self.api = FakeApiServer(self.folder)
        self.offset = time.time() - time.monotonic()
        authority = base64.b64encode((self.folder / "ca.crt").read_bytes()).decode()
        self.place = {"server": self.api.url, "certificate-authority-data": authority}

    def join(self, node):
        """The name of the node is its token."""
        self.api.nodes[node] = f"uid-{node}"
        self.api.tokens.add(node)
        return json.dumps({
            "clusters": [{"name": "c", "cluster": self.place}], "current-context": "x",
            "users": [{"name": "u", "user": {"token": node}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}]})

    def requests(self):
        with self.api.changed:
            seen = list(self.api.requests)
        found = []
        for one in seen:
            kind = re.search("resourceslices|nodes|$", one.path)[0] or one.path
            reads = "list" if kind == "resourceslices" else "get"
            found.append(Request(one.at + self.offset, one.token,
                                 self.VERBS.get(one.method, reads), kind, one.status))
        return found

    def stop(self):
        self.api.stop()
        self.api.hung.clear()

    def start(self):
        self.api.start()

    def end(self):
        self.api.stop()

    def load(self):
        return {}

    def show_sizes(self):
        pass

    def check(self, count, taint):
        tainted = sum(taint in json.dumps(spec) for spec in self.api.specs().values())
        print(f"{tainted} of {count} nodes have a slice with the right taint")

    def start_peers(self, count, stack):
        pass

    def show_peers(self, count, begin, end):
        pass

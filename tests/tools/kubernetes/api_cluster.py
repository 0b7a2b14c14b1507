# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A real API server on loopback, and requests to it."""
import json
import os
import pathlib
import shutil
import ssl
import subprocess
import unittest
import urllib.error
import urllib.request

import judges

HERE = pathlib.Path(__file__).resolve().parent
# The path of a kind, and whether its objects are in namespaces.
PATHS = {
    "ClusterRole": ("apis/rbac.authorization.k8s.io/v1", "clusterroles", False),
    "ClusterRoleBinding": ("apis/rbac.authorization.k8s.io/v1", "clusterrolebindings", False),
    "DaemonSet": ("apis/apps/v1", "daemonsets", True),
    "DeviceClass": ("apis/resource.k8s.io/v1", "deviceclasses", False),
    "Namespace": ("api/v1", "namespaces", False),
    "Node": ("api/v1", "nodes", False),
    "Pod": ("api/v1", "pods", True),
    "ResourceClaim": ("apis/resource.k8s.io/v1", "resourceclaims", True),
    "ResourceClaimTemplate": ("apis/resource.k8s.io/v1", "resourceclaimtemplates", True),
    "ResourceSlice": ("apis/resource.k8s.io/v1", "resourceslices", False),
    "ServiceAccount": ("api/v1", "serviceaccounts", True),
    "ValidatingAdmissionPolicy":
        ("apis/admissionregistration.k8s.io/v1", "validatingadmissionpolicies", False),
    "ValidatingAdmissionPolicyBinding":
        ("apis/admissionregistration.k8s.io/v1", "validatingadmissionpolicybindings", False),
}


def path_of(kind, name="", namespace="default"):
    group, plural, in_namespace = PATHS[kind]
    place = f"/{group}/namespaces/{namespace}" if in_namespace else f"/{group}"
    return f"{place}/{plural}" + (f"/{name}" if name else "")


def need_cluster(place):
    """The folder with kube-apiserver, etcd and load; the test is skipped without them."""
    if os.environ.get("CDI_FULL") != "1":
        raise unittest.SkipTest("starts a real API server, for CDI_FULL=1")
    for program in ("openssl", "curl", "bash"):
        if not shutil.which(program):
            raise unittest.SkipTest(f"needs {program}")
    return judges.build_cluster(place)


class Answer:
    """The status and the object that the API server answers."""

    def __init__(self, status, body):
        self.status = status
        self.object = json.loads(body) if body else {}

    @property
    def message(self):
        return self.object.get("message", "")


class Cluster:
    """etcd and kube-apiserver, with all their files in a folder."""

    def __init__(self, programs, folder, *options):
        self.folder = pathlib.Path(folder)
        self.programs = programs
        environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
        self.process = subprocess.Popen(
            ["bash", str(HERE / "kubernetes/cluster.sh"), str(folder), *options], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        if self.process.stdout.readline() != "ready\n":
            self.stop()
            raise AssertionError("the API server does not start")
        self.kubeconfig = str(self.folder / "kubeconfig")
        self.url = (self.folder / "url").read_text(encoding="ascii").strip()
        self.token = (self.folder / "token").read_text(encoding="ascii").strip()
        self.tls = ssl.create_default_context(cafile=str(self.folder / "ca.crt"))

    def stop(self):
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()

    def request(self, method, path, body=None, token=None):
        """An answer, whatever its status. The server refuses fields that it does not know."""
        if body is not None:
            path += "?fieldValidation=Strict"
        request = urllib.request.Request(
            self.url + path, method=method, data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {token or self.token}",
                     "Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, context=self.tls, timeout=60) as answer:
                return Answer(answer.status, answer.read())
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, error.read())

    def create(self, body, token=None):
        metadata = body["metadata"]
        place = path_of(body["kind"], namespace=metadata.get("namespace", "default"))
        return self.request("POST", place, body, token)

    def get(self, kind, name="", namespace="default", token=None):
        return self.request("GET", path_of(kind, name, namespace), token=token)

    def delete(self, kind, name, namespace="default", token=None):
        return self.request("DELETE", path_of(kind, name, namespace), token=token)

    def replace(self, body, token=None):
        metadata = body["metadata"]
        place = path_of(body["kind"], metadata["name"], metadata.get("namespace", "default"))
        return self.request("PUT", place, body, token)

    def pod_token(self, account, namespace, pod):
        """A token like that which kubelet gives to a pod."""
        bound = {"kind": "Pod", "apiVersion": "v1", "name": pod["name"], "uid": pod["uid"]}
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
                "spec": {"boundObjectRef": bound, "audiences": [
                    "https://kubernetes.default.svc"]}}
        path = path_of("ServiceAccount", account, namespace) + "/token"
        return self.request("POST", path, body).object["status"]["token"]

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The kubelet's side of device plugins as a script, on gRPC of Python. Messages are encoded by hand,
from field numbers of the protocol and not from the definitions of cdi-dra."""
import concurrent.futures
import pathlib
import queue
import threading

import scripted_kubelet
from nri_messages import BOOL, INT64, TEXT, decode, encode
from scripted_kubelet import PATIENCE, Socket, grpc, same

PLUGIN = "/v1beta1.DevicePlugin/"
OPTIONS = {"preStart": (1, BOOL), "preferred": (2, BOOL)}
REGISTER = {"version": (1, TEXT), "endpoint": (2, TEXT), "resource": (3, TEXT),
            "options": (4, OPTIONS)}
DEVICES = {"devices": (1, [{"id": (1, TEXT), "health": (2, TEXT),
                            "topology": (3, {"nodes": (1, [{"id": (1, INT64)}])})}])}
ALLOCATE = {"containers": (1, [{"devices": (1, [TEXT])}])}
ALLOCATED = {"containers": (1, [{"cdi": (5, [{"name": (1, TEXT)}])}])}
PREFER = {"containers": (1, [{"available": (1, [TEXT]), "included": (2, [TEXT]),
                              "size": (3, INT64)}])}
PREFERRED = {"containers": (1, [{"devices": (1, [TEXT])}])}
POD_DEVICES = {"resource": (1, TEXT), "devices": (2, [TEXT])}
POD_CLAIM = {"name": (2, TEXT), "namespace": (3, TEXT), "resources": (4, [{
    "cdi": (1, [{"name": (1, TEXT)}]), "driver": (2, TEXT), "pool": (3, TEXT),
    "device": (4, TEXT)}])}
PODS = {"pods": (1, [{"name": (1, TEXT), "namespace": (2, TEXT), "containers": (
    3, [{"name": (1, TEXT), "devices": (2, [POD_DEVICES]), "claims": (5, [POD_CLAIM])}])}])}


def allocation(*devices):
    """The request for a container with these devices."""
    return encode(ALLOCATE, {"containers": [{"devices": list(devices)}]})


class Plugin(Socket):
    """A device plugin that registered, as kubelet sees it: its devices are always the last ones."""

    def __init__(self, path):
        super().__init__(path)
        self.devices = {}
        self.changed = threading.Condition()
        self.stream = self.channel.unary_stream(PLUGIN + "ListAndWatch", same, same)(
            b"", wait_for_ready=True)
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        try:
            for data in self.stream:
                with self.changed:
                    self.devices = {device["id"]: device
                                    for device in decode(DEVICES, data).get("devices", [])}
                    self.changed.notify_all()
        except grpc.RpcError:
            pass

    def wait(self, **healthy):
        """Waits until all devices are healthy or not as given."""
        wanted = {name: "Healthy" if value else "Unhealthy" for name, value in healthy.items()}

        def as_wanted():
            return {name: one["health"] for name, one in self.devices.items()} == wanted
        with self.changed:
            assert self.changed.wait_for(as_wanted, PATIENCE), (self.devices, wanted)

    def numa_nodes(self):
        return {name: [int(node.get("id", 0)) for node in one["topology"]["nodes"]]
                for name, one in self.devices.items()}

    def allocate(self, *devices):
        """The CDI names for a container."""
        data = self.call(PLUGIN + "Allocate", allocation(*devices))
        container, = decode(ALLOCATED, data)["containers"]
        return [one["name"] for one in container["cdi"]]

    def refusal(self, *devices):
        """The code and the text with which it is refused."""
        return self.status(PLUGIN + "Allocate", allocation(*devices))

    def prefer(self, available, size, included=()):
        data = self.call(PLUGIN + "GetPreferredAllocation", encode(PREFER, {"containers": [
            {"available": list(available), "included": list(included), "size": size}]}))
        container, = decode(PREFERRED, data)["containers"]
        return container["devices"]

    def options(self):
        return decode(OPTIONS, self.call(PLUGIN + "GetDevicePluginOptions"))


class DeviceKubelet:
    """Serves Registration and PodResources in a kubelet's directory, as a kubelet that starts."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.pods = {}  # names, and the devices that each has of a resource
        self.claims = []  # that each pod has
        self.lists = 0
        self.refuses = False
        self.registered = queue.Queue()
        self.servers = []
        self.plugins = self.folder / "device-plugins"
        self.plugins.mkdir(parents=True, exist_ok=True)
        for left in self.plugins.glob("*"):
            left.unlink()  # as kubelet does
        (self.folder / "pod-resources").mkdir(exist_ok=True)
        (self.folder / "pod-resources/kubelet.sock").unlink(missing_ok=True)
        self.serve("pod-resources", "v1.PodResourcesLister", "List", self.list)
        self.serve("device-plugins", "v1beta1.Registration", "Register", self.register)

    def serve(self, place, service, method, handle):
        server = grpc.server(concurrent.futures.ThreadPoolExecutor(4))
        handler = grpc.unary_unary_rpc_method_handler(handle)
        server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler(service, {method: handler}),))
        server.add_insecure_port(f"unix:{self.folder / place / 'kubelet.sock'}")
        server.start()
        self.servers.append(server)

    def register(self, data, context):
        if self.refuses:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "not this one")
        self.registered.put(decode(REGISTER, data))
        return b""

    def list(self, _data, _context):
        self.lists += 1
        pods = [{"name": name, "namespace": "default", "containers": [
            {"name": "main", "devices": [{"resource": resource, "devices": list(devices)}],
             "claims": self.claims}]}
            for name, (resource, devices) in self.pods.items()]
        return encode(PODS, {"pods": pods})

    def plugin(self):
        """The plugin that registers next, and its request."""
        request = self.registered.get(timeout=PATIENCE)
        return Plugin(self.plugins / request["endpoint"]), request

    def stop(self):
        for server in self.servers:
            server.stop(0).wait()


need_grpc = scripted_kubelet.need_grpc

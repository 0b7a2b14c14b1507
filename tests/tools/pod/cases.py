# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Inputs of `cdi-pod` and its answers: (arguments, input, members of the answer, words of the
warnings), and for refused inputs (arguments, input, words of the error)."""

A, B, C = "v.com/gpu=a", "v.com/gpu=b", "v.com/gpu=c"
CPU, MIB, GPU = ("io.katacontainers.config.hypervisor.default_" + name
                 for name in ("vcpus", "memory", "gpus"))
TYPE = "io.katacontainers.config.hypervisor.machine_type"


def sandbox(quota=None, memory=None, shares=None, period="100000", **more):
    """The annotations of a sandbox; further ones by their whole key."""
    values = {"cpu-period": period, "cpu-quota": quota, "cpu-shares": shares, "memory": memory}
    out = {f"io.kubernetes.cri.sandbox-{name}": str(value)
           for name, value in values.items() if value is not None}
    return {"annotations": {**out, **more}}


def container(limits=None, requests=None, **more):
    return {"name": "c", "resources": {"limits": limits or {}, "requests": requests or {}}, **more}


def pod(*containers, init=(), **spec):
    return {"pod": {"metadata": {"name": "p"},
                    "spec": {"runtimeClassName": "kata-remote", "containers": list(containers),
                             "initContainers": list(init), **spec}}}


def of_type(instance, one):
    """A pod with an annotation that names its instance type."""
    return {"pod": {**one["pod"], "metadata": {"annotations": {TYPE: instance}}}}


def exactly(name, device_class, count=1, **more):
    """A request of a claim."""
    return {"name": name, "exactly": {"deviceClassName": device_class, "count": count, **more}}


def made_for(pod_name, **more):
    """The owner of a claim that was made for a pod from a template."""
    return {"apiVersion": "v1", "kind": "Pod", "name": pod_name, "controller": True, **more}


def claim(name, *requests, space=None, pod_claim=None, owner=made_for("p"), results=None):
    """A ResourceClaim, for `pod_claim` of its owner if it was made from a template; `results` has
    (request, driver, device, *flags) of its allocation."""
    metadata = {"name": name, **({"namespace": space} if space else {})}
    if pod_claim:
        metadata["annotations"] = {"resource.kubernetes.io/pod-claim-name": pod_claim}
        metadata["ownerReferences"] = [owner]
    out = {"kind": "ResourceClaim", "metadata": metadata,
           "spec": {"devices": {"requests": list(requests)}}}
    if results is not None:
        out["status"] = {"allocation": {"devices": {"results": [
            {"request": request, "driver": driver, "pool": "p", "device": device,
             **dict.fromkeys(flags, True)} for request, driver, device, *flags in results]}}}
    return out


def in_namespace(space, one, **metadata):
    """A pod in a namespace."""
    return {"pod": {**one["pod"], "metadata": {"name": "p", "namespace": space, **metadata}}}


def using(name, **more):
    """A container that uses a claim of the pod."""
    return {"name": "c", "resources": {"claims": [{"name": name, **more}]}}


def mapped(*requests):
    """The members of an answer for one claim."""
    return {"claims": [{"claim": "x", "requests": list(requests)}]}


ONE_AMD, ONE_NVIDIA = exactly("r", "gpu.amd.com"), exactly("r", "gpu.nvidia.com")
NAMED = pod(using("g"), resourceClaims=[{"name": "g", "resourceClaimName": "x"}])
FROM_TEMPLATE = pod(using("g"), resourceClaims=[{"name": "g", "resourceClaimTemplateName": "t"}])


def with_status(one, **made):
    """A pod whose status has the names of claims from templates."""
    return {"pod": {**one["pod"], "status": {"resourceClaimStatuses": [
        {"name": name, "resourceClaimName": made[name]} for name in made]}}}


def found(resource, name="x", **more):
    """The members of an answer for the one claim that a pod has."""
    return {"claims": [{"claim": name, **more, "requests": [
        {"request": "r", "resource": resource, "count": 1}]}]}


DEVICE_TYPES = [{"name": "small", "vcpus": 2, "memoryMiB": 4096},
                {"name": "AMD.1", "vcpus": 4, "memoryMiB": 8192, "devices": {"amd.com/gpu": 1}},
                {"name": "mig", "devices": {"nvidia.com/mig-1g.10gb": 7}},
                {"name": "nvidia2", "vcpus": 4, "memoryMiB": 8192, "gpus": 2}]


def size(formula, *options):
    return ["size", "--formula", formula, *options]


def vm(vcpus, memory):
    return {"vcpus": vcpus, "memoryMiB": memory}


def vfio(**names):
    """The annotations of a guest: vfio1="v.com/c=0"."""
    return {f"cdi.k8s.io/{key}": name for key, name in names.items()}


def device(number, bus, vendor="0x10de", device_class="0x030200", **more):
    return {"vendorId": vendor, "classId": device_class, "options": [f"0000:01:00.0={bus}"],
            "containerPath": f"/dev/vfio/{number}", **more}


def strategy(*nodes, operator="25.10", **more):
    return {"operator": operator, "nodes": list(nodes), **more}


def types(*rows):
    return [{"name": name, "vcpus": vcpus, "memoryMiB": memory, "gpus": gpus}
            for name, vcpus, memory, gpus in rows]


REQUESTS = [
    (["requests", "--runtime", "containerd", "-v"],
     {"cri": [B, B, A], "annotations": {"cdi.k8s.io/z": f"{C},{A}", "x": "y"}},
     {"devices": [B, A, C], "origins": ["cri", "cri", "annotation cdi.k8s.io/z"]}, ""),
    (["requests", "--runtime", "crio"],
     {"cri": [B, B, A], "annotations": {"cdi.k8s.io/z": f"{C},{A},{C}"}},
     {"devices": [B, B, A, C, C]}, ""),
    (["requests", "--runtime", "crio"], {"cri": ["gpu0"]}, {"devices": ["gpu0"]},
     "cri[0]: the injection will fail"),
    (["requests", "--runtime", "containerd", "--cdi", "off"],
     {"annotations": {"cdi.k8s.io/z": "junk"}}, {"devices": []}, "ignores annotations"),
    # Other prefixes count only when they are named; then each annotation counts once.
    (["requests", "--runtime", "containerd", "-v", "--prefix", "nvidia.cdi.k8s.io/", "--prefix",
      "own/", "--prefix", "cdi.k8s.io/"],
     {"annotations": {"nvidia.cdi.k8s.io/x": A, "own/y": B, "cdi.k8s.io/z": C, "x/nvidia": "q"}},
     {"devices": [C, A, B], "origins": ["annotation cdi.k8s.io/z", "annotation nvidia.cdi.k8s.io/x",
                                        "annotation own/y"]}, ""),
    (["requests", "--runtime", "crio", "--prefix", "cdi.k8s.io/"],
     {"annotations": {"cdi.k8s.io/z": A}}, {"devices": [A]}, ""),
    *((["requests", "--runtime", "crio"], {"annotations": {key: value}}, {"devices": []},
       f'annotation "{key}" looks like a request, but crio reads only keys')
      for key, value in [("nvidia.cdi.k8s.io/x", A), ("nvidia.cdi.k8s.io/container.c", "x"),
                         ("cdi-devices.nri.io/container.c", "- " + A), ("cdi.k8.io/x", A),
                         ("CDI.k8s.io/x", A), ("cdi.k8s.io", A), ("cdi.k8sio", f"{A},{B}")]),
    (["requests", "--runtime", "crio"],
     {"annotations": {"csi.k8s.io/x": "y", "cdi.kubevirt.io/x": A, "other": A, "k8s.io/x": A,
                      "cdi.k8s.i/x": ""}},
     {"devices": []}, ""),
    (["requests", "--runtime", "crio"], {"cri": None, "annotations": None}, {"devices": []}, ""),
]
VISIBLE = [
    (["visible", ""], None, {"devices": []}, ""),
    (["visible", " v.com/gpu= 2 ,0:v.com/nic=all"], None,
     {"devices": ["v.com/gpu=2", "v.com/gpu=0", "v.com/nic=all"]}, ""),
]
INNER = [
    # Each kind is numbered by its place in the guest.
    (["inner"],
     {"devices": [device(7, "02/00"), device(5, "01/01"), device(6, "00/00", "0x8086"),
                  device(8, "00/00", "0x15b3", "0x020000")]},
     {"annotations": vfio(vfio5="nvidia.com/gpu=0", vfio6="intel.com/gpu=0",
                          vfio7="nvidia.com/gpu=1", vfio8="nvidia.com/nic=0")},
     ""),
    # A device without options comes first; one without PCI ids is not a VFIO device.
    (["inner"],
     {"devices": [device(1, "01"), {**device(2, ""), "options": []},
                  {"containerPath": "/dev/sda"}], "annotations": {"cdi.k8s.io/own": A}},
     {"annotations": vfio(own=A, vfio1="nvidia.com/gpu=1", vfio2="nvidia.com/gpu=0")}, ""),
    (["inner"], {"devices": [device(1, "01", "0x1234")]},
     {"annotations": {}, "unknown": ["0x1234-0x030200"]}, "not in Kata's table"),
    (["inner"], {"devices": [device(1, "rp2"), device(2, "rp10")]},
     {"annotations": vfio(vfio1="nvidia.com/gpu=1", vfio2="nvidia.com/gpu=0")},
     "compares text"),
    (["inner"], {"devices": [device(1, "01"), device("devices/vfio1", "02")]},
     {"annotations": vfio(vfio1="nvidia.com/gpu=1")}, "replaces the annotation"),
    # runtime-go numbers all devices of the sandbox, and removes the annotations for the host.
    (["inner", "--runtime", "go"],
     {"devices": [device(9, "", bdf="0000:03:00.0")],
      "siblings": [device(1, "02", bdf="0000:03:00.0"), device(2, "01", bdf="0000:02:00.0")],
      "annotations": {"cdi.k8s.io/outer": A, "k": "v"}},
     {"annotations": {"k": "v", "cdi.k8s.io/vfio9": "nvidia.com/gpu=1"}}, ""),
    (["inner", "--runtime", "go"],
     {"devices": [device(3, "02"), device(4, "01"), device(5, "03", device_class="0x068000"),
                  device(6, "04", "0x8086")]},
     {"annotations": vfio(vfio3="nvidia.com/gpu=1", vfio4="nvidia.com/gpu=0"),
      "unknown": ["0x8086-0x030200"]}, "not in Kata's table"),
    # The path tells a device, too; the container of all VFIO groups is not a device.
    (["inner", "--runtime", "go"],
     {"devices": [device(3, ""), {**device(0, ""), "containerPath": "/dev/vfio/vfio"}],
      "siblings": [device(1, "02", hostPath="/dev/vfio/3"),
                   device(2, "01", hostPath="/dev/vfio/2")]},
     {"annotations": vfio(vfio3="nvidia.com/gpu=1")}, ""),
    # A group has one annotation, for its first device, whether or not siblings are listed.
    *((["inner", "--runtime", "go"], {"devices": [*group, device(13, "00", bdf="c")], **siblings},
       {"annotations": vfio(vfio12="nvidia.com/gpu=1", vfio13="nvidia.com/gpu=0")},
       "devices[0]: /dev/vfio/12 has several GPUs, and gets one annotation")
      for group in [[device(12, "01", bdf="a"), device(12, "02", bdf="b")],
                    [device(12, "02", bdf="b"), device(12, "01", bdf="a")]]
      for siblings in ({}, {"siblings": [device(0, "02", bdf="b"), device(0, "00", bdf="c"),
                                         device(0, "01", bdf="a")]})),
    # The sound of a GPU is in its group.
    (["inner", "--runtime", "go"],
     {"devices": [device(12, "02", device_class="0x040300"), device(12, "01")]},
     {"annotations": vfio(vfio12="nvidia.com/gpu=0")}, ""),
    # Kata skips paths that are not of VFIO, and does not count their devices.
    *((["inner", "--runtime", "go"],
       {"devices": [{**device(0, "00"), "containerPath": path}, device(12, "01")]},
       {"annotations": vfio(vfio12="nvidia.com/gpu=0")},
       f'devices[0]: the guest gets no annotation for "{path}", which is not in /dev/vfio')
      for path in ("/dev/gpu/7", "/dev/nvidia0")),
    # A place of its own counts more than the options; an option without a place counts nothing.
    (["inner"],
     {"devices": [{**device(1, "01"), "bus": "03"}, {**device(2, ""), "options": ["0000:01:00.0"]},
                  {**device(0, "02"), "containerPath": "3"}]},
     {"annotations": vfio(vfio1="nvidia.com/gpu=2", vfio2="nvidia.com/gpu=0",
                          vfio3="nvidia.com/gpu=1")}, ""),
]
PEERPOD = [
    # Millicores and bytes are summed before they are rounded up.
    (["peerpod"], pod(container(requests={"cpu": "600m", "memory": "1"}),
                      container(requests={"cpu": "300m", "memory": "1Mi"})),
     {"annotations": {CPU: "1", MIB: "2"}}, ""),
    (["peerpod"], pod(container(requests={"cpu": 1.5}), init=[container(requests={"cpu": "1e0"})]),
     {"annotations": {CPU: "3"}}, ""),
    # The limit counts when the sum of limits is not less than that of requests.
    (["peerpod"], pod(container({"cpu": 3}, {"cpu": 2}), container(requests={"cpu": 2})),
     {"annotations": {CPU: "4"}}, ""),
    (["peerpod"], pod(container({"cpu": 3, "memory": "1Gi"})), {"annotations": {}},
     "limit without a request"),
    (["peerpod", "--defaults"], pod(container({"cpu": 3, "memory": "1Gi"})),
     {"annotations": {CPU: "3", MIB: "1024"}}, ""),
    (["peerpod"], pod(container({"nvidia.com/gpu": 2}, {"nvidia.com/gpu": "2"})),
     {"annotations": {GPU: "2"}}, "gets all NVIDIA GPUs"),
    (["peerpod"], pod(container(requests={"cpu": 1}), runtimeClassName="kata"),
     {"annotations": {}}, "leaves the pod unchanged"),
    (["peerpod", "--runtime-class", "kata"],
     pod(container(requests={"cpu": 1}), runtimeClassName="kata"), {"annotations": {CPU: "1"}}, ""),
    # What the webhook removes without an annotation.
    (["peerpod"], pod(container({"nvidia.com/mig-1g.10gb": 1}, {"nvidia.com/mig-1g.10gb": 1})),
     {"annotations": {}, "unmapped": [{"container": "c", "resource": "nvidia.com/mig-1g.10gb"}]},
     'container "c" requests "nvidia.com/mig-1g.10gb", which the webhook removes'),
    (["peerpod"], pod(container(requests={"cpu": 1}), init=[container({"amd.com/gpu": 2})]),
     {"annotations": {CPU: "1"}, "unmapped": [{"container": "c", "resource": "amd.com/gpu"}]},
     "choose an instance type"),
    # An annotation names the instance type already.
    (["peerpod"], of_type("g4ad", pod(container(requests={"amd.com/gpu": 2}))),
     {"annotations": {}, "unmapped": [{"container": "c", "resource": "amd.com/gpu"}]},
     'so the VM lacks it: check that "g4ad" has it\n'),
    (["peerpod"], of_type("g4ad", pod({"name": "c", "resources": {"claims": [{"name": "gpu"}]}},
                                      resourceClaims=[{"name": "gpu"}])),
     {"annotations": {}, "unmapped": [{"container": "c", "claim": "gpu"}]},
     'check that "g4ad" has it\n'),
    (["peerpod"], {"pod": {**pod(container(requests={"hugepages-2Mi": 2}))["pod"], "metadata": {}}},
     {"annotations": {}, "unmapped": [{"container": "c", "resource": "hugepages-2Mi"}]},
     f"choose an instance type that has enough of it, with the annotation {TYPE}\n"),
    (["peerpod"], pod({"name": "train", "resources": {"claims": [{"name": "gpu", "request": "r"}]}},
                      resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "t"}]),
     {"annotations": {}, "unmapped": [{"container": "train", "claim": "gpu"}]},
     'container "train" uses the ResourceClaim "gpu", which the webhook removes'),
    (["peerpod"], pod(container(), resourceClaims=[{"name": "gpu"}]), {"annotations": {}},
     'no container uses the ResourceClaim "gpu" of the pod'),
    (["peerpod"], pod(container(), resources={"limits": {"cpu": 1}}), {"annotations": {}},
     "the webhook ignores pod.spec.resources"),
    (["peerpod"], pod(container({"kata.peerpods.io/vm": 1}, {"kata.peerpods.io/vm": "1"})),
     {"annotations": {}}, "has already changed this pod"),
    (["peerpod"], pod(container({"amd.com/gpu": 0}, {"amd.com/gpu": 0})), {"annotations": {}}, ""),
    (["peerpod"], pod(container({"cpu": 0, "memory": 0})), {"annotations": {}}, ""),
    (["peerpod"], {"pod": {"spec": {"runtimeClassName": "kata-remote",
                                    "containers": [container(requests={"cpu": 1})]}}},
     {"annotations": {CPU: "1"}}, ""),
    (["peerpod"], pod(container(), resources={"requests": {"cpu": 1}}), {"annotations": {}},
     "the webhook ignores pod.spec.resources"),
]
# Instance types with devices that the webhook does not know; claims.
CLAIMS = [
    (["peerpod"], {**pod(container({"amd.com/gpu": 1}, {"amd.com/gpu": 1})), "types": DEVICE_TYPES},
     {"annotations": {}, "instance": "AMD.1", "rule": "devices"}, f"set the annotation {TYPE}: AMD.1"),
    (["peerpod"], {**pod(container(requests={"nvidia.com/mig-1g.10gb": 3})), "types": DEVICE_TYPES},
     {"annotations": {}, "instance": "mig"}, "set the annotation"),
    (["peerpod"], {**pod(container(requests={"amd.com/gpu": 2})), "types": DEVICE_TYPES},
     {"annotations": {}, "unmapped": [{"container": "c", "resource": "amd.com/gpu"}]},
     "no instance type fits 0 GPUs, 2 amd.com/gpu, 0 vCPUs and 0 MiB"),
    (["peerpod"], {**of_type("AMD.1", pod(container(requests={"amd.com/gpu": 1}))),
                   "types": DEVICE_TYPES},
     {"annotations": {}, "instance": "AMD.1", "rule": "machineType"}, ""),
    (["peerpod"], {**of_type("small", pod(container(requests={"amd.com/gpu": 1}))),
                   "types": DEVICE_TYPES},
     {"unmapped": [{"container": "c", "resource": "amd.com/gpu"}]}, '"small" does not fit'),
    # The webhook knows these itself.
    (["peerpod"], {**pod(container(requests={"nvidia.com/gpu": 1})), "types": DEVICE_TYPES},
     {"annotations": {GPU: "1"}, "instance": "nvidia2"}, "gets all NVIDIA GPUs"),
    (["peerpod"], {**pod(container(requests={"cpu": 1, "memory": "1Gi"})), "types": DEVICE_TYPES},
     {"instance": "small", "rule": "vcpus and memory"}, ""),
    (["peerpod"], {**of_type("small", pod(container(requests={"cpu": 1}))), "types": DEVICE_TYPES},
     {"annotations": {CPU: "1"}, "instance": "small", "rule": "machineType"}, ""),
    (["peerpod"], {**of_type("none", pod(container(requests={"amd.com/gpu": 1}))),
                   "types": DEVICE_TYPES},
     {"unmapped": [{"container": "c", "resource": "amd.com/gpu"}]}, '"none" is not in types'),
    # Without vCPUs or memory, Kata's default size decides, and not a type.
    *((["peerpod"], {**pod(container(requests=requests)), "types": DEVICE_TYPES},
       {"annotations": annotations}, "")
      for requests, annotations in (({"cpu": 1}, {CPU: "1"}), ({"memory": "1Mi"}, {MIB: "1"}))),
    # Claims beside the pod: one named in two entries, one made from a template, one not mapped.
    (["peerpod"], {**pod(using("a"), using("b"), using("c", request="r"),
                         resourceClaims=[{"name": "a", "resourceClaimName": "x"},
                                         {"name": "b", "resourceClaimName": "x"},
                                         {"name": "c", "resourceClaimTemplateName": "t"}]),
                   "claims": [claim("x", exactly("r", "gpu.amd.com")),
                              claim("y", exactly("r", "odd"), exactly("s", "gpu.amd.com"),
                                    pod_claim="c")]},
     {"unmapped": [{"container": "c", "claim": "c"}],
      "containers": [{"container": "c", "devices": ["kata.peerpods.io/claim=x"]}] * 2},
     'request "r" of ResourceClaim "y" is not mapped'),
    # Claims of other namespaces may have the same name; those without one are of the pod's.
    (["peerpod"], {**in_namespace("a", NAMED), "claims": [
        claim("x", ONE_AMD, space="b"), claim("x", ONE_NVIDIA, space="a")]},
     found("nvidia.com/gpu", namespace="a"), ""),
    (["peerpod"], {**in_namespace("a", NAMED), "claims": [claim("x", ONE_AMD)]},
     found("amd.com/gpu"), ""),
    (["peerpod"], {**NAMED, "claims": [claim("x", ONE_AMD, space="a"),
                                       claim("x", ONE_NVIDIA, space="default")]},
     found("nvidia.com/gpu", namespace="default"), ""),
    (["peerpod"], {**in_namespace("b", NAMED), "claims": [claim("x", ONE_AMD, space="a")]},
     {"unmapped": [{"container": "c", "claim": "g"}]},
     'in the namespace "b", no claim has the name "x", for "g" of the pod'),
    # Claims that were made for other pods, and for an older pod of the same name.
    *((["peerpod"], {**in_namespace("a", FROM_TEMPLATE, uid="1"), "claims": [
        claim("x", ONE_AMD, space=space, pod_claim=name, owner=owner),
        claim("y", ONE_NVIDIA, space="a", pod_claim="g", owner=made_for("p", uid="1"))]},
       found("nvidia.com/gpu", "y", namespace="a"), "")
      for space, name, owner in [
          ("a", "g", made_for("q")), ("b", "g", made_for("p", uid="1")),
          ("a", "h", made_for("p", uid="1")), ("a", "g", made_for("p", uid="0")),
          ("a", "g", made_for("p", kind="PodGroup")), ("a", "g", made_for("p", controller=False)),
          ("a", "g", made_for("p", apiVersion="example.com/v1"))]),
    *((["peerpod"], {**in_namespace("a", FROM_TEMPLATE, **pod_uid), "claims": [
        claim("x", ONE_AMD, space="a", pod_claim="g", owner=made_for("p", **uid))]},
       found("amd.com/gpu", namespace="a"), "")
      for pod_uid, uid in [({"uid": "1"}, {}), ({}, {"uid": "1"}), ({}, {})]),
    (["peerpod"], {**FROM_TEMPLATE, "claims": [claim("x", ONE_AMD)]},
     {"unmapped": [{"container": "c", "claim": "g"}]},
     'in the namespace "default", no claim was made from a template for "g" of the pod'),
    # No claim was needed: the status has the entry without a name.
    (["peerpod"], {**with_status(FROM_TEMPLATE, g=""), "claims": [claim("x", ONE_AMD)]},
     {}, ""),
    # The status has the names of claims from templates only.
    (["peerpod"], {**with_status(FROM_TEMPLATE, g="x"), "claims": [
        claim("x", ONE_AMD, space="b"), claim("x", ONE_NVIDIA, space="default")]},
     found("nvidia.com/gpu", namespace="default"), ""),
    (["peerpod"], {**with_status(NAMED, g="y"), "claims": [claim("x", ONE_AMD),
                                                           claim("y", ONE_NVIDIA)]},
     found("amd.com/gpu"), ""),
    (["peerpod"], {"kind": "List", "items": [claim("x", ONE_AMD, space="b"),
                                             claim("x", ONE_NVIDIA, space="a"),
                                             claim("x", ONE_AMD, space="b")]},
     {"claims": [*found("amd.com/gpu", namespace="b")["claims"],
                 *found("nvidia.com/gpu", namespace="a")["claims"]]},
     "the claims are of several namespaces"),
    (["peerpod"], {"kind": "List", "items": None}, {"annotations": {}}, ""),
    # The items of a list of the API have no kind.
    (["peerpod"], {"kind": "ResourceClaimList", "items": [{**claim("x", ONE_AMD), "kind": ""}]},
     found("amd.com/gpu"), ""),
    (["peerpod"], claim("x", exactly("r", "gpu.amd.com", 3)),
     mapped({"request": "r", "resource": "amd.com/gpu", "count": 3}), ""),
    (["peerpod"], claim("x", {"name": "r", "deviceClassName": "gpu.amd.com"}),  # v1beta1
     mapped({"request": "r", "resource": "amd.com/gpu", "count": 1}), ""),
    (["peerpod"], claim("x", exactly("r", "gpu.amd.com", selectors=[{"cel": {}}])),
     {}, 'the selectors of request "r" of ResourceClaim "x" are not evaluated'),
    (["peerpod"], claim("x", exactly("r", "gpu.amd.com", allocationMode="All"),
                        results=[("r", "gpu.amd.com", "a"), ("r", "gpu.amd.com", "b")]),
     mapped({"request": "r", "resource": "amd.com/gpu", "count": 2}), ""),
    (["peerpod"], claim("x", exactly("r", "gpu.amd.com", allocationMode="All")),
     mapped({"request": "r", "reason": "allocationMode All has no number before the claim is "
                                       "allocated"}), "is not mapped"),
    (["peerpod"], claim("x", {"name": "r", "firstAvailable": [
        {"name": "a", "deviceClassName": "odd"}, {"name": "b", "deviceClassName": "gpu.amd.com"}]}),
     mapped({"request": "r", "resource": "amd.com/gpu", "count": 1}), ""),
    (["peerpod", "--class", "odd=nvidia.com/mig-1g.10gb"],
     claim("x", {"name": "r", "firstAvailable": [
         {"name": "a", "deviceClassName": "gpu.amd.com"}, {"name": "b", "deviceClassName": "odd"}]},
           results=[("r/b", "d.com", "0")]),
     mapped({"request": "r", "resource": "nvidia.com/mig-1g.10gb", "count": 1}),
     'the device nodes of "nvidia.com/mig-1g.10gb", for request "r" of ResourceClaim "x", are '
     "unknown"),
    (["peerpod"], {"kind": "List", "items": [
        {"kind": "DeviceClass", "metadata": {"name": "odd"},
         "spec": {"extendedResourceName": "amd.com/gpu"}}, claim("x", exactly("r", "odd"))]},
     mapped({"request": "r", "resource": "amd.com/gpu", "count": 1}), ""),
    (["peerpod"], {"kind": "List", "items": [
        {"kind": "DeviceClassList", "items": [
            {"kind": "DeviceClass", "metadata": {"name": "odd"}, "spec": {}}]},
        claim("x", exactly("r", "odd"))]}, {}, 'which resource DeviceClass "odd" stands for'),
    # What the scheduler chose: the driver, for a class of another name, and devices of their own
    # for each request.
    (["peerpod"], claim("x", exactly("r", "odd"), results=[("r", "gpu.amd.com", "a")]),
     mapped({"request": "r", "resource": "amd.com/gpu", "count": 1}), ""),
    (["peerpod"], claim("x", exactly("a", "gpu.amd.com", 2), exactly("b", "gpu.nvidia.com"),
                        results=[("a", "gpu.amd.com", "0"), ("a", "gpu.amd.com", "1"),
                                 ("b", "gpu.nvidia.com", "0")]),
     mapped({"request": "a", "resource": "amd.com/gpu", "count": 2},
            {"request": "b", "resource": "nvidia.com/gpu", "count": 1}), ""),
    (["peerpod"], claim("x", exactly("r", "gpu.amd.com", selectors=[{"cel": {}}]),
                        results=[("r", "gpu.amd.com", "a")]),
     mapped({"request": "r", "resource": "amd.com/gpu", "count": 1}), ""),
    (["peerpod"], claim("x", exactly("r", "gpu.amd.com", selectors=[]),
                        results=[("r", "gpu.amd.com", "a"),
                                 ("r", "gpu.amd.com", "b", "adminAccess")]),
     mapped({"request": "r", "resource": "amd.com/gpu", "count": 1}), ""),
    # An allocation without devices needs no type that has them.
    (["peerpod"], {**pod(using("g"), container(requests={"cpu": 1, "memory": "1Gi"}),
                         resourceClaims=[{"name": "g", "resourceClaimName": "x"}]),
                   "claims": [claim("x", ONE_AMD, results=[])], "types": DEVICE_TYPES},
     {"instance": "small", "rule": "vcpus and memory"}, "set the annotation"),
    *((["peerpod"], {**claim("x", exactly("r", "gpu.amd.com")),
                     "status": {"allocation": allocation}},
       {**mapped({"request": "r", "resource": "amd.com/gpu", "count": 0}), "guestSpec": None}, "")
      for allocation in ({}, {"devices": {}})),
    # A claim without requests, and a request without a class.
    *((["peerpod"], {**claim("x"), "spec": spec}, mapped(), "")
      for spec in ({}, {"devices": {}})),
    (["peerpod"], claim("x", {"name": "r", "firstAvailable": []}),
     mapped({"request": "r", "reason": "it has no device class"}), "is not mapped"),
    (["peerpod"], claim("x", exactly("r", "odd")), {},
     'it is unknown which resource DeviceClass "odd" stands for: pass --class odd=RESOURCE'),
    (["instance"], {"types": DEVICE_TYPES, "request": {"devices": {"amd.com/gpu": 1}}},
     {"instance": "AMD.1", "rule": "devices"}, "counts only NVIDIA GPUs"),
    (["instance"], {"types": DEVICE_TYPES, "request": {"vcpus": 3, "memoryMiB": 1, "gpus": 1}},
     {"instance": "nvidia2", "rule": "gpus"}, ""),
]
PLUGIN = {"resourceName": "nvidia.com/pgpu", "deviceIds": ["0", "1"]}
SNAKE = {"resource_name": "nvidia.com/pgpu", "device_ids": ["1", "0"]}
DRA = {"claimName": "g", "claimNamespace": "n", "claimResources": [
    {"cdiDevices": [{"name": "gpu.example.com/claim=a"}, {"name": "nvidia.com/pgpu=1"}],
     "driverName": "gpu.example.com", "poolName": "p", "deviceName": "d"}]}
BOTH = {"podResources": {"name": "p", "namespace": "n", "containers": [
    {"name": "c", "devices": [PLUGIN], "dynamicResources": [DRA]},
    {"name": "d", "devices": [SNAKE]}]}}
KUBELET = [
    # JSON of protobuf leaves out an empty list.
    (["podresources"], {}, {"devices": []}, ""),
    (["podresources"], {"podResources": None}, {"devices": []}, ""),
    (["podresources"], BOTH,
     {"devices": ["nvidia.com/pgpu=0", "nvidia.com/pgpu=1", "gpu.example.com/claim=a"]}, ""),
    (["podresources", "--plugins-only"], BOTH,
     {"devices": ["nvidia.com/pgpu=0", "nvidia.com/pgpu=1"]}, "2 are left out"),
    (["podresources", "--container", "d", "-v"], BOTH,
     {"devices": ["nvidia.com/pgpu=1", "nvidia.com/pgpu=0"],
      "origins": ['n/p, container "d", nvidia.com/pgpu'] * 2}, ""),
    (["podresources", "--pod", "n/p"],
     {"pod_resources": [{"name": "p", "namespace": "n", "containers": [
         {"name": "c", "dynamic_resources": [{"claim_name": "g", "claim_resources": [
             {"cdi_devices": [{"name": "a.com/b=c"}]}]}]}]}, {"name": "q", "namespace": "n"}]},
     {"devices": ["a.com/b=c"]}, ""),
    (["podresources"], {"podResources": [{"containers": [{"devices": [
        {"resourceName": "a.com/b", "deviceIds": ["x y"]}]}]}]},
     {"devices": ["a.com/b=x y"]}, "is not the name of a CDI device"),
    # Entries without a resource, devices or a name of their claim.
    (["podresources", "-v"], {"podResources": [{"name": "p", "namespace": "n", "containers": [
        {"name": "c", "devices": [{"resourceName": "a.com/b"}, {"deviceIds": ["0"]}],
         "dynamicResources": [{"claimResources": [{"cdiDevices": [{"name": "a.com/b=c"}]}]}]}]}]},
     {"devices": ["a.com/b=c"],
      "origins": ['n/p, container "c", claim without a name']}, ""),
]
SMALL = types(("wide", 8, 4096, 0), ("tall", 2, 8192, 0), ("big", 8, 8192, 0),
              ("gpu", 4, 4096, 1))
WITH_AMD = [{**vm(4, 8192), "name": "amd", "devices": {"amd.com/gpu": 1}},
            {**vm(8, 16384), "name": "big"}]
WITHOUT_ANY = [{**WITH_AMD[0], "devices": {"amd.com/gpu": 0}}, WITH_AMD[1]]
INSTANCE = [
    # cloud-api-adaptor does not know other devices; here, types that have them come last.
    (["instance", "--compatible"], {"types": WITH_AMD, "request": vm(2, 4096)},
     {"instance": "amd"}, "the first type that fits is big"),
    (["instance"], {"types": WITH_AMD, "request": vm(2, 4096)},
     {"instance": "big"}, "binary search finds amd; the first type that fits is big"),
    (["instance"], {"types": WITH_AMD[:1], "request": vm(2, 4096)}, {"instance": "amd"}, ""),
    (["peerpod"], {**pod(container(requests={"cpu": 1, "memory": "1Gi"})), "types": WITH_AMD[:1]},
     {"instance": "amd", "rule": "vcpus and memory"}, ""),
    (["instance", "--compatible"],
     {"types": [{**one, "gpus": 1} for one in WITH_AMD], "request": {"gpus": 1}},
     {"instance": "amd", "rule": "gpus"}, "the first type that fits is big"),
    *((["instance", *mode], {"types": WITHOUT_ANY, "request": {**vm(2, 4096), **devices}},
       {"instance": "amd", "rule": "vcpus and memory"}, "")
      for mode in ([], ["--compatible"]) for devices in ({}, {"devices": {"amd.com/gpu": 0}})),
    (["instance"], {"types": SMALL, "request": {"vcpus": 2, "memoryMiB": 1}},
     {"instance": "wide", "rule": "vcpus and memory"}, ""),
    # The binary search looks at `tall` first, which has too few vCPUs.
    (["instance"], {"types": SMALL, "request": {"vcpus": 8, "memoryMiB": 4096}},
     {"instance": "wide"}, "binary search finds big"),
    (["instance", "--compatible"], {"types": SMALL, "request": {"vcpus": 8, "memoryMiB": 4096}},
     {"instance": "big"}, "the first type that fits is wide"),
    (["instance"], {"types": SMALL[:2], "request": {"vcpus": 8, "memoryMiB": 4096}},
     {"instance": "wide"}, "binary search finds no type; the first type that fits is wide"),
    (["instance"], {"types": SMALL, "request": {"vcpus": 2, "memoryMiB": 8192}},
     {"instance": "tall"}, ""),
    (["instance"], {"types": SMALL, "request": {"memoryMiB": 1}, "default": "big"},
     {"instance": "big", "rule": "default"}, ""),
    (["instance"], {"types": SMALL, "request": {"gpus": 1}},
     {"instance": "gpu", "rule": "gpus"}, ""),
    (["instance"], {"types": SMALL, "request": {"machineType": "tall", "gpus": 1}},
     {"instance": "tall", "rule": "machineType"}, ""),
    (["instance"], {"types": SMALL, "request": {"vcpus": 4}, "default": "other"},
     {"instance": "other", "rule": "default"}, ""),
    (["instance"], {"types": SMALL, "request": {"machineType": "x"}, "default": "x",
                    "validTypes": []}, {"instance": "x"}, ""),
]
SIZE = [
    # Go adds the default; runtime-rs adds the overhead, and aligns memory to 2 MiB.
    (size("runtime-go"), sandbox(150000, 513 << 20), vm(3, 2561), ""),
    (size("runtime-rs"), sandbox(150000, 513 << 20), vm(2, 546), ""),
    (size("runtime-rs", "--profile", "se"), sandbox(160000, 1 << 20),
     vm(2, 770), ""),
    (size("runtime-rs", "--profile", "nvidia-cpu"), sandbox(180000, 2 << 20),
     vm(2, 130), ""),
    (size("runtime-rs", "--profile", "remote"), sandbox(100001, 2 << 20),
     vm(2, 2), ""),
    (size("runtime-rs", "--profile", "nvidia"), sandbox(0, 0, 2), vm(1, 8192), ""),
    (size("runtime-rs", "--profile", "tee"), sandbox(50000, 0), vm(1, 128),
     "overhead alone, 128 MiB"),
    (size("runtime-go"), {"annotations": {}}, vm(1, 2048), "CRI-O writes none"),
    # Without a quota, Go counts shares, rounded up.
    (size("runtime-go"), sandbox(-1, 0, 1025), vm(3, 2048), "from the shares"),
    (size("runtime-rs"), sandbox(-1, 0, 1025), vm(1, 2048), "ignores the shares"),
    (size("runtime-go"), sandbox("200", "foobar", period="spaghetti"),
     vm(1, 2048), '"spaghetti" is not a number'),
    (size("runtime-go"), sandbox(memory="+-5"), vm(1, 2048), '"+-5" is not a number'),
    # Go accepts a plus for signed numbers only, Rust for all.
    (size("runtime-go"), sandbox("+400000", "+1048576"), vm(5, 2049), ""),
    (size("runtime-go"), sandbox(400000, period="+100000"), vm(1, 2048),
     '"+100000" is not a number'),
    (size("runtime-go"), sandbox(-1, shares="+2048"), vm(1, 2048), '"+2048" is not a number'),
    (size("runtime-rs"), sandbox(400000, 1 << 30, period="+100000"), vm(5, 1056), ""),
    (size("runtime-go"), {"annotations": {MIB: "0002048"}}, vm(1, 2048), "CRI-O writes none"),
    (size("runtime-go"), sandbox(-100, -1048576, period="1"), vm(1, 2048), ""),
    (size("runtime-go"), sandbox(100000, 1 << 30, **{CPU: "2.5", MIB: "512"}),
     vm(4, 1536), ""),
    (size("rfc"), sandbox(150000, (1 << 20) + 1), vm(3, 2050), ""),
    (size("runtime-rs", "--profile", "remote"), sandbox(100000, 1 << 20, **{MIB: "100"}),
     vm(1, 2), ""),
    (size("runtime-go", "-v"), sandbox(100000, 1 << 20),
     {"sandbox": {"cpu-period": 100000, "cpu-quota": 100000, "cpu-shares": 0,
                  "memory": 1 << 20}}, ""),
    (size("rfc"), sandbox(100000, 1 << 20), vm(2, 2049), ""),
    # Pods: sidecars count with the containers, other init containers with the sidecars before them.
    (size("runtime-go", "-v"),
     pod(container({"cpu": "500m", "memory": "100Mi"}),
         init=[container({"cpu": 1, "memory": "1Gi"}),
               container({"cpu": "250m", "memory": "50Mi"}, restartPolicy="Always"),
               container({"cpu": "600m", "memory": "10Mi"})],
         overhead={"cpu": "100m", "memory": "1Mi"}),
     {"vcpus": 2, "memoryMiB": 3072,
      "sandbox": {"cpu-period": 100000, "cpu-quota": 100000, "cpu-shares": 1024, "memory": 1 << 30},
      "kubernetes": {"cpuMilli": 1100, "memoryMiB": 1025, "overheadCpuMilli": 100,
                     "overheadMemoryMiB": 1}}, ""),
    (size("runtime-go"),
     pod(container({"cpu": "100m", "memory": "1Mi"}),
         init=[container({"cpu": "500m", "memory": "64Mi"}, restartPolicy="Always"),
               container({"cpu": 1, "memory": "64Mi"})]),
     vm(3, 2176), ""),
    (size("runtime-rs", "-v"),
     pod(container({"cpu": "2", "memory": "1Gi"}), container(requests={"cpu": "5m"}),
         resources={"limits": {"memory": "3Gi"}}),
     {"vcpus": 3, "memoryMiB": 3104,
      "sandbox": {"cpu-period": 100000, "cpu-quota": 200000, "cpu-shares": 2053,
                  "memory": 3 << 30}},
     'container "c" has no cpu limit'),
    (size("runtime-go", "-v"), pod(container({"cpu": "1m"})),
     {"vcpus": 2, "terms": {"vcpus": {"default_vcpus": 1.0, "cpu-quota / cpu-period": 0.01},
                            "memoryMiB": {"default_memory": 2048, "memory limit": 0}},
      "sandbox": {"cpu-period": 100000, "cpu-quota": 1000, "cpu-shares": 2, "memory": 0}},
     "no memory limit"),
    (size("runtime-go", "--static-cpu-manager"), pod(container({"cpu": 2, "memory": "1Gi"})),
     vm(3, 3072), "exclusive CPUs"),
    (size("runtime-rs", "--static-cpu-manager"), pod(container({"cpu": 2, "memory": "1Gi"})),
     vm(1, 1056), "exclusive CPUs"),
    (size("runtime-rs", "--static-cpu-manager"), pod(container({"cpu": "1500m", "memory": "1Gi"})),
     vm(2, 1056), ""),
    # Only pods whose requests equal their limits get exclusive CPUs.
    *((size("runtime-rs", "--static-cpu-manager"), pod(*containers), vm(vcpus, memory), warning)
      for containers, vcpus, memory, warning in (
          ([container({"cpu": 2, "memory": "1Gi"}, {"cpu": 1})], 3, 1056, ""),
          ([container({"cpu": 2})], 3, 32, "no memory limit"),
          ([container({"memory": "1Gi"}), container({"cpu": 2, "memory": "1Gi"})], 3, 2080,
           "no cpu limit"))),
    # The static CPU manager leaves pods with resources of their own alone.
    *((size("runtime-rs", "--static-cpu-manager"),
       pod(container({"cpu": 2, "memory": "1Gi"}), resources={kind: {"cpu": 2, "memory": "1Gi"}}),
       vm(3, 1056), "") for kind in ("limits", "requests")),
    (size("runtime-rs", "--engine", "crio"), pod(container({"cpu": 2, "memory": "1Gi"})),
     vm(1, 2048), "CRI-O passes no sizes to Kata"),
    (size("rfc"), pod(container({"cpu": 4}, {"cpu": "1500m", "memory": "1"})),
     vm(3, 2049), ""),
    (size("rfc"), pod(container(requests={"cpu": 1, "memory": "1Mi"})), vm(2, 2049), ""),
    # Without CPUs, or with more than the kernel has shares for.
    (size("runtime-go", "-v"), pod(container({"memory": "1Gi"})),
     {"vcpus": 1, "sandbox": {"cpu-period": 100000, "cpu-quota": 0, "cpu-shares": 2,
                              "memory": 1 << 30}}, 'container "c" has no cpu limit'),
    (size("runtime-go", "-v"), pod(container({"cpu": 300, "memory": "1Gi"})),
     {"vcpus": 301, "sandbox": {"cpu-period": 100000, "cpu-quota": 30000000, "cpu-shares": 262144,
                                "memory": 1 << 30}}, ""),
    # The limits of a pod whose containers have none; its own annotations.
    (size("runtime-go"), pod(container(), resources={"limits": {"cpu": 2, "memory": "1Gi"}}),
     vm(3, 3072), ""),
    (size("runtime-go"), {"pod": {**pod(container({"cpu": 1, "memory": "1Gi"}))["pod"],
                                  "metadata": {"annotations": {CPU: "2", MIB: "512"}}}},
     vm(3, 1536), ""),
    # The annotations of that size, and the overhead with which Kubernetes counts the same.
    (size("runtime-go", "-v"),
     pod(container({"cpu": "1500m", "memory": "5Gi"}, {"cpu": "250m", "memory": "1Gi"})),
     {"vcpus": 3, "memoryMiB": 7168, "annotations": {CPU: "3", MIB: "7168"},
      "podOverhead": {"cpu": "2750m", "memory": "6144Mi"}}, ""),
    (size("runtime-rs", "--profile", "nvidia"), pod(container({"cpu": 2, "memory": "4Gi"})),
     {"podOverhead": {"cpu": "1", "memory": "512Mi"}}, ""),
    (size("runtime-rs"), pod(container({"cpu": 1, "memory": (2 << 20) + 1})),
     {"memoryMiB": 34, "annotations": {CPU: "2", MIB: "256"},
      "podOverhead": {"cpu": "1", "memory": str((32 << 20) - 1)}}, ""),
    (size("runtime-rs", "--profile", "remote"), pod(container({"cpu": 1, "memory": "2Mi"})),
     {"annotations": {CPU: "1", MIB: "2"}, "podOverhead": {"cpu": "0", "memory": "0Mi"}}, ""),
    (size("runtime-rs"), pod(container({"cpu": 1}, {"cpu": 1, "memory": "4Gi"})), vm(2, 32),
     "the requests are for 4294967296 bytes and the VM has 33554432: no overhead"),
    (size("runtime-go", "--engine", "crio"), pod(container({"cpu": 2, "memory": "1Gi"})),
     {"annotations": {CPU: "1", MIB: "2048"}},
     "the requests are for 2000 thousandths of a CPU and the VM has 1000"),
]
CDI_BOTH = ["cdi-annotations", "cdi-cri"]
STRATEGY = [
    (["strategy"], strategy("containerd://2.0.0"),
     {"runtime": "containerd", "deviceListStrategy": CDI_BOTH, "runtimeClass": "nvidia",
      "setAsDefault": False, "path": "native"}, ""),
    (["strategy"], strategy("containerd://1.7.0"), {"path": "native"}, ""),
    (["strategy"], strategy("containerd://1.7.27-rc.1", toolkit=False),
     {"path": "unsupported"}, ""),
    (["strategy"], strategy("containerd://1.6.36"), {"path": "unsupported"}, ""),
    (["strategy"], strategy("containerd://1.7.27", toolkit=False),
     {"path": "unsupported", "why": "containerd 1.7.27 injects CDI devices only with enable_cdi, "
                                    "which is not set"}, ""),
    (["strategy"], strategy("containerd://2.1.0", operator="24.9", toolkit=False),
     {"path": "unsupported", "why": "without the toolkit there is no NVIDIA runtime"}, ""),
    (["strategy"], strategy("containerd://main"),
     {"path": "unsupported", "why": "the version of the runtime cannot be read"}, ""),
    (["strategy"], strategy("cri-o://1.31.2", operator="25.3", cdi={"enabled": True}),
     {"runtime": "cri-o", "path": "runtime"}, ""),
    # A plugin of NRI serves an engine that the operator does not configure, too.
    (["strategy"], strategy("containerd://2.1.0", operator="26.3", openshift=True,
                            cdi={"nri": True}), {"runtime": "cri-o", "path": "native"}, ""),
    # The worst node decides.
    *((["strategy"], strategy(*nodes), {"path": path}, "")
      for nodes, path in ((("containerd://2.1.0", "containerd://2.0.0"), "native"),
                          (("containerd://2.1.0", "containerd://1.6.36"), "unsupported"))),
    (["strategy"], strategy("cri-o://1.31.2"), {"runtime": "cri-o", "path": "native"}, ""),
    (["strategy"], strategy("docker://28.0.1"), {"runtime": "docker", "path": "unsupported"}, ""),
    (["strategy"], strategy("containerd://1.6.20", cdi={"enabled": False}),
     {"deviceListStrategy": ["envvar"], "setAsDefault": True, "runtimeClass": "nvidia",
      "path": "runtime"}, ""),
    (["strategy"], strategy("cri-o://1.30.0", cdi={"enabled": False}),
     {"runtimeClass": None, "setAsDefault": False, "path": "hook"}, ""),
    (["strategy"], strategy("containerd://2.1.0", operator="99.1"), {"runtime": "containerd"},
     "gpu-operator 99.1.0 is newer than 26.7"),
    (["strategy"], strategy("containerd://2.1.0", operator="26.7.3"), {"runtime": "containerd"},
     ""),
    (["strategy"], strategy("containerd://2.1.0", operator="v24.9.2"),
     {"deviceListStrategy": ["envvar"], "path": "runtime"}, ""),
    (["strategy"], strategy("containerd://1.7.27", operator="25.3.4", cdi={"enabled": True}),
     {"deviceListStrategy": ["envvar", "cdi-annotations"], "path": "runtime"}, ""),
    (["strategy"], strategy("docker://27", "cri-o://1.33.0"), {"runtime": "cri-o"}, ""),
    (["strategy"], strategy("cri-o://1.33.0", "containerd://2.0.0"),
     {"runtime": "containerd", "path": "unsupported"}, ""),
    (["strategy"], strategy("containerd://2.1.0", openshift=True),
     {"runtime": "cri-o", "path": "unsupported"}, ""),
    (["strategy"], strategy("moby://1"), {"runtime": "containerd", "path": "unsupported"}, ""),
    (["strategy"], strategy(), {"runtime": "containerd", "why": "there are no nodes"}, ""),
    (["strategy"], strategy("containerd://2.1.0", operator="26.3", cdi={"nri": True}),
     {"runtimeClass": None, "path": "native"}, ""),
    (["strategy"], strategy("containerd://2.0.7", operator="26.3", cdi={"nri": True}),
     {"path": "unsupported"}, ""),
    (["strategy"], strategy("containerd://2.1.0", cdi={"nri": True}), {"runtimeClass": "nvidia"},
     "cdi.nri: ignored: gpu-operator has the NRI plugin since 26.3"),
]
ANSWERS = REQUESTS + VISIBLE + INNER + PEERPOD + CLAIMS + KUBELET + INSTANCE + SIZE + STRATEGY


def limit(value, name="memory"):
    return pod(container({name: value}))


PLACE = "pod.spec.containers[0].resources.limits."
REFUSED = [
    (["requests", "--runtime", "crio"], "", "the text is empty"),
    (["requests", "--runtime", "crio"], "{", "standard input:1:2"),
    (["requests", "--runtime", "crio"], '{"cri": [], "cri": []}', '"cri"'),
    (["requests", "--runtime", "crio"], [], "expected an object, not a list"),
    (["requests", "--runtime", "crio"], {"cri": [A, 1]}, "cri[1]: expected text"),
    (["requests", "--runtime", "crio"], {"annotations": {"cdi.k8s.io/x": 1}},
     "annotations.cdi.k8s.io/x: expected text"),
    (["requests", "--runtime", "crio"], {"annotations": {"cdi.k8s.io/x": ""}}, '"cdi.k8s.io/x"'),
    (["requests", "--runtime", "crio", "--cdi", "off"], {}, "CRI-O has no switch"),
    (["requests", "--runtime", "containerd", "--cdi", "off"], {"cri": [A]}, "cri[0]"),
    (["visible", "v.com/gpu=0,all"], None, "combines all with other devices"),
    (["inner"], {}, "devices: the required field is missing"),
    (["inner"], {"devices": [device("x", "1")]}, "devices[0].containerPath: must end in a number"),
    (["inner"], {"devices": [{"vendorId": "0x10de"}]}, "devices[0].classId: must begin"),
    (["inner"], {"devices": [device("", "1")]}, "devices[0].containerPath: must end in a number"),
    (["inner"], {"devices": [device(1, "1", "10de")]}, "devices[0].vendorId: must begin with 0x"),
    (["inner", "--runtime", "go"], {"devices": [device(1, "1", bdf="a")], "siblings": []},
     "devices[0]: is not among the siblings"),
    (["inner"], {"devices": [], "sibling": []},
     "sibling: unknown field: use one of devices, siblings, annotations"),
    (["size", "--formula", "rfc"], {"pod": {}, "annotation": {}}, "annotation: unknown field"),
    (["strategy"], {"operator": "25.10", "nodes": [], "cdi": {"on": True}}, "cdi.on: unknown field"),
    (["instance"], {"types": SMALL, "request": {"cpus": 1}}, "request.cpus: unknown field"),
    (["podresources", "--pod", "n/q"], {}, "the input has no such pod or container"),
    (["podresources", "--pod", "n/q"], BOTH, "the input has no such pod or container"),
    (["podresources", "--container", "x"], BOTH, "the input has no such pod or container"),
    (["slices"], {"types": []}, "types: must contain at least one type"),
    (["slices"], {"types": [{"name": "a.b"}, {"name": "a-b"}]}, "would have the same name"),
    *((["slices"], {"types": [{"name": name}]}, "cannot be made a DNS label")
      for name in ("-a", "a-", "a" * 64)),
    *((["slices"], {"types": [{"name": "a", "devices": dict.fromkeys(names, 1)}]},
       "which the device already has")
      for names in (["amd.com/gpu", "amd-com/gpu"], ["gpus"],
                    [f"example.com/{'x' * 20}{end}" for end in "ab"])),
    (["slices"], {"types": [{"name": "a", "devices": {f"a.com/d{i}": 1 for i in range(30)}}]},
     '"a" has more than the 32 attributes of a device'),
    (["instance"], {"types": DEVICE_TYPES, "request": {"devices": {"amd.com/gpu": 2}}},
     "no type fits 0 GPUs, 2 amd.com/gpu, 0 vCPUs"),
    (["peerpod"], {"kind": "List", "items": [{}]}, "items[0].kind: must be Pod, ResourceClaim"),
    (["peerpod"], {"kind": "Deployment"}, "kind: must be Pod, ResourceClaim"),
    (["peerpod"], {"kind": "PodList", "items": [pod(container())["pod"]] * 2},
     "items[1]: is one more pod: give one, as `kubectl get pod NAME -o json` does"),
    (size("rfc"), claim("x"), "kind: must be a Pod"),
    (["requests", "--runtime", "crio"], {"apiVersion": "v1", "kind": "Pod"},
     "apiVersion: unknown field: use one of cri, annotations"),
    (size("rfc"), "kind: Pod\nspec: {containers: [{name: 5}]}\n",
     "spec.containers[0].name: expected text"),
    (size("rfc"), "kind: Pod\n---\nkind: Pod\n", ":3:1: the input has more than one document"),
    (size("rfc"), "kind: Pod\n\tspec: {}\n", "not valid YAML"),
    (["peerpod"], claim("x", exactly("r", "gpu.amd.com", 33)), "spec.devices: has more than 32"),
    (["peerpod"], claim("x", *[exactly("r", "gpu.amd.com")] * 33), "spec.devices: has more than 32"),
    (["peerpod", "--claim", "/none"], pod(container()), "/none"),
    (["peerpod"], {**claim("x", exactly("r", "odd")), "status": {"allocation": {"devices": {
        "results": [{"request": "r", "driver": "d", "device": "a"}]}}}},
     "status.allocation.devices.results[0].pool: the required field is missing"),
    (["peerpod"], {}, "pod: is missing"),
    (["peerpod"], pod(), "pod.spec.containers: must contain at least one container"),
    (["peerpod"], pod(container(requests={"nvidia.com/gpu": "500m"})), "whole number"),
    (["peerpod"], pod(*[container(requests={"memory": "5E"})] * 2),
     'the sum of "memory" is larger than 2^63 - 1'),
    (["peerpod"], limit("9223372036854776", "cpu"), PLACE + "cpu: is too many CPUs"),
    (["instance"], {"types": SMALL}, "request: is missing"),
    (["instance"], {"types": SMALL, "request": {"vcpus": 4}}, "request: needs GPUs"),
    (["instance"], {"types": SMALL, "request": {"gpus": 2}}, "types: no type fits 2 GPUs"),
    (["instance"], {"types": SMALL, "request": vm(9, 1)}, "no type fits 0 GPUs"),
    (["instance"], {"types": SMALL, "request": {"machineType": "x"}}, "types: does not contain"),
    (["instance"], {"types": SMALL, "request": {"machineType": "x"}, "validTypes": []},
     "validTypes: does not contain"),
    (["instance"], {"types": [{"name": ""}], "request": {"gpus": 1}},
     "types[0].name: must not be empty"),
    (["instance", "--compatible"],
     {"types": SMALL[:2], "request": {"vcpus": 8, "memoryMiB": 4096}},
     "8 vCPUs and 4096 MiB in the binary search, which misses wide"),
    (size("runtime-go"), {}, "must be a Pod, or have annotations or pod"),
    (size("runtime-go"), {**limit("1"), "annotations": {}}, "annotations: cannot be combined"),
    *((size("runtime-go"), {"annotations": {CPU: text}}, CPU + ": must be a number")
      for text in ("inf", "", "1.2.3")),
    (size("runtime-go"), {"annotations": {MIB: "255"}}, MIB + ": must be at least 256 MiB"),
    *((size("runtime-go"), {"annotations": {MIB: text}}, MIB + ": must be a number of MiB")
      for text in ["2048.0", "2048.", "+2048", "-2048", " 2048", "2Gi", "", "4294967296"]),
    (size("runtime-rs", "--profile", "remote"), sandbox(100000, 0), "no memory"),
    (size("runtime-go"), sandbox(9 * 10**18, 0, period="1"), "more than 10^9 vCPUs"),
    (size("rfc"), sandbox(9 * 10**18, 0, period="1"), "requests too many CPUs"),
    (size("runtime-go"), pod(container({"cpu": 10**14})), "the CPU limits are too large"),
    *((size(formula), pod(*[container({"cpu": 5 * 10**15})] * 2), "the sum of CPUs is too large")
      for formula in ("runtime-go", "rfc")),
    (size("runtime-go"), pod(container({"cpu": 1, "memory": 2**63 - 1})),
     "more than 2^63 - 1 bytes"),
    (size("runtime-go"), {"annotations": {"io.kubernetes.cri.sandbox-memory": 1}},
     "sandbox-memory: expected text"),
    (["strategy"], strategy("containerd"), "nodes[0]: must be a runtime"),
    (["strategy"], {"operator": "new", "nodes": []}, "operator: must be a release"),
    (["strategy"], strategy("containerd://2.1.0", cdi={"enabled": "true"}),
     "cdi.enabled: expected true or false"),
    (["strategy"], strategy("containerd://2.1.0", cdi={"enabled": False, "nri": True}),
     "cdi.nri: needs cdi.enabled"),
    (["strategy"], strategy("containerd://2.1.0", cdi={"nri": True}, toolkit=False),
     "cdi.nri: needs the toolkit"),
    (["strategy"], strategy("containerd://2.1.0", operator="22.9", cdi={"enabled": True}),
     "cdi: gpu-operator supports CDI since 23.3"),
]
# Amounts of instance types are whole numbers; those of pods are quantities.
REFUSED += [(["instance"], '{"types": [], "request": {"vcpus": %s}}' % value,
             "request.vcpus: expected " + reason)
            for value, reason in [("0.5", "an integer"), ('"100m"', "an integer"),
                                  ("-1", "a number from 0 to 4294967295"),
                                  ("4294967296", "a number from 0 to 4294967295")]]
REFUSED += [(size("runtime-go"), limit(value), PLACE + "memory: " + reason)
            for value, reason in [
                ("-1", '"-1" must not be negative'), (-1, '"-1" must not be negative'),
                ("1K", '"1K" is not a quantity'), ("", '"" is not a quantity'),
                ("8Ei", '"8Ei" is larger'), (True, '"true" is not a quantity'), ([], '"" is not a quantity')]]

// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

// The messages for broken specs: place, path and text. Each should say what to change.

#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <cdi/file.hpp>

namespace {

using cdi::Format;

struct Row {
  Format format;
  std::string_view text;
  std::string_view expected;  // after the name of the file
};

constexpr Row rows[] = {
    // invalid JSON
    {Format::json, "", R"(1:1: the text is empty)"},
    {Format::json, "   \n", R"(1:1: the text is empty)"},
    {Format::json, R"({"cdiVersion": "1.1.0",
 "kind": "vendor.com/gpu",
 "devices": [)",
     R"(3:14: not valid JSON: unexpected end of text: the value that begins in line 3, column 13 is not closed)"},
    {Format::json, R"({"cdiVersion": "1.1.0"
 "kind": "vendor.com/gpu"})",
     R"(2:2: not valid JSON: unexpected "\"", expected ',' or '}')"},
    {Format::json, "{\"a\": \"\x01\"}",
     R"(1:8: not valid JSON: control character U+0001: remove it, or write \u0001)"},
    {Format::json, "{\n\"a\": \"caf\xe9\"}",
     R"(2:10: not valid JSON: the byte 0xE9 is not UTF-8: save the text as UTF-8)"},
    {Format::json, R"({"a": "\x"})",
     R"(1:8: not valid JSON: invalid escape sequence in a string: write \\ for a backslash)"},
    // JSON of the wrong types
    {Format::json, R"({"a": 01})",
     R"(1:2: a: unknown field: use one of cdiVersion, kind, annotations, devices, containerEdits)"},
    {Format::json, R"([])", R"(1:1: expected an object, not a list)"},
    {Format::json, R"(null)", R"(1:1: expected an object, not null)"},
    {Format::json, R"("text")", R"(1:1: expected an object, not "text")"},
    {Format::json, R"(12)", R"(1:1: expected an object, not 12)"},
    {Format::json, R"({})", R"(1:1: cdiVersion: the required field is missing: add it)"},
    {Format::json,
     R"({"cdiVersion": 1.1, "kind": "vendor.com/gpu", "devices": [{"name": "0", "containerEdits": {"env": ["A=1"]}}]})",
     R"(1:16: cdiVersion: unknown version "1.1": use one of 0.3.0, 0.4.0, 0.5.0, 0.6.0, 0.7.0, 0.8.0, 1.0.0, 1.1.0)"},
    {Format::json, R"({"cdiVersion": "1.1.0", "cdiVersion": "1.1.0"})",
     R"(1:25: key "cdiVersion" is a duplicate, first in line 1: remove one)"},
    {Format::json, R"({"cdiVersion": "1.1.0", "kind": "vendor.com/gpu", "kinds": "x"})",
     R"(1:51: kinds: unknown field: use one of cdiVersion, kind, annotations, devices, containerEdits)"},
    {Format::json, R"({"cdiVersion": "1.1.0", "kind": null, "devices": []})",
     R"(1:33: kind: expected text, not null)"},
    {Format::json, R"({"cdiVersion": "1.1.0", "kind": ["vendor.com/gpu"], "devices": []})",
     R"(1:33: kind: expected text, not a list)"},
    {Format::json, R"({"cdiVersion": "1.1.0", "kind": "vendor.com/gpu", "devices": {"name": "0"}})",
     R"(1:62: devices: expected a list, not an object)"},
    {Format::json, R"({"cdiVersion": "1.1.0", "kind": "vendor.com/gpu", "devices": ["0"]})",
     R"(1:63: devices[0]: expected an object, not "0")"},
    {Format::json, R"({"cdiVersion": "1.1.0", "kind": "vendor.com/gpu", "devices": [null]})",
     R"(1:63: devices[0]: expected an object, not null)"},
    {Format::json,
     R"({"cdiVersion": "1.1.0", "kind": "vendor.com/gpu", "devices": [{"containerEdits": {"env": ["A=1"]}}]})",
     R"(1:63: devices[0].name: the required field is missing: add it)"},
    {Format::json,
     R"({"cdiVersion": "1.1.0", "kind": "vendor.com/gpu", "devices": [{"name": "0"}]})",
     R"(1:63: devices[0].containerEdits: the required field is missing: add it)"},
    {Format::json, R"({"cdiVersion": "1.1.0", "kind": "vendor.com/gpu",
 "devices": [{"name": "0", "containerEdits": {"mounts": [
   {"hostPath": "/a", "containerPath": "/b", "options": "ro"}]}}]})",
     R"(3:57: devices[0].containerEdits.mounts[0].options: expected a list, not "ro": write ["ro"])"},
    {Format::json, R"({"cdiVersion": "1.1.0", "kind": "vendor.com/gpu",
 "devices": [{"name": "0", "containerEdits": {"deviceNodes": [{"path": "/dev/x", "fileMode": "0644"}]}}]})",
     R"(2:94: devices[0].containerEdits.deviceNodes[0].fileMode: expected an integer, not "0644": write 420 without quotes)"},
    {Format::json, R"({"cdiVersion": "1.1.0", "kind": "vendor.com/gpu",
 "devices": [{"name": "0", "containerEdits": {"deviceNodes": [{"path": "/dev/x", "uid": -1}]}}]})",
     R"(2:89: devices[0].containerEdits.deviceNodes[0].uid: expected a number from 0 to 4294967295, not -1)"},
    {Format::json, R"({"cdiVersion": "1.1.0", "kind": "vendor.com/gpu",
 "devices": [{"name": "0", "containerEdits": {"deviceNodes": [{"path": "/dev/x", "major": 1.5}]}}]})",
     R"(2:91: devices[0].containerEdits.deviceNodes[0].major: expected an integer, not 1.5)"},
    {Format::json, R"({"cdiVersion": "1.1.0", "kind": "vendor.com/gpu",
 "devices": [{"name": "0", "containerEdits": {"additionalGids": [4294967296]}}]})",
     R"(2:66: devices[0].containerEdits.additionalGids[0]: expected a number from 0 to 4294967295, not 4294967296)"},
    {Format::json, R"({"cdiVersion": "1.1.0", "kind": "vendor.com/gpu",
 "devices": [{"name": "0", "containerEdits": {"hooks": [{"hookName": "createContainer", "path": "/h", "timeout": "5"}]}}]})",
     R"(2:114: devices[0].containerEdits.hooks[0].timeout: expected an integer, not "5": write 5 without quotes)"},
    // invalid YAML
    {Format::yaml, "", R"(1:1: the text is empty)"},
    {Format::yaml, R"(# nothing here
)",
     R"(1:1: the text is empty)"},
    {Format::yaml, R"(kind: [a, b
)",
     R"(1:7: not valid YAML: the list that begins here is not ended: add ])"},
    {Format::yaml, R"(a: b: c
)",
     R"(1:5: not valid YAML: unexpected ':': use the same indentation for all members of an object, and put text with ": " into quotes)"},
    {Format::yaml, "a:\n\t- b\n", R"(2:1: not valid YAML: indent with spaces, not with tabs)"},
    {Format::yaml, R"(a: *x
)",
     R"(1:4: not valid YAML: the anchor "x" is not defined)"},
    {Format::yaml, R"(a: &x [*x]
)",
     R"(1:8: an alias refers to an enclosing value)"},
    {Format::yaml, R"(a: "\q"
)",
     R"(1:5: not valid YAML: invalid escape sequence in double quotes: write \\ for a backslash)"},
    {Format::yaml, R"(a: "unfinished
)",
     R"(1:4: not valid YAML: the text that begins here is not ended: close the quotes)"},
    {Format::yaml, R"(a: 1
a: 2
)",
     R"(2:1: key "a" is a duplicate, first in line 1: remove one)"},
    {Format::yaml, R"(? [a]
: b
)",
     R"(1:3: a key must be text)"},
    // YAML of the wrong types
    {Format::yaml, R"(- a
- b
)",
     R"(1:1: expected an object, not a list)"},
    {Format::yaml, R"(just words
)",
     R"(1:1: expected an object, not "just words")"},
    {Format::yaml, "a: \"\xff\"\n",
     R"(1:5: not valid YAML: the byte 0xFF is not UTF-8: save the text as UTF-8)"},
    {Format::yaml, "a: 1\nb: x\x07\n",
     R"(2:5: not valid YAML: control character U+0007: remove it, or write \u0007 in double quotes)"},
    {Format::yaml, R"(cdiVersion: 1.1.0
  kind: x
)",
     R"(2:7: not valid YAML: unexpected ':': use the same indentation for all members of an object, and put text with ": " into quotes)"},
    // versions
    {Format::yaml, R"(cdiVersion: 1.2.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    env: [A=1]
)",
     R"(1:13: cdiVersion: unknown version "1.2.0": use one of 0.3.0, 0.4.0, 0.5.0, 0.6.0, 0.7.0, 0.8.0, 1.0.0, 1.1.0)"},
    {Format::yaml, R"(cdiVersion: 1.1
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    env: [A=1]
)",
     R"(1:13: cdiVersion: unknown version "1.1": use one of 0.3.0, 0.4.0, 0.5.0, 0.6.0, 0.7.0, 0.8.0, 1.0.0, 1.1.0)"},
    {Format::yaml, R"(cdiVersion: 0.4.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    env: [A=1]
)",
     R"(1:13: cdiVersion: version "0.4.0" is too old for devices[0].name: write "0.5.0")"},
    {Format::yaml, R"(cdiVersion: 0.6.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    additionalGids: [5]
)",
     R"(1:13: cdiVersion: version "0.6.0" is too old for devices[0].containerEdits.additionalGids: write "0.7.0")"},
    {Format::yaml, R"(cdiVersion: 1.0.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    netDevices:
    - {hostInterfaceName: eth0, name: eth1}
)",
     R"(1:13: cdiVersion: version "1.0.0" is too old for devices[0].containerEdits.netDevices: write "1.1.0")"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    intelRdt:
      enableCMT: true
)",
     R"(7:18: devices[0].containerEdits.intelRdt.enableCMT: version "1.1.0" does not have the member any more: write enableMonitoring, or declare a version before 1.1.0)"},
    // kind
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: gpu
devices:
- name: "0"
  containerEdits:
    env: [A=1]
)",
     R"(2:7: kind: kind "gpu" has no slash: write vendor.com/class)"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/
devices:
- name: "0"
  containerEdits:
    env: [A=1]
)",
     R"(2:7: kind: class "" is empty: write at least one letter or digit)"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: 1vendor/gpu
devices:
- name: "0"
  containerEdits:
    env: [A=1]
)",
     R"(2:7: kind: vendor "1vendor" must begin with a letter)"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu/0
devices:
- name: "0"
  containerEdits:
    env: [A=1]
)",
     R"(2:7: kind: class "gpu/0" may contain only letters, digits and _ - .; byte 4 is "/")"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu=0
devices:
- name: "0"
  containerEdits:
    env: [A=1]
)",
     R"(2:7: kind: class "gpu=0" may contain only letters, digits and _ - .; byte 4 is "=")"},
    // annotations
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
annotations: [a]
devices:
- name: "0"
  containerEdits:
    env: [A=1]
)",
     R"(3:14: annotations: expected an object, not a list)"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
annotations: {a: {b: c}}
devices:
- name: "0"
  containerEdits:
    env: [A=1]
)",
     R"(3:18: annotations.a: expected text, not an object: put text with ": " into quotes)"},
    // devices
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices: []
)",
     R"(3:10: devices: the spec has no devices: define at least one)"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
)",
     R"(3:1: devices: expected a list, not null)"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: gpu 0
  containerEdits: {env: [A=1]}
)",
     R"(4:9: devices[0].name: device name "gpu 0" may contain only letters, digits and _ - . :; byte 4 is " ")"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: -0
  containerEdits: {env: [A=1]}
)",
     R"(4:9: devices[0].name: device name "-0" must begin with a letter or digit)"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: ""
  containerEdits: {env: [A=1]}
)",
     R"(4:9: devices[0].name: device name "" is empty: write at least one letter or digit)"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: a
  containerEdits: {env: [A=1]}
- name: a
  containerEdits: {env: [A=2]}
)",
     R"(6:9: devices[1].name: device "a" is already defined by devices[0]: choose another name)"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: a
  containerEdits: {}
)",
     R"(5:19: devices[0].containerEdits: device "a" has no edits: add some, or remove the device)"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: a
  containerEdits:
)",
     R"(5:3: devices[0].containerEdits: expected an object, not null)"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: a
  containerEdits: {env: A=1}
)",
     R"(5:25: devices[0].containerEdits.env: expected a list, not "A=1": write ["A=1"])"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: a
  containerEdits: {evn: [A=1]}
)",
     R"(5:20: devices[0].containerEdits.evn: unknown field: use one of env, deviceNodes, netDevices, hooks, mounts, intelRdt, additionalGids)"},
    // env
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
containerEdits: {env: [A]}
devices:
- name: "0"
  containerEdits:
    env: [A=1]
)",
     R"(3:24: containerEdits.env[0]: invalid environment variable "A": use NAME=value)"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    env:
    - A: 1
)",
     R"(7:7: devices[0].containerEdits.env[0]: expected text, not an object: put text with ": " into quotes)"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    env:
    - =1
)",
     R"(7:7: devices[0].containerEdits.env[0]: invalid environment variable "=1": use NAME=value)"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    env:
    -
)",
     R"(7:5: devices[0].containerEdits.env[0]: expected text, not null)"},
    // device nodes
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    deviceNodes:
    - hostPath: /dev/x
)",
     R"(7:7: devices[0].containerEdits.deviceNodes[0].path: the required field is missing: add it)"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    deviceNodes:
    - path: ""
)",
     R"(7:13: devices[0].containerEdits.deviceNodes[0].path: the device node has no path: set it to the path of the node in the container)"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    deviceNodes:
    - {path: /dev/x, type: char}
)",
     R"(7:28: devices[0].containerEdits.deviceNodes[0].type: device "/dev/x": invalid type "char": use "b", "c", "u" or "p", or leave it out)"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    deviceNodes:
    - {path: /dev/x, permissions: rx}
)",
     R"(7:35: devices[0].containerEdits.deviceNodes[0].permissions: device "/dev/x": invalid permissions "rx": use a combination of "r", "w" and "m", or "none")"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    deviceNodes:
    - {path: /dev/x, fileMode: 0x}
)",
     R"(7:32: devices[0].containerEdits.deviceNodes[0].fileMode: expected an integer, not 0x)"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    deviceNodes:
    - {path: /dev/x, fileMode: rw-rw----}
)",
     R"(7:32: devices[0].containerEdits.deviceNodes[0].fileMode: expected an integer, not "rw-rw----")"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    deviceNodes:
    - {path: /dev/x, major: 99999999999999999999}
)",
     R"(7:29: devices[0].containerEdits.deviceNodes[0].major: expected a number from -9223372036854775808 to 9223372036854775807, not 99999999999999999999)"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    deviceNodes:
    - /dev/x
)",
     R"(7:7: devices[0].containerEdits.deviceNodes[0]: expected an object, not "/dev/x")"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    deviceNodes:
    - {path: /dev/x, mode: 0644}
)",
     R"(7:22: devices[0].containerEdits.deviceNodes[0].mode: unknown field: use one of path, hostPath, type, major, minor, fileMode, permissions, uid, gid)"},
    // mounts
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    mounts:
    - {hostPath: /a}
)",
     R"(7:7: devices[0].containerEdits.mounts[0].containerPath: the required field is missing: add it)"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    mounts:
    - {hostPath: "", containerPath: /b}
)",
     R"(7:18: devices[0].containerEdits.mounts[0].hostPath: the mount has no host path: set it to the path to mount)"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    mounts:
    - {source: /a, destination: /b}
)",
     R"(7:8: devices[0].containerEdits.mounts[0].source: unknown field: use one of hostPath, containerPath, options, type)"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    mounts:
    - /a:/b
)",
     R"(7:7: devices[0].containerEdits.mounts[0]: expected an object, not "/a:/b")"},
    // hooks
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    hooks:
    - {hookName: prestop, path: /h}
)",
     R"(7:18: devices[0].containerEdits.hooks[0].hookName: invalid hook name "prestop": use one of prestart, createRuntime, createContainer, startContainer, poststart, poststop)"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    hooks:
    - {path: /h}
)",
     R"(7:7: devices[0].containerEdits.hooks[0].hookName: the required field is missing: add it)"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    hooks:
    - {hookName: prestart, path: ""}
)",
     R"(7:34: devices[0].containerEdits.hooks[0].path: hook "prestart" has no path: set it to the path of the program to run)"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    hooks:
    - {hookName: prestart, path: /h, env: [HOME]}
)",
     R"(7:44: devices[0].containerEdits.hooks[0].env[0]: invalid environment variable "HOME": use NAME=value)"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    hooks:
    - {hookName: prestart, path: /h, args: --x}
)",
     R"(7:44: devices[0].containerEdits.hooks[0].args: expected a list, not "--x": write ["--x"])"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    hooks:
    - {hookName: prestart, path: /h, timeout: 5s}
)",
     R"(7:47: devices[0].containerEdits.hooks[0].timeout: expected an integer, not 5s)"},
    // net devices
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    netDevices:
    - {hostInterfaceName: eth0}
)",
     R"(7:7: devices[0].containerEdits.netDevices[0].name: the required field is missing: add it)"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    netDevices:
    - {hostInterfaceName: "", name: a}
)",
     R"(7:27: devices[0].containerEdits.netDevices[0].hostInterfaceName: the net device has no host interface name: set it to the interface to move)"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    netDevices:
    - {hostInterfaceName: eth0, name: a}
    - {hostInterfaceName: eth1, name: a}
)",
     R"(8:39: devices[0].containerEdits.netDevices[1].name: "a" is already used by netDevices[0]: choose another name)"},
    // Intel RDT
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    intelRdt: {closID: a/b}
)",
     R"(6:24: devices[0].containerEdits.intelRdt.closID: closID "a/b" contains a slash or newline: use the name of a directory in /sys/fs/resctrl, or "/")"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    intelRdt: {enableMonitoring: maybe}
)",
     R"(6:34: devices[0].containerEdits.intelRdt.enableMonitoring: expected true or false, not "maybe")"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    intelRdt: []
)",
     R"(6:15: devices[0].containerEdits.intelRdt: expected an object, not a list)"},
    // groups
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    additionalGids: 5
)",
     R"(6:21: devices[0].containerEdits.additionalGids: expected a list, not 5: write [5])"},
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    additionalGids: [video]
)",
     R"(6:22: devices[0].containerEdits.additionalGids[0]: expected an integer, not "video")"},
    // device numbers and NUL
    {Format::yaml, R"(cdiVersion: 1.1.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    deviceNodes: [{path: /dev/x, type: c, major: 195, minor: -1}]
)",
     R"(6:62: devices[0].containerEdits.deviceNodes[0].minor: device number -1 is negative: use 0 or more, or leave it out)"},
    {Format::json, R"({"cdiVersion": "1.1.0", "kind": "vendor.com/gpu",
 "devices": [{"name": "0", "containerEdits": {"mounts": [
   {"hostPath": "/etc\u0000/allowed", "containerPath": "/b"}]}}]})",
     R"(3:17: devices[0].containerEdits.mounts[0].hostPath: "/etc\x00/allowed" contains a NUL character, at which some runtimes stop reading: remove it)"},
};

}  // namespace

TEST_CASE("Broken specs get an error that says where and what to change") {
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const auto spec = cdi::parse_spec(row.text, "f", row.format);
    REQUIRE_FALSE(spec);
    CHECK(to_string(spec.error()) == "f:" + std::string{row.expected});
    CHECK(spec.error().position.line > 0);
    CHECK(spec.error().position.column > 0);
  }
}

TEST_CASE("Doubtful specs get a warning that says where and what to change") {
  const auto spec = cdi::parse_spec(R"(cdiVersion: 1.1.0
kind: my_vendor.com/gpu
annotations: {bad key: x, a/b/c: x}
containerEdits:
  additionalGids: [0]
  env: ['// or mshv "DEVICE=/dev/kvm",']
  deviceNodes:
  - {path: dev/x, minor: 1048576}
  mounts:
  - {hostPath: /a, containerPath: b}
  hooks:
  - {hookName: prestart, path: h, timeout: 0}
  netDevices:
  - {hostInterfaceName: eth0, name: a-name-that-is-too-long}
devices:
- {name: "0", containerEdits: {env: [A=1]}}
)",
                                    "f", Format::yaml);
  REQUIRE(spec);
  std::string warnings;
  for (const auto& warning : spec->warnings) {
    warnings.append(to_string(warning)).append(" [").append(warning.rule).append("]\n");
  }
  CHECK(
      warnings ==
      R"(f:2:7: kind: vendor "my_vendor.com" is not a DNS name: use words of at most 63 letters, digits and inner -, 253 bytes in all [kind-vendor-dns]
f:3:34: annotations.a/b/c: annotation key "a/b/c" has more than one slash: write domain/name; such a spec can be read, but not written [annotation-key]
f:3:24: annotations.bad key: annotation key "bad key" may contain only letters, digits and - _ .; byte 4 is " "; such a spec can be read, but not written [annotation-key]
f:6:9: containerEdits.env[0]: environment variable "// or mshv \"DEVICE" has spaces or quotes in its name: use NAME=value [env-name]
f:8:12: containerEdits.deviceNodes[0].path: path "dev/x" is not absolute: it must begin with / [node-path-absolute]
f:8:26: containerEdits.deviceNodes[0].minor: device number 1048576 is too large for Linux: use at most 1048575, or leave it out [node-number-size]
f:12:32: containerEdits.hooks[0].path: path "h" is not absolute: it must begin with / [hook-path-absolute]
f:12:44: containerEdits.hooks[0].timeout: a timeout of 0 seconds: use 1 or more, or omit it for no timeout [hook-timeout-positive]
f:10:5: containerEdits.mounts[0]: mount of "/a" is not a bind mount, and runc fails to mount it: add "bind" or "rbind" to its options [mount-bind]
f:10:35: containerEdits.mounts[0].containerPath: path "b" is not absolute: it must begin with / [mount-path-absolute]
f:14:37: containerEdits.netDevices[0].name: "a-name-that-is-too-long" is not an interface name: use 1 to 15 bytes without slash, colon or space [net-name-length]
f:5:20: containerEdits.additionalGids[0]: group id 0 is ignored at injection: remove it [gid-zero]
)");
}

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""cdi-nri with a runtime that sends bytes which no runtime sends.

usage: nri_hostile_test.py CDI_NRI [ARGUMENTS OF UNITTEST]
"""
import struct
import sys
import unittest

sys.dont_write_bytecode = True
import nri_messages as nri  # noqa: E402
from nri_cases import COMMON, ONE, ZERO  # noqa: E402
from nri_peers import LIMIT_KB, names_in, request, wait_until  # noqa: E402
from scripted_runtime import (  # noqa: E402
    DATA, PLUGIN, REQUEST, RESPONSE, RUNTIME, Closed, Failed, call_of, frame, message)
from wire_case import GOOD, MEBIBYTE, UNIMPLEMENTED, WireCase, need_program  # noqa: E402

setUpModule = need_program


class Hostile(WireCase):
    """Whatever a runtime sends, the plugin goes on, with this connection or with the next."""

    def check_survives(self, connection):
        """The next request gets an answer, if need be on a new connection."""
        try:
            self.check_good(connection)
        except (Closed, ConnectionError):
            connection.close()
            again = self.accept()
            again.start()
            self.check_good(again)
            again.close()

    def check_all(self, inputs, check):
        self.start_plugin()
        for name, data in inputs.items():
            with self.subTest(name):
                connection = self.accept()
                connection.start()
                connection.send_bytes(data)
                check(connection)
                connection.close()
        self.assertTrue(self.nri.is_running(), self.nri.printed())
        self.check_memory(self.nri)

    def check_ends(self, connection):
        """The plugin ends the connection at once, and connects again."""
        with self.assertRaises(Closed):
            connection.receive(PLUGIN)
        self.check_survives(connection)

    def test_lengths_over_the_limit_end_the_connection(self):
        self.check_all({
            "a frame": struct.pack(">II", PLUGIN, 0xffffffff),
            "a frame, one byte too long": struct.pack(">II", PLUGIN, 4 * MEBIBYTE + 11),
            "a message": frame(PLUGIN, struct.pack(">IIBB", 0xffffffff, 9, REQUEST, 0)),
            "a message, one byte too long": frame(
                PLUGIN, struct.pack(">IIBB", 4 * MEBIBYTE + 1, 9, REQUEST, 0)),
            "a message to the client": frame(
                RUNTIME, struct.pack(">IIBB", 0xffffffff, 1, RESPONSE, 0)),
        }, self.check_ends)

    def test_what_it_can_skip(self):
        self.check_all({
            "an unknown connection": frame(7, b"anything"),
            "connection 0": frame(0, b"anything"),
            "a huge number": frame(0xffffffff, b""),
            "an empty frame": frame(PLUGIN, b""),
            "an answer that nobody waits for": frame(RUNTIME, message(99, RESPONSE, b"")),
        }, self.check_survives)

    def test_unknown_methods(self):
        connection = self.started()
        for service, method in (("nri.pkg.api.v1alpha1.Plugin", "Nonsense"), ("other", "Configure"),
                                ("nri.pkg.api.v1alpha1.Plugin", ""), ("", "")):
            with self.assertRaises(Failed) as failed:
                connection.call_raw(method, b"", service=service)
            self.assertEqual(failed.exception.code, UNIMPLEMENTED, (service, method))
        self.check_good(connection)

    def test_streams_that_a_client_may_not_choose(self):
        """They are refused, or answered on the same stream."""
        self.start_plugin()
        payload = call_of("CreateContainer", nri.encode(nri.CREATE, GOOD))
        for stream in (0, 2, 0xfffffffe):
            with self.subTest(stream):
                connection = self.accept()
                connection.start()
                try:
                    connection.send(PLUGIN, message(stream, REQUEST, payload))
                    self.assertEqual(connection.receive(PLUGIN)[:2], (stream, RESPONSE))
                except (Closed, ConnectionError):
                    pass
                connection.close()
        again = self.accept()
        again.start()
        self.check_good(again)

    def test_types_that_are_no_request(self):
        payload = call_of("CreateContainer", nri.encode(nri.CREATE, GOOD))
        self.check_all({f"type {kind}": frame(PLUGIN, message(9, kind, payload))
                        for kind in (0, RESPONSE, DATA, 4, 255)}, self.check_survives)

    def test_messages_that_are_cut_off(self):
        """Each cut of a request inside a whole message, and of its content."""
        content = nri.encode(nri.CREATE, GOOD)
        inner = [call_of("CreateContainer", content[:cut]) for cut in range(1, len(content))]
        outer = call_of("CreateContainer", content)
        self.start_plugin()
        connection = self.accept()
        connection.start()
        for payload in [*inner, *(outer[:cut] for cut in range(1, len(outer)))]:
            connection.stream += 2
            try:
                connection.send(PLUGIN, message(connection.stream, REQUEST, payload))
                connection.answer(connection.stream)
            except Failed:
                pass
            except (Closed, ConnectionError):
                connection = self.accept()
                connection.start()
        self.check_good(connection)

    def test_bytes_that_are_no_text(self):
        connection = self.started()
        key = f"{COMMON}/container.main"
        for pod in ({"name": "\udcff\udcfe"}, {"annotations": {key: "\udcff"}},
                    {"annotations": {"\udcff": "x"}}, {"name": "a\0b\n\x1b[31m"},
                    {"annotations": {key: "a\0b"}}):
            try:
                connection.create(request(pod=pod))
            except Failed as failed:
                self.assertNotIn("\n", str(failed))
                self.assertNotIn("\0", str(failed))
        self.check_good(connection)

    def test_values_that_are_very_long_or_deep(self):
        """Up to the 256 KiB that Kubernetes allows, and more."""
        connection = self.started()
        names = ",".join(f"vendor.com/dev=a{number}" for number in range(9000))
        for value in (names, f"[{names}]", "x" * 3_000_000, f"{ONE}," * 12_000 + ONE,
                      "[" * 1_000_000, "- " * 500_000, "&a [*a, *a]", "{" * 100_000,
                      "[&a x" + ",*a" * 80_000 + "]", f"{ONE}\n" * 50_000):
            with self.subTest(value[:20]):
                try:
                    connection.create(request({f"{COMMON}/container.main": value}))
                except Failed as failed:
                    self.assertLess(len(str(failed)), 2000)
        wait_until(lambda: self.is_good(connection), "the plugin is done with them")
        self.check_memory(self.nri, 2 * LIMIT_KB)

    def is_good(self, connection):
        try:
            return names_in(connection.create(GOOD)) == [ZERO, ONE]
        except Failed:
            return False


if __name__ == "__main__":
    unittest.main(verbosity=2)

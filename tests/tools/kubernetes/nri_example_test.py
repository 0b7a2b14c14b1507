#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The example plugin with a runtime that is a script: nri_example_test.py CDI_NRI NRI_PLUGIN"""
import os
import socket
import sys
import unittest

sys.dont_write_bytecode = True
PLUGIN = os.path.abspath(sys.argv.pop(2))
from nri_peers import Process, request, wait_until  # noqa: E402
from wire_case import WireCase, need_program  # noqa: E402

setUpModule = need_program


class Example(WireCase):

    def test_it_names_the_node_and_connects_again(self):
        log = self.place.path("example.log")
        plugin = self.process(Process, [PLUGIN, self.place.socket], log)
        connection = self.accept()
        configured = connection.start()
        self.assertEqual(configured["events"], 1 << 3 | 1 << 5)  # CreateContainer, StartContainer
        answer = connection.create(request({}))
        self.assertEqual(answer["env"],
                         [{"key": "NODE_NAME", "value": socket.gethostname()}])
        connection.close()
        self.accept().start()  # it connects again
        self.assertTrue(plugin.is_running(), plugin.printed())


if __name__ == "__main__":
    unittest.main()

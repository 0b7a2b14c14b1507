# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A test case with cdi-nri and a scripted runtime, for tests with the argument CDI_NRI."""
import os
import pathlib
import sys

from nri_cases import COMMON, ONE, SPEC, ZERO
from nri_peers import NriCase, names_in, need_cdi_nri, request
from scripted_runtime import Runtime

CDI_NRI = os.path.abspath(sys.argv.pop(1))
GOOD = request({f"{COMMON}/container.main": f"{ZERO},{ONE}"})
UNIMPLEMENTED = 12  # a status
MEBIBYTE = 1 << 20


def need_program():
    need_cdi_nri(CDI_NRI)


class WireCase(NriCase):
    """A test with a scripted runtime and cdi-nri."""

    def setUp(self):
        super().setUp()
        self.place.write("cdi/vendor.json", SPEC)
        self.runtime = self.listen()
        self.options = ("--resolve", "never")

    def listen(self):
        runtime = Runtime(pathlib.Path(self.place.socket))
        self.addCleanup(runtime.close)
        return runtime

    def start_plugin(self, *options):
        self.nri = self.cdi_nri(CDI_NRI, *(options or self.options))
        return self.nri

    def accept(self, **how):
        connection = self.runtime.accept(**how)
        self.addCleanup(connection.close)
        return connection

    def started(self, *options, **how):
        self.start_plugin(*options)
        connection = self.accept(**how)
        connection.start()
        return connection

    def check_good(self, connection):
        self.assertEqual(names_in(connection.create(GOOD)), [ZERO, ONE])
        self.assertTrue(self.nri.is_running(), self.nri.printed())

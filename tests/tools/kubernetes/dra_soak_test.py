#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""cdi-dra prepares and unprepares ten thousand times by kubelet's code, and loses nothing.

usage: dra_soak_test.py BUILD CDI_DRA CDI_PREPARE SAMPLE_NODE [ARGUMENTS OF UNITTEST]

For CDI_FULL=1; takes minutes. CDI_PAIRS is another number than 10000.
"""
import os
import sys
import time
import unittest

sys.dont_write_bytecode = True
import judges  # noqa: E402
from dra_peers import CdiDra, DraCase, allocated, claim, own_claim, pod  # noqa: E402
from nri_peers import wait_until  # noqa: E402

BUILD, CDI_DRA, CDI_PREPARE, SAMPLE_NODE = (os.path.abspath(sys.argv.pop(1)) for _ in range(4))
PAIRS = int(os.environ.get("CDI_PAIRS", "10000"))
GROWTH_KB = 1000  # of memory, mostly for further threads: 100 bytes for each pair
MOST_THREADS = 40  # gRPC's own, and 16 that work


def setUpModule():
    if os.environ.get("CDI_FULL") != "1" and "CDI_PAIRS" not in os.environ:
        raise unittest.SkipTest("takes minutes, for CDI_FULL=1")
    DraCase.programs.update({"dra-judge": str(judges.build_kubelet(BUILD) / "dra-judge"),
                             "cdi-dra": CDI_DRA, "cdi-prepare": CDI_PREPARE,
                             "sample-node": SAMPLE_NODE})


class Soak(CdiDra, DraCase):
    gpus = 4

    def files(self):
        """The names of all files of the driver."""
        return sorted(os.path.join(folder, name)
                      for place in (self.place.cdi, self.place.state,
                                    os.path.join(self.place.kubelet, "plugins"),
                                    os.path.join(self.place.kubelet, "plugins_registry"))
                      for folder, _, names in os.walk(place) for name in names)

    def state(self, driver):
        self.assertLess(len(os.listdir(f"/proc/{driver.pid}/task")), MOST_THREADS)
        return {"files": self.files(), "descriptors": driver.descriptors()}

    def at_rest(self, driver):
        """The state that does not change: the driver looks at its specs after the last call."""
        seen = []

        def is_same():
            seen.append(self.state(driver))
            return seen[-10:] == seen[-1:] * 10
        wait_until(is_same, "the driver is at rest")
        return seen[-1]

    def test_pairs(self):
        """A claim of one device, of two, and one that fails, beside one that stays."""
        self.have(*own_claim("stays", self.devices[0]), *own_claim("one", self.devices[1]),
                  claim("two", [allocated(self.devices[2]), allocated(self.devices[3], "more")],
                        ["two"]), pod("two", ["two"]), *own_claim("bad", self.devices[0]))
        driver, judge = self.both()
        self.prepare(judge, "stays")

        def pairs(count):
            for number in range(count):
                name = ("one", "two")[number % 2]
                self.good(judge.ask(f"prepare {name}"))
                self.unprepare(judge, name)
                if number % 100 == 0:
                    self.refused(judge.ask("prepare bad"), self.devices[0])
                    self.unprepare(judge, "bad")
        pairs(min(PAIRS, 500))
        before, memory = self.at_rest(driver), driver.kilobytes()
        begin = time.monotonic()
        pairs(PAIRS)
        took = (time.monotonic() - begin) / PAIRS
        print(f"{PAIRS} pairs: {took * 1000:.1f} ms each; the driver had {memory} kB, then "
              f"{driver.kilobytes()} kB")
        self.assertEqual(self.at_rest(driver), before)
        self.assertLess(driver.kilobytes(), memory + GROWTH_KB)
        self.unprepare(judge, "stays")
        self.check_nothing_is_left()


if __name__ == "__main__":
    unittest.main(verbosity=2)

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The system calls of a program, and how one of them is made to fail: see faults.cpp."""
import collections
import os
import unittest

SAMPLE = 1 if os.environ.get("CDI_FULL") == "1" else 41  # every 41st failure is tried


def environment_of(library, fault, **more):
    """The environment of a program. `fault` has LOG, or KIND, AT and ERROR; empty for no fault."""
    return {**os.environ, **more, **({"LD_PRELOAD": library} if fault else {}),
            **{f"FAULT_{key}": str(value) for key, value in fault.items()}}


def calls_in(log):
    """The calls that a run has noted: (kind, number among its kind, errors)."""
    counts, calls = collections.Counter(), []
    for line in log.read_text().splitlines():
        kind, *errors = line.split()
        counts[kind] += 1
        calls.append((kind, counts[kind], [int(error) for error in errors]))
    if not calls:
        raise unittest.SkipTest("the program does not load the library: is it linked statically?")
    return calls


def failures_of(calls):
    """(kind, number, error) of all failures."""
    return [(kind, number, error) for kind, number, errors in calls for error in errors]


def sample_of(calls, offset=0):
    """The failures that a test tries."""
    return failures_of(calls)[offset % SAMPLE::SAMPLE]


def try_failures(case, log, act):
    """Calls `act` with faults, a sample of the failures of the calls that a run has noted."""
    for kind, number, error in sample_of(calls_in(log)):
        with case.subTest(call=kind, number=number, error=os.strerror(error)):
            act({"KIND": kind, "AT": number, "ERROR": error})

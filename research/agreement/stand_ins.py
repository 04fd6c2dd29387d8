# SPDX-License-Identifier: Apache-2.0
"""What the tests here share: a folder of programs that stand in for what a program starts."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent


class StandInTest(unittest.TestCase):
    """A case with the stand-in SOURCE under each name of PROGRAMS in `folder`."""
    SOURCE = ""
    PROGRAMS = ()

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        for name in self.PROGRAMS:
            program = self.folder / name
            program.write_text(self.SOURCE)
            program.chmod(0o755)

    def start(self, program, *options, environment=None):
        return subprocess.run([sys.executable, "-B", HERE / program, *options], capture_output=True, text=True, check=False,
                              env=environment)

    def starts(self):
        """The lines of the stand-ins' own record of how they were started."""
        return (self.folder / "starts").read_text().splitlines()

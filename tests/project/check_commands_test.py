#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Wrong commands that are planted in documents are found by check_commands.py, and sound ones are left in peace.

Shell scripts stand in for the programs: each writes down what it is called with.
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import check_commands

TANDEM = """#!/bin/sh
echo "tandem $*" >>"$(dirname "$0")/calls"
case "$*" in
"" | --help | "list sweeps") echo verbs;;
"run --help") echo "  --out TEXT  --devices INT  --dry-run  --launcher TEXT";;
"run quick"*--dry-run* | "run own.json"*--dry-run*) ;;
"run "*) echo "tandem: sweep is unknown" >&2; exit 2;;
"list --help" | "lessons --help" | "doctor --help" | "verify --help") echo "  --list --json";;
"list "*) exit 2;;
"lessons --list") echo "even-split  Batches are split";;
"doctor"*) exit ${DOCTOR:-3};;
"compare --help" | "report --help") echo "  --out TEXT  --threshold TEXT";;
compare* | report*) for word; do case $word in --* | compare | report) ;; *) [ -f "$word/results.json" ] || [ -f "$word" ] || exit 2;; esac; done;;
"trace --help" | "trace record --help") echo "  --steps INT  --out TEXT";;
"explain --help") echo "  --model TEXT  --batch INT";;
*) echo "tandem: there is no command '$1'" >&2; exit 2;;
esac
"""
STEP_BENCH = """#!/bin/sh
echo "step_bench $*" >>"$(dirname "$0")/calls"
case "$*" in
--help) echo "  --strategy dp|ddp  --batch SAMPLES  --model MODEL  --devices COUNT  --check{options}";;
list) ;;
*--strategy=dpp*) echo "step_bench: --strategy: no such strategy" >&2; exit 2;;
--check=options*) ;;
*) exit 1;;
esac
"""
TOOL = "#!/bin/sh\necho '  tools/quickstart [--out DIR] [-- OPTION...]'\n"


class CommandsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name, "checkout")
        self.programs = pathlib.Path(folder.name, "programs")
        for path, text in (("../programs/tandem", TANDEM), ("../programs/step_bench", STEP_BENCH), ("tools/quickstart", TOOL),
                           ("tools/broken", TOOL), ("research/agreement/pairs", "#!/bin/sh\n# --launches=N\n"),
                           ("tools/sweeps/quick.json", "{}"), ("tests/workloads/tokens.json", "{}"),
                           (check_commands.SAMPLE, '{"tandem": {"launches": [{"step_seconds": [1]}]}}'), ("README.md", "# Tandem\n")):
            file = self.root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            if text.startswith("#!") and path != "tools/broken":
                file.chmod(0o755)

    def faults(self, *lines, name="docs/guide.md", language="sh"):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text("\n".join(["# Guide", "", f"```{language}", *lines, "```", ""]))
        return check_commands.faults(self.programs, self.root)[0]

    def calls(self):
        return (self.programs / "calls").read_text().splitlines()

    def check_found(self, line, words):
        found = self.faults(line)
        self.assertEqual(len(found), 1, (line, found))
        self.assertTrue(found[0].startswith("docs/guide.md:4: "), found)
        self.assertIn(words, found[0])

    def test_sound_commands_are_left_in_peace(self):
        for line in ("tandem", "build/release/bin/tandem --help", "venv/bin/tandem list sweeps", "./tandem run quick --out out/a  # a note",
                     "tandem run quick --devices 2 && tandem doctor", "tandem compare out/before out/after > change.txt 2>&1",
                     "tandem report out/part-* --out=both", "tandem lessons even-split", "mpirun -np 2 --bind-to none step_bench --strategy=ddp --batch=64",
                     "OMP_NUM_THREADS=1 step_bench list | head -3", "tandem run own.json", "tandem trace record --strategy=ddp --steps=3",
                     "tools/quickstart --out /tmp/first -- --devices=2", "./quickstart --out a", "research/agreement/pairs --launches=6",
                     'export PATH="$PWD/build/release/bin:$PATH"', "git clone https://example.org/tandem.git", "cmake --build build/release -j $(nproc)",
                     "sbatch tools/quickstart", "pip install dist/tandem-*.whl", "step_bench --model=own.json --benchmark_out=a.json", ""):
            with self.subTest(line=line):
                self.assertEqual(self.faults(line), [])

    def test_wrong_commands_are_found_with_their_line(self):
        for line, words in (("tandem rnu quick", "there is no command 'rnu'"), ("tandem run quik", "`tandem run quik --dry-run` ended with 2"),
                            ("tandem run quick --device=2", "no help names --device: correct it, such as to --devices"),
                            ("tandem list sweps", "ended with 2"), ("tandem lessons evensplit", "there is no lesson evensplit"),
                            ("tandem verify --strategy=dpp --batch=1", "no such strategy"), ("tandem verify --batches=1", "no help names --batches"),
                            ("tandem explain --strategy=dp", "no help names --strategy"), ("step_bench --strategy=dpp", "no such strategy"),
                            ("mpirun -np 2 step_bench --stratgy=dp", "no help names --stratgy"), ("mpirun -np 2 stepbench", "mpirun starts nothing of Tandem's"),
                            ("tools/quikstart", "there is no tools/quikstart"), ("tools/broken", "is not executable"),
                            ("tools/quickstart --uot a", "no help names --uot"), ("tools/quickstart -- --device=2", "no help names --device"),
                            ("research/agreement/pairs --lunches=6", "no help names --lunches"), ("gti clone a", "gti is none of Tandem's programs"),
                            ("build/release/bin/tandme run", "tandme is none of Tandem's"), ("sbatch tools/slurm/no.sbatch", "there is no tools/slurm/no.sbatch"),
                            ("ln -s build/release/bin/tandm a", "no target makes build/release/bin/tandm"), ("tandem 'run", "close the quotes"),
                            ("(tandem run quick)", "write a plain command"), ("tandem list sweeps && tandem lsit", "there is no command 'lsit'")):
            with self.subTest(line=line):
                self.check_found(line, words)

    def test_a_command_that_goes_on_is_one_and_is_named_by_its_first_line(self):
        self.assertEqual(self.faults("tandem run quick \\", "  --devices=2 \\", "  --out a"), [])
        found = self.faults("tandem list sweeps", "tandem run quick \\", "  --device=2")
        self.assertEqual([line.split(": ")[0] for line in found], ["docs/guide.md:5"])
        self.assertIn("nothing follows", self.faults("tandem \\")[0])

    def test_nothing_is_measured(self):
        self.faults("tandem run quick", "tandem explain --model=a --batch=1", "tandem verify --batch=1", "step_bench --batch=1", "tandem lessons")
        for call in self.calls():
            self.assertRegex(call, "--help|--dry-run|--check=options|lessons --list")

    def test_runs_of_the_reader_are_samples_and_the_checkout_stays_as_it_is(self):
        before = sorted(self.root.rglob("*"))
        self.assertEqual(self.faults("tandem compare reports/samples/quick-2-cores out/after --threshold=5%", "tandem report out/a.json"), [])
        after = sorted(path for path in self.root.rglob("*") if "docs" not in path.parts)
        self.assertEqual(after, before)

    def test_a_negative_verdict_is_no_fault_and_a_failure_is_one(self):
        doctor = self.programs / "tandem"
        doctor.write_text(TANDEM.replace("${DOCTOR:-3}", "1"))
        self.check_found("tandem doctor", "`tandem doctor` ended with 1")

    def test_what_the_page_of_the_command_line_names_is_known(self):
        self.check_found("tandem explain --input=device", "no help names --input")
        (self.root / "docs/cli.md").write_text("# Options\n\n## tandem explain\n\n`--input=WHERE`\n\n## tandem run\n\n`--other`\n")
        self.assertEqual(self.faults("tandem explain --input=device"), [])
        self.check_found("tandem explain --other=device", "no help names --other")

    def test_jobs_of_yaml_blocks_are_read_by_their_lines(self):
        sound = ("jobs:", "  gate:", "    steps:", "      - uses: actions/checkout@v4", "      - run: tandem doctor", "      - name: tandem lsit",
                 "        run: |", "          tandem run quick \\", "            --devices=2", "", "          tandem list sweeps", "      - if: always()")
        self.assertEqual(self.faults(*sound, language="yaml"), [])
        for index, wrong, line in ((4, "      - run: tandem lsit", 8), (8, "            --device=2", 11), (10, "          tandem lsit", 14)):
            found = self.faults(*sound[:index], wrong, *sound[index + 1:], language="yaml")
            self.assertEqual([one.split(": ")[0] for one in found], [f"docs/guide.md:{line}"], found)
        for below in ("  script:", "script:"):
            job = ("before_script: tandem doctor", below, "  - tandem list sweeps", "  - tandem lsit", "artifacts:", "  - tandem lsit")
            self.assertEqual([one.split(": ")[0] for one in self.faults(*job, language="yaml")], ["docs/guide.md:7"])

    def test_examples_of_a_help_are_read_to_their_end(self):
        self.assertEqual(self.faults("Options:", "  tandem lsit", "Examples:", "  tandem list sweeps", "tandem lsit", language="text"), [])
        found = self.faults("Examples:", "  tandem list sweeps", "  tandem lsit  # why", "", "Exit status: 0", language="text")
        self.assertEqual([one.split(": ")[0] for one in found], ["docs/guide.md:6"], found)

    def test_a_patch_has_to_fit_what_is_there(self):
        subprocess.run(["git", "init", "-q", str(self.root)], check=True)
        patch = ("--- a/README.md", "+++ b/README.md", "@@ -1 +1 @@", "-# Tandem", "+# Tandems")
        self.assertEqual(self.faults(*patch, language="diff"), [])
        found = self.faults(*patch[:3], "-# Another", patch[4], language="diff")
        self.assertEqual([one.split(" (")[0] for one in found], ["docs/guide.md:3: the patch does not apply"])

    def test_every_document_of_users_is_read_and_other_blocks_are_not(self):
        for name in ("README.md", "CONTRIBUTING.md", "docs/method/deep.md"):
            self.assertEqual(len(self.faults("tandem lsit", name=name)), 1, name)
            (self.root / name).write_text("")
        self.assertEqual(self.faults("tandem lsit", language="text"), [])
        self.assertEqual(self.faults("tandem lsit", name="tools/README.md"), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

# SPDX-License-Identifier: Apache-2.0
"""What a run has measured, as its reports have it."""
from __future__ import annotations

import json
import os
import pathlib
import shutil
import tempfile
import weakref
from typing import TYPE_CHECKING, Any, Optional, Union

from . import tables
from .errors import UsageError, path_text, trying
from .verdict import Verdict, verdict_of

if TYPE_CHECKING:
    from pandas import DataFrame

REPORTED = ("cells", "comparisons", "samples")


class Results:
    """Verdict and tables of a run.

    Names of columns end with their unit: _s seconds, _per_s per second, _bytes, _gflops; ratios, shares and counts have
    none. Ends of 95 % intervals are _low and _high. docs/results.md explains each column.
    """

    def __init__(self, source: pathlib.Path) -> None:
        self.source = source
        self._written: Optional[pathlib.Path] = None  # where a report lies that the folder lacks, as long as this lives

    @property
    def folder(self) -> pathlib.Path:
        """Where journal, results, report and logs lie."""
        return self.source.parent if self.source.is_file() else self.source

    @property
    def page(self) -> pathlib.Path:
        """The whole report, one page that works offline."""
        return self._file("report.html")

    @property
    def verdict(self) -> Verdict:
        """Which of dp and ddp is faster, by how much, how sure."""
        path = self._file("report.md")
        with trying(f"reading {path}", "write it again: tandem report FOLDER"):
            return verdict_of(path.read_text(encoding="utf-8"))

    @property
    def cells(self) -> DataFrame:
        """A row per cell (model, batch, devices, strategy, ...): median_step_s, throughput_per_s, speedup, ..."""
        return tables.frame_of(self._file("cells.csv"), "cells")

    @property
    def comparisons(self) -> DataFrame:
        """A row per point where dp and ddp were measured: ddp_speed = median step of dp / that of ddp, and ddp_is."""
        return tables.frame_of(self._file("comparisons.csv"), "comparisons")

    @property
    def samples(self) -> DataFrame:
        """A row per timed step: step_s, with its launch_index and its place in the launch, sample."""
        return tables.frame_of(self._file("samples.csv"), "samples")

    @property
    def phases(self) -> DataFrame:
        """A row per cell and phase: mean_s, its mean seconds in a step of the critical device; they sum to the mean step."""
        frame: DataFrame = tables.import_pandas("phases").DataFrame(self.records("phases"))
        return frame

    def records(self, table: str) -> list[tables.Row]:
        """The rows of "cells", "comparisons", "samples" or "phases" as dicts, without pandas; a missing figure is None."""
        if table == "phases":
            return tables.phases_of(self.records("cells"))
        if table not in REPORTED:
            raise UsageError(f"there is no table '{table}': use {', '.join(REPORTED)} or phases")
        return tables.rows_of(self._file(f"{table}.csv"))

    @property
    def document(self) -> dict[str, Any]:
        """results.json: all launches with all that they recorded, and the machine."""
        path = self.source if self.source.is_file() else self._file("results.json")
        with trying(f"reading {path}", "write it again: tandem report FOLDER"):
            document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return document

    def _file(self, name: str) -> pathlib.Path:
        """A file of the report: the one in the folder, unless launches came later; else one that is written elsewhere."""
        is_beside = self.source.is_dir() or self.source.name == "results.json"  # a file of another name is another run's
        if is_beside and self._is_of_all_launches(self.folder / name):
            return self.folder / name
        if self._written is None or not self._is_of_all_launches(self._written / name):
            self._written = self._report()
        return self._written / name

    def _is_of_all_launches(self, path: pathlib.Path) -> bool:
        journal = self.folder / "journal.jsonl"
        return path.is_file() and not (journal.is_file() and journal.stat().st_mtime > path.stat().st_mtime)

    def _report(self) -> pathlib.Path:
        from .child import call  # which few results need
        with trying("making a folder for the report", "set TMPDIR to one that can be written"):
            written = pathlib.Path(tempfile.mkdtemp(prefix="tandem-report-"))
        weakref.finalize(self, shutil.rmtree, written, ignore_errors=True)
        call(["report", str(self.source), f"--out={written}"], None, False)
        return written

    def __repr__(self) -> str:
        return f"{self.verdict}\n{self.folder}"


def load(source: Union[str, os.PathLike[str], Results]) -> Results:
    """The results in a folder of tandem.run or `tandem run`, finished or not, or in a results.json."""
    if isinstance(source, Results):
        return source
    path = pathlib.Path(path_text("load: source", source))
    if not path.exists():
        raise UsageError(f"loading {path}: it is not there; give a folder of tandem.run, or a results.json")
    if path.is_dir() and not any((path / name).is_file() for name in ("results.json", "journal.jsonl")):
        raise UsageError(f"loading {path}: it holds neither results.json nor journal.jsonl; give a folder of tandem.run")
    if path.is_file() and path.suffix != ".json":
        raise UsageError(f"loading {path}: it is no .json file; give a folder of tandem.run, or a results.json")
    return Results(path)

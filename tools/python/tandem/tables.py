# SPDX-License-Identifier: Apache-2.0
"""The CSV files of a report (docs/results.md), as rows and as pandas frames. Nothing is computed here."""
from __future__ import annotations

import csv
import pathlib
from typing import TYPE_CHECKING, Any, Union

from .errors import TandemError, trying

if TYPE_CHECKING:
    from pandas import DataFrame

Value = Union[str, int, float, None]
Row = dict[str, Value]

# What is text; every other column holds numbers, and nothing where a figure does not exist.
TEXTS = frozenset((
    "model", "strategy", "launch", "backend", "mode", "options", "status", "reason", "marks", "baseline", "precision",
    "modelled", "planted", "dp_launch", "dp_options", "ddp_launch", "ddp_options", "ddp_is"))

# What names a cell, in cells.csv as in samples.csv.
CELL = ("model", "global_batch", "devices", "strategy", "launch", "backend", "mode", "options")


def number(text: str) -> Value:
    if not text:
        return None
    try:
        return int(text)
    except ValueError:
        return float(text)


def rows_of(path: pathlib.Path) -> list[Row]:
    with trying(f"reading {path}", "write it again: tandem report FOLDER"):
        with open(path, encoding="utf-8", newline="") as file:
            return [{name: text if name in TEXTS else number(text) for name, text in row.items()}
                    for row in csv.DictReader(file)]


def import_pandas(wanted: str) -> Any:
    try:
        import pandas
    except ImportError as error:
        raise TandemError(f"{wanted} is a pandas frame, and this python has no pandas: pip install pandas, or use "
                          f".records('{wanted}'), a list of dicts") from error
    return pandas


def frame_of(path: pathlib.Path, wanted: str) -> DataFrame:
    """With the types of rows_of: empty texts stay texts, figures that do not exist are NaN."""
    pandas = import_pandas(wanted)
    with trying(f"reading {path}", "write it again: tandem report FOLDER"):
        with open(path, encoding="utf-8", newline="") as file:
            names = next(csv.reader(file))
        frame: DataFrame = pandas.read_csv(
            path, dtype={name: str for name in names if name in TEXTS}, keep_default_na=False,
            na_values={name: [""] for name in names if name not in TEXTS})
    return frame


def phases_of(cells: list[Row]) -> list[Row]:
    """A row for each cell and phase, from the columns phase_NAME_s, phases_of_other_names_s and remainder_s."""
    rows = []
    for cell in cells:
        phases = {name[len("phase_"):-len("_s")]: value for name, value in cell.items() if name.startswith("phase_")}
        phases["other names"] = cell.get("phases_of_other_names_s")
        phases["remainder"] = cell.get("remainder_s")
        key = {name: cell[name] for name in CELL}
        rows += [{**key, "phase": phase, "mean_s": value} for phase, value in phases.items() if value is not None]
    return rows

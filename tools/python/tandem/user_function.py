# SPDX-License-Identifier: Apache-2.0
"""The function that a command line names as FILE.py:FUNCTION or MODULE:FUNCTION."""
from __future__ import annotations

import difflib
import importlib
import importlib.util
import pathlib
import sys
from typing import Any, Callable, Optional

from .errors import UsageError, trying


def split(source: str) -> tuple[str, str]:
    """The file or module, and the function."""
    where, _, name = source.rpartition(":")
    if not where or not name:
        raise UsageError(f"'{source}' names no function: use FILE.py:FUNCTION or MODULE:FUNCTION")
    return where, name


def is_file(where: str) -> bool:
    return where.endswith(".py")


def file_of(where: str) -> Optional[pathlib.Path]:
    """The source of a file or module that is there; None where a module has no file of its own."""
    if is_file(where):
        return pathlib.Path(where)
    spec = importlib.util.find_spec(where)
    return pathlib.Path(spec.origin) if spec is not None and spec.origin and spec.has_location else None


def module_of(where: str) -> Any:
    if not is_file(where):
        return importlib.import_module(where)
    path = pathlib.Path(where)
    sys.path.insert(0, str(path.parent.resolve()))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None  # of a file that ends with .py there are
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)  # dataclasses and pickle look a class's module up by its name
    spec.loader.exec_module(module)
    return module


def is_absent(where: str) -> bool:
    if is_file(where):
        return not pathlib.Path(where).is_file()
    try:
        return importlib.util.find_spec(where) is None
    except (ModuleNotFoundError, ValueError):  # of a package around it; no name at all
        return True


def load(source: str) -> Callable[..., Any]:
    where, name = split(source)
    with trying(f"loading {source}", "mend it"):
        if is_absent(where):
            raise UsageError(f"there is no {'file' if is_file(where) else 'module'} {where}; check the name")
        try:
            module = module_of(where)
        except SystemExit as end:
            raise UsageError("it ends the program where it is loaded; put what is a script's below if __name__ == \"__main__\":") from end
        function: Any = getattr(module, name, None)
        if not callable(function):
            near = difflib.get_close_matches(name, [known for known, value in vars(module).items() if callable(value)], 1)
            raise UsageError(f"it has no function {name}{f' (did you mean {near[0]}?)' if near else ''}; check the name")
    return function  # type: ignore[no-any-return]

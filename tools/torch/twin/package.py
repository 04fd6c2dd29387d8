# SPDX-License-Identifier: Apache-2.0
"""The Python module `tandem` of this checkout, archive or wheel, whatever python runs: its code that loads a user's
function and names a failing layer serves here too."""
import importlib.util
import pathlib
import sys

TORCH = pathlib.Path(__file__).resolve().parents[1]
# Where the module lies in a checkout and in an archive; in a wheel the module holds the archive.
PLACES = (TORCH.parent / "python" / "tandem", TORCH.parents[2].parent)


def find():
    """Makes `import tandem` mean that module, and no other folder importable."""
    if "tandem" in sys.modules:
        return
    folder = next((place for place in PLACES if (place / "user_function.py").is_file()), None)
    if folder is None:
        raise ImportError(f"{PLACES[0]} is not there: keep tools/python beside tools/torch")
    spec = importlib.util.spec_from_file_location("tandem", folder / "__init__.py", submodule_search_locations=[str(folder)])
    module = importlib.util.module_from_spec(spec)
    sys.modules["tandem"] = module
    spec.loader.exec_module(module)

# SPDX-License-Identifier: Apache-2.0
"""python -m tandem: as the command; python -m tandem FILE.py:FUNCTION under torchrun and the like: as one of its ranks."""
import sys

if ":" in "".join(sys.argv[1:2]):
    from .launched import main
else:
    from .command import main

sys.exit(main())

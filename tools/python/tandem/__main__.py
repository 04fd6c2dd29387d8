# SPDX-License-Identifier: Apache-2.0
"""python -m tandem: as the command."""
import sys

from .command import main

sys.exit(main())

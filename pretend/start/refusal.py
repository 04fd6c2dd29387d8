# SPDX-License-Identifier: Apache-2.0
"""Why GPUs are not pretended, as one line with the mend."""


class Failure(Exception):
    status = 1


class Usage(Failure):
    status = 2

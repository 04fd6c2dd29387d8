# SPDX-License-Identifier: Apache-2.0
"""From a torch module to a workload file, which Tandem replays (docs/workload-files.md). Needs torch 2.0 or newer when it is called."""

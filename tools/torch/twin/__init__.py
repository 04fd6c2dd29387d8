# SPDX-License-Identifier: Apache-2.0
"""What tools/torch/step_twin is made of: step_bench's counterpart in PyTorch."""

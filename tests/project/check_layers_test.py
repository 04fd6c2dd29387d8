#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants violations in a tree of its own: each must be reported, and what is allowed must not."""
import pathlib
import tempfile
import unittest

import check_layers


def violations(path, text):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / path
        file.parent.mkdir(parents=True)
        file.write_text(text + "\n")
        return check_layers.check_tree(pathlib.Path(folder))


REPORTED = [
    ("common/base/a.h", '#include "common/runtime/stream.h"'),
    ("common/runtime/host/a.cc", '#include "common/trace/step_observer.h"'),
    ("common/runtime/a.h", '#  include  "common/kernels/operations.h"'),
    ("common/comm/a.h", '#include "common/tensor/tensor.h"'),
    ("common/kernels/a.h", '#include "common/model/linear_stack.h"'),
    ("common/parallel/a.h", '#include "common/results/launch_record.h"'),
    ("common/parallel/a.h", '#include "dp/dp.h"'),
    ("dp/a.cc", '#include "ddp/ddp.h"'),
    ("ddp/a.cc", '#include "dp/dp.h"'),
    ("ddp/a.cc", "#include <dp/dp.h>"),
    ("common/json/a.h", '#include "common/results/launch_record.h"'),
    ("tools/a.cc", "#include <nlohmann/json.hpp>"),
    ("dp/a.cc", '#include "bench/step_bench.h"'),
    ("reports/a.cc", '#include "common/runtime/device.h"'),
    ("tools/a.cc", '#include "ddp/bucket_reducer.h"'),
    ("tools/a.cc", '#include "bench/step_bench.h"'),
    ("common/flight/a.cc", '#include "common/runtime/device.h"'),
    ("bench/a.cc", '#include "reports/verdict.h"'),
    ("common/runtime/a.cc", '#include "stream.h"'),
    ("common/runtime/a.cc", '#include "common/stream.h"'),
    ("common/other/a.h", "int a;"),
    ("common/runtime/a.cc", "#include <cuda_runtime.h>"),
    ("common/runtime/platform.cc", '#include "common/runtime/cuda/device.h"'),
    ("common/runtime/cuda/a.cc", "#include <cublasLt.h>"),
    ("common/comm/transports/transport_registry.cc", '#include "common/comm/nccl/nccl_api.h"'),
    ("common/comm/nccl_module.cc", "#include <cuda_runtime_api.h>"),
    ("common/runtime/a.cc", "#include <oneapi/dnnl/dnnl.hpp>"),
    ("common/comm/shared_memory/shared_memory.cc", "#include <mpi.h>"),
    ("common/comm/mpi/mpi_bootstrap.cc", "#include <nccl.h>"),
    ("common/model/a.cc", "#include <nvtx3/nvtx3.hpp>"),
    ("bench/a.cc", "#include <hwloc.h>"),
    ("common/stats/a.cc", "#include <benchmark/benchmark.h>"),
    ("dp/a.cc", "#include <CLI/CLI.hpp>"),
    ("dp/a.cc", "#include <gtest/gtest.h>"),
    ("common/runtime/platform.cc", "#ifdef TANDEM_HAVE_CUDA"),
    ("common/runtime/a.h", "#ifndef A_H"),
    ("dp/a.cc", "#if defined(__x86_64__)"),
    ("dp/a.cc", "#if 0"),
    ("dp/a.cc", "#ifdef NDEBUG"),
    ("common/stats/a.cc", '#include "common/results/launch_record.h"'),
]

ALLOWED = [
    ("common/runtime/a.cc", '#include "common/base/error.h"'),
    ("common/optim/a.cc", '#include "common/runtime/stream.h"'),
    ("common/parallel/a.cc", '#include "common/trace/step_observer.h"'),
    ("dp/a.cc", '#include "common/parallel/chunks.h"'),
    ("bench/a.cc", '#include "common/results/launch_record.h"'),
    ("common/json/a.cc", "#include <nlohmann/json.hpp>"),
    ("bench/a.cc", '#include "dp/dp.h"\n#include "ddp/ddp.h"\n#include <mpi.h>'),
    ("common/results/a.cc", '#include "common/stats/summary.h"'),
    ("reports/a.cc", '#include "common/stats/interval.h"'),
    ("tools/a.cc", '#include "common/base/error.h"\n#include <CLI/CLI.hpp>'),
    ("tools/a.cc", '#include "common/flight/flight_recorder.h"'),
    ("bench/a.cc", '#include "common/flight/flight_recorder.h"'),
    ("tests/dp/a.cc", '#include "ddp/ddp.h"\n#include <gtest/gtest.h>'),
    ("common/runtime/cuda/a.cc", "#include <cuda_runtime_api.h>\n#if CUDART_VERSION >= 13000"),
    ("common/kernels/cuda/a.cu", '#include "common/runtime/cuda/stream.h"\n#include <cublasLt.h>'),
    ("common/kernels/host/a.cc", "#include <oneapi/dnnl/dnnl.hpp>"),
    ("common/comm/mpi/mpi_bootstrap.cc", "#include <mpi.h>"),
    ("common/comm/nccl_communicator.cc", "#include <nccl.h>"),
    ("common/runtime/host/binding.cc", "#include <hwloc.h>\n#if defined(__x86_64__)"),
    ("common/runtime/registry.cc", "#ifdef TANDEM_HAVE_CUDA\n#endif"),
    ("common/runtime/stream.cc", "#if defined(__SANITIZE_THREAD__)\n#endif"),
    ("common/base/vector_clones.h", "#if defined(__x86_64__) && defined(__GNUC__)"),
    ("common/base/a.h", "#pragma once\n#include <vector>\n// #include <mpi.h>"),
]


class CheckLayers(unittest.TestCase):
    def test_planted_violations_are_reported(self):
        for path, text in REPORTED:
            with self.subTest(path=path, text=text):
                self.assertEqual(len(violations(path, text)), 1)

    def test_what_is_allowed_is_not_reported(self):
        for path, text in ALLOWED:
            with self.subTest(path=path, text=text):
                self.assertEqual(violations(path, text), [])

    def test_a_report_names_file_and_line(self):
        found = violations("dp/a.cc", 'int a;\n#include "ddp/ddp.h"')
        self.assertEqual(found, ["dp/a.cc:2: dp may not include ddp: ddp/ddp.h"])

    def test_the_arrows_have_no_circle(self):
        for folder, reached in check_layers.REACH.items():
            for other in reached - {folder}:
                self.assertNotIn(folder, check_layers.REACH[other], f"{folder} and {other}")


if __name__ == "__main__":
    unittest.main()

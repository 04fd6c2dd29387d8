// SPDX-License-Identifier: Apache-2.0
//
// A user's module in an explanation. PyTorch trains the module itself; Tandem's rungs train its
// export, a workload file that lies in the output folder, so that the same command goes on with the
// same file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "tools/tandem/launch/launch_scratch.h"
#include "tools/tandem/launch/torch_twin.h"

namespace tandem::cli {

// The module that is explained, and where its export belongs.
struct ModuleQuestion {
  std::string source;               // FILE.py:FUNCTION or MODULE:FUNCTION
  std::int64_t share = 1;           // samples of a device in a step
  std::string backend;              // a value of --backend
  std::filesystem::path folder;     // the output folder
  bool is_resumed = false;          // the folder has a journal, and so the export
  std::chrono::seconds patience{};  // a step before the first launch that takes longer fails
};

// The module with its export.
struct ModuleWorkload {
  ModuleFacts facts{};
  std::string source;             // with the file's absolute path
  std::filesystem::path file;     // in the output folder, once `fresh` is copied there
  std::filesystem::path fresh{};  // the export that was just made; empty where `file` is there
  std::unique_ptr<TemporaryFolder> scratch{};  // holds `fresh`
};

// Takes a step of the module with a device's share and, where the folder has none, makes its
// export, whose layers have the module's FLOPs. Throws what
// PyTorch's side says (facts_of_module), and usage errors where the export of a resumed folder is
// gone, and where a file of its name is another's.
[[nodiscard]] ModuleWorkload workload_of_module(const ModuleQuestion& question,
                                                const TorchTwin& torch);

}  // namespace tandem::cli

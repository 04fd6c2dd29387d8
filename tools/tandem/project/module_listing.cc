// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/project/module_listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <utility>

#include "common/base/error.h"
#include "common/base/text.h"
#include "common/results/launch_record.h"
#include "tools/tandem/launch/python_script.h"
#include "tools/tandem/process/child_process.h"

namespace tandem::cli {
namespace {

constexpr std::chrono::minutes kListingPatience{10};
constexpr std::int64_t kFewestListedSamples = 2;  // where more are asked for
constexpr std::int64_t kMostListedSamples = 512;  // the example is repeated in the host's memory
constexpr int kGpus = 3;  // for steps of DataParallel, whose memory grows with the devices
constexpr std::int64_t kFewerSamples = 4;  // times, where a step is out of memory

// The pretended GPU nearest to the described one, by its name or else by its formats: libraries
// choose kernels by a GPU's generation.
std::string card_of(const GpuDescription& gpu) {
  constexpr std::array<std::pair<std::string_view, const char*>, 7> kAlike{{{"V100", "v100"},
                                                                            {"A100", "a100"},
                                                                            {"RTX 3090", "rtx3090"},
                                                                            {"RTX 4090", "rtx4090"},
                                                                            {"H100", "h100"},
                                                                            {"H200", "h100"},
                                                                            {"B200", "h100"}}};
  for (const auto& [name, card] : kAlike) {
    if (gpu.name.find(name) != std::string::npos) return card;
  }
  return gpu.bf16 ? "a100" : "v100";
}

constexpr std::string_view kUsualCard = "a100";  // every torch with CUDA has kernels for it

bool says(const Error& error, std::string_view words) {
  return std::string_view(error.what()).find(words) != std::string_view::npos;
}

// What torch says of a step, without the batch, by which devices differ.
std::string_view step_reason(std::string_view failure) {
  const std::size_t end_of_shapes = failure.find("): ");
  return failure.substr(end_of_shapes == std::string_view::npos ? 0 : end_of_shapes);
}

// Whether torch sees pretended GPUs from now on; says why not.
bool pretends(TorchTwin& torch, const std::string& card) {
  try {
    torch.environment = pretend_variables({.gpus = kGpus, .like = card, .python = torch.python});
    return true;
  } catch (const Error& error) {
    fmt::print(stderr, "no pretended GPU: {}; the module's operations are the host's\n",
               error.what());
    return false;
  }
}

}  // namespace

ListedModule list_module(const ListingQuestion& question, const std::filesystem::path& folder) {
  TorchTwin torch = needed_torch_twin(question.torch, {}, kUnmeasured);
  std::string card = card_of(question.gpu);
  bool is_pretended = pretends(torch, card);
  std::string failure;  // on a pretended GPU
  if (!is_pretended && question.precision == "fp16") {
    fail(ErrorKind::kUsage,
         "--precision=fp16: a gradient scaler is a GPU's: name a python whose torch is built with "
         "CUDA by --with-torch, or use bf16");
  }
  ListedModule listed{
      .file = folder / (short_name(question.source) + ".workload.json"), .facts = {}, .origin = {}};
  const Interrupts interrupts;
  std::int64_t batch = is_pretended ? std::min(question.batch, kMostListedSamples)
                                    : std::min(question.batch, kFewestListedSamples);
  for (;;) {
    try {
      listed.facts = facts_of_module(
          torch, absolute_source(question.source, {}),
          {.batch = batch,
           .backend = is_pretended ? std::string(results::kPretended) + card : "host",
           .precision = question.precision,
           .export_to = listed.file,
           .patience = kListingPatience},
          interrupts);
      break;
    } catch (const Error& error) {
      if (says(error, "no kernel image") && card != kUsualCard) {
        card = kUsualCard;
        torch.environment =
            pretend_variables({.gpus = kGpus, .like = card, .python = torch.python});
      } else if (says(error, "out of memory") && batch > kFewestListedSamples) {
        batch = std::max(batch / kFewerSamples, kFewestListedSamples);
      } else if (is_pretended && question.precision != "fp16" && !says(error, "out of memory") &&
                 error.kind() == ErrorKind::kFailure) {
        is_pretended = false;  // the module may depend on values, which the host has
        torch.environment.clear();
        batch = std::min(batch, kFewestListedSamples);
        failure = error.what();
      } else if (!failure.empty() && step_reason(failure) != step_reason(error.what())) {
        fail(error.kind(), "{}; on the host: {}", failure, error.what());
      } else {
        throw;
      }
    }
  }
  if (!failure.empty()) {
    listed.facts.trouble = "on a pretended GPU, which computes no values, it fails: " + failure;
  }
  listed.origin = fmt::format("{} runs them in {} on {}", torch.name,
                              question.precision.empty() ? "fp32" : question.precision,
                              is_pretended ? "a pretended " + card : std::string("the host"));
  return listed;
}

std::vector<std::string> basis_of(const ListedModule& module) {
  const ModuleFacts& facts = module.facts;
  std::vector<std::string> basis{
      fmt::format("{} of a step: as {}", count_text(facts.kernels, "kernel"), module.origin)};
  if (facts.unused_tensors > 0) {
    basis.push_back(fmt::format(
        "! a step gives {} no gradient, such as {}: ddp is torch's with find_unused_parameters, "
        "which exchanges zeros for them",
        count_text(facts.unused_tensors, "parameter"), facts.unused));
  }
  if (!facts.trouble.empty()) basis.push_back("! " + facts.trouble);
  if (facts.reads > 0) {
    basis.push_back(
        fmt::format("! a step reads {} back, which pretended GPUs do not compute: where its "
                    "control flow depends "
                    "on them, a GPU may run other kernels",
                    count_text(facts.reads, "value")));
  }
  return basis;
}

}  // namespace tandem::cli

// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/launch/torch_module.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <optional>

#include "common/base/error.h"
#include "common/json/fields.h"
#include "common/json/parse.h"
#include "tools/tandem/launch/launch_scratch.h"
#include "tools/tandem/process/child_process.h"
#include "tools/tandem/process/child_reason.h"

namespace tandem::cli {
namespace {

constexpr std::string_view kTwinSays = "step_twin: ";  // begins its errors

// What step_twin prints is the last line that is an object of its own; a user's code may print,
// too.
std::optional<ModuleFacts> facts_in(const std::filesystem::path& log) {
  std::optional<ModuleFacts> facts;
  std::ifstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    const auto json = object_in(line, log.string());
    if (!json || !json->root().has("own_optimizer")) continue;
    const JsonValue root = json->root();
    facts = {.name = std::string(root.at("module").text()),
             .unused = std::string(root.at("unused").text()),
             .has_optimizer = root.at("own_optimizer").boolean(),
             .optimizer = value_or(root, "optimizer", std::string())};
  }
  return facts;
}

std::vector<std::string> about_words(const std::string& source, const ModuleStep& step) {
  std::vector<std::string> words{"--about", "--module=" + source,
                                 fmt::format("--batch={}", step.batch),
                                 "--backend=" + step.backend};
  if (!step.export_to.empty()) words.push_back("--export=" + step.export_to.string());
  return words;
}

}  // namespace

ModuleFacts facts_of_module(const TorchTwin& twin, const std::string& source,
                            const ModuleStep& step, const Interrupts& interrupts) {
  const TemporaryFolder folder;
  const TwinQuestion question{.words = about_words(source, step),
                              .what = "trying " + source,
                              .log = folder.path() / "about.log",
                              .patience = step.patience};
  // Torch alone takes seconds to load; where nobody waits at a terminal, an error is one line.
  if (::isatty(STDERR_FILENO) == 1) fmt::print(stderr, "{}: a step on one device\n", question.what);
  const ChildResult child = ask_torch(twin, question, interrupts);
  const std::optional<ModuleFacts> facts =
      child.has_exited(0) ? facts_in(question.log) : std::nullopt;
  if (facts) return *facts;
  const bool is_usage = child.has_exited(kUsageExit);
  std::string reason = reason_of(child, question.what, step.patience);
  if (child.end == ChildResult::End::kTimedOut) {
    reason += ": see where its code waits, or give more by --launch-timeout";
  }
  if (reason.starts_with(kTwinSays)) reason.erase(0, kTwinSays.size());
  fail(is_usage ? ErrorKind::kUsage : ErrorKind::kFailure, "{}", reason);
}

std::string short_name(const std::string& source) {
  const std::string where = source.substr(0, source.rfind(':'));
  if (where.ends_with(".py")) return std::filesystem::path(where).stem().string();
  return where.substr(where.rfind('.') + 1);
}

std::string absolute_source(const std::string& source, const std::filesystem::path& folder) {
  const std::size_t mark = source.rfind(':');
  if (mark == std::string::npos || !std::string_view(source).substr(0, mark).ends_with(".py")) {
    return source;
  }
  const std::filesystem::path file = std::filesystem::absolute(folder / source.substr(0, mark));
  return file.lexically_normal().string() + source.substr(mark);
}

}  // namespace tandem::cli

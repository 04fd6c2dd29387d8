// SPDX-License-Identifier: Apache-2.0
#include "simulate/catalogue/published_errors.h"

#include <fmt/format.h>

#include "common/base/error.h"
#include "common/json/parse.h"
#include "simulate/catalogue/catalogue_texts.h"

namespace tandem {
namespace {

JsonDocument published() {
  return {JsonAuthor::kProgram, catalogue_published(), "the catalogue's published.json"};
}

std::optional<PublishedErrors> errors_in(const JsonValue& rows, std::string_view strategy,
                                         std::string_view gpu) {
  for (const JsonValue& row : rows) {
    if (row.at("strategy").text() != strategy || row.at("gpu").text() != gpu) continue;
    return PublishedErrors{
        .systems = static_cast<int>(row.at("systems").whole(1, 1'000'000)),
        .steps = static_cast<int>(row.at("steps").whole(1, 1'000'000)),
        .mean = row.at("mean").number(),
        .most = row.at("most").number(),
        .half_width = row.at("half_width").number(),
        .most_devices = static_cast<int>(row.at("most_devices").whole(1, 1'000'000))};
  }
  return std::nullopt;
}

}  // namespace

std::string_view kind_of_gpu(std::string_view gpu) {
  const std::size_t last = gpu.rfind(' ');
  const bool has_memory = last != std::string_view::npos && gpu.ends_with("GB");
  return has_memory ? gpu.substr(0, last) : gpu;
}

std::optional<PublishedErrors> errors_on_systems_with(std::string_view strategy,
                                                      std::string_view gpu) {
  return errors_in(published().root().at("like"), strategy, kind_of_gpu(gpu));
}

PublishedErrors errors_elsewhere(std::string_view strategy) {
  const auto found = errors_in(published().root().at("elsewhere"), strategy, "");
  TANDEM_CHECK(found, "a strategy that was never compared");
  return *found;
}

std::string_view origin_of(const InterpreterCosts& costs) {
  return costs.is_of_like ? "as in published steps of dp on such systems"
                          : "as in the mean of published steps of dp on other systems";
}

InterpreterCosts interpreter_costs(std::string_view gpu) {
  const JsonDocument document = published();
  const JsonValue interpreter = document.root().at("interpreter");
  const auto own = interpreter.at("scales").find(kind_of_gpu(gpu));
  InterpreterCosts costs{.factor = (own ? *own : interpreter.at("scale")).number(),
                         .is_of_like = own.has_value()};
  for (const JsonValue& kind : interpreter.at("costs")) {
    const Nanoseconds cost = parse_duration(kind.text(), kind.key());
    costs.text += fmt::format("{}{}:{:.2f}us", costs.text.empty() ? "" : ",", kind.key(),
                              costs.factor * static_cast<double>(cost.count()) / 1e3);
  }
  return costs;
}

}  // namespace tandem

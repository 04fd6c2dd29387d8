// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>
#include <vector>

#include "common/base/text.h"
#include "common/options/strategies.h"
#include "reports/answer/trees.h"

namespace tandem::reports {
namespace {

constexpr const char* kNineInTen = " Intervals hold nine in ten such steps.";

std::string errors_text(const PublishedStanding& standing) {
  const bool are_few = standing.is_like && standing.steps < kFewestForNinety;
  return fmt::format(
      "by {:.1f} % on average, by {:.0f} % at most for {}{} ({}, {}{})", 100 * standing.mean,
      100 * standing.most, standing.strategy, standing.beyond > 0 ? " on several nodes" : "",
      count_text(standing.systems, "system"), count_text(standing.steps, "step"),
      are_few ? ", too few for 90 %: its interval is no narrower than elsewhere" : "");
}

std::string errors_of(const Decisions& decisions, bool of_like) {
  std::vector<std::string> parts;
  for (const PublishedStanding& standing : decisions.standing) {
    const bool is_of_one = standing.strategy == options::name_of(kSingle);
    const bool counts = standing.has_rows && !is_of_one;
    if (standing.is_like == of_like && counts) parts.push_back(errors_text(standing));
  }
  return join(parts, ", ");
}

// What share of steps the intervals of dp and ddp hold; empty where every strategy's own words say.
std::string coverage_of(const Decisions& decisions) {
  int known = 0;
  int shown = 0;
  for (const PublishedStanding& standing : decisions.standing) {
    if (standing.strategy == options::name_of(kSingle)) continue;
    ++shown;
    if (standing.has_rows && standing.steps >= kFewestForNinety) ++known;
  }
  if (known == 0) return "";
  return known == shown ? kNineInTen : " The other intervals hold nine in ten such steps.";
}

}  // namespace

std::string standing_of(const Decisions& decisions) {
  const std::string& in = decisions.precision;
  const std::string begin = "Projected, not measured" + (in.empty() ? "" : ", in " + in) + ".";
  const auto& all = decisions.standing;
  if (all.empty()) {
    return begin + (decisions.knows_single_step ? " The step is the given one."
                                                : " No step like it was ever measured.");
  }
  if (all.size() == 1 && all.front().strategy == options::name_of(kSingle)) {
    return fmt::format("{} On measured steps of {} the method errs {}.{}", begin,
                       all.front().is_like ? "such a GPU" : "other GPUs", errors_text(all.front()),
                       all.front().steps >= kFewestForNinety ? kNineInTen : "");
  }
  const std::string given =
      fmt::format("given their step of one device, {}, the method errs",
                  decisions.knows_single_step ? "as here" : "here an estimate");
  const std::string like = errors_of(decisions, true);
  const std::string others = errors_of(decisions, false);
  const std::string none =
      decisions.options.empty()
          ? ""
          : fmt::format(
                " No published step of ddp has {}: its interval is the widest that steps without "
                "it have.",
                decisions.options.substr(2));
  std::string text = like.empty()
                         ? fmt::format("No {} like yours ({}) was ever compared",
                                       none.empty() ? "system" : "step", decisions.gpu)
                         : fmt::format("On published measurements of systems like this ({}), {} {}",
                                       decisions.gpu, given, like);
  if (!others.empty()) {
    text += like.empty() ? fmt::format("; on others, {} ", given)
                         : "; nothing else was compared there, and on others it errs ";
    text += others;
  }
  return fmt::format("{} {}.{}{}", begin, text, none, coverage_of(decisions));
}

std::string standing_of(const Projection& projection) {
  if (projection.decisions) return standing_of(*projection.decisions);
  const auto errors = error_figures(projection.held_out);
  if (!errors) return "Projected: no measurement stands behind this.";
  return fmt::format(
      "Projected, not measured. On {} measured in {} the method errs by {:.1f} % on average, by "
      "{:.1f} % at most; no other system stands behind this. Intervals hold {} such steps.",
      count_text(errors->cells, "cell"), projection.source, 100 * errors->mean, 100 * errors->most,
      errors->cells < kFewestForNinety ? fmt::format("{} in {}", errors->cells, errors->cells + 1)
                                       : "nine in ten");
}

}  // namespace tandem::reports

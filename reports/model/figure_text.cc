// SPDX-License-Identifier: Apache-2.0
#include "reports/model/figure_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/stats/estimate.h"
#include "reports/text/format.h"

namespace tandem::reports {

bool is_resolved(const Figure& figure) {
  return figure.seconds && stats::is_resolved(*figure.seconds);
}

bool has_sign(const Figure& figure) {
  const bool is_projected = figure.seconds && figure.is_projected && figure.seconds->center != 0;
  return is_projected || is_resolved(figure);
}

std::string milliseconds_text(const Figure& figure) {
  return figure.seconds ? fixed_text(*figure.seconds, 3, "", 1e3) : "no figure";
}

std::string remark(const Figure& figure) {
  if (!figure.seconds) return figure.missing;
  if (figure.is_projected) return kProjected;
  return is_resolved(figure) ? "" : kNotResolved;
}

std::string judged(const Figure& figure) {
  const std::string text = milliseconds_text(figure);
  return remark(figure).empty() ? text : text + ", " + remark(figure);
}

std::string bar(const Figure& figure, double full) {
  constexpr double kWidth = 16;
  if (!figure.seconds || full <= 0) return "";
  const double share = std::abs(figure.seconds->center) / full;
  const auto length = static_cast<std::size_t>(std::lround(kWidth * share));
  const char mark = !has_sign(figure) ? '~' : figure.seconds->center > 0 ? '#' : '-';
  return std::string(std::max<std::size_t>(length, 1), mark);
}

}  // namespace tandem::reports

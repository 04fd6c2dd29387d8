// SPDX-License-Identifier: Apache-2.0
#include "reports/render/charts.h"

#include <fmt/format.h>

#include "reports/model/section_words.h"
#include "reports/render/html_parts.h"
#include "reports/tables/collectives.h"

namespace tandem::reports {

std::string scaling_chart(const std::string& above, const std::string& below) {
  return section_html(
      "scaling", kScalingTitle,
      std::string(kScalingHint) +
          " Bands are 95 % intervals over launches; a hollow "
          "point has none: a single launch, or launches that scatter so much that the interval is "
          "unbounded. Lines join measured points and say nothing in between. Dotted: the ideal, "
          "not "
          "measured. Dashed and hollow with \"modelled\" in the name: holds times that were not "
          "measured. A plus sign: an efficiency above 100 %, likely of a wrong baseline.",
      above + chart_html("scaling-chart", "Scaling curves of all strategies") + below);
}

std::string phase_chart(const std::string& below) {
  return block_html(
      "phases", kPhasesTitle,
      std::string(kPhasesHint) +
          " Blue and grey are work that one device has too: blue forward, loss and "
          "backward, grey input and the update of the parameters. Warm colours and "
          "violet are what parallelism adds; the darkest grey is the remainder, time of "
          "the step that is in no phase.",
      chart_html("phase-chart", "Mean time per phase, stacked, by strategy") + below);
}

std::string memory_chart(const std::string& below) {
  return block_html("memory", kMemoryTitle, kMemoryHint,
                    chart_html("memory-chart", "Peak memory per device, by strategy") + below);
}

std::string wire_chart(const std::string& below) {
  return block_html(
      "collectives", kCollectivesTitle, kCollectivesNote,
      chart_html("wire-chart", "Bus bandwidth over message size, a point per bucket") + below);
}

std::string bucket_chart(const std::string& below) {
  return block_html(
      "buckets", kBucketsTitle,
      std::string(kBucketsHint) + " The right-most point may be one bucket for all gradients.",
      chart_html("bucket-chart", "Median step over bucket size") + below);
}

std::string forest_chart(const PageData& data) {
  if (data.comparisons == 0) return "";
  std::string html = chart_html("forest", "Speed of ddp over speed of dp, with intervals");
  if (data.shown_comparisons < data.comparisons) {
    html += fmt::format(
        "<p class=\"hint cut\">The chart has {} of {} comparisons, those on the "
        "most devices.</p>\n",
        data.shown_comparisons, data.comparisons);
  }
  return html;
}

std::string sample_chart(const PageData& data) {
  if (data.shown_samples == 0) return "";
  std::string hint =
      "A point per timed step, in the order in which they ran, launch beside launch: two clouds "
      "are "
      "two modes, a slope is drift.";
  if (data.shown_samples < data.samples) {
    hint += fmt::format(
        " This page holds {} of {} step times, evenly taken from {} cells; "
        "results.json has all.",
        data.shown_samples, data.samples, data.cells_with_samples);
  }
  return block_html("samples", "Every step", hint,
                    chart_html("sample-chart", "Step time of each sample, by launch"));
}

}  // namespace tandem::reports

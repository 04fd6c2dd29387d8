// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "common/timeline/timeline.h"

namespace tandem::timeline {

// The elements of a picture, in pixels from its upper left corner. Texts are escaped. Not
// thread-safe.
class Svg {
 public:
  explicit Svg(double width) : width_(width) {}

  // Draws a filled box; people who hover over the box see its own text beside the pointer.
  void box(double x, double y, double width, double height, std::string_view fill,
           std::string_view title);
  // Draws an outline alone.
  void frame(double x, double y, double width, double height);
  void line(double x1, double y1, double x2, double y2, std::string_view stroke);
  enum class Anchor { kStart, kMiddle, kEnd };
  void text(double x, double y, std::string_view words, Anchor anchor = Anchor::kStart,
            std::string_view fill = "#1b1e23");

  // Returns the document, whose height holds everything drawn down to `bottom`.
  [[nodiscard]] std::string document(double bottom, std::string_view description) const;

 private:
  double width_;
  std::string body_;
};

// The approximate width of a drawn text.
[[nodiscard]] double width_of(std::string_view words);

// The number of the step whose length is the median of the trace's, the lower one of two. A
// usage error where the trace has no whole step.
[[nodiscard]] int median_step(const Trace& trace);

// One step as an SVG picture: a row of phases for each device, below the row the collectives of
// gradients, each with the part that waited for the last rank; and the three longest waits of 1 %
// of the step or more with their causes, as `tandem profile summary` words the causes. Positions
// are milliseconds from the step's first beginning. Throws a usage error that lists the trace's
// steps where the trace lacks this step.
[[nodiscard]] std::string to_svg(const Trace& trace, int step);

}  // namespace tandem::timeline

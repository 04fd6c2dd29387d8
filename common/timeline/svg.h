// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

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

}  // namespace tandem::timeline

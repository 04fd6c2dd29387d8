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

  // Filled; a text of its own beside the pointer, for people who hover.
  void box(double x, double y, double width, double height, std::string_view fill,
           std::string_view title);
  // An outline alone.
  void frame(double x, double y, double width, double height);
  void line(double x1, double y1, double x2, double y2, std::string_view stroke);
  enum class Anchor { kStart, kMiddle, kEnd };
  void text(double x, double y, std::string_view words, Anchor anchor = Anchor::kStart,
            std::string_view fill = "#1b1e23");

  // The document, of a height that holds what was drawn down to `bottom`.
  [[nodiscard]] std::string document(double bottom, std::string_view description) const;

 private:
  double width_;
  std::string body_;
};

// About how wide a text is drawn.
[[nodiscard]] double width_of(std::string_view words);

}  // namespace tandem::timeline

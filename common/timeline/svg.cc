// SPDX-License-Identifier: Apache-2.0
#include "common/timeline/svg.h"

#include <fmt/format.h>

namespace tandem::timeline {
namespace {

constexpr double kFontSize = 12;

std::string escaped(std::string_view words) {
  std::string text;
  for (const char c : words) {
    switch (c) {
      case '<':
        text += "&lt;";
        break;
      case '>':
        text += "&gt;";
        break;
      case '&':
        text += "&amp;";
        break;
      case '"':
        text += "&quot;";
        break;
      default:
        text += c;
    }
  }
  return text;
}

std::string_view name_of(Svg::Anchor anchor) {
  if (anchor == Svg::Anchor::kStart) return "start";
  return anchor == Svg::Anchor::kMiddle ? "middle" : "end";
}

}  // namespace

double width_of(std::string_view words) {
  constexpr double kOfALetter = 0.58;  // width per font size, in sans-serif fonts
  return static_cast<double>(words.size()) * kFontSize * kOfALetter;
}

void Svg::box(double x, double y, double width, double height, std::string_view fill,
              std::string_view title) {
  body_ += fmt::format(
      "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"><title>{}"
      "</title></rect>\n",
      x, y, width, height, fill, escaped(title));
}

void Svg::frame(double x, double y, double width, double height) {
  body_ += fmt::format(
      "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"none\" "
      "stroke=\"#1b1e23\" stroke-width=\"2\"/>\n",
      x, y, width, height);
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view stroke) {
  body_ +=
      fmt::format("<line x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\" stroke=\"{}\"/>\n",
                  x1, y1, x2, y2, stroke);
}

void Svg::text(double x, double y, std::string_view words, Anchor anchor, std::string_view fill) {
  body_ += fmt::format("<text x=\"{:.2f}\" y=\"{:.2f}\" text-anchor=\"{}\" fill=\"{}\">{}</text>\n",
                       x, y, name_of(anchor), fill, escaped(words));
}

std::string Svg::document(double bottom, std::string_view description) const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" role=\"img\" font-family=\"sans-serif\" font-size=\"{2:.0f}\">\n"
      "<title>{3}</title>\n<defs><pattern id=\"waiting\" width=\"5\" height=\"5\" "
      "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><rect width=\"5\" "
      "height=\"5\" fill=\"#f6dcea\"/><rect width=\"2\" height=\"5\" fill=\"#c2418c\"/></pattern>"
      "</defs>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{4}</svg>\n",
      width_, bottom, kFontSize, escaped(description), body_);
}

}  // namespace tandem::timeline

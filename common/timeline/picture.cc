// SPDX-License-Identifier: Apache-2.0
#include "common/timeline/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <tuple>

#include "common/base/error.h"
#include "common/base/phases.h"
#include "common/base/text.h"
#include "common/timeline/step_view.h"
#include "common/timeline/summary.h"
#include "common/timeline/waits.h"

namespace tandem::timeline {
namespace {

constexpr double kFontSize = 12;

// The approximate width of a drawn text.
double width_of(std::string_view words) {
  constexpr double kOfALetter = 0.58;  // width per font size, in sans-serif fonts
  return static_cast<double>(words.size()) * kFontSize * kOfALetter;
}

// The elements of a picture, in pixels from its upper left corner. Texts are escaped.
class Svg {
 public:
  explicit Svg(double width) : width_(width) {}

  // Draws a filled box; people who hover over the box see its own text beside the pointer.
  void box(double x, double y, double width, double height, std::string_view fill,
           std::string_view title) {
    body_ += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"><title>{}"
        "</title></rect>\n",
        x, y, width, height, fill, markup_escaped(title));
  }

  // Draws an outline alone.
  void frame(double x, double y, double width, double height) {
    body_ += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"none\" "
        "stroke=\"#1b1e23\" stroke-width=\"2\"/>\n",
        x, y, width, height);
  }

  void line(double x1, double y1, double x2, double y2, std::string_view stroke) {
    body_ += fmt::format(
        "<line x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\" stroke=\"{}\"/>\n", x1, y1,
        x2, y2, stroke);
  }

  enum class Anchor { kStart, kMiddle, kEnd };
  void text(double x, double y, std::string_view words, Anchor anchor = Anchor::kStart,
            std::string_view fill = "#1b1e23") {
    body_ +=
        fmt::format("<text x=\"{:.2f}\" y=\"{:.2f}\" text-anchor=\"{}\" fill=\"{}\">{}</text>\n", x,
                    y, name_of(anchor), fill, markup_escaped(words));
  }

  // Returns the document, whose height holds everything drawn down to `bottom`.
  [[nodiscard]] std::string document(double bottom, std::string_view description) const {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
        "width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\" font-family=\"sans-serif\" "
        "font-size=\"{2:.0f}\">\n"
        "<title>{3}</title>\n<defs><pattern id=\"waiting\" width=\"5\" height=\"5\" "
        "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><rect width=\"5\" "
        "height=\"5\" fill=\"#f6dcea\"/><rect width=\"2\" height=\"5\" fill=\"#c2418c\"/></pattern>"
        "</defs>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{4}</svg>\n",
        width_, bottom, kFontSize, markup_escaped(description), body_);
  }

 private:
  static std::string_view name_of(Anchor anchor) {
    if (anchor == Anchor::kStart) return "start";
    return anchor == Anchor::kMiddle ? "middle" : "end";
  }

  double width_;
  std::string body_;
};

constexpr double kWidth = 960;
constexpr double kLeft = 120;  // where the time axis begins
constexpr double kRight = kWidth - 16;
constexpr double kTop = 56;
constexpr double kPhaseRow = 28;  // height of a row
constexpr double kCollectiveRow = 18;
constexpr double kGap = 4;      // gap below the row of phases
constexpr double kApart = 16;   // gap between devices
constexpr double kLine = 18;    // height of a line of text
constexpr double kLeast = 0.4;  // least width of a box
constexpr std::size_t kWaitsDrawn = 3;
constexpr double kShortest = 0.01;  // least share of the step for a wait to be shown
constexpr std::string_view kInk = "#1b1e23";
constexpr std::string_view kSoft = "#5c636e";
constexpr std::string_view kPale = "#dfe1e5";
constexpr std::string_view kTransfer = "#1f6fd1";
constexpr std::string_view kWaiting = "url(#waiting)";

// The replay of a captured step stands for its backward.
std::string_view colour_of(std::string_view phase) {
  const PhaseTraits* const found =
      find_phase(phase == "replay" ? name_of(Phase::kBackward) : phase);
  return found == nullptr ? "#555b66" : found->colour;
}

// Whether "#rrggbb" is light, by the luma weights of Rec. 601.
bool is_light(std::string_view fill) {
  const auto part = [fill](std::size_t at) {
    return std::stoi(std::string(fill.substr(at, 2)), nullptr, 16);
  };
  return 0.299 * part(1) + 0.587 * part(3) + 0.114 * part(5) > 130;
}

// The distance of ticks: 1, 2 or 5 times a power of ten, so that at most ten ticks stand on the
// axis.
double tick_of(double whole) {
  const double least = whole / 10;
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least) return factor * power;
  }
  return 10 * power;
}

class Painter {
 public:
  Painter(const Trace& trace, const StepView& step) : trace_(trace), step_(step), svg_(kWidth) {}

  std::string paint() {
    const std::vector<Wait> waits = waits_worth_a_word();
    draw_title();
    for (const DeviceStep& device : step_.devices) draw_device(device, waits);
    draw_axis();
    draw_legend();
    for (std::size_t i = 0; i < waits.size(); ++i) draw_cause(waits[i], letter(i));
    if (waits.empty()) draw_line("No device waited for 1 % of the step or longer.");
    return svg_.document(y_, title());
  }

 private:
  static std::string letter(std::size_t index) {
    return std::string(1, static_cast<char>('A' + static_cast<int>(index)));
  }

  [[nodiscard]] std::vector<Wait> waits_worth_a_word() const {
    std::vector<Wait> waits = longest_waits({step_}, kWaitsDrawn);
    std::erase_if(waits, [&](const Wait& one) {
      return Seconds(one.length) < kShortest * Seconds(step_.end - step_.begin);
    });
    return waits;
  }

  [[nodiscard]] double x(Nanoseconds time) const {
    const double share = Seconds(time - step_.begin) / Seconds(step_.end - step_.begin);
    return kLeft + share * (kRight - kLeft);
  }

  [[nodiscard]] std::string title() const {
    return fmt::format("{}: step {}, {:.3f} ms", subject_of(trace_), step_.step,
                       milliseconds(step_.end - step_.begin));
  }

  void draw_title() {
    svg_.text(16, 24, title());
    y_ = kTop;
  }

  void draw_device(const DeviceStep& device, const std::vector<Wait>& waits) {
    svg_.text(16, y_ + kPhaseRow / 2 + 4,
              fmt::format("rank {}, device {}", device.rank, device.device));
    for (const Slice* const phase : device.phases) draw_phase(*phase);
    for (std::size_t i = 0; i < waits.size(); ++i) {
      if (waits[i].rank == device.rank && waits[i].device == device.device)
        mark(waits[i], letter(i));
    }
    y_ += kPhaseRow;
    if (!device.collectives.empty()) draw_collectives(device);
    y_ += kApart;
  }

  void draw_box(Nanoseconds begin, Nanoseconds end, double height, std::string_view fill,
                const std::string& name) {
    const double wide = std::max(kLeast, x(end) - x(begin));
    svg_.box(x(begin), y_, wide, height, fill,
             fmt::format("{}: {:.3f} ms", name, milliseconds(end - begin)));
    if (width_of(name) + 4 > wide || fill == kWaiting) return;
    svg_.text(x(begin) + wide / 2, y_ + height / 2 + 4, name, Svg::Anchor::kMiddle,
              is_light(fill) ? kInk : "#ffffff");
  }

  void draw_phase(const Slice& phase) {
    draw_box(phase.begin, phase.end, kPhaseRow, colour_of(phase.name), phase.name);
    if (std::ranges::find(shown_, phase.name) == shown_.end()) shown_.push_back(phase.name);
  }

  void mark(const Wait& wait, const std::string& name) {
    const Nanoseconds begin = step_.begin + wait.begin;
    const double wide = x(begin + wait.length) - x(begin);
    svg_.frame(x(begin), y_, std::max(2.0, wide), kPhaseRow);
    svg_.text(x(begin) + wide / 2, y_ - 4, name, Svg::Anchor::kMiddle);
  }

  void draw_collectives(const DeviceStep& device) {
    svg_.text(kLeft - 8, y_ + kGap + kCollectiveRow / 2 + 4, "collectives", Svg::Anchor::kEnd,
              kSoft);
    for (const Slice* const one : device.collectives) draw_arrows(device, *one);
    y_ += kGap;
    for (const Slice* const one : device.collectives) draw_collective(*one);
    y_ += kCollectiveRow;
  }

  // Draws arrows from where the bucket's gradients were ready, and to where compute went on with
  // the reduced bucket.
  void draw_arrows(const DeviceStep& device, const Slice& collective) {
    const auto bucket = device.buckets.find(collective.index);
    if (bucket == device.buckets.end()) return;
    const auto& [ready, back] = std::tie(bucket->second->ready, bucket->second->back);
    if (ready) svg_.line(x(*ready), y_, x(collective.begin), y_ + kGap, kSoft);
    if (back) svg_.line(x(collective.end), y_ + kGap, x(*back), y_, kSoft);
  }

  void draw_collective(const Slice& one) {
    const Nanoseconds waited = one.arrival ? one.arrival->waited : Nanoseconds{0};
    const Nanoseconds met = std::clamp(one.begin + waited, one.begin, one.end);
    const std::string name =
        one.index >= 0 ? fmt::format("bucket {}", one.index) : std::string(one.name);
    if (met > one.begin) draw_box(one.begin, met, kCollectiveRow, kWaiting, name + " waits");
    draw_box(met, one.end, kCollectiveRow, kTransfer, name);
    has_collectives_ = true;
  }

  void draw_axis() {
    const double whole = milliseconds(step_.end - step_.begin);
    const double tick = tick_of(whole);
    y_ -= kApart - kGap;
    svg_.line(kLeft, y_, kRight, y_, kPale);
    for (int i = 0; i * tick <= whole; ++i) {
      const double at = kLeft + i * tick / whole * (kRight - kLeft);
      svg_.line(at, y_, at, y_ + kGap, kPale);
      svg_.text(at, y_ + kLine, fmt::format("{:g}{}", i * tick, i == 0 ? " ms" : ""),
                Svg::Anchor::kMiddle, kSoft);
    }
    y_ += 2 * kLine;
  }

  void draw_legend() {
    double at = 16;
    const auto entry = [&](std::string_view fill, std::string_view name) {
      const double wide = width_of(name) + 36;
      if (at + wide > kRight) {
        at = 16;
        y_ += kLine;
      }
      svg_.box(at, y_ - 10, 12, 12, fill, name);
      svg_.text(at + 18, y_, name, Svg::Anchor::kStart, kSoft);
      at += wide;
    };
    for (const std::string& name : shown_) entry(colour_of(name), name);
    if (has_collectives_) {
      entry(kWaiting, "collective waits for the last rank");
      entry(kTransfer, "collective");
    }
    y_ += kLine + kGap;
  }

  void draw_cause(const Wait& wait, const std::string& name) {
    draw_line(fmt::format("{}: {:.3f} ms in {}: {}", name, milliseconds(wait.length), wait.phase,
                          wait.cause));
  }

  void draw_line(std::string_view words) {
    svg_.text(16, y_, words);
    y_ += kLine;
  }

  const Trace& trace_;
  const StepView& step_;
  Svg svg_;
  double y_ = 0;  // the lower edge of the drawing so far
  std::vector<std::string> shown_;
  bool has_collectives_ = false;
};

std::vector<StepView> whole_steps(const Trace& trace) {
  std::vector<StepView> steps = steps_of(trace);
  if (steps.empty()) {
    fail(ErrorKind::kUsage, "the trace holds no whole step: record one with step_bench trace");
  }
  return steps;
}

}  // namespace

int median_step(const Trace& trace) {
  std::vector<StepView> steps = whole_steps(trace);
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>((steps.size() - 1) / 2);
  std::ranges::nth_element(steps, middle, {},
                           [](const StepView& one) { return one.end - one.begin; });
  return middle->step;
}

std::string to_svg(const Trace& trace, int step) {
  const std::vector<StepView> steps = whole_steps(trace);
  const auto found = std::ranges::find(steps, step, &StepView::step);
  if (found == steps.end()) {
    fail(ErrorKind::kUsage, "there is no step {} in the trace, which holds {} to {}", step,
         steps.front().step, steps.back().step);
  }
  return Painter(trace, *found).paint();
}

}  // namespace tandem::timeline

// SPDX-License-Identifier: Apache-2.0
#include "common/base/units.h"

#include <array>
#include <charconv>
#include <cmath>

#include "common/base/error.h"

namespace tandem {

namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array kByteUnits{
    Unit{"B", 1},    Unit{"kB", 1e3},     Unit{"KB", 1e3},      Unit{"MB", 1e6},
    Unit{"GB", 1e9}, Unit{"KiB", 1024.0}, Unit{"MiB", 1 << 20}, Unit{"GiB", 1024.0 * (1 << 20)}};
constexpr std::array kTimeUnits{Unit{"ns", 1},    Unit{"us", 1e3}, Unit{"ms", 1e6},
                                Unit{"s", 1e9},   Unit{"m", 60e9}, Unit{"min", 60e9},
                                Unit{"h", 3600e9}};
constexpr std::array kBandwidthUnits{Unit{"KBps", 1e3}, Unit{"MBps", 1e6}, Unit{"GBps", 1e9},
                                     Unit{"TBps", 1e12}};
constexpr std::array kFlopsUnits{Unit{"MFLOPS", 1e6}, Unit{"GFLOPS", 1e9}, Unit{"TFLOPS", 1e12},
                                 Unit{"PFLOPS", 1e15}};

// The number of `text` times its unit's factor; negative where the text is not a number with a
// unit.
template <std::size_t N>
double scaled(std::string_view text, const std::array<Unit, N>& units) {
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !std::isfinite(number)) return -1;
  const std::string_view name = text.substr(static_cast<std::size_t>(rest - text.data()));
  for (const Unit& unit : units) {
    if (unit.name == name) return number * unit.factor;
  }
  return -1;
}

// The units' names for a message: "ns, us, ms or s".
template <std::size_t N>
std::string names_of(const std::array<Unit, N>& units) {
  std::string names;
  for (std::size_t i = 0; i < N; ++i) {
    names += fmt::format("{}{}", i == 0 ? "" : i + 1 == N ? " or " : ", ", units[i].name);
  }
  return names;
}

template <std::size_t N>
double parse_above_zero(std::string_view text, std::string_view what,
                        const std::array<Unit, N>& units, std::string_view quantity,
                        std::string_view example) {
  const double value = scaled(text, units);
  if (value > 0) return value;
  fail(ErrorKind::kUsage, "{}: '{}' is no {}: give a number above 0 with its unit ({}), such as {}",
       what, text, quantity, names_of(units), example);
}

}  // namespace

Bytes parse_bytes(std::string_view text, std::string_view what) {
  const double value = scaled(text, kByteUnits);
  if (value < 0 || value > 9e18) {
    fail(ErrorKind::kUsage, "{}: '{}' is no size: give a number with its unit ({}), such as 25MiB",
         what, text, names_of(kByteUnits));
  }
  return Bytes{static_cast<std::int64_t>(std::llround(value))};
}

Nanoseconds parse_duration(std::string_view text, std::string_view what) {
  const double value = scaled(text, kTimeUnits);
  if (value < 0 || value > 9e18) {
    fail(ErrorKind::kUsage,
         "{}: '{}' is no duration: give a number with its unit ({}), such as 500ms", what, text,
         names_of(kTimeUnits));
  }
  return Nanoseconds{std::llround(value)};
}

double parse_bandwidth(std::string_view text, std::string_view what) {
  return parse_above_zero(text, what, kBandwidthUnits, "bandwidth", "300GBps");
}

double parse_flops(std::string_view text, std::string_view what) {
  return parse_above_zero(text, what, kFlopsUnits, "speed", "19.5TFLOPS");
}

double parse_percentage(std::string_view text, std::string_view what) {
  const std::size_t digits = text.ends_with('%') ? text.size() - 1 : 0;
  const auto percent = parse_number<double>(text.substr(0, digits));
  if (percent && *percent >= 0 && *percent <= 100) return *percent / 100;
  fail(ErrorKind::kUsage, "{} is '{}': give a percentage from 0% to 100%, such as 3%", what, text);
}

std::string to_string(Bytes bytes) {
  const auto value = static_cast<double>(bytes.value);
  if (bytes < kib(1)) return fmt::format("{} B", bytes.value);
  if (bytes < mib(1)) return fmt::format("{:.1f} KiB", value / 1024);
  if (bytes < gib(1)) return fmt::format("{:.1f} MiB", value / (1 << 20));
  return fmt::format("{:.1f} GiB", value / (1 << 30));
}

std::string to_string(Seconds seconds) {
  const double value = seconds.count();
  const double size = std::abs(value);
  if (size < 1e-6) return fmt::format("{:.0f} ns", value * 1e9);
  if (size < 1e-3) return fmt::format("{:.3g} us", value * 1e6);
  if (size < 1) return fmt::format("{:.4g} ms", value * 1e3);
  return fmt::format("{:.4g} s", value);
}

}  // namespace tandem

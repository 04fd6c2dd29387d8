// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace tandem {

// CLOCK_MONOTONIC: one clock for all threads and processes of a node, so that times taken by
// different ranks of one node may be subtracted.
using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;
using Nanoseconds = std::chrono::nanoseconds;
using Seconds = std::chrono::duration<double>;

// A number of bytes. Element counts are plain std::int64_t, so bytes and elements never mix by
// accident.
struct Bytes {
  std::int64_t value = 0;

  constexpr auto operator<=>(const Bytes&) const = default;
  constexpr Bytes& operator+=(Bytes other) {
    value += other.value;
    return *this;
  }
  constexpr Bytes& operator-=(Bytes other) {
    value -= other.value;
    return *this;
  }
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return Bytes{a.value + b.value}; }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return Bytes{a.value - b.value}; }
  friend constexpr Bytes operator*(Bytes a, std::int64_t n) { return Bytes{a.value * n}; }
};

constexpr Bytes kib(std::int64_t n) { return Bytes{n << 10}; }
constexpr Bytes mib(std::int64_t n) { return Bytes{n << 20}; }
constexpr Bytes gib(std::int64_t n) { return Bytes{n << 30}; }

// The bytes of `count` elements.
template <class T>
[[nodiscard]] constexpr Bytes bytes_of(std::int64_t count) {
  return Bytes{count * static_cast<std::int64_t>(sizeof(T))};
}

// Parses "25MiB", "1GB" (10^9), "512B"; a unit is required. Throws a usage error naming `what`.
[[nodiscard]] Bytes parse_bytes(std::string_view text, std::string_view what);

// Parses "8us", "1.5ms", "2s", "30m", "1.5h"; a unit is required. Throws a usage error naming
// `what`.
[[nodiscard]] Nanoseconds parse_duration(std::string_view text, std::string_view what);

// Parses "300GBps" (10^9 bytes per second), above 0, as bytes per second; a unit is required.
// Throws a usage error naming `what`.
[[nodiscard]] double parse_bandwidth(std::string_view text, std::string_view what);

// Parses "19.5TFLOPS", above 0, as FLOP per second; a unit is required. Throws a usage error naming
// `what`.
[[nodiscard]] double parse_flops(std::string_view text, std::string_view what);

// Parses "3%", from 0% to 100%, as 0.03. Throws a usage error naming `what`.
[[nodiscard]] double parse_percentage(std::string_view text, std::string_view what);

// A text for people: "16.0 MiB", "12.3 ms".
[[nodiscard]] std::string to_string(Bytes bytes);
[[nodiscard]] std::string to_string(Seconds seconds);

// The number that takes up all of `text`, in any locale; nothing where `text` is not a number of
// this type or has further characters.
template <class Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return number;
}

}  // namespace tandem

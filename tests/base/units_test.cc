// SPDX-License-Identifier: Apache-2.0
#include "common/base/units.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "common/base/error.h"

namespace tandem {
namespace {

using std::chrono::milliseconds;

// The usage error that `parse` throws for `text`; empty where it takes the text.
template <class Parse>
std::string refusal(Parse parse, std::string_view text) {
  const auto error = capture_error([&] { static_cast<void>(parse(text, "--option")); });
  EXPECT_TRUE(!error || error->kind() == ErrorKind::kUsage);
  return error ? error->what() : "";
}

TEST(ParseBytes, KnowsBinaryAndDecimalUnits) {
  EXPECT_EQ(parse_bytes("512B", "size"), Bytes{512});
  EXPECT_EQ(parse_bytes("64KiB", "size"), kib(64));
  EXPECT_EQ(parse_bytes("25MiB", "size"), mib(25));
  EXPECT_EQ(parse_bytes("2GiB", "size"), gib(2));
  EXPECT_EQ(parse_bytes("1kB", "size"), Bytes{1'000});
  EXPECT_EQ(parse_bytes("1MB", "size"), Bytes{1'000'000});
  EXPECT_EQ(parse_bytes("1GB", "size"), Bytes{1'000'000'000});
}

TEST(ParseBytes, TakesFractionsAndZero) {
  EXPECT_EQ(parse_bytes("0.5MiB", "size"), kib(512));
  EXPECT_EQ(parse_bytes("0B", "size"), Bytes{0});
}

TEST(ParseBytes, RefusesWhatIsNoSize_NamingOptionAndText) {
  for (const std::string_view text :
       {"", "25", "MiB", "25mib", "25 MiB", "-1B", "nanB", "infB", "25MiBx", "1e30GiB"}) {
    const std::string message = refusal(parse_bytes, text);
    EXPECT_NE(message.find("--option: '" + std::string(text) + "'"), std::string::npos) << text;
    EXPECT_NE(message.find("(B, kB, KB, MB, GB, KiB, MiB or GiB)"), std::string::npos) << message;
  }
}

TEST(ParseDuration, KnowsItsUnits) {
  EXPECT_EQ(parse_duration("100ns", "time"), Nanoseconds{100});
  EXPECT_EQ(parse_duration("8us", "time"), std::chrono::microseconds(8));
  EXPECT_EQ(parse_duration("1.5ms", "time"), std::chrono::microseconds(1500));
  EXPECT_EQ(parse_duration("2s", "time"), std::chrono::seconds(2));
  EXPECT_EQ(parse_duration("20m", "time"), std::chrono::minutes(20));
  EXPECT_EQ(parse_duration("20min", "time"), std::chrono::minutes(20));
  EXPECT_EQ(parse_duration("1.5h", "time"), std::chrono::minutes(90));
}

TEST(ParseDuration, RefusesWhatIsNoDuration) {
  for (const std::string_view text : {"", "8", "us", "8 us", "-8us", "8d", "1e20s"}) {
    EXPECT_NE(refusal(parse_duration, text).find("(ns, us, ms, s, m, min or h)"), std::string::npos)
        << text;
  }
}

TEST(ParseBandwidth, KnowsItsUnits_AndRefusesWhatIsNone) {
  EXPECT_DOUBLE_EQ(parse_bandwidth("300GBps", "link"), 300e9);
  EXPECT_DOUBLE_EQ(parse_bandwidth("2.039TBps", "link"), 2.039e12);
  for (const std::string_view text : {"", "300", "300GB", "0GBps", "-1GBps", "300GiBps"}) {
    EXPECT_NE(refusal(parse_bandwidth, text).find("is no bandwidth"), std::string::npos) << text;
  }
}

TEST(ParseFlops, KnowsItsUnits_AndRefusesWhatIsNone) {
  EXPECT_DOUBLE_EQ(parse_flops("19.5TFLOPS", "fp32"), 19.5e12);
  EXPECT_DOUBLE_EQ(parse_flops("1PFLOPS", "bf16"), 1e15);
  for (const std::string_view text : {"", "19.5", "19.5TFLOP", "0TFLOPS", "19.5 TFLOPS"}) {
    EXPECT_NE(refusal(parse_flops, text).find("is no speed"), std::string::npos) << text;
  }
}

TEST(Bytes, CompareAndAddUp) {
  EXPECT_LT(kib(1), mib(1));
  EXPECT_EQ(kib(1) + kib(1), kib(2));
  EXPECT_EQ(mib(1) - kib(512), kib(512));
  EXPECT_EQ(kib(3) * 2, kib(6));
}

TEST(ToString, ShowsBytesInTheUnitThatFits) {
  EXPECT_EQ(to_string(Bytes{0}), "0 B");
  EXPECT_EQ(to_string(Bytes{1023}), "1023 B");
  EXPECT_EQ(to_string(kib(1)), "1.0 KiB");
  EXPECT_EQ(to_string(mib(16)), "16.0 MiB");
  EXPECT_EQ(to_string(gib(3)), "3.0 GiB");
}

TEST(ToString, ShowsTimesInTheUnitThatFits) {
  EXPECT_EQ(to_string(Seconds(12e-9)), "12 ns");
  EXPECT_EQ(to_string(Seconds(1.5e-6)), "1.5 us");
  EXPECT_EQ(to_string(Seconds(milliseconds(12))), "12 ms");
  EXPECT_EQ(to_string(Seconds(0.01234)), "12.34 ms");
  EXPECT_EQ(to_string(Seconds(2)), "2 s");
  EXPECT_EQ(to_string(Seconds(-0.002)), "-2 ms");
}

}  // namespace
}  // namespace tandem

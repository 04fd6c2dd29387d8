// SPDX-License-Identifier: Apache-2.0
#include "bench/observe/profiled_samples.h"

#include <gtest/gtest.h>

#include <string>

namespace tandem::bench {
namespace {

// What a profiler with a switch would see of a launch of five samples, of which `captured` are
// captured: ( and ) are its switch, w the warm-up, s a sample.
std::string seen(int captured) {
  std::string calls;
  ProfiledSamples samples(
      nullptr, {.start = [&calls] { calls += '('; }, .stop = [&calls] { calls += ')'; }}, captured);
  samples.warm_up([&calls] { calls += 'w'; });
  for (int i = 0; i < 5; ++i) samples.sample([&calls] { calls += 's'; });
  return calls;
}

TEST(ProfiledSamples, TheFirstSteadyOnesAreCaptured_Once) {
  EXPECT_EQ(seen(1), "w(s)ssss");
  EXPECT_EQ(seen(2), "w(ss)sss");
  EXPECT_EQ(seen(5), "w(sssss)");
}

TEST(ProfiledSamples, NoneIsCapturedUnasked) { EXPECT_EQ(seen(0), "wsssss"); }

TEST(ProfiledSamples, HostHasNoSwitch) {
  const ProfilerSwitch host = profiler_switch(Backend::kHost);
  EXPECT_FALSE(host.start);
  EXPECT_FALSE(host.stop);
  ProfiledSamples samples(nullptr, host, 1);
  int taken = 0;
  samples.sample([&taken] { ++taken; });
  EXPECT_EQ(taken, 1);
}

}  // namespace
}  // namespace tandem::bench

// SPDX-License-Identifier: Apache-2.0
// Against what SciPy makes of the same samples (make_scipy_values.py).
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "common/stats/comparison.h"
#include "common/stats/estimate.h"
#include "common/stats/steadiness.h"
#include "common/stats/summary.h"
#include "tests/stats/scipy_values.h"

namespace tandem::stats {
namespace {

using Json = nlohmann::json;
using Values = std::vector<double>;

constexpr double kDigits = 1e-9;  // relative; SciPy's Student's t has no more

const Json& cases(const char* name) {
  static const Json* const all = new Json(Json::parse(scipy_values()));
  return all->at(name);
}

Values values_of(const Json& json, const char* field) { return json.at(field).get<Values>(); }

double number(const Json& json, const char* field) { return json.at(field).get<double>(); }

void expect_near(double found, double expected, double digits = kDigits) {
  EXPECT_NEAR(found, expected, digits * std::abs(expected));
}

// Where the case has no interval there must be none.
void expect_interval(const Estimate& found, const Json& json) {
  if (json.contains("center")) expect_near(found.center, number(json, "center"));
  ASSERT_EQ(found.interval.has_value(), json.contains("low"));
  if (!found.interval) return;
  expect_near(found.interval->low, number(json, "low"));
  expect_near(found.interval->high, number(json, "high"));
}

TEST(Scipy, Summaries) {
  for (const Json& json : cases("summaries")) {
    Values values = values_of(json, "values");
    if (values.empty()) {
      for (int i = 0; i < 1200; ++i) values.push_back((7919 * i) % 1013 + 1);
    }
    expect_near(median(values), number(json, "median"));
    expect_near(percentile(values, 95), number(json, "p95"));
    ASSERT_EQ(percentile_99(values).has_value(), json.contains("p99"));
    if (json.contains("p99")) expect_near(*percentile_99(values), number(json, "p99"));
  }
}

TEST(Scipy, NormalDistribution) {
  for (const Json& json : cases("normal")) {
    expect_near(normal_cdf(number(json, "z")), number(json, "below"));
    EXPECT_NEAR(normal_quantile(number(json, "below")), number(json, "z"), 1e-9);
  }
}

TEST(Scipy, IntervalByT) {
  for (const Json& json : cases("t")) {
    expect_interval(center_by_t(values_of(json, "values")), json);
  }
}

TEST(Scipy, RatioByT_OfEqualNumbersAndUnequalOnes) {
  for (const Json& json : cases("ratios")) {
    expect_interval(
        ratio_by_t(values_of(json, "a"), values_of(json, "b"), number(json, "confidence")), json);
  }
}

TEST(Scipy, KendallAndTheilSen) {
  for (const Json& json : cases("trends")) {
    const Values values = values_of(json, "values");
    expect_near(trend(values).tau, number(json, "tau"));
    expect_near(trend(values).p, number(json, "p"));
    expect_near(median_slope(values), number(json, "slope"), 1e-8);
  }
}

}  // namespace
}  // namespace tandem::stats

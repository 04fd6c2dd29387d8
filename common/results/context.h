// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

namespace tandem::results {

// The facts of a run that Google Benchmark's JSON has in `context`, by its field names.
struct Context {
  struct Cache {
    std::string type;  // "Data", "Instruction", "Unified"
    int level = 0;
    long long size = 0;  // bytes
    int num_sharing = 0;
  };

  std::string date;  // ISO 8601, local time with its offset
  std::string host_name;
  std::string executable;
  int num_cpus = 0;
  int mhz_per_cpu = 0;
  bool cpu_scaling_enabled = false;
  std::vector<Cache> caches;
  std::vector<double> load_avg;
  std::string library_build_type;             // this program's build: "release" or "debug"
  std::map<std::string, std::string> custom;  // further keys, strings as in Google Benchmark
};

// The context as this process sees it now.
[[nodiscard]] Context gather_context(const std::string& executable);

}  // namespace tandem::results

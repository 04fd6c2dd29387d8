// SPDX-License-Identifier: Apache-2.0
//
// Descriptors of cuDNN's graph interface: typed bags of attributes. An attribute that is a
// descriptor shares the other one's contents, as cuDNN keeps what was finalised.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tandem::pretend {

struct BackendContents;
using SharedContents = std::shared_ptr<BackendContents>;  // descriptors that name each other share

struct BackendValue {
  int64_t count = 0;
  std::vector<char> bytes{};
  std::vector<SharedContents> children{};
};

struct BackendContents {
  int type = 0;
  std::map<int, BackendValue> values{};
  const char* operations = nullptr;  // of a finalised plan: JSON, lives as long as the process

  [[nodiscard]] SharedContents child(int attribute) const;
  [[nodiscard]] std::vector<int64_t> numbers(int attribute) const;  // of 8 bytes each
  void set_number(int attribute, int64_t value);
  void set_child(int attribute, SharedContents child);
};

// What a handle of cuDNN points to.
struct BackendDescriptor {
  SharedContents contents;
};

[[nodiscard]] int64_t element_bytes(int element);

// The operations of a graph as JSON: convolutions with shapes and type, others by name.
[[nodiscard]] std::string describe_operations(const BackendContents& graph);

}  // namespace tandem::pretend

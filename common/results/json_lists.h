// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/results/json_values.h"

// Private to results: lists, element by element.
namespace tandem::results {

template <class T>
Json list_to_json(const std::vector<T>& values, Json (*write)(const T&)) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(write(value));
  return list;
}

template <class T>
std::vector<T> list_from(const Json& object, const char* field, T (*read)(const Json&)) {
  std::vector<T> values;
  for (const Json& element : value_or(object, field, Json::array())) {
    values.push_back(read(element));
  }
  return values;
}

}  // namespace tandem::results

// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/precision.h"

#include "common/base/error.h"

namespace tandem {

std::string_view name_of(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return "fp32";
    case Precision::kTf32:
      return "tf32";
    case Precision::kBf16:
      return "bf16";
  }
  return "";
}

Precision parse_precision(std::string_view text, std::string_view flag) {
  for (const Precision precision : kPrecisions) {
    if (name_of(precision) == text) return precision;
  }
  fail(ErrorKind::kUsage, "{}: '{}' is not known: use one of fp32, tf32, bf16", flag, text);
}

}  // namespace tandem

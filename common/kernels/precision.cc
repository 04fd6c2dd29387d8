// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/precision.h"

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

}  // namespace tandem

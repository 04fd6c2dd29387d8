// SPDX-License-Identifier: Apache-2.0
#include "ddp/compression/make_communication_hook.h"

#include "ddp/compression/half_compression.h"
#include "ddp/compression/power_sgd.h"

namespace tandem::ddp {

std::unique_ptr<CommunicationHook> make_communication_hook(const CompressionOptions& options,
                                                           Device& device,
                                                           Communicator& communicator) {
  switch (options.compression) {
    case Compression::kNone:
      return nullptr;
    case Compression::kBFloat16:
      return std::make_unique<HalfCompression>(DType::kBFloat16, device, communicator);
    case Compression::kFloat16:
      return std::make_unique<HalfCompression>(DType::kFloat16, device, communicator);
    case Compression::kPowerSgd:
      return std::make_unique<PowerSgd>(options.power_sgd, device, communicator);
  }
  fail(ErrorKind::kLogic, "no such compression");
}

}  // namespace tandem::ddp

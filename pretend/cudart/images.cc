// SPDX-License-Identifier: Apache-2.0
#include "pretend/cudart/images.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "pretend/core/settings.h"

namespace tandem::pretend {
namespace {

constexpr uint32_t kRegisteredMagic = 0x466243b1;
constexpr uint32_t kBinaryMagic = 0xba55ed50;

struct Registered {
  uint32_t magic;
  uint32_t version;
  const char* binary;
};

// A fat binary is this header and its images, each behind a header of its own.
struct BinaryHeader {
  uint32_t magic;
  uint16_t version;
  uint16_t header_bytes;
  uint64_t bytes;
};

struct ImageHeader {
  uint16_t kind;  // 1: PTX, which newer GPUs compile; 2: code, for GPUs of one major version
  uint16_t version;
  uint32_t header_bytes;
  uint64_t bytes;
  uint32_t others[3];
  uint32_t capability;
};

template <typename Header>
Header read(const char* from) {
  Header header;
  std::memcpy(&header, from, sizeof header);
  return header;
}

bool runs(const ImageHeader& image, uint32_t card) {
  const bool is_ptx = image.kind == 1;
  return image.capability <= card && (is_ptx || image.capability / 10 == card / 10);
}

}  // namespace

int image_version(const void* registered) {
  const auto card = static_cast<uint32_t>(settings().card->major * 10 + settings().card->minor);
  const auto given = read<Registered>(static_cast<const char*>(registered));
  if (given.magic != kRegisteredMagic || read<BinaryHeader>(given.binary).magic != kBinaryMagic) {
    return static_cast<int>(card);
  }
  const auto header = read<BinaryHeader>(given.binary);
  const char* at = given.binary + header.header_bytes;
  const char* const end = at + header.bytes;
  uint32_t newest = 0;
  while (at < end) {
    const auto image = read<ImageHeader>(at);
    if (runs(image, card)) newest = std::max(newest, image.capability);
    at += image.header_bytes + image.bytes;
  }
  return static_cast<int>(newest);
}

}  // namespace tandem::pretend

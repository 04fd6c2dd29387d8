// SPDX-License-Identifier: Apache-2.0
#include "common/tensor/random.h"

#include <algorithm>

#include "common/base/error.h"
#include "common/base/vector_clones.h"

namespace tandem {

namespace {

// The blocks of four words that are made side by side: a few vectors of each word, and few enough
// for registers.
constexpr int kLanes = 16;
constexpr std::int64_t kTile = std::int64_t{4} * kLanes;

struct Tile {
  std::uint32_t words[4][kLanes];  // indexed by word, then block
};

// Philox of the blocks first_block .. first_block + kLanes - 1, by the same steps as philox4x32()
// (a test compares the two), written over lanes so that the inner loops vectorise.
[[gnu::always_inline]] inline void philox_tile(std::uint64_t first_block, PhiloxKey key,
                                               Tile& tile) {
  auto& w = tile.words;
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::uint64_t block = first_block + static_cast<std::uint64_t>(lane);
    w[0][lane] = philox::low(block);
    w[1][lane] = philox::high(block);
    w[2][lane] = 0;
    w[3][lane] = 0;
  }
  for (int round = 0; round < philox::kRounds; ++round) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const std::uint64_t product0 = std::uint64_t{philox::kMultiplier0} * w[0][lane];
      const std::uint64_t product1 = std::uint64_t{philox::kMultiplier1} * w[2][lane];
      w[0][lane] = philox::high(product1) ^ w[1][lane] ^ key[0];
      w[1][lane] = philox::low(product1);
      w[2][lane] = philox::high(product0) ^ w[3][lane] ^ key[1];
      w[3][lane] = philox::low(product0);
    }
    key[0] += philox::kWeyl0;
    key[1] += philox::kWeyl1;
  }
}

struct Uniform {
  float operator()(std::uint32_t bits) const { return uniform_from_bits(bits); }
};
struct SmallInteger {
  float operator()(std::uint32_t bits) const { return small_integer_from_bits(bits); }
};

template <class Convert>
[[gnu::always_inline]] inline void fill_tiles(float* out, std::int64_t tiles, std::uint64_t seed,
                                              std::uint64_t first_block, float scale,
                                              Convert convert) {
  const PhiloxKey key = philox_key(seed);
  Tile tile;
  for (std::int64_t t = 0; t < tiles; ++t) {
    philox_tile(first_block + static_cast<std::uint64_t>(t * kLanes), key, tile);
    float* to = out + t * kTile;
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int word = 0; word < 4; ++word) {
        to[4 * lane + word] = scale * convert(tile.words[word][lane]);
      }
    }
  }
}

TANDEM_VECTOR_CLONES
void fill_uniform_tiles(float* out, std::int64_t tiles, std::uint64_t seed,
                        std::uint64_t first_block, float scale) {
  fill_tiles(out, tiles, seed, first_block, scale, Uniform{});
}

TANDEM_VECTOR_CLONES
void fill_integer_tiles(float* out, std::int64_t tiles, std::uint64_t seed,
                        std::uint64_t first_block, float scale) {
  fill_tiles(out, tiles, seed, first_block, scale, SmallInteger{});
}

using FillTiles = void (*)(float*, std::int64_t, std::uint64_t, std::uint64_t, float);

// Fills single elements up to the next block boundary, then whole tiles, then single elements
// again.
template <class Convert>
void fill(std::span<float> values, std::uint64_t seed, std::uint64_t first, float scale,
          Convert convert, FillTiles fill_whole_tiles) {
  const auto count = static_cast<std::int64_t>(values.size());
  const std::int64_t head = std::min(count, static_cast<std::int64_t>((4 - first % 4) % 4));
  const std::int64_t tiles = (count - head) / kTile;
  const auto single = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::uint32_t bits = random_bits(seed, first + static_cast<std::uint64_t>(i));
      values[static_cast<std::size_t>(i)] = scale * convert(bits);
    }
  };
  single(0, head);
  fill_whole_tiles(values.data() + head, tiles, seed,
                   (first + static_cast<std::uint64_t>(head)) / 4, scale);
  single(head + tiles * kTile, count);
}

}  // namespace

void fill_uniform(std::span<float> values, std::uint64_t seed, std::uint64_t first, float scale) {
  fill(values, seed, first, scale, Uniform{}, fill_uniform_tiles);
}

void fill_small_integers(std::span<float> values, std::uint64_t seed, std::uint64_t first,
                         float scale) {
  fill(values, seed, first, scale, SmallInteger{}, fill_integer_tiles);
}

// Works without tiles, since a batch holds few such values.
void fill_classes(std::span<float> values, std::uint64_t seed, std::uint64_t first,
                  std::uint32_t classes) {
  TANDEM_CHECK(classes >= 1 && classes <= (1U << 24), "{} classes", classes);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = class_from_bits(random_bits(seed, first + i), classes);
  }
}

}  // namespace tandem

// SPDX-License-Identifier: Apache-2.0
// In libFuzzer's place where there is no clang: runs a target on each file of a folder, then on so
// many mutations of them, the same ones every time.
//   NAME_corpus MUTATIONS FOLDER
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void run(const std::string& text) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

std::vector<std::string> texts_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry);
  std::sort(files.begin(), files.end());
  std::vector<std::string> texts;
  for (const std::filesystem::path& path : files) {
    std::ifstream file(path, std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return texts;
}

class Mutator {
 public:
  explicit Mutator(const std::vector<std::string>& texts) : texts_(texts) {}

  std::string next() {
    std::string text = texts_[below(texts_.size())];
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) change(text);
    return text;
  }

 private:
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }

  void change(std::string& text) {
    static const std::vector<std::string> kParts{
        "null",    "-1", "1e300", "[",    "{",    "\"", "[]", "{}", "0", "18446744073709551615",
        "\\u0000", "\n", "\xff",  "true", "-0.0", ",",  ":"};
    const std::size_t place = below(text.size() + 1);
    const std::size_t count = below(std::min<std::size_t>(text.size() - place + 1, 24));
    switch (below(5)) {
      case 0:
        text.erase(place, count);
        return;
      case 1:
        text.insert(place, kParts[below(kParts.size())]);
        return;
      case 2:
        text.replace(place, count, kParts[below(kParts.size())]);
        return;
      case 3:
        text.insert(place, text.substr(place, count));
        return;
      default:
        if (place < text.size()) text[place] = static_cast<char>(below(256));
    }
  }

  const std::vector<std::string>& texts_;
  std::mt19937_64 random_{20240229};
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const std::vector<std::string> texts = texts_in(arguments[2]);
  if (texts.empty()) return 1;
  for (const std::string& text : texts) run(text);
  Mutator mutator(texts);
  const int mutations = std::atoi(arguments[1]);
  for (int i = 0; i < mutations; ++i) run(mutator.next());
  std::printf("%zu files, %d mutations\n", texts.size(), mutations);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/pretend/shared_library.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <span>

#include "common/base/error.h"

namespace tandem::cli {
namespace {

// A file's bytes, mapped: of a library of a gigabyte only the tables are read.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat facts {};
    if (file >= 0 && ::fstat(file, &facts) == 0 && facts.st_size > 0) {
      size_ = static_cast<std::size_t>(facts.st_size);
      bytes_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
    }
    if (file >= 0) ::close(file);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() {
    if (bytes_ != MAP_FAILED) ::munmap(bytes_, size_);
  }

  // Elements of a table; empty where the table reaches beyond the file.
  template <typename Element>
  [[nodiscard]] std::span<const Element> table(std::uint64_t offset, std::uint64_t count) const {
    if (bytes_ == MAP_FAILED || offset > size_ || count > (size_ - offset) / sizeof(Element)) {
      return {};
    }
    const char* const begin = static_cast<const char*>(bytes_) + offset;
    return {reinterpret_cast<const Element*>(begin), count};
  }

 private:
  void* bytes_ = MAP_FAILED;
  std::size_t size_ = 0;
};

// The sections of one file.
class Sections {
 public:
  Sections(const MappedFile& file, const std::filesystem::path& path) : file_(file) {
    const auto header = file.table<Elf64_Ehdr>(0, 1);
    const bool is_elf = !header.empty() && std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) == 0 &&
                        header[0].e_ident[EI_CLASS] == ELFCLASS64 &&
                        header[0].e_ident[EI_DATA] == ELFDATA2LSB;
    if (!is_elf) {
      fail(ErrorKind::kFailure, "reading the symbols of {}: it is no shared library; repair it",
           path.string());
    }
    all_ = file.table<Elf64_Shdr>(header[0].e_shoff, header[0].e_shnum);
  }

  [[nodiscard]] const Elf64_Shdr* find(std::uint32_t type) const {
    for (const Elf64_Shdr& section : all_) {
      if (section.sh_type == type) return &section;
    }
    return nullptr;
  }

  template <typename Element>
  [[nodiscard]] std::span<const Element> elements(const Elf64_Shdr* section) const {
    if (section == nullptr) return {};
    return file_.table<Element>(section->sh_offset, section->sh_size / sizeof(Element));
  }

  // A text of the section's string table, which ends within the table.
  [[nodiscard]] std::string text(const Elf64_Shdr& section, std::uint64_t offset) const {
    if (section.sh_link >= all_.size()) return {};
    const auto strings = elements<char>(&all_[section.sh_link]);
    if (offset >= strings.size()) return {};
    const auto tail = strings.subspan(offset);
    return std::string(tail.data(), ::strnlen(tail.data(), tail.size()));
  }

 private:
  const MappedFile& file_;
  std::span<const Elf64_Shdr> all_{};
};

using Versions = std::map<std::uint16_t, std::string>;

// A record at a byte offset within a section; nullptr where it does not lie within.
template <typename Record>
const Record* record_at(std::span<const char> bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(Record)) return nullptr;
  return reinterpret_cast<const Record*>(bytes.data() + offset);
}

// The versions that the file takes from others, by their index.
void add_needed_versions(const Sections& sections, Versions& versions) {
  const Elf64_Shdr* const section = sections.find(SHT_GNU_verneed);
  const auto bytes = sections.elements<char>(section);
  std::uint64_t at = 0;
  while (const auto* const library = record_at<Elf64_Verneed>(bytes, at)) {
    std::uint64_t part = at + library->vn_aux;
    for (int left = library->vn_cnt; left > 0; --left) {
      const auto* const version = record_at<Elf64_Vernaux>(bytes, part);
      if (version == nullptr) return;
      versions[version->vna_other] = sections.text(*section, version->vna_name);
      part += version->vna_next;
    }
    if (library->vn_next == 0) return;
    at += library->vn_next;
  }
}

// The versions that the file gives to its own symbols, by their index.
void add_own_versions(const Sections& sections, Versions& versions) {
  const Elf64_Shdr* const section = sections.find(SHT_GNU_verdef);
  const auto bytes = sections.elements<char>(section);
  std::uint64_t at = 0;
  while (const auto* const version = record_at<Elf64_Verdef>(bytes, at)) {
    const auto* const name = record_at<Elf64_Verdaux>(bytes, at + version->vd_aux);
    const bool is_base = (version->vd_flags & VER_FLG_BASE) != 0;
    if (name != nullptr && !is_base) {
      versions[version->vd_ndx] = sections.text(*section, name->vda_name);
    }
    if (version->vd_next == 0) return;
    at += version->vd_next;
  }
}

void add_symbols(const Sections& sections, const Versions& versions, SharedLibrary& library) {
  const Elf64_Shdr* const section = sections.find(SHT_DYNSYM);
  const auto symbols = sections.elements<Elf64_Sym>(section);
  const auto indices = sections.elements<std::uint16_t>(sections.find(SHT_GNU_versym));
  for (std::size_t i = 1; i < symbols.size(); ++i) {
    constexpr std::uint16_t kHidden = 0x8000;
    const auto index = i < indices.size() ? static_cast<std::uint16_t>(indices[i] & ~kHidden) : 0;
    const auto version = versions.find(static_cast<std::uint16_t>(index));
    const bool is_import = symbols[i].st_shndx == SHN_UNDEF;
    (is_import ? library.imported : library.exported)
        .push_back({.name = sections.text(*section, symbols[i].st_name),
                    .version = version == versions.end() ? "" : version->second});
  }
}

void add_needed(const Sections& sections, SharedLibrary& library) {
  const Elf64_Shdr* const section = sections.find(SHT_DYNAMIC);
  for (const Elf64_Dyn& entry : sections.elements<Elf64_Dyn>(section)) {
    if (entry.d_tag == DT_NEEDED) {
      library.needed.push_back(sections.text(*section, entry.d_un.d_val));
    }
  }
}

}  // namespace

SharedLibrary read_shared_library(const std::filesystem::path& path) {
  const MappedFile file(path);
  const Sections sections(file, path);
  Versions versions;
  add_needed_versions(sections, versions);
  add_own_versions(sections, versions);
  SharedLibrary library;
  add_symbols(sections, versions, library);
  add_needed(sections, library);
  return library;
}

}  // namespace tandem::cli

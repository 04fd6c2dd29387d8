// SPDX-License-Identifier: Apache-2.0
//
// A report as a tree of blocks, written once; terminal, Markdown and page each draw it
// (render/formats.h). Texts are plain: a format escapes what it must.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "reports/text/section_words.h"
#include "reports/text/table.h"

namespace tandem::reports {

// Who draws a block: the answer at the terminal, which fits a screen; Markdown, and the terminal
// where details are asked for; the page.
enum Formats : unsigned { kAnswer = 1, kMarkdown = 2, kPage = 4, kFiles = 6, kEverywhere = 7 };

// A paragraph. Its kind is its look: "overall" is the answer, "eyebrow" stands above a title.
struct Sentence {
  std::string text;
  std::string_view kind = "hint";
};

// A list; of kind "notes" it warns.
struct List {
  std::vector<std::string> lines;
  std::string_view kind = "method";
  std::vector<Heading> evidence{};  // of each line, the section that shows why; or empty
};

struct Code {
  std::vector<std::string> lines;
};

struct Table {
  TextTable table;
  std::string caption;
  bool is_folded = false;  // on the page, where a chart draws the same
};

// A place where the page's script draws.
struct Chart {
  struct Source {
    std::string title;
    std::string note;  // what stands behind its figures
  };
  std::string id;
  std::string words;              // what it shows, for who does not see it
  std::vector<Source> sources{};  // a canvas each, on one scale; empty: one canvas
};

// Lengths beside each other, which the terminal draws in characters.
struct Bars {
  struct Bar {
    std::string label;
    double length;
    std::string figure;
  };
  std::string caption;
  std::vector<Bar> bars{};
};

struct ReportBlock;

// A heading with what stands below it. Without any content it is not drawn.
struct Section {
  std::string id{};  // its place on the page
  std::string title{};
  std::string hint{};
  std::string document{};           // that defines its figures, docs/method/phases.md#remainder
  std::vector<ReportBlock> blocks;  // without {}, for which clang wants all of ReportBlock
  bool is_folded = false;           // below its title alone, until a reader opens it

  explicit Section(const Heading& heading);
  explicit Section(const std::string& name);

  // Adds a block for these formats, and returns this.
  template <class Content>
  Section& add(Content content, unsigned formats = kFiles);
  // Adds a sentence or a list, unless it is empty.
  Section& say(const std::string& text, std::string_view kind = "hint", unsigned formats = kFiles);
  Section& list(const std::vector<std::string>& lines, std::string_view kind = "method",
                unsigned formats = kFiles);
  // Adds a section of this table and a note alone, unless it has no rows.
  Section& table(const Heading& heading, TextTable table, const std::string& note = "");
};

struct ReportBlock {
  std::variant<Sentence, List, Code, Table, Chart, Bars, Section> content;
  unsigned formats = kFiles;
};

inline Section::Section(const Heading& heading)
    : id(heading.id), title(heading.title), hint(heading.hint), document(heading.document) {}

inline Section::Section(const std::string& name) : title(name) {}

template <class Content>
Section& Section::add(Content content, unsigned formats) {
  blocks.push_back({.content = std::move(content), .formats = formats});
  return *this;
}

inline Section& Section::say(const std::string& text, std::string_view kind, unsigned formats) {
  return text.empty() ? *this : add(Sentence{.text = text, .kind = kind}, formats);
}

inline Section& Section::list(const std::vector<std::string>& lines, std::string_view kind,
                              unsigned formats) {
  return lines.empty() ? *this : add(List{.lines = lines, .kind = kind}, formats);
}

inline Section& Section::table(const Heading& heading, TextTable table, const std::string& note) {
  if (table.rows.empty()) return *this;
  Section section(heading);
  section.add(Table{.table = std::move(table), .caption = section.title}).say(note);
  return add(std::move(section));
}

}  // namespace tandem::reports

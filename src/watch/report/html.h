// Pieces of an HTML page: escaped text, tables, figures, and the page around them. Pure functions; thread-safe.
#pragma once

#include <string>
#include <vector>

namespace trireme::watch {

std::string html_escaped(const std::string& text);

// A table whose first column is text and whose others are numbers, aligned right.
class HtmlTable {
 public:
  explicit HtmlTable(std::vector<std::string> head, std::size_t text_columns = 1);
  // Cells are plain text.
  void add(std::vector<std::string> cells);
  bool is_empty() const { return rows_.empty(); }
  // With a caption above, if there is one.
  std::string text(const std::string& caption = "") const;

 private:
  std::vector<std::string> head_;
  std::size_t text_columns_;
  std::vector<std::vector<std::string>> rows_;
};

// An SVG picture that scales with the page.
std::string html_figure(const std::string& svg, const std::string& caption);
std::string html_paragraph(const std::string& text);
std::string html_list(const std::vector<std::string>& lines);

// A complete page, with its style and nothing that a browser would have to fetch.
std::string html_page(const std::string& title, const std::string& body);

}  // namespace trireme::watch

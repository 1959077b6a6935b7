#include "watch/report/html.h"

#include <fmt/format.h>

#include <utility>

namespace trireme::watch {
namespace {

// A4 when printed; grey tones and borders rather than colours carry the structure.
constexpr const char* kStyle = R"(
@page { size: A4; margin: 16mm 15mm; }
* { box-sizing: border-box; }
body { font: 14px/1.45 "Helvetica Neue", Arial, "Liberation Sans", sans-serif; color: #111; background: #fff;
  max-width: 980px; margin: 24px auto; padding: 0 16px; }
h1 { font-size: 26px; margin: 0 0 4px; }
h2 { font-size: 20px; margin: 34px 0 10px; border-bottom: 2px solid #111; padding-bottom: 3px; }
h3 { font-size: 16px; margin: 22px 0 8px; }
p { margin: 6px 0 10px; }
.small, figcaption, caption { color: #444; font-size: 12.5px; }
caption { caption-side: top; text-align: left; white-space: nowrap; padding: 2px 0 5px; font-weight: 600; color: #111; }
.scroll { overflow-x: auto; margin: 8px 0 16px; }
table { border-collapse: collapse; font-size: 12.5px; }
th, td { padding: 3px 9px; text-align: right; border-bottom: 1px solid #ccc; vertical-align: top;
  font-variant-numeric: tabular-nums; }
th { border-bottom: 1.5px solid #111; font-weight: 600; vertical-align: bottom; }
th.t, td.t { text-align: left; }
td.long { overflow-wrap: anywhere; }
td { white-space: nowrap; }
td.t { white-space: normal; }
tr:last-child td { border-bottom: 1.5px solid #111; }
figure { margin: 10px 0 18px; }
figure svg { max-width: 100%; height: auto; display: block; }
td.m { border: 1px solid #bbb; text-align: center; min-width: 30px; padding: 3px 5px; }
code { font-family: "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: 12px; overflow-wrap: anywhere; }
ul { margin: 6px 0 12px; padding-left: 22px; }
nav { margin: 10px 0 0; font-size: 13px; }
nav a { color: #111; margin-right: 14px; }
@media print {
  body { margin: 0; padding: 0; max-width: none; font-size: 10.5pt; }
  h2, h3 { break-after: avoid; }
  section.run { break-before: page; }
  tr, figure { break-inside: avoid; }
  thead { display: table-header-group; }
  .scroll { overflow: visible; }
  table, .small, figcaption, caption { font-size: 8.5pt; }
  th, td { padding: 2px 5px; }
  nav { display: none; }
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
}
)";

constexpr std::size_t kLongCell = 24;  // a longer word may be broken anywhere

std::string row_of(const std::vector<std::string>& cells, const char* tag, std::size_t text_columns) {
  std::string row = "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool is_long = cells[i].size() > kLongCell && cells[i].find(' ') == std::string::npos;
    const char* kind = i >= text_columns ? "" : is_long ? " class=\"t long\"" : " class=\"t\"";
    row += fmt::format("<{0}{1}>{2}</{0}>", tag, kind, html_escaped(cells[i]));
  }
  return row + "</tr>\n";
}

}  // namespace

std::string html_escaped(const std::string& text) {
  std::string result;
  for (const char letter : text) switch (letter) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case '\'': result += "&#39;"; break;
      default: result += letter;
    }
  return result;
}

HtmlTable::HtmlTable(std::vector<std::string> head, std::size_t text_columns)
    : head_(std::move(head)), text_columns_(text_columns) {}

void HtmlTable::add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

std::string HtmlTable::text(const std::string& caption) const {
  std::string html = "<div class=\"scroll\"><table>\n";
  if (!caption.empty()) html += "<caption>" + html_escaped(caption) + "</caption>\n";
  html += "<thead>" + row_of(head_, "th", text_columns_) + "</thead><tbody>\n";
  for (const std::vector<std::string>& row : rows_) html += row_of(row, "td", text_columns_);
  return html + "</tbody></table></div>\n";
}

std::string html_figure(const std::string& svg, const std::string& caption) {
  return "<figure>\n" + svg + "<figcaption>" + html_escaped(caption) + "</figcaption></figure>\n";
}

std::string html_paragraph(const std::string& text) { return "<p>" + html_escaped(text) + "</p>\n"; }

std::string html_list(const std::vector<std::string>& lines) {
  std::string html = "<ul>\n";
  for (const std::string& line : lines) html += "<li>" + html_escaped(line) + "</li>\n";
  return html + "</ul>\n";
}

std::string html_page(const std::string& title, const std::string& body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n{}</body>\n</html>\n",
      html_escaped(title), kStyle, body);
}

}  // namespace trireme::watch

#include "data/show/label_font.h"

#include <fmt/format.h>
#include <pango/pangocairo.h>

#include <string_view>

namespace trireme::data {
namespace {

constexpr int kTextPixels = 14, kLabelLines = 3;

template <class T>
struct Unref {
  void operator()(T* object) const { g_object_unref(object); }
};

// Fixed options, so that neither the machine's settings nor its screen change the picture.
void set_options(PangoContext* context) {
  const std::unique_ptr<cairo_font_options_t, decltype(&cairo_font_options_destroy)> options(
      cairo_font_options_create(), cairo_font_options_destroy);
  cairo_font_options_set_antialias(options.get(), CAIRO_ANTIALIAS_GRAY);
  cairo_font_options_set_hint_style(options.get(), CAIRO_HINT_STYLE_SLIGHT);
  pango_cairo_context_set_font_options(context, options.get());
}

// Valid UTF-8 without control characters.
std::string printable(const std::string& label) {
  const std::unique_ptr<char, decltype(&g_free)> valid(
      g_utf8_make_valid(label.data(), static_cast<gssize>(label.size())), g_free);
  std::string text = valid.get();
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  return text;
}

}  // namespace

void LabelFont::Free::operator()(PangoLayout* layout) const { g_object_unref(layout); }

LabelFont::LabelFont() {
  const std::unique_ptr<PangoFontMap, Unref<PangoFontMap>> fonts(pango_cairo_font_map_new());
  const std::unique_ptr<PangoContext, Unref<PangoContext>> context(pango_font_map_create_context(fonts.get()));
  set_options(context.get());
  layout_.reset(pango_layout_new(context.get()));
  const std::unique_ptr<PangoFontDescription, decltype(&pango_font_description_free)> font(
      pango_font_description_from_string("sans"), pango_font_description_free);
  pango_font_description_set_absolute_size(font.get(), kTextPixels * PANGO_SCALE);
  pango_layout_set_font_description(layout_.get(), font.get());
  pango_layout_set_alignment(layout_.get(), PANGO_ALIGN_CENTER);
  pango_layout_set_wrap(layout_.get(), PANGO_WRAP_WORD_CHAR);
  pango_layout_set_ellipsize(layout_.get(), PANGO_ELLIPSIZE_END);
  pango_layout_set_height(layout_.get(), -kLabelLines);
  has_fonts_ = has_glyphs("U+0");
}

void LabelFont::lay_out(const std::string& text, std::int64_t width) {
  pango_layout_set_width(layout_.get(), width < 0 ? -1 : static_cast<int>(width) * PANGO_SCALE);
  pango_layout_set_text(layout_.get(), text.data(), static_cast<int>(text.size()));
}

bool LabelFont::has_glyphs(const std::string& text) {
  lay_out(text, -1);
  return pango_layout_get_unknown_glyphs_count(layout_.get()) == 0;
}

LabelFont::Drawable LabelFont::drawable(const std::string& label) {
  if (!has_fonts_) return {"", true};
  const std::string text = printable(label);
  if (has_glyphs(text)) return {text};
  std::string replaced;
  for (const char* at = text.c_str(); *at != '\0'; at = g_utf8_next_char(at)) {
    const std::string character(at, static_cast<const char*>(g_utf8_next_char(at)));
    if (has_glyphs(character))
      replaced += character;
    else
      replaced += fmt::format("{}U+{:04X}", replaced.empty() || replaced.ends_with(' ') ? "" : " ",
                              static_cast<unsigned>(g_utf8_get_char(at)));
  }
  return {replaced, true};
}

std::int64_t LabelFont::width(const std::string& text) {
  lay_out(text, -1);
  int width = 0, height = 0;
  pango_layout_get_pixel_size(layout_.get(), &width, &height);
  return width;
}

std::int64_t LabelFont::height(const std::string& text, std::int64_t width) {
  lay_out(text, width);
  int wide = 0, height = 0;
  pango_layout_get_pixel_size(layout_.get(), &wide, &height);
  return height;
}

void LabelFont::draw(Picture& picture, const std::string& text, std::int64_t x, std::int64_t y, std::int64_t width,
                     const Colour& colour) {
  lay_out(text, width);
  cairo_set_source_rgb(picture.context(), colour[0] / 255.0, colour[1] / 255.0, colour[2] / 255.0);
  cairo_move_to(picture.context(), static_cast<double>(x), static_cast<double>(y));
  pango_cairo_show_layout(picture.context(), layout_.get());
}

}  // namespace trireme::data

// LabelFont: measures and draws labels of any script with Pango and the fonts of this machine.
// One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "data/show/picture.h"

// As <pango/pango.h> does, which only the sources of this folder need.
typedef struct _PangoLayout PangoLayout;  // NOLINT(bugprone-reserved-identifier)

namespace trireme::data {

class LabelFont {
 public:
  LabelFont();

  // Without any font all text is left out.
  bool has_fonts() const { return has_fonts_; }

  struct Drawable {
    std::string text;
    bool lacks_font = false;  // some of its characters are written as U+732B, because no font has them
  };
  // The label as it can be drawn: UTF-8 without control characters, in characters that the fonts have.
  Drawable drawable(const std::string& label);

  // The width in one line, in pixels.
  std::int64_t width(const std::string& text);
  // Of `width` pixels, broken into lines, at most three; what is beyond them ends in "...". The height in pixels.
  std::int64_t height(const std::string& text, std::int64_t width);
  // Draws it so, each line centred. x, y is the top left corner.
  void draw(Picture& picture, const std::string& text, std::int64_t x, std::int64_t y, std::int64_t width,
            const Colour& colour);

 private:
  struct Free {
    void operator()(PangoLayout* layout) const;
  };
  bool has_glyphs(const std::string& text);
  void lay_out(const std::string& text, std::int64_t width);

  std::unique_ptr<PangoLayout, Free> layout_;
  bool has_fonts_ = false;
};

}  // namespace trireme::data

#include "data/show/glyphs.h"

#include <array>

namespace trireme::data {
namespace {

constexpr char kFirst = ' ';

// From space to tilde: seven rows each, from top to bottom; a row's five pixels are one digit to base 32 (0-9, A-V).
constexpr std::array kGlyphs = {
    "0000000", "4444404", "AAA0000", "AAVAVAA", "4FKE5U4", "OP248J3", "CIK8LID", "4480000",  //  !"#$%&'
    "2488842", "8422248", "04LEL40", "044V440", "0000C48", "000V000", "00000CC", "01248G0",  // ()*+,-./
    "EHJLPHE", "4C4444E", "EH1248V", "V2421HE", "26AIV22", "VGU11HE", "68GUHHE", "V124888",  // 01234567
    "EHHEHHE", "EHHF12C", "0CC0CC0", "0CC0C48", "248G842", "00V0V00", "8421248", "EH12404",  // 89:;<=>?
    "EH1DLLE", "EHHHVHH", "UHHUHHU", "EHGGGHE", "SIHHHIS", "VGGUGGV", "VGGUGGG", "EHGNHHF",  // @ABCDEFG
    "HHHVHHH", "E44444E", "72222IC", "HIKOKIH", "GGGGGGV", "HRLLHHH", "HHPLJHH", "EHHHHHE",  // HIJKLMNO
    "UHHUGGG", "EHHHLID", "UHHUKIH", "FGGE11U", "V444444", "HHHHHHE", "HHHHHA4", "HHHLLLA",  // PQRSTUVW
    "HHA4AHH", "HHHA444", "V1248GV", "E88888E", "0G84210", "E22222E", "4AH0000", "000000V",  // XYZ[\]^_
    "8420000", "00E1FHF", "GGMPHHU", "00EGGHE", "11DJHHF", "00EHVGE", "698S888", "FHHHF1E",  // `abcdefg
    "GGMPHHH", "40C444E", "20622IC", "GGIKOKI", "C44444E", "00QLLHH", "00MPHHH", "00EHHHE",  // hijklmno
    "UHHHUGG", "FHHHF11", "00MPGGG", "00EGE1U", "88S8896", "00HHHJD", "00HHHA4", "00HHLLA",  // pqrstuvw
    "00HA4AH", "HHHHF1E", "00V248V", "2448442", "4444444", "8442448", "008L200"};            // xyz{|}~

constexpr char kLast = kFirst + static_cast<char>(kGlyphs.size()) - 1;
static_assert(kLast == '~');

}  // namespace

unsigned glyph_row(char character, int row) {
  const char known = character >= kFirst && character <= kLast ? character : '?';
  const char digit = kGlyphs[static_cast<std::size_t>(known - kFirst)][row];
  return static_cast<unsigned>(digit <= '9' ? digit - '0' : digit - 'A' + 10);
}

int glyph_drop(char character) {
  return std::string_view("gpqy,").find(character) == std::string_view::npos ? 0 : kGlyphDrop;
}

std::string drawable(std::string_view text) {
  std::string ascii;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 && byte < 0xc0) continue;  // continuation byte of a UTF-8 character
    ascii += byte >= 0x80 ? '?' : (c < kFirst || c > kLast ? ' ' : c);
  }
  return ascii;
}

}  // namespace trireme::data

#include "data/readers/images/image_list.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>

#include "base/error.h"

namespace trireme::data {
namespace {

namespace fs = std::filesystem;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Removes the digits at the front and returns them without leading zeros.
std::string_view take_number(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && is_digit(text[length])) ++length;
  std::string_view number = text.substr(0, length);
  text.remove_prefix(length);
  number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
  return number;
}

bool is_hidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

bool by_name(const fs::path& a, const fs::path& b) { return natural_less(a.string(), b.string()); }

// Calls visit(iterator) for all entries of the folder; also for those below it if Iterator is recursive.
template <class Iterator, class Visit>
void each_entry(const fs::path& folder, const Visit& visit) {
  std::error_code failure;
  Iterator place(folder, failure);
  for (const Iterator end; !failure && place != end; place.increment(failure)) visit(place);
  if (failure) base::user_error("cannot read the folder {}: {}", folder.string(), failure.message());
}

bool is_folder(const fs::directory_entry& entry) {
  std::error_code ignored;
  return entry.is_directory(ignored);
}

// A file to decode. Includes broken links, so that the error names them; excludes pipes, which would block.
bool is_image(const fs::directory_entry& entry) {
  if (is_hidden(entry.path()) || !is_image_name(entry.path())) return false;
  std::error_code ignored;
  const fs::file_type type = entry.status(ignored).type();
  return type == fs::file_type::regular || type == fs::file_type::not_found || type == fs::file_type::none;
}

// User error for a link to a folder that contains this one: it would bring in all classes again as one class.
void check_not_around(const fs::path& class_folder, const fs::path& folder) {
  std::error_code failure;
  const fs::path inner = fs::canonical(class_folder, failure);
  const fs::path outer = failure ? fs::path() : fs::canonical(folder, failure);
  if (failure) base::user_error("cannot read the folder {}: {}", class_folder.string(), failure.message());
  const auto [inside, outside] = std::mismatch(inner.begin(), inner.end(), outer.begin(), outer.end());
  if (inside == inner.end())
    base::user_error("the class folder {} is a link to {}, which contains it; remove the link", class_folder.string(),
                     inner.string());
}

// Does not follow links to folders inside a class folder, so there are no loops.
std::vector<fs::path> images_below(const fs::path& class_folder, std::int64_t& ignored) {
  std::vector<fs::path> files;
  each_entry<fs::recursive_directory_iterator>(class_folder, [&](fs::recursive_directory_iterator& place) {
    if (is_image(*place)) {
      files.push_back(place->path());
    } else if (is_hidden(place->path())) {
      place.disable_recursion_pending();
      ++ignored;
    } else if (!is_folder(*place)) {
      ++ignored;
    }
  });
  std::sort(files.begin(), files.end(), by_name);
  return files;
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
  const std::string_view whole_a = a, whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const std::string_view x = take_number(a), y = take_number(b);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else {
      if (a.front() != b.front()) return static_cast<unsigned char>(a.front()) < static_cast<unsigned char>(b.front());
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  if (a.empty() != b.empty()) return a.empty();
  return whole_a < whole_b;  // equal as numbers: "01" and "1"
}

bool is_image_name(const fs::path& path) {
  constexpr std::array kEndings = {".png", ".jpg", ".jpeg"};
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::find(kEndings.begin(), kEndings.end(), ending) != kEndings.end();
}

std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> folders;
  each_entry<fs::directory_iterator>(folder, [&](const fs::directory_iterator& place) {
    if (is_folder(*place) && !is_hidden(place->path())) folders.push_back(place->path());
  });
  std::sort(folders.begin(), folders.end(), by_name);
  return folders;
}

bool has_images_inside(const fs::path& folder) {
  bool found = false;
  each_entry<fs::directory_iterator>(folder, [&](const fs::directory_iterator& place) { found |= is_image(*place); });
  return found;
}

std::vector<fs::path> images_in(const fs::path& folder, std::int64_t& ignored) { return images_below(folder, ignored); }

ImageList list_images(const fs::path& folder) {
  ImageList list;
  each_entry<fs::directory_iterator>(folder, [&](const fs::directory_iterator& place) {
    if (is_folder(*place)) return;
    if (is_image(*place))
      base::user_error("the image {} lies directly in {}; expected are folders, one per class, with the images inside",
                       place->path().filename().string(), folder.string());
    ++list.ignored;
  });
  const std::vector<fs::path> classes = folders_in(folder);
  if (classes.empty())
    base::user_error("{} has no images: expected are folders, one per class, with PNG or JPEG images inside",
                     folder.string());
  for (const fs::path& class_folder : classes) {
    check_not_around(class_folder, folder);
    std::vector<fs::path> files = images_below(class_folder, list.ignored);
    if (files.empty())
      base::user_error("the class folder {} has no images (*.png, *.jpg, *.jpeg); fill it or remove it",
                       class_folder.string());
    list.labels.insert(list.labels.end(), files.size(), static_cast<std::int64_t>(list.class_names.size()));
    list.class_names.push_back(class_folder.filename().string());
    std::move(files.begin(), files.end(), std::back_inserter(list.files));
  }
  return list;
}

}  // namespace trireme::data

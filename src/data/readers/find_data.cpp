#include "data/readers/find_data.h"

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "base/text/text.h"
#include "data/codecs/decompress.h"

namespace trireme::data {
namespace {

namespace fs = std::filesystem;

std::string data_folder_of_environment() {
  const char* value = std::getenv("TRIREME_DATA");
  return value ? value : "";
}

bool has_files(const CodecRegistry& codecs, const fs::path& folder, const FolderQuery& query) {
  return std::all_of(query.files.begin(), query.files.end(),
                     [&](const auto& names) { return !data_file(codecs, folder, names).empty(); });
}

// MNIST and Fashion-MNIST use the same file names: a folder named after one must not be read as the other.
bool holds_other_data(const fs::path& folder, const FolderQuery& query) {
  const fs::path whole = fs::absolute(folder).lexically_normal();
  const fs::path own = whole.has_filename() ? whole : whole.parent_path();
  const std::string last = own.filename().string(), before = own.parent_path().filename().string();
  const auto named = [&](const std::string& name) {
    return std::find(query.not_in.begin(), query.not_in.end(), name) != query.not_in.end();
  };
  return named(last) || (last == "raw" && named(before));
}

}  // namespace

fs::path data_file(const CodecRegistry& codecs, const fs::path& folder, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (fs::path path = find_packed(codecs, folder, name); !path.empty()) return path;
  return {};
}

fs::path find_data_folder(const FolderQuery& query, const DataRequest& request) {
  const std::string& data_dir = request.data_dir;
  std::error_code ignored;
  if (!data_dir.empty() && !fs::is_directory(data_dir, ignored))
    base::user_error("the data folder '{}' does not exist; give an existing one with --data-dir", data_dir);

  std::vector<std::string> looked;
  for (const std::string& root : {data_dir, data_folder_of_environment()}) {
    if (root.empty()) continue;
    std::vector<fs::path> candidates;
    for (const std::string& folder : query.folders) candidates.push_back(fs::path(root) / folder);
    if (!holds_other_data(root, query)) candidates.emplace_back(root);
    for (const fs::path& candidate : candidates)
      if (has_files(request.codecs, candidate, query)) return candidate;
    looked.push_back(root + " (and its folders " + base::join(query.folders, ", ") + ")");
  }
  for (const std::string& folder : query.system_folders) {
    if (has_files(request.codecs, folder, query)) return folder;
    looked.push_back(folder);
  }
  std::vector<std::string> needed;
  for (const auto& names : query.files) needed.push_back(names.front());
  std::vector<std::string> forms{"plain"};
  for (const CodecRow& row : request.codecs.rows()) forms.push_back(row.ending);
  const std::string where =
      looked.empty() ? "no data folder was named (--data-dir, TRIREME_DATA)" : "looked in " + base::join(looked, "; ");
  base::user_error("the dataset {} was not found: {}; needed are {} ({}); {}", query.name, where,
                   base::join(needed, ", "), base::join_or(forms), query.advice);
}

}  // namespace trireme::data

// Finds the folder of a dataset: --data-dir, then the environment variable TRIREME_DATA, then where Debian packages put
// it. The only file of this part that reads the environment.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/readers/data_request.h"

namespace trireme::data {

struct FolderQuery {
  std::string name;                             // as the user knows it
  std::vector<std::string> folders;             // usual names of its folder, below a data folder
  std::vector<std::vector<std::string>> files;  // for each needed file, its usual names (without .gz, ...)
  std::vector<std::string> system_folders;      // absolute folders tried last
  std::vector<std::string> not_in;              // folder names that hold other data under the same file names
  std::string advice;                           // what to do when it is nowhere
};

// The first folder that has every needed file. Nowhere: a user error that lists the folders looked in, and the advice.
std::filesystem::path find_data_folder(const FolderQuery& query, const DataRequest& request);

// The file in the folder under the first of its names that exists, plain or packed; the folder is known to have it.
std::filesystem::path data_file(const CodecRegistry& codecs, const std::filesystem::path& folder,
                                const std::vector<std::string>& names);

}  // namespace trireme::data

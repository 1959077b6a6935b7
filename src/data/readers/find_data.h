// Finds the folder of a dataset: --data-dir, then the environment variable TRIREME_DATA, then the places where Debian
// packages install data. The only file of src/data that reads the environment. Thread-safe.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/readers/data_request.h"

namespace trireme::data {

struct FolderQuery {
  std::string name;                             // as the user knows it
  std::vector<std::string> folders;             // usual names of the dataset's folder, below a data folder
  std::vector<std::vector<std::string>> files;  // for each needed file, its usual names (without .gz, ...)
  std::vector<std::string> system_folders;      // absolute folders tried last
  std::vector<std::string> not_in;              // folder names that hold other data under the same file names
  std::string advice;                           // what the user can do if it is not found
};

// The first folder that has every needed file. None: a user error that lists the searched folders, and the advice.
std::filesystem::path find_data_folder(const FolderQuery& query, const DataRequest& request);

// The file in the folder under the first of its names that exists, plain or packed. REQUIRES: the folder has it.
std::filesystem::path data_file(const CodecRegistry& codecs, const std::filesystem::path& folder,
                                const std::vector<std::string>& names);

}  // namespace trireme::data

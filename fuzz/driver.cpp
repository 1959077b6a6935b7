// libFuzzer's way to a target of tests/fuzz/targets.h: the one that this program is compiled for.
// `fuzz_NAME --write-seeds DIR` writes valid content to begin with.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "fuzz/targets.h"

namespace {

const trireme::fuzz::Target& target() {
  static const trireme::fuzz::Target& chosen = *trireme::fuzz::find_target(TRIREME_FUZZ_TARGET);
  return chosen;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  if (*count == 3 && std::string((*arguments)[1]) == "--write-seeds") {
    const std::filesystem::path folder = (*arguments)[2];
    std::filesystem::create_directories(folder);
    int number = 0;
    for (const trireme::fuzz::Bytes& seed : target().seeds()) {
      std::ofstream out(folder / ("seed-" + std::to_string(number++)), std::ios::binary);
      out.write(reinterpret_cast<const char*>(seed.data()), static_cast<std::streamsize>(seed.size()));
    }
    std::exit(0);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  trireme::fuzz::run(target(), {data, size});
  return 0;
}

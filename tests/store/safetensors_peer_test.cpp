// A second reader of the format, in Python with numpy alone, follows the specification and not our code.
#include <gtest/gtest.h>

#include "base/system/files.h"
#include "store/safetensors.h"
#include "support/peer_python.h"

namespace trireme::store {
namespace {

TEST(Safetensors, PythonReadsIt) {
  const std::string python = test::find_python("numpy");
  if (python.empty()) return test::without_peer("no python3 with numpy was found");
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "a.safetensors";
  std::vector<float> values(6000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 8;
  write_safetensors(path, std::vector<NamedTensor>{{"odd", {3}, {1, 2, 3}}, {"w", {20, 300}, values}}, {{"k", "v"}});
  base::write_text_atomically(folder.path() / "check.py", R"(
import json, struct, sys
import numpy
raw = open(sys.argv[1], 'rb').read()
n, = struct.unpack('<Q', raw[:8])
assert (8 + n) % 8 == 0 and raw[8:9] == b'{'
header = json.loads(raw[8:8 + n])
assert header.pop('__metadata__') == {'k': 'v'}
position = 0
found = {}
for name, t in sorted(header.items(), key=lambda item: item[1]['data_offsets']):
    begin, end = t['data_offsets']
    assert t['dtype'] == 'F32' and begin == position
    found[name] = numpy.frombuffer(raw[8 + n + begin:8 + n + end], '<f4').reshape(t['shape'])
    position = end
assert position == len(raw) - 8 - n
assert (found['odd'] == [1, 2, 3]).all()
assert (found['w'] == (numpy.arange(6000) / 8).reshape(20, 300)).all()
try:
    from safetensors.numpy import load_file
except ImportError:
    sys.exit(0)
peer = load_file(sys.argv[1])
assert set(peer) == set(found) and all((peer[k] == found[k]).all() for k in found)
)");
  const test::Finished check = test::run_process({python, (folder.path() / "check.py").string(), path.string()});
  EXPECT_EQ(check.exit_code, 0) << check.err;
}

}  // namespace
}  // namespace trireme::store

#include "train/run_folder/weight_file.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "base/error.h"
#include "data/codecs/zip.h"
#include "data/readers/numpy/npy.h"

namespace trireme::train {
namespace {

// A format of another program, and the Python that saves its tensors with numpy.savez. {0} is the file, {1} the new
// one.
struct ForeignFormat {
  std::string_view ending;
  const char* what;
  const char* python;
};
constexpr const char* kPyTorch =
    "import numpy, torch; w = torch.load('{0}', map_location='cpu'); "
    "numpy.savez('{1}', **{{k: v.numpy() for k, v in w.items()}})";
constexpr const char* kKeras =
    "import keras, numpy; m = keras.models.load_model('{0}'); "
    "numpy.savez('{1}', **{{w.name: w.numpy() for w in m.weights}})";
constexpr const char* kOnnx =
    "import numpy, onnx, onnx.numpy_helper as h; m = onnx.load('{0}'); "
    "numpy.savez('{1}', **{{t.name: h.to_array(t) for t in m.graph.initializer}})";
constexpr std::array kForeign{
    ForeignFormat{".pt", "a file of PyTorch", kPyTorch},
    ForeignFormat{".pth", "a file of PyTorch", kPyTorch},
    ForeignFormat{".ckpt", "a file of PyTorch", kPyTorch},
    ForeignFormat{".bin", "a file of PyTorch", kPyTorch},
    ForeignFormat{".pkl", "a pickle of Python, as PyTorch writes them", kPyTorch},
    ForeignFormat{".h5", "a file of Keras", kKeras},
    ForeignFormat{".keras", "a file of Keras", kKeras},
    ForeignFormat{".onnx", "a file of ONNX", kOnnx},
};

void refuse_foreign(const base::fs::path& path) {
  for (const ForeignFormat& format : kForeign) {
    if (path.extension() != format.ending) continue;
    base::user_error(
        "{} is {}; weights are read from .safetensors and .npz; convert it with Python, the names and shapes being "
        "those of the network (trireme model show): {}",
        path.string(), format.what,
        fmt::format(fmt::runtime(format.python), path.string(),
                    base::fs::path(path).replace_extension(".npz").string()));
  }
}

store::SafetensorsFile read_npz(const base::fs::path& path) {
  constexpr std::string_view kEnding = ".npy";
  data::ZipArchive archive{path};
  store::SafetensorsFile file;
  for (const data::ZipEntry& entry : archive.entries()) {
    data::ZipEntryReader reader(archive, entry);
    const data::NumpyArray array =
        data::read_npy({path.string() + ": " + entry.name,
                        [&](std::uint8_t* dst, std::size_t bytes) { return reader.read(dst, bytes); }, entry.bytes});
    std::string name = entry.name;
    if (name.ends_with(kEnding)) name.resize(name.size() - kEnding.size());
    file.tensors.push_back({name, array.shape, std::vector<float>(static_cast<std::size_t>(array.shape.count()))});
    for (std::size_t i = 0; i < file.tensors.back().values.size(); ++i) file.tensors.back().values[i] = array.value(i);
  }
  return file;
}

}  // namespace

store::SafetensorsFile read_weight_file(const base::fs::path& path) {
  refuse_foreign(path);
  if (path.extension() == ".npz") return read_npz(path);
  if (path.extension() == ".safetensors" || !base::fs::exists(path)) return store::read_safetensors(path);
  base::user_error("{} is neither a .safetensors nor a .npz file", path.string());
}

}  // namespace trireme::train

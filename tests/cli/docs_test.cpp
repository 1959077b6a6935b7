// The documentation names what the program knows: a new option, model, dataset, optimizer or op needs its line there.
#include <regex>

#include "cli/cli.h"
#include "cli/program.h"
#include "data/open_data.h"
#include "models/zoo.h"
#include "optim/optimizer.h"
#include "train/builtin_registry.h"
#include "train/experiment/options.h"
#include "train/experiment/registry.h"

namespace trireme::cli_test {
namespace {

const train::Registry kRegistry = train::builtin_registry();

const fs::path kDocs = fs::path(TRIREME_SOURCE_DIR) / "docs";

void expect_names(const std::string& file, const std::string& text, const std::string& wanted) {
  EXPECT_TRUE(text.find(wanted) != std::string::npos) << file << " does not have: " << wanted;
}

TEST(Docs, UsingHasARowForEveryOption) {
  const std::string text = read(kDocs / "using.md");
  ASSERT_FALSE(text.empty());
  for (const cli::Verb& verb : cli::verbs(kRegistry))
    for (const base::OptionSpec& option : verb.options) {
      const std::string value = option.value[0] == '\0' ? "" : std::string(" ") + option.value;
      std::string cell = "| `--" + std::string(option.name) + value + "` |";
      for (std::size_t at = cell.find('|', 2); at + 1 < cell.size(); at = cell.find('|', at + 2)) cell.insert(at, "\\");
      expect_names("using.md", text, cell);
      if (option.otherwise[0] != '\0' && option.value[0] != '\0')
        expect_names("using.md", text, cell + " `" + option.otherwise + "` |");
    }
}

TEST(Docs, NetworksHasARowForEveryModelWithItsParameters) {
  const std::string text = read(kDocs / "networks.md");
  for (const auto& model : kRegistry.models.rows()) {
    expect_names("networks.md", text, "| `" + model.name + "` |");
    expect_names("networks.md", text, "| " + std::to_string(models::build_model(model.name).parameter_count()) + " |");
  }
}

TEST(Docs, DatasetsOptimizersAndSchedulesAreThere) {
  const std::string data = read(kDocs / "data.md"), optimizers = read(kDocs / "optimizers.md");
  for (const auto& dataset : kRegistry.readers.datasets.rows())
    expect_names("data.md", data, "| `" + dataset.name + "` |");
  for (const auto& optimizer : kRegistry.optimizers.rows())
    expect_names("optimizers.md", optimizers,
                 "| `" + optimizer.name + "` | `" + optim::make_optimizer(optimizer.name)->text() + "` |");
  for (const char* schedule : {"constant", "step", "cosine", "onecycle"})
    expect_names("optimizers.md", optimizers, "`" + std::string(schedule));
}

TEST(Docs, EveryOpHasAParagraph) {
  const std::string text = read(kDocs / "ops.md");
  for (const auto& model : kRegistry.models.rows()) {
    const graph::Network network = models::build_model(model.name);
    for (const graph::Node& node : network.nodes())
      if (node.op) expect_names("ops.md", text, "**" + std::string(node.op->kind()) + "**");
  }
}

// The heading of the paragraph, the option text, and every option in it: `conv:channels=N,kernel=SIZES,...`.
TEST(Docs, OpsHasTheOptionTextOfEveryOp) {
  const std::string text = read(kDocs / "ops.md");
  for (const ops::OpRow& row : kRegistry.ops.rows()) {
    expect_names("ops.md", text, "**" + row.name + "**");
    std::string options;
    for (const base::SpecOption& option : row.options)
      options += (options.empty() ? ":" : ",") + option.key + "=" + option.values;
    expect_names("ops.md", text, "`" + row.name + options + "`");
  }
}

// A promise that names its tests names tests that are there.
TEST(Docs, TheTestsThatGuardBitsExist) {
  const fs::path tests = fs::path(TRIREME_SOURCE_DIR) / "tests";
  std::string sources;
  for (const auto& entry : fs::recursive_directory_iterator(tests))
    if (entry.path().extension() == ".cpp") sources += read(entry.path());
  const std::string text = read(kDocs / "design/002-bits.md");
  const std::regex named("`([A-Z]\\w+)\\.([A-Z]\\w+)`");
  int count = 0;
  for (std::sregex_iterator name(text.begin(), text.end(), named), end; name != end; ++name, ++count)
    expect_names("tests/", sources, "(" + name->str(1) + ", " + name->str(2) + ")");
  EXPECT_GT(count, 40);
}

// Links to files in the repository lead somewhere.
TEST(Docs, RelativeLinksLeadToFiles) {
  const fs::path root = TRIREME_SOURCE_DIR;
  std::vector<fs::path> pages{root / "README.md"};
  for (const auto& entry : fs::recursive_directory_iterator(kDocs))
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  for (const fs::path& page : pages) {
    const std::string text = read(page);
    EXPECT_FALSE(text.empty()) << page;
    for (std::size_t at = text.find("]("); at != std::string::npos; at = text.find("](", at + 1)) {
      std::string link = text.substr(at + 2, text.find(')', at) - at - 2);
      if (link.starts_with("http")) continue;
      link = link.substr(0, link.find('#'));
      EXPECT_TRUE(link.empty() || fs::exists(page.parent_path() / link)) << page << ": " << link;
    }
  }
}

}  // namespace
}  // namespace trireme::cli_test

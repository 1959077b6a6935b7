// The names of a run's classes, and data whose classes are others or stand in another order.
#include "cli/own_files.h"

namespace trireme::cli_test {
namespace {

using OwnClasses = OwnFiles;

TEST_F(OwnClasses, AreStoredInTheRun) {
  train_on_photos();
  const Json samples = Json::parse(read(folder() / "r/run.json"))["samples"];
  EXPECT_EQ(samples["class_names"], Json({"bird", "cat", "dog"}));
  EXPECT_EQ(samples["target"], "classes");
  EXPECT_EQ(samples["classes"], 3);
  EXPECT_EQ(samples["inputs"], Json::parse("[[1, 28, 28]]"));
}

TEST_F(OwnClasses, AreMatchedByName) {
  train_on_photos();
  // Without birds: the cat is class 0 of the data, 1 of the run.
  make_photos("pets", {"", "cat", "dog"});
  const Outcome pets = run({"eval", "--run", "r", "--data", "pets", "--json"});
  ASSERT_EQ(pets.code, 0) << pets.err;
  EXPECT_EQ(last_json(pets)["accuracy"], 1);
  EXPECT_EQ(last_json(pets)["samples"], 24) << "all of them, no share is kept as a test set";
  EXPECT_EQ(last_json(pets)["split"], "all");
  EXPECT_EQ(last_json(run({"eval", "--run", "r", "--data", "pets", "--split", "test", "--json"}))["samples"], 5);
}

TEST_F(OwnClasses, UnknownOnesAreRefusedByName) {
  train_on_photos();
  make_photos("zoo", {"bird", "cat", "yak"});
  for (const char* verb : {"eval", "predict"})
    expect_refused({verb, "--run", "r", "--data", "zoo"}, {"zoo", "'yak'", "'bird', 'cat', 'dog'"});
}

TEST_F(OwnClasses, MayBeMissingInRunsOfOlderVersions) {
  train_on_photos();
  Json run_json = Json::parse(read(folder() / "r/run.json"));
  run_json.erase("samples");
  run_json.erase("checksum");
  write(folder() / "r/run.json", run_json.dump());
  make_photos("pets", {"", "cat", "dog"});
  EXPECT_EQ(last_json(run({"eval", "--run", "r", "--data", "pets", "--json"}))["accuracy"], 1)
      << "the names are those of the run's data";
  EXPECT_EQ(last_json(run({"eval", "--run", "r", "--json"}))["accuracy"], 1);
  make_photos("renamed", {"bird", "cat", "dog"});
  fs::remove_all(folder() / "photos");
  EXPECT_EQ(last_json(run({"eval", "--run", "r", "--data", "renamed", "--json"}))["accuracy"], 1)
      << "without its data the other data's classes count";
}

TEST_F(OwnClasses, OtherSamplesAreRefused) {
  train_on_photos();
  write(folder() / "x.csv", "1,2,3,cat\n4,5,6,dog\n");
  expect_refused({"eval", "--run", "r", "--data", "x.csv"}, {"x.csv", "1x3", "1x28x28"});
  fs::create_directories(folder() / "numbered");
  write(folder() / "numbered/x.npy", npy_bytes("1, 28, 28", std::string(784, 'a')));
  write(folder() / "numbered/y.npy", npy_bytes("1,", std::string(1, '\x07')));
  expect_refused({"eval", "--run", "r", "--data", "numbered"}, {"numbered", "8 classes", "trained with 3"});
}

}  // namespace
}  // namespace trireme::cli_test

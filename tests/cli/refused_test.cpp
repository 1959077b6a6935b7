// Settings that cannot be: each is refused with one sentence that names what is wrong, before anything is written.
#include "cli/program.h"
#include "support/as_nobody.h"

namespace trireme::cli_test {
namespace {

struct Case {
  const char* name;
  Words arguments;  // of train, behind the small settings unless they name a model
  Words sayings;
};

class Refused : public Program, public testing::WithParamInterface<Case> {};

TEST_P(Refused, WithOneSentence) {
  const Case& wrong = GetParam();
  const bool whole = !wrong.arguments.empty() && wrong.arguments[0] == "--model";
  expect_refused(Words{"train"} + (whole ? Words{} : kSmall) + wrong.arguments + Words{"--run", "r"}, wrong.sayings);
}

const Words kShape{"--data", "synthetic", "--train-samples", "64", "--test-samples", "32"};

INSTANTIATE_TEST_SUITE_P(
    Settings, Refused,
    testing::Values(
        Case{"Model", Words{"--model", "lenet6"} + kShape, {"'lenet6'", "'lenet5'"}},
        Case{"Dataset", {"--model", "lenet5", "--data", "cifar1O"}, {"'cifar1O'", "'cifar10'"}},
        Case{"Optimizer", {"--optimizer", "sgdd"}, {"'sgdd'", "'sgd'"}},
        Case{"OptimizerOption", {"--optimizer", "sgd:momentun=0.9"}, {"'momentun'", "'momentum'"}},
        Case{"OptimizerValue", {"--optimizer", "sgd:lr=fast"}, {"lr", "'fast'"}},
        Case{"OptimizerRange", {"--optimizer", "sgd:lr=-1"}, {"lr", "-1"}},
        Case{"OptimizerNan", {"--optimizer", "sgd:lr=nan"}, {"lr", "'nan'"}},
        Case{"Schedule", {"--schedule", "cosin"}, {"'cosin'", "'cosine'"}},
        Case{"ScheduleOption", {"--schedule", "cosine:mim=1"}, {"'mim'", "'min'"}},
        Case{"ScheduleWithoutEpochs", {"--schedule", "step"}, {"step:"}},
        Case{"OarsMoreThanBatch", {"--oars", "17"}, {"17", "16"}},
        Case{"OarsNegative", {"--oars", "-1"}, {"--oars", "-1"}},
        Case{"OarsNoNumber", {"--oars", "many"}, {"--oars", "'many'"}},
        Case{"BatchMoreThanSamples", Words{"--model", "lenet5"} + kShape + Words{"--batch", "65"}, {"65", "64"}},
        Case{"KernelTooLarge",
             Words{"--model", "lenet5"} + kShape + Words{"--batch", "16", "--image-size", "4"},
             {"lenet5", "conv2", "kernel (5)", "(2)"}},
        Case{"PoolTooLarge",
             Words{"--model", "alexnet"} + kShape + Words{"--batch", "16", "--image-size", "8"},
             {"alexnet", "features"}},
        Case{"ImageSize", {"--image-size", "big"}, {"--image-size", "'big'"}},
        Case{"ImageSizeOfASpectrum",
             Words{"--model", "redshift-cnn"} + kShape + Words{"--batch", "16", "--image-size", "32"},
             {"1x1800"}},
        Case{"AugmentedSpectrum",
             Words{"--model", "redshift-cnn"} + kShape + Words{"--batch", "16", "--augment", "flip"},
             {"1x1800"}},
        Case{"Augmentation", {"--augment", "crp"}, {"'crp'", "'crop'"}},
        Case{"AugmentationValue", {"--augment", "crop=0"}, {"crop=0"}},
        Case{"Normalization", {"--normalize", "standart"}, {"'standart'", "'standard'"}},
        Case{"Initialisation", {"--init", "kears"}, {"'kears'", "'keras'"}},
        Case{"ValidationRange", {"--validation", "200%"}, {"--validation", "200%"}},
        Case{"ValidationOfEverything", {"--validation", "100%"}, {"validation"}},
        Case{"LastBatch", {"--last-batch", "drp"}, {"'drp'", "'drop'"}},
        Case{"Strategy", {"--strategy", "singel"}, {"'singel'", "'single'"}},
        Case{"SingleWithWorkers", {"--workers", "2", "--strategy", "single"}, {"--workers 2", "allreduce"}},
        Case{"SwitchFromSingleWithWorkers",
             {"--workers", "2", "--strategy", "switch:from=single,to=ps"},
             {"--workers 2", "single", "allreduce"}},
        Case{"Reduce", {"--reduce", "exakt"}, {"'exakt'", "'exact'"}},
        Case{"Isa", {"--isa", "avx3"}, {"'avx3'", "'avx2'"}}, Case{"Pin", {"--pin", "yess"}, {"'yess'", "'yes'"}},
        Case{"Threads", {"--threads", "-2"}, {"--threads", "-2"}}, Case{"Epochs", {"--epochs", "0"}, {"--epochs", "0"}},
        Case{"Steps", {"--steps", "-1"}, {"--steps", "-1"}}, Case{"Seed", {"--seed", "1.5"}, {"--seed", "'1.5'"}},
        Case{"Clip", {"--clip", "-1"}, {"--clip", "-1"}}, Case{"Keep", {"--keep", "0"}, {"--keep", "0"}},
        Case{"EarlyStopping", {"--early-stopping", "-3"}, {"--early-stopping", "-3"}},
        Case{"InitFromNowhere", {"--init-from", "nowhere"}, {"nowhere"}},
        Case{"ConfigNowhere", {"--config", "nowhere.toml"}, {"nowhere.toml"}},
        Case{"ResumeNowhere", {"--resume", "nowhere"}, {"--run"}}),
    [](const testing::TestParamInfo<Case>& one) { return std::string(one.param.name); });

// The same for what only several processes can do wrong. Where all of them find out, one of them tells.
INSTANTIATE_TEST_SUITE_P(
    SeveralProcesses, Refused,
    testing::Values(
        Case{"MoreWorkersThanOars", {"--workers", "3", "--oars", "2"}, {"3 workers", "2 oars", "--oars 4"}},
        Case{"MoreWorkersThanOarsWithServers",
             {"--workers", "3", "--oars", "2", "--strategy", "ps"},
             {"3 workers", "2 oars", "--oars 4"}},
        Case{"NoWorkers", {"--workers", "0"}, {"--workers", "0"}},
        Case{"WorkersNoNumber", {"--workers", "three"}, {"--workers", "'three'"}},
        Case{"ServersWithoutPs", {"--workers", "2", "--servers", "1"}, {"--servers 1", "allreduce", "ps"}},
        Case{"ServersOfASingle", {"--servers", "1"}, {"--servers 1", "single", "ps"}},
        Case{"MoreServersThanWorkers",
             {"--workers", "2", "--servers", "3", "--server-place", "worker", "--strategy", "ps"},
             {"3 servers", "2 workers"}},
        Case{"ServerPlace",
             {"--workers", "2", "--server-place", "wroker", "--strategy", "ps"},
             {"'wroker'", "'worker'"}},
        Case{"Mode", {"--workers", "2", "--strategy", "ps:mode=asink"}, {"'asink'", "'async'"}},
        Case{"Staleness", {"--workers", "2", "--strategy", "ps:mode=ssp,staleness=-1"}, {"staleness", "-1"}},
        Case{"StalenessOfAsync", {"--workers", "2", "--strategy", "ps:mode=async,staleness=1"}, {"staleness"}},
        Case{"Bounds", {"--workers", "2", "--strategy", "ps:mode=dssp,low=4,high=2"}, {"high", "low", "4", "2"}},
        Case{"SwitchShare", {"--workers", "2", "--strategy", "switch:at=120%"}, {"at", "120%"}},
        Case{"SwitchStep", {"--workers", "2", "--strategy", "switch:at=9steps", "--epochs", "2"}, {"at=9steps", "8"}},
        Case{"SwitchOrder",
             {"--workers", "2", "--strategy", "switch:at=60%,at=30%,to=ps,to=allreduce"},
             {"order", "60%", "30%"}},
        Case{"AssignSum", {"--workers", "2", "--oars", "4", "--assign", "4,1"}, {"--assign 4,1", "5 oars", "4 oars"}},
        Case{"AssignCount", {"--workers", "2", "--oars", "4", "--assign", "4"}, {"--assign 4", "2 workers"}},
        Case{"AssignWord", {"--workers", "2", "--assign", "fair"}, {"--assign", "'fair'", "even"}},
        Case{"SlowWorker", {"--workers", "2", "--slow", "worker=2"}, {"--slow", "worker is 2", "0 to 1"}},
        Case{"SlowFactor", {"--workers", "2", "--slow", "worker=1,factor=0.5"}, {"--slow", "factor", "0.5"}},
        Case{"SlowKey", {"--workers", "2", "--slow", "worker=1,facter=2"}, {"'facter'", "'factor'"}},
        Case{"ExactRing", {"--workers", "2", "--strategy", "allreduce:algorithm=ring"}, {"ring", "--reduce fast"}},
        Case{"Algorithm", {"--workers", "2", "--strategy", "allreduce:algorithm=rings"}, {"'rings'", "ring"}},
        Case{"Transport", {"--workers", "2", "--transport", "udp"}, {"'udp'", "tcp"}},
        Case{"Evaluate", {"--workers", "2", "--evaluate", "sprad"}, {"'sprad'", "'spread'"}},
        Case{"Hosts",
             {"--workers", "2", "--hosts", "localhost,no-such-host.invalid"},
             {"worker 1", "no-such-host.invalid"}},
        Case{"MoreHostsThanWorkers", {"--workers", "2", "--hosts", "a,b,c"}, {"3 hosts", "2 workers"}},
        Case{"NameOfAHost", {"--workers", "2", "--hosts", "localhost,-oProxyCommand=x"}, {"-oProxyCommand=x"}},
        Case{"ServerHosts",
             {"--workers", "2", "--strategy", "ps", "--server-place", "worker", "--server-hosts", "localhost"},
             {"--server-hosts", "--server-place own"}},
        Case{"Port", {"--workers", "2", "--port", "70000"}, {"--port", "70000"}},
        Case{"HeartbeatTimeout", {"--workers", "2", "--heartbeat-timeout", "0"}, {"--heartbeat-timeout is 0", "1 to"}},
        Case{"StallTimeout", {"--workers", "2", "--stall-timeout", "soon"}, {"--stall-timeout", "'soon'"}},
        Case{"OptimizerOfSeveral", {"--workers", "2", "--optimizer", "sgdd"}, {"'sgdd'", "'sgd'"}},
        Case{"ClipOfSeveral", {"--workers", "2", "--clip", "-1"}, {"--clip", "-1"}},
        Case{"InitFromOfSeveral", {"--workers", "2", "--init-from", "nowhere"}, {"nowhere"}},
        Case{"ModelOfSeveral", Words{"--model", "lenet6"} + kShape + Words{"--workers", "2"}, {"'lenet6'"}}),
    [](const testing::TestParamInfo<Case>& one) { return std::string(one.param.name); });

using RefusedFiles = Program;

TEST_F(RefusedFiles, ConfigurationFiles) {
  const auto refuse = [&](const char* name, const std::string& text, const Words& sayings) {
    write(folder() / name, text);
    expect_refused({"train", "--run", "r", "--config", name}, Words{name} + sayings);
  };
  refuse("key.toml", "modle = \"lenet5\"\n", {"'modle'", "'model'"});
  refuse("grouped.toml", "[learning]\nsede = 2\n", {"'sede'", "'seed'"});
  refuse("open.toml", "seed = 1\nmodel = \"lenet5\n", {"line 2"});
  refuse("list.toml", "model = [\"lenet5\"]\n", {"'model'"});
  write(folder() / "value.toml", "model = \"lenet5\"\ndata = \"synthetic\"\noars = \"many\"\n");
  expect_refused({"train", "--run", "r", "--config", "value.toml"}, {"oars", "'many'"});
  refuse("cut.json", "{\"configuration\": {", {"JSON"});
  refuse("other.json", "{\"seed\": 1}", {"configuration"});
  refuse("array.json", "[]", {"configuration"});
  refuse("number.json", "{\"configuration\": {\"seed\": 1}}", {"seed"});
}

TEST_F(RefusedFiles, RunFolders) {
  write(folder() / "file", "x");
  fs::create_directory(folder() / "full");
  write(folder() / "full/note", "x");
  const Words small = Words{"train"} + kSmall;
  expect_refused(small + Words{"--run", "full"}, {"full", "exists", "--resume"});
  expect_refused(small + Words{"--run", "file"}, {"file", "exists"});
  expect_refused(small + Words{"--run", "file/r"}, {"file/r"});
  expect_refused(small + Words{"--run", "/proc/no-such-folder"}, {"/proc/no-such-folder"});
  expect_refused({"train", "--resume", "nowhere"}, {"nowhere"});
  expect_refused({"train", "--resume", "full"}, {"full", "run.json"});
  expect_refused({"train", "--resume", "file"}, {"file"});
  for (const char* verb : {"eval", "predict"}) {
    expect_refused({verb, "--run", "nowhere"}, {"nowhere"});
    expect_refused({verb, "--run", "full"}, {"full", "run.json"});
  }
}

// The same run folder without write permission.
TEST_F(RefusedFiles, AFolderWithoutPermission) {
  fs::create_directory(folder() / "locked");
  fs::permissions(folder() / "locked", fs::perms::owner_read | fs::perms::owner_exec);
  use_copy_of_program();  // nobody may not be let into the build folder
  test::as_nobody(folder(), [&] {
    expect_refused(Words{"train"} + kSmall + Words{"--run", "locked/r"}, {"locked/r"});
  });
  fs::permissions(folder() / "locked", fs::perms::owner_all);
}

}  // namespace
}  // namespace trireme::cli_test

#include "cli/cli.h"
#include "train/builtin_registry.h"
#include "train/experiment/registry.h"

int main(int argc, char** argv) { return trireme::cli::run(trireme::train::builtin_registry(), argc, argv); }

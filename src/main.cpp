#include "cli/cli.h"
#include "train/registry.h"

int main(int argc, char** argv) { return trireme::cli::run(trireme::train::builtin_registry(), argc, argv); }

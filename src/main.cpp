#include "cli/cli.h"

int main(int argc, char** argv) { return trireme::cli::run(argc, argv); }

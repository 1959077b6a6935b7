#include <trireme/program.h>

int main(int argc, char** argv) { return trireme::Program().run(argc, argv); }

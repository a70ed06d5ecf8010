// Compiles the main() that Catch2 provides for the test program.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

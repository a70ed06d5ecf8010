// Compiles the main() of the test program, which Catch2 provides.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

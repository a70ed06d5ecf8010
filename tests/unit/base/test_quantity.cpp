// Tests quantities, suggestions for mistyped names, and errors that mark a place in the text with a caret.
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>

#include "base/dtype.hpp"
#include "base/interrupt.hpp"
#include "base/quantity.hpp"
#include "base/suggest.hpp"
#include "support/bad_input.hpp"

using namespace sluice;
using Catch::Matchers::Contains;
using test::error_of;
using D = Dimension;

TEST_CASE("a quantity is its number times the factor of its prefix, rounded only once") {
  CHECK(parse_quantity("61TFLOP/s", D::flop_per_s) == 61e12);
  CHECK(parse_quantity("61 TFLOP/s", D::flop_per_s) == 61e12);
  CHECK(parse_quantity("30GB/s", D::bytes_per_s) == 30e9);
  CHECK(parse_quantity("1GiB/s", D::bytes_per_s) == 1073741824.0);
  CHECK(parse_quantity("0.3GB/s", D::bytes_per_s) == 0.3e9);
  CHECK(parse_quantity("2kFLOP", D::flop) == 2000);
  // The product 5 * 1e-6 is 4.9999999999999996e-06. But the text "5us" means 5e-6, the double that is nearest to it.
  CHECK(parse_quantity("5us", D::seconds) == 5e-6);
  CHECK(parse_quantity("5µs", D::seconds) == 5e-6);
  CHECK(parse_quantity("7ns", D::seconds) == 7e-9);
  CHECK(parse_quantity("3ms", D::seconds) == 3e-3);
  CHECK(parse_quantity("2min", D::seconds) == 120);
  CHECK(parse_quantity("1.5h", D::seconds) == 5400);
  CHECK(parse_quantity("0s", D::seconds) == 0);
  CHECK(parse_quantity("250W", D::watts) == 250);
  CHECK(parse_quantity("1.5kW", D::watts) == 1500);
  CHECK(parse_quantity("3mJ", D::joules) == 3e-3);
  CHECK(parse_quantity("70%", D::none) == 0.7);
  CHECK(parse_quantity("0.7", D::none) == 0.7);
  CHECK(parse_quantity("1e3MB/s", D::bytes_per_s) == 1e9);
}

TEST_CASE("numbers of bytes are whole, and exact up to 2^63 - 1") {
  CHECK(parse_bytes("24GB") == 24'000'000'000);
  CHECK(parse_bytes("16GiB") == 17'179'869'184);
  CHECK(parse_bytes("1.5KiB") == 1536);
  CHECK(parse_bytes("0.5kB") == 500);
  CHECK(parse_bytes("1EB") == 1'000'000'000'000'000'000);
  CHECK(parse_bytes("5E3B") == 5000);
  CHECK(parse_bytes("9223372036854775807B") == INT64_MAX);
  CHECK(parse_bytes("0B") == 0);
  CHECK_THAT(error_of([] { parse_bytes("9223372036854775808B"); }), Contains("2^63 - 1"));
  CHECK_THAT(error_of([] { parse_bytes("8EiB"); }), Contains("2^63 - 1"));
  CHECK_THAT(error_of([] { parse_bytes("99999999999999999999999999GB"); }), Contains("2^63 - 1"));
  CHECK_THAT(error_of([] { parse_bytes("0.1B"); }), Contains("not a whole number of bytes"));
  CHECK_THAT(error_of([] { parse_bytes("1.0001kB"); }), Contains("not a whole number of bytes"));
}

TEST_CASE(
    "text that is not a quantity is refused, and the message gives the text, the reason and an example") {
  const auto message_for = [](const char* text, D dimension) {
    return error_of([&] { parse_quantity(text, dimension, "bandwidth"); });
  };
  CHECK(
      message_for("-3GB/s", D::bytes_per_s) ==
      "3 '-3GB/s' for 'bandwidth': the number may not be negative, expected bytes per second like "
      "\"30GB/s\"");
  CHECK_THAT(message_for("30", D::bytes_per_s), Contains("the unit is missing"));
  for (const char* bits : {"64Gbps", "64Gbit/s", "64 Gb/s", "64Gbits/s"})
    CHECK_THAT(message_for(bits, D::bytes_per_s),
               Contains("counts bits") && Contains("64 Gbit/s is 8GB/s"));
  CHECK_THAT(message_for("2.5e3Mbps", D::bytes_per_s), Contains("2.5e3 Mbit/s is 312.5MB/s"));
  CHECK_THAT(message_for("8Gbit", D::bytes), Contains("8 Gbit is 1GB"));
  CHECK_THAT(message_for("64GBps", D::bytes_per_s), Contains("(did you mean 'GB/s'?)"));
  CHECK_THAT(message_for("30GB", D::bytes_per_s), Contains("unknown unit 'GB'"));
  CHECK_THAT(message_for("61TFLOPS", D::flop_per_s), Contains("(did you mean 'TFLOP/s'?)"));
  CHECK_THAT(message_for("30GB/s!", D::bytes_per_s), Contains("unknown unit 'GB/s!'"));
  CHECK_THAT(message_for("30KB/s", D::bytes_per_s), Contains("(did you mean 'kB/s'?)"));
  CHECK_THAT(message_for("nan", D::seconds), Contains("does not start with a number"));
  CHECK_THAT(message_for("inf", D::seconds), Contains("does not start with a number"));
  CHECK_THAT(message_for("+5s", D::seconds), Contains("does not start with a number"));
  CHECK_THAT(message_for(" 5s", D::seconds), Contains("does not start with a number"));
  CHECK_THAT(message_for("", D::seconds), Contains("it is empty"));
  CHECK_THAT(message_for(".s", D::seconds), Contains("does not start with a number"));
  CHECK_THAT(message_for("1e999s", D::seconds), Contains("out of range"));
  CHECK_THAT(message_for("1e308kW", D::watts), Contains("out of range"));
  CHECK_THAT(message_for("0x10s", D::seconds), Contains("unknown unit 'x10s'"));
  CHECK_THAT(message_for("1,5s", D::seconds), Contains("unknown unit ',5s'"));
  CHECK_THAT(message_for("5 W", D::seconds), Contains("unknown unit 'W'"));
  CHECK_THAT(message_for("1KFLOP", D::flop), Contains("(did you mean 'kFLOP'?)"));
  CHECK_THAT(message_for("1GiFLOP", D::flop), Contains("unknown unit 'GiFLOP'"));
}

TEST_CASE("reading and writing numbers does not depend on the locale") {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  // In the locale de_DE.UTF-8, numbers have a decimal comma. If this locale is not installed, the values are checked in
  // the locale "C".
  std::setlocale(LC_ALL, "de_DE.UTF-8");
  CHECK(parse_quantity("1.5s", D::seconds) == 1.5);
  CHECK(exact(1.5) == "1.5");
  CHECK(format_quantity(1.5, D::seconds) == "1.5 s");
  std::setlocale(LC_ALL, before.c_str());
}

TEST_CASE("quantities for people have four digits and the largest suitable unit") {
  CHECK(format_quantity(6.1e13, D::flop_per_s) == "61 TFLOP/s");
  CHECK(format_quantity(188459392, D::bytes) == "188.5 MB");
  CHECK(format_quantity(999.96e6, D::bytes_per_s) == "1 GB/s");
  CHECK(format_quantity(0.573144, D::seconds) == "573.1 ms");
  CHECK(format_quantity(5e-6, D::seconds) == "5 us");
  CHECK(format_quantity(10800, D::seconds) == "10800 s");
  CHECK(format_quantity(0, D::seconds) == "0 s");
  CHECK(format_quantity(0, D::bytes) == "0 B");
  CHECK(format_quantity(0.25, D::watts) == "250 mW");
  CHECK(format_quantity(0.7, D::none) == "0.7");
}

TEST_CASE("the same double is read back from its exact text") {
  for (const double value : {0.1, 1.0 / 3, 6.1e13, 2.2250738585072014e-308, 1.7976931348623157e308})
    CHECK(std::stod(exact(value)) == value);
  CHECK(exact(0.1) == "0.1");
}

TEST_CASE("a count that would overflow is an error that names the count") {
  CHECK(checked_mul(3'000'000'000, 3, "FLOP") == 9'000'000'000);
  CHECK(checked_add(INT64_MAX - 1, 1, "bytes") == INT64_MAX);
  CHECK_THAT(error_of([] { checked_mul(INT64_MAX, 2, "FLOP"); }), Contains("3 FLOP: "));
  CHECK_THAT(error_of([] { checked_add(INT64_MAX, 1, "bytes"); }), Contains("3 bytes: "));
}

TEST_CASE("a mistyped name gets a suggestion, and an unrelated word gets no suggestion") {
  const std::vector<std::string> known = {"bandwidth", "latency", "setup"};
  CHECK(did_you_mean("bandwith", known) == " (did you mean 'bandwidth'?)");
  CHECK(did_you_mean("lateny", known) == " (did you mean 'latency'?)");
  CHECK(did_you_mean("steup", known) == " (did you mean 'setup'?)");
  CHECK(did_you_mean("LATENCY", known) == " (did you mean 'latency'?)");
  CHECK(did_you_mean("colour", known).empty());
  CHECK(did_you_mean("", known).empty());
  // Not only mistyped names lead to a suggestion, but also synonyms such as half and bf16, and the beginning of a name.
  const std::vector<std::string> dtypes = {"float32", "float16", "bfloat16"};
  CHECK(did_you_mean("fp16", dtypes) == " (did you mean 'float16'?)");
  CHECK(did_you_mean("half", dtypes) == " (did you mean 'float16'?)");
  CHECK(did_you_mean("BF16", dtypes) == " (did you mean 'bfloat16'?)");
  CHECK(did_you_mean("fp64", dtypes).find("float64") == std::string::npos);
  CHECK(did_you_mean("offload", {"keep_all", "offload_all"}) == " (did you mean 'offload_all'?)");
  CHECK(did_you_mean("--vers", {"--help", "--version"}) == " (did you mean '--version'?)");
  CHECK(join({"a", "b", "c"}) == "a, b, c");
  CHECK(join({}).empty());
}

TEST_CASE("each dtype says how many bytes an element has, and each dtype is found by its name") {
  CHECK(bytes_of(DType::float64) == 8);
  CHECK(bytes_of(DType::tfloat32) == 4);
  CHECK(bytes_of(DType::bfloat16) == 2);
  CHECK(bytes_of(DType::int8) == 1);
  for (const std::string& name : dtype_names()) CHECK(name_of(dtype_of(name)) == name);
  CHECK_THAT(error_of([] { dtype_of("flaot16"); }),
             Contains("unknown dtype 'flaot16' (did you mean 'float16'?); known: float64, "));
}

TEST_CASE("an error shows the line and a caret under the column") {
  const InputError error(Position{"a.yaml", 3, 5, "    lyers: 3"}, "unknown key");
  CHECK(std::string(error.what()) == "a.yaml:3:5: error: unknown key\n        lyers: 3\n        ^");
  const InputError wide(Position{"a", 1, 3, "é\tx"}, "m");
  CHECK(std::string(wide.what()) == "a:1:3: error: m\n    é x\n      ^");
  const InputError bare(Position{}, "m");
  CHECK(std::string(bare.what()) == "m");
}

TEST_CASE("an error in a line of a megabyte shows only the part of the line around the column") {
  const InputError error(Position{"a", 1, 500'001, std::string(1'000'000, 'x')}, "m");
  CHECK(std::string(error.what()).size() < 400);
}

TEST_CASE(
    "a signal sets the interrupt flag, and check_interrupt ends the process with the exit code of the signal") {
  // After a signal, the interrupt flag of a process stays set. So each signal is tested in a process of its own.
  for (const int signal : {SIGTERM, SIGINT}) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      install_interrupt_handlers();
      if (interrupt_signal() != 0 || error_of([] { check_interrupt(); }) != "nothing") _exit(1);
      std::raise(signal);
      install_interrupt_handlers();  // this second call must not clear the recorded signal
      if (interrupt_signal() != signal) _exit(2);
      const std::string expected = std::to_string(128 + signal) + " interrupted";
      _exit(error_of([] { check_interrupt(); }) == expected ? 0 : 3);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
  }
  CHECK(interrupt_signal() == 0);
}

TEST_CASE(
    "if the process has nothing to clean up, a signal ends the process and removes its half-written file") {
  char name[] = "/tmp/sluice_interrupt_XXXXXX";
  const int file = mkstemp(name);
  REQUIRE(file >= 0);
  close(file);
  for (const int signal : {SIGINT, SIGTERM}) {
    // For SIGINT, the child process holds an InOrder object. So the signal ends the process only when this object is
    // destroyed, at the end of its block. For SIGTERM, the signal ends the process at once.
    const bool in_order = signal == SIGINT;
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      install_interrupt_handlers();
      end_at_once_when_interrupted();
      if (!std::freopen("/dev/null", "w", stderr)) _exit(3);
      const RemovedOnInterrupt removed(name);
      {
        std::optional<InOrder> until;
        if (in_order) until.emplace();
        std::raise(signal);
        if (!in_order || interrupt_signal() != signal || access(name, F_OK) != 0) _exit(1);
      }
      _exit(2);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 128 + signal);
    CHECK(access(name, F_OK) != 0);
    std::ofstream(std::string(name)) << "again";
  }
  unlink(name);
}

TEST_CASE("a second Ctrl-C ends the process at once, by the signal SIGINT") {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    install_interrupt_handlers();
    kill(getpid(), SIGINT);
    if (interrupt_signal() != SIGINT) _exit(1);
    kill(getpid(), SIGINT);
    _exit(2);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGINT);
}

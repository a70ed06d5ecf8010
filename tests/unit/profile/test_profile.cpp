// Tests how files of profiles are read, written and refused.
#include <catch2/catch.hpp>

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "profile/compare.hpp"
#include "profile/hdf5.hpp"
#include "profile/merge.hpp"
#include "profile/profile.hpp"
#include "profile/summary.hpp"
#include "support/bad_input.hpp"

using namespace sluice;
using sluice::test::error_of;

namespace {

const std::string head =
    "# format: sluice-profile/1\n# device: card\n# defaults: {dtype: float16}\n";

Profile profile(const std::string& rows) {
  return parse_profile(head + rows, "p.csv");
}

std::string refusal(const std::string& rows) {
  return error_of([&] { profile(rows); });
}

/// The text of a profile with one row, which has a value in every column.
const std::string full =
    "operator,config,node,sizes,inputs,outputs,batch,dtype,sparsity,pass,input_pools,output_pools,"
    "cache,method,device,level,model,occurrences,flop,bytes,calls,seconds_samples,joules_n,"
    "joules_mean,joules_std,joules_error,processed,run,note\n"
    "conv2d,\"conv2d kernel=[3,3]\",\"a \"\"b\"\",\nc\",m=1;n=20, 8x64x56x56 ; 8x2 ,8x7,8,int8,0.5,"
    "backward_input,DRAM;PMEM,DRAM,cold,loop,other,inner,net,3,1e9,5e6,100,0.003;0.001;0.0021,4,"
    "0.25,0.01,0.001,yes,2,text\n";

}  // namespace

TEST_CASE(
    "A row of a profile is read with all its columns, and with quotes and line ends in its cells") {
  const Profile read = profile(full);
  REQUIRE(read.rows.size() == 1);
  const ProfileRow& row = read.rows.front();
  CHECK(row.node == "a \"b\",\nc");
  CHECK(row.size("n") == 20);
  CHECK_FALSE(row.size("k"));
  CHECK(row.inputs == std::vector<std::vector<std::int64_t>>{{8, 64, 56, 56}, {8, 2}});
  CHECK(row.dtype == "int8");
  CHECK(row.sparsity == 0.5);
  CHECK(row.pass == "backward_input");
  CHECK(row.input_pools == std::vector<std::string>{"DRAM", "PMEM"});
  CHECK(row.level == Level::inner);
  CHECK(row.occurrences == 3);
  CHECK(row.device == "other");
  CHECK(*row.time() == 0.0021);  // the median of three samples
  CHECK(*row.seconds.n == 3);
  CHECK(*row.energy() == 0.25);  // the row has no median, so the mean is used
  CHECK(row.run == 2);
  CHECK(row.line == 5);
}

TEST_CASE(
    "The header gives the values that a row leaves out, and a row without seconds counts as not processed") {
  const Profile read = profile("operator,seconds_mean,note\ngemm,1e-3,\nconv,,\"# no comment\"\n");
  CHECK(read.rows[0].dtype == "float16");
  CHECK(read.rows[0].device == "card");
  CHECK(read.rows[0].processed == Processed::yes);
  CHECK(read.rows[1].processed == Processed::no);
  CHECK(read.rows[1].note == "# no comment");
  CHECK(read.rows[1].occurrences == 1);
}

TEST_CASE("A profile that is written as CSV or as HDF5 and read back is equal") {
  const Profile before = profile(
      full + "\"#odd\",,n2,,,,,,,,,,,,,,,,,,,,,,,,,,\nplain,,n3,,,,,,,,,,,,,,,,,,,0.5,,,,,,,\n");
  const std::string text = profile_text(before);
  CHECK(profile_text(parse_profile(text, "again.csv")) == text);
  CHECK(parse_profile(text, "again.csv").rows[1].operator_class == "#odd");
  const auto file = std::filesystem::temp_directory_path() /
                    ("sluice_profile_" + std::to_string(getpid()) + ".h5");
  // A process without code for HDF5, such as the process of the Python package, cannot write HDF5. Its message must say
  // what to do instead.
  set_hdf5_form({});
  CHECK_THROWS_WITH(write_profile(before, file.string()),
                    Catch::Matchers::Contains("sluice profile merge " + file.string()));
  know_hdf5_profiles();
  write_profile(before, file.string());
  const Profile after = load_profile(file.string());
  std::filesystem::remove(file);
  CHECK(profile_text(after) == text);
  CHECK(after.rows[0].seconds.samples == std::vector<double>{0.003, 0.001, 0.0021});
  CHECK(after.text("device") == "card");
}

TEST_CASE("A damaged profile is refused at its line and column") {
  CHECK(refusal("operatr,seconds_mean\n")
            .find("3 p.csv:4:1: error: unknown column 'operatr' (did you mean 'operator'?)") == 0);
  CHECK(refusal("operator,seconds_mean\ngemm,fast\n")
            .find("3 p.csv:5:6: error: seconds_mean: 'fast': expected a number of at least 0") ==
        0);
  CHECK(refusal("operator,seconds_mean\ngemm,-1\n").find("3 p.csv:5:6: ") == 0);
  CHECK(refusal("operator,seconds_mean\ngemm,nan\n").find("3 p.csv:5:6: ") == 0);
  CHECK(refusal("operator,sizes\ngemm,m:3\n").find("expected named whole numbers") !=
        std::string::npos);
  CHECK(refusal("operator,inputs\ngemm,8x0\n").find("expected a shape") != std::string::npos);
  CHECK(refusal("operator,pass\ngemm,forwards\n").find("(did you mean 'forward'?)") !=
        std::string::npos);
  CHECK(refusal("operator,seconds_mean\ngemm\n")
            .find("3 p.csv:5:1: error: this row has 1 cells; expected 2") == 0);
  CHECK(refusal("operator,note\ngemm,\"a\n").find("3 p.csv:5:6: error: this quote is not closed") ==
        0);
  CHECK(refusal("operator,note\ngemm,\"a\"b\n").find("3 p.csv:5:6: error: text follows") == 0);
  CHECK(refusal("operator,operator\n").find("3 p.csv:4:10: ") == 0);
  CHECK(refusal("operator,node\n,x\n").find("this row has no operator") != std::string::npos);
  CHECK(refusal("operator\ngemm\n\ngemm\n")
            .find("3 p.csv:7:1: error: this row repeats the row of line 5") == 0);
  CHECK(
      refusal("operator,processed\ngemm,yes\n").find("'processed' is yes, but there is no time") !=
      std::string::npos);
  CHECK(error_of([] { parse_profile("operator\n\xff\n", "p.csv"); }).find("3 p.csv") == 0);
  CHECK(refusal("").find("there is no table") != std::string::npos);
  CHECK(error_of([] {
          parse_profile("# format: sluice-profile/1\n# jouls: whole\noperator\n", "p.csv");
        }).find("3 p.csv:2:3: error: unknown key 'jouls'") == 0);
  CHECK(error_of([] {
          parse_profile("# format: sluice-profile/2\noperator\n", "p.csv");
        }).find("is newer than this program can read") != std::string::npos);
  CHECK(error_of([] {
          parse_profile("a,b\n1,2\n", "p.csv");
        }).find("3 p.csv:1:1: error: this is neither a profile") == 0);
}

TEST_CASE("A map of its columns turns any table into a profile") {
  const auto map =
      std::filesystem::temp_directory_path() / ("sluice_map_" + std::to_string(getpid()) + ".yaml");
  std::ofstream(map) << "format: sluice-profile-map/1\n"
                        "header: {device: mine}\n"
                        "columns:\n"
                        "  operator: {column: op, until: '('}\n"
                        "  sizes: {m: rows, k: cols}\n"
                        "  flop: {expression: 2 * $rows * $cols}\n"
                        "  dtype: {text: float16}\n"
                        "each:\n"
                        "- {cache: {text: hot}, seconds_median: {column: hot, unit: us}}\n"
                        "- {cache: {text: cold}, seconds_median: {column: cold, unit: ms}}\n";
  const std::string table = "op,rows,cols,hot,cold\nmv(a),3,4,5,6\n";
  const Profile read = parse_profile(table, "t.csv", map.string());
  REQUIRE(read.rows.size() == 2);
  CHECK(read.rows[0].operator_class == "mv");
  CHECK(read.rows[0].size("k") == 4);
  CHECK(*read.rows[0].flop == 24);
  CHECK(*read.rows[0].time() == Approx(5e-6).epsilon(1e-15));
  CHECK(*read.rows[1].time() == Approx(6e-3).epsilon(1e-15));
  CHECK(read.rows[1].device == "mine");
  CHECK(error_of([&] {
          parse_profile("op,rows,cols,hot\n", "t.csv", map.string());
        }).find("the table has no column 'cold'") != std::string::npos);
  CHECK(error_of([&] {
          parse_profile("op,rows,cols,hot,cold\nx,1.5,2,3,4\n", "t.csv", map.string());
        }).find("3 t.csv:2:") == 0);
  std::filesystem::remove(map);
}

TEST_CASE("The unit that a map gives must fit the column of the profile") {
  const auto map = std::filesystem::temp_directory_path() /
                   ("sluice_unit_" + std::to_string(getpid()) + ".yaml");
  const auto error_with = [&](const std::string& columns) {
    std::ofstream(map) << "format: sluice-profile-map/1\ncolumns:\n  operator: op\n  " << columns
                       << "\n";
    return error_of([&] { parse_profile("op,x\nmv,1\n", "t.csv", map.string()); });
  };
  CHECK(error_with("seconds_mean: {column: x, unit: mJ}")
            .find("'mJ' is not a unit of the column 'seconds_mean' (did you mean 'ms'?)") !=
        std::string::npos);
  CHECK(error_with("joules_mean: {column: x, unit: ms}").find("'ms' is not a unit") !=
        std::string::npos);
  CHECK(error_with("batch: {column: x, unit: ms}").find("'batch' has no unit") !=
        std::string::npos);
  for (const char* right : {"seconds_mean: {column: x, unit: us}", "flop: {column: x, unit: GFLOP}",
                            "bytes: {column: x, unit: MiB}", "joules_error: {column: x, unit: mJ}"})
    CHECK(error_with(right) == "nothing");
  std::filesystem::remove(map);
}

TEST_CASE("Tables of other programs are recognised by their headings") {
  const Profile gemm = parse_profile("m,n,k,latency_ms\n2,3,4,0.5\n", "/x/card.csv");
  CHECK(gemm.rows[0].device == "card");
  CHECK(*gemm.rows[0].flop == 48);
  CHECK(*gemm.rows[0].bytes == 2 * (2 * 4 + 4 * 3 + 2 * 3));
  CHECK(*gemm.rows[0].time() == Approx(5e-4));
  const Profile bmm = parse_profile(
      "operator,device,b,m,n,k,latency_ms,grid_blocks,blocks_per_sm\nbmm,T4,2,3,4,5,1,7,8\n",
      "b.csv");
  CHECK(bmm.rows[0].device == "T4");
  CHECK(*bmm.rows[0].flop == 240);
  const Profile energy = parse_profile(
      "gpu_config,operator,input_shape,time_per_iter_s,energy_per_iter_mJ,energy_err_mJ,"
      "energy_std_mJ,iterations,time_std_s\nA30,\"Conv2d(3, 64)\",32x3x5x5,1e-3,50,1,2,100,1e-5\n"
      "A30,\"Conv2d(3, 64)\",32x3x5x5,3e-3,70,1,2,100,1e-5\n",
      "a.csv");
  REQUIRE(energy.rows.size() == 1);  // the two rows become one row
  CHECK(energy.rows[0].operator_class == "Conv2d");
  CHECK(energy.rows[0].batch == 32);
  CHECK(*energy.rows[0].time() == Approx(2e-3));
  CHECK(*energy.rows[0].energy() == Approx(0.06));
}

TEST_CASE(
    "Merging keeps all measured rows, and pools the samples of rows that were measured twice") {
  const Profile a =
      profile("operator,node,seconds_samples,processed\nx,1,1;3,\nx,2,,no\nx,3,,failed\n");
  const Profile b = profile("operator,node,seconds_samples\nx,1,5;7\nx,2,4\nx,4,9\n");
  const Profile all = merged({a, b});
  REQUIRE(all.rows.size() == 4);
  CHECK(*all.rows[0].seconds.n == 4);
  CHECK(*all.rows[0].time() == 4);
  CHECK(all.rows[1].processed == Processed::yes);
  CHECK(all.rows[2].processed == Processed::failed);
  const Profile above =
      parse_profile("# format: sluice-profile/1\n# joules: above_idle\noperator\ny\n", "q.csv");
  CHECK(error_of([&] {
          merged({a, above});
        }).find("are not of the same kind") != std::string::npos);
}

TEST_CASE("Joules that include idle power are merged if both files give the same idle power") {
  const auto of = [](const std::string& header, const std::string& row) {
    return parse_profile(
        "# format: sluice-profile/1\n" + header + "operator,node,seconds_mean,joules_mean\n" + row,
        "p.csv");
  };
  const Profile thirty = of("# idle: 30W\n", "x,1,1,50\n"),
                forty = of("# idle: 40W\n", "x,2,1,60\n"), silent = of("", "x,3,1,60\n"),
                timed = of("# idle: 40W\n", "x,4,1,\n");
  const auto refused = [](const Profile& a, const Profile& b) {
    return error_of([&] { merged({a, b}); });
  };
  CHECK(refused(thirty, forty).find("gives idle: 30 W, 'p.csv' gives idle: 40 W") !=
        std::string::npos);
  CHECK(refused(thirty, silent).find("gives no idle") != std::string::npos);
  CHECK(refused(silent, thirty).find("gives no idle") != std::string::npos);
  CHECK(merged({thirty, of("# idle: 30000mW\n", "x,2,1,60\n")}).rows.size() == 2);
  // The file `timed` has no joules, so its idle power of 40 W is ignored.
  CHECK(merged({thirty, timed}).idle_w() == 30);
  CHECK(merged({timed, thirty}).idle_w() == 30);
  CHECK_FALSE(merged({timed, silent}).idle_w());
  CHECK_FALSE(merged({silent, timed}).idle_w());
}

TEST_CASE("A count of samples must be at least 1, or their values could not be pooled") {
  const std::string head = "operator,seconds_n,seconds_mean,joules_n,joules_mean\n";
  CHECK(refusal(head + "x,0,1,,\n").find("seconds_n: '0': expected at least 1 sample") !=
        std::string::npos);
  CHECK(refusal(head + "x,1,1,0.5,1\n").find("joules_n: '0.5': expected at least 1 sample") !=
        std::string::npos);
  const Profile once = profile("operator,seconds_n,seconds_mean\nx,1,1\n"),
                again = profile("operator,seconds_n,seconds_mean\nx,1,3\n");
  // The mean of 1 and 3 is 2. The squares of the deviations are 1 and 1. Their sum, divided by 2 - 1, is 2.
  CHECK(*merged({once, again}).rows[0].seconds.std == Approx(std::sqrt(2)));
}

TEST_CASE(
    "Rows of two profiles are compared by their ratio, and rows with zeros or small values are left out") {
  const Profile read = profile(
      "operator,node,cache,seconds_mean\n"
      "x,1,hot,1\nx,1,cold,2\n"     // the ratio is 0.5
      "x,2,hot,1.04\nx,2,cold,1\n"  // the rows agree
      "x,3,hot,0\nx,3,cold,1\nx,4,hot,0.1\nx,4,cold,1\nx,5,hot,3\n");
  const Comparison compared =
      compare(rows_where(read, "cache", "hot"), rows_where(read, "cache", "cold"),
              {.least = 0.1, .but = {"cache"}});
  CHECK(compared.pairs == 4);
  CHECK(compared.with_zero == 1);
  CHECK(compared.below_least == 1);
  CHECK(compared.only_a == 1);
  REQUIRE(compared.rows.size() == 2);
  CHECK(compared.agreeing == 1);
  CHECK(compared.median == Approx(0.77));
  CHECK(compared.worst()->factor() == 2);
  CHECK(compared.sum_a == Approx(2.04));
  CHECK(error_of([&] { rows_where(read, "cache", "warm"); }).find("there are: cold, hot") !=
        std::string::npos);
  CHECK(error_of([&] {
          compare(read, read, {.but = {"cache"}});
        }).find("differ only in columns that are not compared") != std::string::npos);
}

TEST_CASE("Rows are chosen by their values, whether the row or the header gives them") {
  const Profile read = profile(
      "operator,level,sparsity,occurrences,calls,dtype,input_pools,cache,seconds_median\n"
      "a,,,,,float32,DRAM;DRAM,hot,1\n"
      "b,whole,0.5,3,2,float16,DRAM;PMEM,,2\n");
  const auto chosen = [&](const std::string& column, const std::string& value) {
    const Profile part = rows_where(read, column, value);
    return part.rows.size() == 1 ? part.rows.front().operator_class : "";
  };
  for (const auto& [column, value] :
       std::vector<std::pair<std::string, std::string>>{{"level", "leaf"},
                                                        {"sparsity", "0"},
                                                        {"occurrences", "1"},
                                                        {"calls", "1"},
                                                        {"input_pools", "DRAM;DRAM"},
                                                        {"cache", "hot"}})
    CHECK(chosen(column, value) == "a");
  for (const auto& [column, value] : std::vector<std::pair<std::string, std::string>>{
           {"level", "whole"}, {"sparsity", "0.50"}, {"occurrences", "3"}, {"cache", ""}})
    CHECK(chosen(column, value) == "b");
  CHECK(error_of([&] { rows_where(read, "level", "lead"); }).find("there are: (empty), whole") !=
        std::string::npos);
}

TEST_CASE("A summary sorts classes by seconds, and configurations by the spread of their rows") {
  const Profile read = profile(
      "operator,config,node,occurrences,seconds_samples,level\n"
      "small,c,1,1,1;1;1,\nlarge,d,1,10,2;4,\nlarge,d,2,1,9,\nlarge,all,,1,99,whole\n");
  const ProfileSummary summary = summary_of(read);
  CHECK(summary.measured == 4);
  REQUIRE(summary.classes.size() == 2);
  CHECK(summary.classes[0].operator_class == "large");
  // The first row of `large` has 10 occurrences with a mean of 3 s, and the second row has one occurrence of 9 s.
  // Together they take 39 s. The row of 99 s is for the whole model, so it is not counted for an operator.
  CHECK(summary.classes[0].seconds == 39);
  CHECK(summary.classes[0].configurations == 1);
  REQUIRE(summary.sampled.size() == 2);
  CHECK(summary.sampled[0].variation() == Approx(std::sqrt(2.0) / 3));
  REQUIRE(summary.repeated.size() == 1);
  CHECK(summary.repeated[0].factor() == 3);
}

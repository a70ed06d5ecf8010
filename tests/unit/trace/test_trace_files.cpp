// Tests trace files that cannot be written, that were cut short or damaged, or that have an older
// version.
#include "support/trace_case.hpp"

namespace sluice {

using namespace trace_case;

TEST_CASE("A target that cannot be written is refused before the simulation begins") {
  const Folder folder;
  const auto make = [](const std::string& path) { TraceWriter(path, header(), labels()); };
  fs::create_directory(folder / "folder");
  put(folder / "file", "");
  REQUIRE_THROWS_WITH(make(folder / "folder"), Contains("is a directory"));
  REQUIRE_THROWS_WITH(make(folder / "none/t.h5"), Contains("No such file or directory"));
  REQUIRE_THROWS_WITH(make(folder / "file/t.h5"), Contains("is not a directory"));
  REQUIRE_THROWS_WITH(make("/dev/null"), Contains("is not a regular file"));
  REQUIRE_THROWS_WITH(make(folder / "folder/"), Contains("without the name of a file"));
  REQUIRE_THROWS_AS(make("/proc/t.h5"), IoError);
  fs::create_directory(folder / "read-only");
  fs::permissions(folder / "read-only", fs::perms::owner_read | fs::perms::owner_exec);
  if (geteuid() != 0)
    REQUIRE_THROWS_WITH(make(folder / "read-only/t.h5"), Contains("Permission denied"));
}

TEST_CASE("A second writer on one target is refused, and does not harm the first") {
  const Folder folder;
  const std::string path = folder / "t.h5";
  TraceWriter first(path, header(), labels());
  feed(first, 100);
  REQUIRE_THROWS_AS(TraceWriter(path, header(), labels()), IoError);
  REQUIRE_THROWS_WITH(TraceWriter(path, header(), labels()), Contains("in use by another process"));
  first.finish(TraceStatus::complete, summary(), series());
  REQUIRE(TraceReader(path).span_count() == 100);
}

TEST_CASE("The file of a run that was killed is not a trace, and the next run replaces this file") {
  const Folder folder;
  const std::string path = folder / "t.h5";
  const pid_t child = fork();
  if (child == 0) {
    TraceWriter writer(path, header(), labels(), 64);
    feed(writer, 20'000);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(WIFSIGNALED(status));
  REQUIRE(fs::exists(path + ".part"));
  REQUIRE_FALSE(fs::exists(path));
  REQUIRE_THROWS_AS(TraceReader(path + ".part"), InputError);
  write(path, 10);
  REQUIRE(TraceReader(path).span_count() == 10);
  REQUIRE_FALSE(fs::exists(path + ".part"));
}

TEST_CASE("A full disk is an IoError, and the .part file is removed") {
  const Folder folder;
  const std::string path = folder / "t.h5";
  // A limit on the size of files acts like a full disk: a write beyond the limit fails with EFBIG.
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit small{GENERATE(0U, 3000U, 40'000U, 100'000U), limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  std::string message;
  try {
    write(path, 200'000, 1000);
  } catch (const IoError& error) {
    message = error.what();
  }
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, before);
  REQUIRE_THAT(message, Contains("cannot write '" + path + "'") && Contains("File too large"));
  REQUIRE(fs::is_empty(folder.path()));
  write(path, 10);  // after the failure, the process can write a trace
  REQUIRE(TraceReader(path).span_count() == 10);
}

TEST_CASE("A truncated file is recognised, whatever its length is") {
  const Folder folder;
  write(folder / "t.h5", 5000, 512);
  const std::string whole = bytes_of(folder / "t.h5");
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{1}, std::size_t{8}, std::size_t{96}, std::size_t{2048},
        whole.size() / 4, whole.size() / 2, whole.size() - 4096, whole.size() - 1}) {
    put(folder / "cut.h5", whole.substr(0, length));
    INFO("length " << length);
    REQUIRE_THROWS_AS(TraceReader(folder / "cut.h5"), InputError);
  }
}

TEST_CASE("Damaged rows are found by their checksum") {
  const Folder folder;
  const std::string path = folder / "t.h5";
  write(path, 100'000, 32768);
  // The bytes in the middle of the file belong to a chunk of spans, so reading the spans must fail.
  std::string bytes = bytes_of(path);
  for (std::size_t i = 0; i < 64; ++i) bytes[bytes.size() / 2 + i] ^= 0x55;
  put(path, bytes);
  const TraceReader trace(path);
  REQUIRE_THROWS_AS(trace.spans([](const std::vector<Span>&) {}), InputError);
}

TEST_CASE("A file that is not a trace is refused with a reason") {
  const Folder folder;
  const auto open = [](const std::string& path) { TraceReader reader(path); };
  REQUIRE_THROWS_AS(open(folder / "none.h5"), IoError);
  REQUIRE_THROWS_WITH(open(folder / "none.h5"), Contains("No such file"));
  REQUIRE_THROWS_AS(open(folder.path().string()), IoError);
  put(folder / "text.h5", "format: sluice-scenario/1\n");
  REQUIRE_THROWS_WITH(open(folder / "text.h5"), Contains("not an HDF5 file"));
  put(folder / "empty.h5", "");
  REQUIRE_THROWS_WITH(open(folder / "empty.h5"), Contains("empty"));

  const std::string path = folder / "t.h5";
  const auto edited = [&](auto edit) {
    write(path, 10);
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    REQUIRE(file >= 0);
    edit(file);
    REQUIRE(H5Fclose(file) >= 0);
  };
  edited([](hid_t file) { H5Adelete(file, "filetype"); });
  REQUIRE_THROWS_WITH(open(path), Contains("filetype"));
  edited([](hid_t file) {
    const int version[2] = {3, 0};
    const hid_t attribute = H5Aopen(file, "version", H5P_DEFAULT);
    H5Awrite(attribute, H5T_NATIVE_INT, version);
    H5Aclose(attribute);
  });
  REQUIRE_THROWS_WITH(open(path), Contains("version is 3; known: 1, 2"));
  edited([](hid_t file) { H5Ldelete(file, "/labels/actions/kind", H5P_DEFAULT); });
  REQUIRE_THROWS_WITH(open(path), Contains("/labels/actions/kind is missing"));
}

/// Writes a column of numbers of type f64 as version 1.0 did it.
void put_column(hid_t file, const char* path, const std::vector<double>& values) {
  const hsize_t size = values.size();
  const hid_t space = H5Screate_simple(1, &size, nullptr);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(creation, 1, &size);
  const hid_t made =
      H5Dcreate2(file, path, H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  REQUIRE(H5Dwrite(made, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0);
  H5Dclose(made);
  H5Pclose(creation);
  H5Sclose(space);
}

TEST_CASE(
    "A trace of version 1.0 is read. It has no causes, and its utilisation is found by the name of a stream") {
  const Folder folder;
  const std::string path = folder / "t.h5";
  write(path, 10);
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const int version[2] = {1, 0};
  const hid_t attribute = H5Aopen(file, "version", H5P_DEFAULT);
  H5Awrite(attribute, H5T_NATIVE_INT, version);
  H5Aclose(attribute);
  for (const char* name : {"/spans/cause", "/series/utilisation", "/series/stream"})
    REQUIRE(H5Ldelete(file, name, H5P_DEFAULT) >= 0);
  H5Gclose(H5Gcreate2(file, "/series/utilisation", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  put_column(file, "/series/utilisation/gpu.host.down", {1, 0.25, 0});
  put_column(file, "/series/utilisation/gpu.compute", {0, 0.5, 1});
  REQUIRE(H5Fclose(file) >= 0);

  const TraceReader trace(path);
  std::int64_t seen = 0, different = 0;
  trace.spans([&](const std::vector<Span>& block) {
    for (const Span& span : block) {
      Span expected = span_at(seen++);
      expected.cause = -1;
      different += !same(span, expected);
    }
  });
  REQUIRE(seen == 10);
  REQUIRE(different == 0);
  const SeriesTable table = trace.series();
  REQUIRE(table.utilisation == series().utilisation);
  REQUIRE(table.series.size() == 1);
}

TEST_CASE("A trace whose utilisation is not one row per stream is refused") {
  const Folder folder;
  const std::string path = folder / "t.h5";
  TraceWriter writer(path, header(), labels());
  SeriesTable three = series();
  three.utilisation.resize(9);
  writer.finish(TraceStatus::complete, summary(), three);
  REQUIRE_THROWS_WITH(TraceReader(path).series(), Contains("/series/utilisation is not 2 x 3"));
}

TEST_CASE("A cause that is not a row of the spans is refused") {
  const Folder folder;
  const std::string path = folder / "t.h5";
  TraceWriter writer(path, header(), labels());
  Span span = span_at(1);
  span.cause = 1;  // the table has only row 0
  writer.span(span);
  writer.finish(TraceStatus::complete, summary(), series());
  REQUIRE_THROWS_WITH(TraceReader(path).spans([](const auto&) {}),
                      Contains("span number 1 is not in its table"));
}

TEST_CASE("Utilisation of thousands of streams is in one table, in chunks of whole rows") {
  const Folder folder;
  const std::string path = folder / "t.h5";
  Labels many = labels();
  many.streams.resize(2);
  for (int s = 2; s < 5000; ++s)
    many.streams.push_back({"g" + std::to_string(s), "compute", "g" + std::to_string(s)});
  SeriesTable table = series();
  table.utilisation.clear();
  for (int i = 0; i < 5000 * 3; ++i) table.utilisation.push_back(i % 7 / 8.0);
  TraceWriter writer(path, header(), many);
  writer.finish(TraceStatus::complete, summary(), table);
  const SeriesTable read = TraceReader(path).series();
  REQUIRE(read.utilisation == table.utilisation);
}

TEST_CASE("Reading a trace never opens another file") {
  const Folder folder;
  write(folder / "other.h5", 10);
  write(folder / "t.h5", 10);
  const hid_t file = H5Fopen((folder / "t.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  REQUIRE(H5Ldelete(file, "/spans", H5P_DEFAULT) >= 0);
  REQUIRE(H5Lcreate_external("other.h5", "/spans", file, "/spans", H5P_DEFAULT, H5P_DEFAULT) >= 0);
  REQUIRE(H5Fclose(file) >= 0);
  const TraceReader trace(folder / "t.h5");
  REQUIRE_THROWS_AS(trace.span_count(), InputError);
  REQUIRE_THROWS_WITH(trace.span_count(), Contains("link to another object"));
}

}  // namespace sluice

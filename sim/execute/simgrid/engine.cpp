#include "execute/simgrid/engine.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <vector>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/suggest.hpp"
#include "base/version.hpp"
#include "execute/shortage.hpp"
#include "execute/simgrid/engine_module.hpp"

namespace sluice {
namespace {

void take_back_handlers() {
  install_interrupt_handlers();
  end_when_memory_is_out();
}

constexpr const char* way_out = "; use --executor replay to run without SimGrid";

/// Checks that the memory has room for the stacks of all actors. If there is no room for a stack, SimGrid aborts the
/// process. `guard_kib` is for the pages that guard a stack. `others_kib` is for everything else that the engine keeps
/// in memory.
void require_memory(const Plan& plan) {
  constexpr std::size_t guard_kib = 64, others_kib = 4096;
  const std::size_t kib = plan.streams.size() * (stack_kib + guard_kib) + others_kib;
  if (!has_room_for(kib << 10))
    throw InternalError(std::string(out_of_memory) + ": SimGrid needs about " +
                        std::to_string((kib >> 10) + 1) + " MiB for the " +
                        std::to_string(plan.streams.size()) + " streams of the plan" + way_out);
}

constexpr EngineHost host = {check_interrupt, take_back_handlers};

#ifdef SLUICE_ENGINE_IS_LINKED

const EngineModule& engine() {
  static const EngineModule* const module = sluice_engine_module(host);
  return *module;
}

#else

namespace fs = std::filesystem;

constexpr const char* file_name = "sluice_simgrid.so";
constexpr std::size_t room_for_libraries = std::size_t{128} << 20;

/// Returns the paths at which the engine's module, sluice_simgrid.so, may be. In an installed package, the module is
/// next to the program. Test programs and the helper program of the Python package are in subfolders of the build
/// folder. For these programs, the module is one or two folders above. The last path is in the folder where an
/// installation has its libraries.
std::vector<std::string> places() {
  std::error_code failed;
  const fs::path folder = fs::read_symlink("/proc/self/exe", failed).parent_path();
  std::vector<std::string> files;
  if (folder.empty()) return files;  // the program's folder is not known
  for (const char* way : {".", "..", "../..", "../lib/sluice"})
    files.push_back((folder / way / file_name).lexically_normal().string());
  return files;
}

const EngineModule* load() {
  const std::vector<std::string> files = places();
  for (const std::string& file : files) {
    std::error_code unreadable;
    if (!fs::exists(file, unreadable)) continue;
    void* const library = ::dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
      const std::string why = "cannot load SimGrid's engine: " + std::string(::dlerror());
      if (!has_room_for(room_for_libraries))
        throw InternalError(std::string(out_of_memory) + ": " + why + way_out);
      throw IoError(why + way_out);
    }
    // dlsym returns a `void*`, which only this cast can convert to a function.
    auto* const entry = reinterpret_cast<EngineEntry*>(::dlsym(library, engine_entry_name));
    const EngineModule* const module = entry ? entry(host) : nullptr;
    if (!module || module->digest != library_digest())
      throw IoError(file +
                    " belongs to another build of Sluice than this program: build or install both "
                    "together (`./dev build`)" +
                    way_out);
    return module;
  }
  throw IoError(std::string("cannot find SimGrid's engine, ") + file_name + ": there is neither " +
                join(files, " nor ") + "; `./dev build` makes the engine" + way_out);
}

/// The module is loaded at the first call. If loading fails, the next call tries again.
const EngineModule& engine() {
  static const EngineModule* const module = load();
  return *module;
}

#endif

EngineReport run_engine(const Plan& plan, Sink& sink, const EngineOptions& options) {
  const EngineModule& module = engine();
  require_memory(plan);
  return module.run(plan, sink, options);
}

Outcome execute_on_simgrid(const Plan& plan, Sink& sink, const ExecutorOptions& options) {
  EngineReport report = run_engine(
      plan, sink,
      {.contexts = options.contexts, .progress = options.progress, .tables = options.tables});
  return {report.makespan, std::move(report.blocking)};
}

}  // namespace

void load_engine() {
  engine();
}

EngineReport execute(const Plan& plan, Sink& sink, const EngineOptions& options) {
  EngineReport report = run_engine(plan, sink, options);
  if (report.blocking)
    throw Infeasible(describe(plan, *report.blocking), shortage_of(plan, *report.blocking));
  return report;
}

extern const PlanExecutor simgrid_executor = {
    .name = "simgrid",
    .summary =
        "Executes the plan with SimGrid, which is the reference; each stream is an actor, and "
        "SimGrid's own model shares the links.",
    .execute = execute_on_simgrid,
};

std::string engine_settings(const Plan& plan) {
  return engine().settings(plan);
}

std::string simgrid_version() {
  return engine().version();
}

}  // namespace sluice

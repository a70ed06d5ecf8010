#include "study/search/optimiser.hpp"

#include <nlopt.h>

#include <cmath>
#include <exception>
#include <limits>
#include <memory>
#include <string>

#include "base/error.hpp"

namespace sluice {

namespace {

/// One run of a method of NLopt. NLopt is written in C, and an exception must not pass through C code. So if the score
/// throws an exception, the exception is stored, and thrown again after NLopt has returned.
class Method {
 public:
  Method(nlopt_algorithm algorithm, std::size_t dimensions, std::size_t most_calls,
         const Score& score)
      : handle_(nlopt_create(algorithm, static_cast<unsigned>(dimensions)), &nlopt_destroy),
        score_(score) {
    if (!handle_) throw InternalError("NLopt does not have the requested method");
    require(nlopt_set_lower_bounds1(handle_.get(), 0));
    require(nlopt_set_upper_bounds1(handle_.get(), 1));
    require(nlopt_set_maxeval(handle_.get(), static_cast<int>(most_calls)));
    require(nlopt_set_min_objective(handle_.get(), &Method::call, this));
  }

  void set_steps(double first_step, double tolerance) {
    require(nlopt_set_initial_step1(handle_.get(), first_step));
    require(nlopt_set_xtol_abs1(handle_.get(), tolerance));
  }

  void run(CubePlace from) {
    double least = 0;
    const nlopt_result result = nlopt_optimize(handle_.get(), from.data(), &least);
    if (thrown_) std::rethrow_exception(thrown_);
    // If rounding errors have stopped the method, this is not an error.
    if (result != NLOPT_ROUNDOFF_LIMITED && result != NLOPT_FORCED_STOP) require(result);
  }

 private:
  void require(nlopt_result result) const {
    if (result >= 0) return;
    if (result == NLOPT_OUT_OF_MEMORY) throw std::bad_alloc();
    throw InternalError(std::string("NLopt: ") + nlopt_result_to_string(result));
  }

  static double call(unsigned count, const double* at, double*, void* self) {
    return static_cast<Method*>(self)->asked(CubePlace(at, at + count));
  }

  double asked(const CubePlace& at) {
    constexpr double none = std::numeric_limits<double>::infinity();
    if (thrown_) return none;
    try {
      return score_(at);
    } catch (...) {
      thrown_ = std::current_exception();
      nlopt_force_stop(handle_.get());
      return none;
    }
  }

  std::unique_ptr<nlopt_opt_s, decltype(&nlopt_destroy)> handle_;
  const Score& score_;
  std::exception_ptr thrown_;
};

}  // namespace

void divide_cube(std::size_t dimensions, std::size_t most_calls, const Score& score) {
  Method(NLOPT_GN_ORIG_DIRECT_L, dimensions, most_calls, score).run(CubePlace(dimensions, 0.5));
}

void walk_downhill(const CubePlace& from, double first_step, double tolerance,
                   std::size_t most_calls, const Score& score) {
  Method method(NLOPT_LN_SBPLX, from.size(), most_calls, score);
  method.set_steps(first_step, tolerance);
  method.run(from);
}

}  // namespace sluice

// Cost models: what a pass of an operator takes on a device. A cost model is chosen by name; what
// it makes of its parameters is an object that prices queries, and may hold data, such as a
// profile. One file per cost model; cost/catalog.cpp lists them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/catalog.hpp"
#include "cost/work.hpp"
#include "document/choice.hpp"
#include "model/model.hpp"
#include "platform/platform.hpp"

namespace sluice {

/// A tensor that a pass reads or writes, and the memory in which it lies.
struct Operand {
  std::string pool;              ///< empty: the device's default memory
  double read = 0, written = 0;  ///< bytes
  std::string name = {};         ///< for messages: "input 'conv1'", "weights"
};

/// What is asked: one pass of one operator on a device.
struct Query {
  const Device& device;
  DType dtype = DType::float32;
  Pass pass = Pass::forward;
  std::int64_t samples = 0;
  Work work = {};
  /// The operator, with its configuration (Layer::config, Layer::input_shapes), and its model.
  /// Null: an update of weights, which are those of no one operator.
  const Model* model = nullptr;
  const Layer* layer = nullptr;
  /// Where its bytes lie, as operands_of() lists them (cost/operands.hpp); empty: all of them in
  /// the device's default memory.
  std::vector<Operand> operands = {};
};

/// The query for a pass of a layer, with its work.
Query query_of(const Model& model, const Layer& layer, Pass pass, std::int64_t samples, DType dtype,
               const Device& device);

/// The answer.
struct Price {
  double seconds = 0;
  double flop = 0;
  double bytes = 0;       ///< read and written in memory
  double measured_s = 0;  ///< of the seconds: those that were measured, not computed
  /// Above idle; and of how many of the seconds they are. The device's watts say those of the rest.
  double joules = 0, joules_s = 0;

  Price& operator+=(const Price& other);
};
/// A pass that is said to be so many times another one. That was not measured.
Price multiple_of(const Price& price, double factor);

/// Of what a device's figures promise, the shares that work on it is said to reach.
struct Shares {
  std::optional<double> compute;  ///< of its FLOP/s; none: seconds do not follow from them
  std::optional<double> memory;   ///< of its memory bandwidth; likewise
};

/// What some of the seconds of a price rest on: a fit of a class of operators, rows of a profile,
/// or what stands in where there is neither.
struct Grounds {
  std::string of;                               ///< the class; empty: it was not asked for a fit
  double seconds = 0;                           ///< of the price
  bool measured = false, interpolated = false;  ///< a row of a profile; between its rows
  bool fitted = false;
  bool inside = false;            ///< the sizes lie where sizes were measured
  double median = 0, ninety = 0;  ///< cross-validated errors of one operator; NaN: not known
};

/// A file that prices rest on.
struct CostFile {
  std::string what;  ///< "cost.profile", "the fit t4"
  std::string path;
  std::string folder = {};  ///< of bundled documents, where the path may be the name of one; ""
};

/// Prices queries. Equal queries have equal prices.
struct Cost {
  virtual ~Cost() = default;
  /// Throws InputError: the device lacks a rate or a bandwidth, or the operator was not measured.
  virtual Price of(const Query& query) const = 0;
  /// Was the pass measured with its operands in these memories? Then the price holds wherever they
  /// lie; else seconds are those of memories that the device reaches itself.
  virtual bool measured_so(const Query&) const { return false; }
  /// The only number of samples whose seconds are known for a model; 0: any are.
  virtual std::int64_t only_samples(const Model&) const { return 0; }
  /// The answer says them.
  virtual Shares shares(const Device&) const { return {}; }
  /// The answer says them. Empty: nothing was fitted or measured.
  virtual std::vector<Grounds> grounds(const Query&) const { return {}; }
  /// A stored answer holds while their content does.
  virtual std::vector<CostFile> files(const Platform&) const { return {}; }
};

/// A cost model's record.
struct CostModel {
  std::string name;
  std::string summary;
  std::string source;        ///< paper, section
  std::string example = {};  ///< a command that runs as it stands
  std::vector<Field> parameters = {};
  /// `folder`: what files that the keys name are relative to. Throws InputError at a key, IoError.
  std::shared_ptr<const Cost> (*make)(const Reader& keys, const std::string& folder) = nullptr;
  /// Do its seconds count what the memories that the operands lie in take? Else nothing can be said
  /// about where they should lie.
  bool counts_memories = false;
};

const Catalog<CostModel>& cost_catalog();

/// What the key `model` of a `cost:` mapping says, and which one it is where it is absent.
extern const char* const cost_model_summary;

/// The record of a scenario's `cost:` mapping under that cost model.
Record record_of(const CostModel& model);

/// A cost model with its keys, and what it made of them.
struct ChosenCost {
  Chosen<CostModel> model;
  std::shared_ptr<const Cost> object;

  const std::string& name() const { return model->name; }
  const Cost& operator*() const { return *object; }
  const Cost* operator->() const { return object.get(); }
};

/// The cost model where none is named, everywhere: `roofline` where each device of the platform has
/// a memory bandwidth, else `peak`.
const CostModel& default_cost(const Platform& platform);

/// The cost model that a `cost:` mapping names; the platform's default where it names none. Throws
/// InputError, IoError.
ChosenCost choose_cost(const Value& cost, const std::string& folder, const Platform& platform);

/// A cost model by its name, with the defaults of its parameters. Throws InputError.
ChosenCost plain_cost(const std::string& name);

/// "70 % of 61 TFLOP/s and 70 % of 960 GB/s": what the cost model lets the device reach.
std::string reached_text(const Cost& cost, const Device& device, DType dtype);

/// FLOP / rate of the device. Throws InputError where it has no rate for the dtype.
double peak_seconds(const Work& work, const Device& device, DType dtype);

}  // namespace sluice

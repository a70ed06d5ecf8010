// A cost model gives the price of a pass of an operator on a device: its seconds, FLOP, bytes and joules. A cost model
// is chosen by name. It makes an object from its parameters. The object prices queries, and may hold data, such as a
// profile. Each cost model has a file of its own, and cost/catalog.cpp lists all cost models.
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

/// A tensor that a pass reads or writes, with the memory of the tensor.
struct Operand {
  std::string pool;  ///< the name of the memory; an empty name means the device's default memory
  double read = 0, written = 0;  ///< bytes
  /// The name of the tensor in messages, such as "input 'conv1'" or "weights of 'fc'".
  std::string name = {};
};

/// A query asks a cost model for the price of one pass of one operator on a device.
struct Query {
  const Device& device;
  DType dtype = DType::float32;
  Pass pass = Pass::forward;
  std::int64_t samples = 0;
  Work work = {};
  /// The operator is the layer `layer` of `model`. Layer::config and Layer::input_shapes give its configuration. Both
  /// pointers are null for an update of weights, which does not belong to a single operator.
  const Model* model = nullptr;
  const Layer* layer = nullptr;
  /// The operands of the pass with their memories, in the order of operands_of() (cost/operands.hpp). If the list is
  /// empty, all bytes are in the device's default memory.
  std::vector<Operand> operands = {};
};

/// Returns the query for a pass of a layer, with the work of the pass.
Query query_of(const Model& model, const Layer& layer, Pass pass, std::int64_t samples, DType dtype,
               const Device& device);

/// The answer to a query.
struct Price {
  double seconds = 0;
  double flop = 0;
  double bytes = 0;       ///< the bytes that are read and written in memory
  double measured_s = 0;  ///< the part of the seconds that was measured
  /// `joules_s` are the seconds with known joules. `joules` are the joules of these seconds, without those of an idle
  /// device. The joules of all other seconds are computed from the device's watts.
  double joules = 0, joules_s = 0;
  double measured_j = 0;  ///< the part of the joules that was measured

  Price& operator+=(const Price& other);
};
/// Returns the price of a pass that is assumed to cost `factor` times `price`.
/// None of the returned seconds count as measured.
Price multiple_of(const Price& price, double factor);

/// The shares of a device's FLOP/s and memory bandwidth that operators reach in a cost model.
struct Shares {
  /// The share of the device's FLOP/s. Absent if seconds do not depend on FLOP/s.
  std::optional<double> compute;
  /// The share of the device's memory bandwidth. Absent if seconds do not depend on this bandwidth.
  std::optional<double> memory;
};

/// Where the seconds of a price come from: a fit of a class of operators, or rows of a profile. If neither contains the
/// operator, the seconds come from another cost model.
struct Grounds {
  std::string of;      ///< the class of the operator; empty if the cost model has no classes
  double seconds = 0;  ///< seconds of the price
  /// `measured`: the price comes from a row of a profile. `interpolated`: the price was interpolated between rows.
  bool measured = false, interpolated = false;
  bool fitted = false;
  /// Whether the device was measured, and the sizes of the operator are within the measured range.
  bool inside = false;
  /// Relative errors for one operator, found by cross-validation of the fit or of the interpolation. `ninety` is the
  /// error that nine of ten operators do not exceed. An error that is not known is NaN.
  double median = 0, ninety = 0;
  /// The device on which the rows of the profile were measured. An empty text means that the profile does not name the
  /// device. The value is absent if the price does not come from a profile.
  std::optional<std::string> on = {};
};

/// A file that prices depend on.
struct CostFile {
  std::string what;  ///< the name of the file in messages, such as "cost.profile"
  std::string path;
  /// The folder of the bundled documents, if `path` is the name of such a document. Otherwise empty.
  std::string folder = {};
};

/// A cost model. It returns the price of a query. Equal queries have equal prices.
struct Cost {
  virtual ~Cost() = default;
  /// Returns the price. Throws InputError if the device lacks a rate or a bandwidth, or if a needed measurement of the
  /// operator is missing.
  virtual Price of(const Query& query) const = 0;
  /// Returns whether the pass was measured with its operands in the query's memories. If true, the price also holds for
  /// memories behind a link. If false, the price holds only for memories that the device reaches without a link.
  virtual bool measured_so(const Query&) const { return false; }
  /// If a network's seconds are known for only one number of samples, returns this number. Otherwise returns 0.
  virtual std::int64_t only_samples(const Model&) const { return 0; }
  /// Returns the shares of the device's FLOP/s and bandwidth that operators reach. An answer reports these shares.
  virtual Shares shares(const Device&) const { return {}; }
  /// Returns the grounds of the query's price. The list is empty if nothing was fitted or measured.
  virtual std::vector<Grounds> grounds(const Query&) const { return {}; }
  /// Returns the files that determine the prices. A stored answer is valid while these files have the same content.
  virtual std::vector<CostFile> files(const Platform&) const { return {}; }
};

/// The record of a cost model.
struct CostModel {
  std::string name;
  std::string summary;
  /// A paragraph about what the cost model does, when to use it, and what it leaves out.
  std::string details = {};
  std::string source;        ///< paper, section
  std::string example = {};  ///< a complete command
  std::vector<Field> parameters = {};
  /// Makes the object that prices queries. File names in keys are relative to `folder`. Throws InputError with the
  /// position of a wrong key, and IoError if a file cannot be read.
  std::shared_ptr<const Cost> (*make)(const Reader& keys, const std::string& folder) = nullptr;
  /// Whether the seconds depend on the memories of the operands. Only with such a cost model can a search choose the
  /// memories of tensors.
  bool counts_memories = false;
  /// Whether the cost model has prices for backward passes. A workload may say instead that a backward pass takes a
  /// multiple of the forward pass. Then these prices are not used.
  bool knows_backward = false;
};

const Catalog<CostModel>& cost_catalog();

/// The help for the key `model` of a `cost:` mapping. The help also says which cost model is the default.
extern const char* const cost_model_summary;

/// Returns the record of the mapping `cost:` of a scenario that uses this cost model.
Record record_of(const CostModel& model);

/// A cost model with its keys, and the object that the cost model made from the keys.
struct ChosenCost {
  Chosen<CostModel> model;
  std::shared_ptr<const Cost> object;

  const std::string& name() const { return model->name; }
  const Cost& operator*() const { return *object; }
  const Cost* operator->() const { return object.get(); }
};

/// Returns the cost model for a scenario without one. If each device of the platform has a memory bandwidth, this is
/// `roofline`. Otherwise it is `peak`.
const CostModel& default_cost(const Platform& platform);

/// Returns the cost model of a `cost:` mapping. If the mapping names no cost model, returns the platform's default.
/// Throws InputError, IoError.
ChosenCost choose_cost(const Value& cost, const std::string& folder, const Platform& platform);

/// Returns a cost model by its name, with the given keys. All other keys have their defaults. Throws InputError.
ChosenCost plain_cost(const std::string& name, Value keys = Value::make_map());

/// Returns a text such as "70 % of 61 TFLOP/s and 70 % of 960 GB/s". The text says which share of each rate the device
/// reaches in the cost model.
std::string reached_text(const Cost& cost, const Device& device, DType dtype);

/// Returns the seconds that the FLOP take at the full rate of the device. Throws InputError if the device has no rate
/// for the dtype.
double peak_seconds(const Work& work, const Device& device, DType dtype);

}  // namespace sluice

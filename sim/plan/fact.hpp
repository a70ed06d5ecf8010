// Facts describe the decisions of a policy, for reports. The value of a fact has a type: text, number, or list. So code
// that prints or compares facts does not parse texts.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace sluice {

struct Fact {
  /// A number with its unit. The units are the same as for metrics: "s", "byte", "1" for a ratio, and "" for a count.
  struct Number {
    double value = 0;
    std::string unit = {};
    bool operator==(const Number&) const = default;
  };
  using List = std::vector<std::string>;

  /// The name of the fact, such as "in_flight" or "chosen_s". If the name
  /// ends with `_s`, the value is in seconds. If the name contains `bytes`, the value is in bytes.
  std::string name;
  std::variant<std::string, Number, List> value;
  /// What the fact is about: the name of a group, a stage or a device. Empty if the fact is about the whole plan.
  std::string of = {};
  std::string replica = {};  ///< the device of the replica that made this decision; may be empty

  Fact() = default;
  Fact(std::string name_, std::string text) : name(std::move(name_)), value(std::move(text)) {}
  Fact(std::string name_, const char* text) : Fact(std::move(name_), std::string(text)) {}
  Fact(std::string name_, List list) : name(std::move(name_)), value(std::move(list)) {}
  template <class N>
  requires std::is_arithmetic_v<N> Fact(std::string name_, N number, std::string unit = {})
      : name(std::move(name_)), value(Number{static_cast<double>(number), std::move(unit)}) {}

  Fact said_of(std::string subject) && {
    of = std::move(subject);
    return std::move(*this);
  }

  bool operator==(const Fact&) const = default;

  const std::string* text() const { return std::get_if<std::string>(&value); }
  const Number* number() const { return std::get_if<Number>(&value); }
  const List* list() const { return std::get_if<List>(&value); }

  /// Returns the value as a text for people, such as "587", "6.57 s" or "a, b".
  std::string shown() const;
};

/// Returns the fact with this `name` and this `of`. Returns null if there is no such fact. Facts of replicas are
/// ignored.
const Fact* find_fact(const std::vector<Fact>& facts, const std::string& name,
                      const std::string& of = {});

}  // namespace sluice

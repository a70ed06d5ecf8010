#include "planning/common_parameters.hpp"

#include "base/error.hpp"
#include "document/key.hpp"

namespace sluice {

Field outputs_parameter() {
  return Key::choice("outputs", {"return", "discard"},
                     "return: each answer is saved to host memory; discard: each answer is dropped")
      .by_default("return");
}

std::vector<Field> common_parameters() {
  return {
      Key::text("device", "the device that computes; by default the first device of the platform")
          .or_absent(),
      Key::boolean(
          "overlap",
          "whether transfers run during computation; off: the actions run one after the other, in "
          "the order of the plan")
          .by_default("true"),
      Key::integer(
          "buffers",
          "how many inputs of micro-batches have room on the device; as many outputs have room "
          "there until they are saved")
          .by_default("auto")
          .or_words({"auto"})
          .between(1, 1e6),
      outputs_parameter(),
  };
}

CommonParameters read_common(const PolicyRequest& request, const Reader& parameters) {
  const Platform& platform = request.pricing.platform;
  const Device& device =
      parameters.has("device")
          ? located(*parameters.value("device"),
                    [&]() -> const Device& { return platform.device(parameters.text("device")); })
          : platform.devices.front();
  const bool overlap = parameters.boolean("overlap");
  const std::int64_t buffers =
      parameters.is_word("buffers", "auto") ? usual_buffers : parameters.integer("buffers");
  return {device, platform.host().name, overlap, overlap ? buffers : 1,
          parameters.text("outputs") == "return"};
}

void refuse_in_training(const Reader& parameters, const std::vector<const char*>& keys,
                        const std::string& reason) {
  for (const char* key : keys)
    if (parameters.has(key))
      parameters.fail(key, "'" + std::string(key) + "' is for inference; in training " + reason);
}

void refuse_in_inference(const Reader& parameters, const std::vector<const char*>& keys,
                         const std::string& reason) {
  for (const char* key : keys)
    if (parameters.has(key))
      parameters.fail(key, "'" + std::string(key) + "' is for training; in inference, " + reason);
}

void refuse_common_in_training(const Reader& parameters) {
  refuse_in_training(parameters, {"buffers"}, "Sluice chooses when loads start");
  refuse_in_training(parameters, {"outputs"}, "no output leaves the device");
}

}  // namespace sluice

#!/usr/bin/python3
"""Tests that a refusal has at most five lines, and names what fits."""

import json
import re
import subprocess
import unittest

from answer_case import ENVIRONMENT, LLAMA, PROGRAM, TRAINED, AnswerCase

# Three layers. The weights of a and b stay. Each has 160 kB of weights, as many bytes of gradients, and twice as many
# of the optimizer's state. The device has 1 MB.
STAYING = """\
format: sluice-scenario/1
model:
  definition:
    format: sluice-model/1
    name: three
    layers:
      - {type: input, name: x, shape: [200]}
      - {type: dense, name: a, features: 200, bias: false}
      - {type: dense, name: b, features: 200, bias: false}
      - {type: dense, name: c, features: 200, bias: false}
platform:
  format: sluice-platform/1
  name: small
  devices: {gpu: {rate: {float32: 10GFLOP/s}, memory: {capacity: 1MB}}}
  memories: {host: {capacity: unlimited}}
  links: {host: {joins: [host, gpu], bandwidth: 200MB/s}}
workload: {batch: 2, mode: training, optimizer: adam}
stages: per_layer
policy: {name: streamed, resident: [a, b]}
"""
# Two layers with 40 kB of weights each. All stay on the first device.
TWO_LAYERS = """\
format: sluice-scenario/1
model:
  definition:
    format: sluice-model/1
    name: two
    layers:
      - {type: input, name: x, shape: [100]}
      - {type: dense, name: a, features: 100, bias: false}
      - {type: dense, name: b, features: 100, bias: false}
platform:
  format: sluice-platform/1
  name: small
  devices: {gpu: {rate: {float32: 1GFLOP/s}, memory: {capacity: 20kB}}}
  memories: {host: {capacity: 1GB}}
  links: {host: {joins: [host, gpu], bandwidth: 1GB/s}}
policy: resident
"""


class Refusals(AnswerCase):
    def test_a_refusal_is_five_lines_with_the_largest_batch(self):
        for policy in ("resident", "streamed"):
            words = ("workload.batch=32", f"policy.name={policy}")
            done = self.run_sluice(LLAMA, *words, code=4)
            lines = done.stderr.strip().splitlines()
            self.assertLessEqual(len(lines), 5, done.stderr)
            refused = json.loads(self.run_sluice(LLAMA, *words, "--json", code=4).stdout)
            why = refused["infeasible"]
            self.assertEqual(refused["status"], "infeasible")
            self.assertEqual(why["culprit"], "kv_cache")
            # The batch has 32 samples. For each sample, each of the 32 blocks has 2 caches of 2047 tokens x 4096
            # elements, with 2 bytes per element. All caches of one sample have 1.0732 GB.
            self.assertEqual(why["by_class"]["kv_cache"], 32 * 32 * 2 * 2047 * 4096 * 2)
            largest = why["largest_batch"]
            self.assertIn(f"the largest batch that fits: {largest}\n", done.stderr)
            self.assertIn("kv_cache 34.34 GB", done.stderr)
            self.run_sluice(LLAMA, f"workload.batch={largest}", f"policy.name={policy}")
            self.run_sluice(LLAMA, f"workload.batch={largest + 1}", f"policy.name={policy}", code=4)
            self.assertEqual(why["changes"][0], f"workload.batch={largest}")

    def test_a_refusal_for_activations_names_what_saves_some(self):
        done = self.run_sluice(TRAINED, "workload.batch=2", code=4)
        self.assertLessEqual(len(done.stderr.strip().splitlines()), 5, done.stderr)
        self.assertIn("the largest batch that fits: 1\n", done.stderr)
        self.assertIn("fates.strategy=checkpoint", done.stderr)
        self.run_sluice(TRAINED, "workload.batch=2", "fates.strategy=checkpoint")

    def test_a_refusal_of_optimal_fates_names_the_memory_and_the_largest_batch(self):
        words = ("workload.batch=16", "fates.strategy=optimal")
        done = self.run_sluice(TRAINED, *words, code=4)
        self.assertIn("\n  needed in gpu: ", done.stderr)
        largest = json.loads(self.run_sluice(TRAINED, *words, "--json", code=4).stdout)["infeasible"]["largest_batch"]
        self.assertIn(f"the largest batch that fits: {largest}\n", done.stderr)
        self.run_sluice(TRAINED, f"workload.batch={largest}", "fates.strategy=optimal")
        self.run_sluice(TRAINED, f"workload.batch={largest + 1}", "fates.strategy=optimal", code=4)

    def test_a_refusal_of_given_weights_that_stay_says_that_sluice_can_choose_them(self):
        done = self.run_sluice(STAYING, code=4)
        # Each of the two layers has 160 kB of weights, 160 kB of gradients, and 320 kB of state: 1.28 MB of 1 MB.
        self.assertIn("weights, gradients and optimizer state take 1.28 MB of the 1 MB of gpu", done.stderr)
        self.assertIn("optimizer 640 kB, weight 320 kB, gradient 320 kB", done.stderr)
        self.assertIn("not even one sample fits if nothing else is changed", done.stderr)
        self.assertIn("policy.resident=auto", done.stderr)
        # The activations need bytes, too. So 1.28 MB are not enough, but the named number of bytes is.
        enough = float(re.search(r"at least ([\d.]+) MB of memory in gpu", done.stderr)[1])
        self.run_sluice(STAYING, f"platform.devices.gpu.memory.capacity={enough}MB")
        self.run_sluice(STAYING, "platform.devices.gpu.memory.capacity=1.281MB", code=4)
        self.run_sluice(STAYING, "policy.resident=auto")

    def test_a_refusal_names_enough_bytes_for_equal_devices(self):
        pair = ("policy={name: data_parallel, replica: resident}", "platform.devices.gpu.count=2", "workload.batch=2",
                "workload.micro_batch=1", "platform.links.pair={joins: [gpu0, gpu1], bandwidth: 1GB/s}")
        done = self.run_sluice(STAYING, *pair, code=4)
        said = re.search(r"at least ([\d.]+) MB of memory in gpu0 and in gpu1", done.stderr)
        enough = float(said[1])
        self.run_sluice(STAYING, *pair, f"platform.devices.gpu.memory.capacity={enough}MB")
        self.run_sluice(STAYING, *pair, f"platform.devices.gpu.memory.capacity={0.97 * enough}MB", code=4)

    def enough(self, done):
        """Returns the number of bytes that a refusal says is enough, as the text of a scenario."""
        number, unit = re.search(r"at least ([\d.]+) ([kMG]?B) of memory in gpu", done.stderr).groups()
        return number + unit

    def test_enough_bytes_include_those_that_the_platform_reserves(self):
        capacity = "platform.devices.gpu.memory.capacity="
        reserved = "platform.devices.gpu.memory.reserved=10kB"
        done = self.run_sluice(TWO_LAYERS, capacity + "30kB", reserved, code=4)
        self.assertIn("more than its 20 kB (10 kB more are reserved)", done.stderr)
        # The weights, the input and the two outputs of 400 B need 81.2 kB at most, and 10 kB are reserved.
        self.assertLess(float(self.enough(done).removesuffix("kB")), 1.04 * 91.2)
        self.run_sluice(TWO_LAYERS, capacity + self.enough(done), reserved)
        self.run_sluice(TWO_LAYERS, capacity + "90kB", reserved, code=4)

    def test_a_refusal_does_not_ask_for_more_memory_in_idle_devices(self):
        pair = "platform.devices.gpu.count=2"
        done = self.run_sluice(TWO_LAYERS, pair, code=4)
        self.assertIn("of memory in gpu0 (in full", done.stderr)
        devices = {f"gpu{k}": {"rate": {"float32": "1GFLOP/s"}, "memory": {"capacity": capacity}}
                   for k, capacity in enumerate([self.enough(done), "20kB"])}
        links = {"host": {"joins": ["host", "gpu0", "gpu1"], "bandwidth": "1GB/s"}}
        self.run_sluice(TWO_LAYERS, f"platform.devices={json.dumps(devices)}", f"platform.links={json.dumps(links)}")

    def test_a_refusal_of_phased_training_names_all_devices_that_take_turns(self):
        words = ("policy={name: phased, in_flight: 1}", "platform.devices.gpu.count=2", "fates=offload_all",
                 "workload={mode: training, batch: 2, micro_batch: 1, optimizer: adam}", "stages=per_layer")
        capacity = "platform.devices.gpu.memory.capacity="
        done = self.run_sluice(TWO_LAYERS, *words, code=4)
        said = re.search(r"at least [\d.]+ kB of memory in (\w+) and in (\w+) \(in full", done.stderr)
        self.assertEqual({said[1], said[2]}, {"gpu0", "gpu1"})
        enough = self.enough(done)
        self.run_sluice(TWO_LAYERS, *words, capacity + enough)
        self.run_sluice(TWO_LAYERS, *words, f"{capacity}{0.95 * float(enough.removesuffix('kB'))}kB", code=4)

    def test_enough_bytes_for_a_device_with_two_equal_memories(self):
        def memories(first):
            return ("platform.devices.gpu.memory=[{capacity: %s, bandwidth: 1GB/s}, {name: ddr, capacity: 20kB, "
                    "bandwidth: 100MB/s}]" % first, "platform.links.far={joins: [gpu, gpu_ddr], bandwidth: 1GB/s}")
        for placement in ("auto", "none"):
            way = f"policy.placement={placement}"
            done = self.run_sluice(TWO_LAYERS, *memories("20kB"), way, code=4)
            self.assertIn("of memory in gpu (in full", done.stderr)
            self.run_sluice(TWO_LAYERS, *memories(self.enough(done)), way)

    def test_a_refusal_for_one_memory_of_two_says_that_its_number_may_be_too_little(self):
        # With more memory on the device, host memory is too small.
        done = subprocess.run([PROGRAM, "run", "alexnet_x200_training", "model.scale=1", "workload.batch=256",
                               "workload.micro_batch=256", "stages=per_layer", "fates=offload_all",
                               "platform.memories.host.capacity=600MB",
                               "platform.devices.gpu.memory.capacity=1100MB"], capture_output=True, text=True,
                              env=ENVIRONMENT, timeout=300)
        self.assertEqual(done.returncode, 4)
        self.assertRegex(done.stderr,
                         r"more memory in gpu: [\d.]+ GB is what the first shortage needs, and may be too ")

    def test_a_plan_that_is_too_long_lacks_no_memory(self):
        done = subprocess.run([PROGRAM, "run", "alexnet_x200", "stages=per_layer", "policy.in_flight=1",
                               "workload.batches_per_step=900000", "workload.steps=2"], capture_output=True, text=True,
                              env=ENVIRONMENT, timeout=300)
        self.assertEqual(done.returncode, 4)
        self.assertEqual(done.stderr.count("\n"), 1)
        for said in ("more than 4000000 actions", "the limit of Sluice", "more workload.steps"):
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main()

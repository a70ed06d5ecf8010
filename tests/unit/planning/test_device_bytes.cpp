#include "planning/device_bytes.hpp"

#include <catch2/catch.hpp>

#include "planning/training/room_shares.hpp"

namespace sluice {
namespace {

DeviceBytes bytes(std::vector<std::int64_t> own) {
  return DeviceBytes(std::move(own));
}

TEST_CASE("bytes of devices are compared device by device") {
  CHECK(bytes({3, 5}).within(bytes({3, 6})));
  CHECK_FALSE(bytes({4, 5}).within(bytes({3, 6})));
  CHECK(bytes({3, 5}).within(5));
  CHECK_FALSE(bytes({3, 5}).within(4));
  CHECK(DeviceBytes(3).within(bytes({3, 5})));
  CHECK_FALSE(DeviceBytes(4).within(bytes({3, 5})));
  CHECK(bytes({3, 5}).greatest() == 5);
  CHECK(bytes({3, 5}).least() == 3);
}

TEST_CASE("equally many bytes on each device are one number") {
  CHECK(bytes({4, 4}) == DeviceBytes(4));
  CHECK_FALSE(bytes({4, 4}).differ());
  CHECK(bytes({4, 5}).differ());
  CHECK(bytes({4, 5}).changed(2, [](std::int64_t own, std::size_t d) {
    return own - static_cast<std::int64_t>(d);
  }) == DeviceBytes(4));
}

TEST_CASE("a room for early loads is shared out equally, or by the peaks of the devices") {
  const RoomShares equally, by_peaks(bytes({70, 100, 40}), 3);
  CHECK(equally.of(120) == DeviceBytes(120));
  CHECK(by_peaks.of(120) == bytes({90, 120, 60}));
  CHECK(by_peaks.of(100) == bytes({70, 100, 40}));
  CHECK(by_peaks.of(no_limit) == DeviceBytes(no_limit));

  CHECK(equally.smallest_with(bytes({80, 100, 50})) == 100);
  CHECK(by_peaks.smallest_with(bytes({80, 100, 50})) == 110);

  CHECK(equally.greatest_within(bytes({80, 100, 60})) == 60);
  CHECK(by_peaks.greatest_within(bytes({80, 130, 60})) == 110);
  CHECK(by_peaks.greatest_within(bytes({80, no_limit, no_limit})) == 110);
}

}  // namespace
}  // namespace sluice

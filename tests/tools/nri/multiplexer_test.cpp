// The connections inside the socket of NRI.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../tools/nri/protocol/multiplexer.hpp"

#include <map>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace {

using nri::Connection;

/// The bytes of each connection, given in pieces of `size` bytes.
std::map<Connection, std::string> demultiplexed(std::string_view bytes, std::size_t size) {
  std::map<Connection, std::string> out;
  nri::Demultiplexer sockets;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(size, bytes.size()))) {
    CHECK(sockets.add(bytes.substr(0, size), [&out](Connection connection, std::string_view piece) {
      out[connection] += piece;
      return cdi::Result<void>{};
    }));
  }
  return out;
}

}  // namespace

TEST_CASE("nri: a frame is the connection, the length and the payload") {
  std::string bytes;
  nri::multiplex(bytes, Connection::runtime, "abc");
  CHECK(bytes == std::string{"\0\0\0\2\0\0\0\3abc", 11});
}

TEST_CASE("nri: frames are read in pieces of any size") {
  std::string bytes;
  nri::multiplex(bytes, Connection::plugin, "one");
  nri::multiplex(bytes, Connection::runtime, "two");
  nri::multiplex(bytes, Connection::plugin, "three");
  for (std::size_t size = 1; size <= bytes.size(); ++size) {
    CAPTURE(size);
    const auto out = demultiplexed(bytes, size);
    CHECK(out.at(Connection::plugin) == "onethree");
    CHECK(out.at(Connection::runtime) == "two");
  }
}

TEST_CASE("nri: a frame without payload is read") {
  const auto out = demultiplexed(std::string{"\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\1x", 17}, 3);
  CHECK(out.at(Connection::plugin) == "x");
}

TEST_CASE("nri: payloads of unknown connections are dropped") {
  const auto out = demultiplexed(std::string{"\0\0\0\7\0\0\0\2zz\0\0\0\1\0\0\0\1x", 19}, 4);
  CHECK(out.size() == 1);
  CHECK(out.at(Connection::plugin) == "x");
}

TEST_CASE("nri: a payload over the limit ends the session") {
  nri::Demultiplexer sockets;
  const auto nothing = [](Connection, std::string_view) {
    return cdi::Result<void>{};
  };
  const auto done = sockets.add(std::string_view{"\0\0\0\1\0\x40\0\x0b", 8}, nothing);
  REQUIRE(!done);
  CHECK(to_string(done.error()) ==
        "the peer does not speak NRI: a payload of 4194315 bytes is too long: check that the "
        "socket is the NRI socket of a runtime");
  CHECK(nri::Demultiplexer{}.add(std::string_view{"\0\0\0\1\0\x40\0\x0a", 8}, nothing));
}

TEST_CASE("nri: the first frame of a long message has 4096 bytes, the second the rest") {
  std::string bytes;
  nri::multiplex(bytes, Connection::plugin, std::string(10'000, 'x'));
  CHECK(bytes.size() == 10'000 + 2 * 8);
  CHECK(nri::detail::number_at(std::string_view{bytes}.substr(4)) == 4096);
  CHECK(nri::detail::number_at(std::string_view{bytes}.substr(8 + 4096 + 4)) == 10'000 - 4096);
  CHECK(demultiplexed(bytes, 777).at(Connection::plugin) == std::string(10'000, 'x'));
}

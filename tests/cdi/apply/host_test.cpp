// Tests for include/cdi/apply/host.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cdi/apply/host.hpp>

// Before any other header: <cdi/host.hpp> must not bring the macros major() and minor() along.
namespace {
struct Numbers {
  long major;
  long minor;
  constexpr Numbers() : major(1), minor(3) {}
};
static_assert(Numbers{}.major == 1 && Numbers{}.minor == 3);
}  // namespace

#if defined(major) || defined(minor) || defined(makedev)
#error "cdi/host.hpp lets macros out"
#endif

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <system_error>
#include <unistd.h>

#include <doctest/doctest.h>

namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;

static_assert(cdi::HostLookup<cdi::SystemHost>);
static_assert(!cdi::HostLookup<int>);

constexpr cdi::SystemHost host;

/// A directory that goes away with the test.
class TempDir {
 public:
  TempDir() {
    std::string name = (fs::temp_directory_path() / "cdi-host-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;  // qemu's open of a FIFO on arm fails with another error than Linux
    fs::remove_all(path_, ignored);
  }

  std::string operator/(std::string_view name) const { return (path_ / name).string(); }

 private:
  fs::path path_{};
};

TEST_CASE("a character device has the numbers that Linux gives it") {
  // Documentation/admin-guide/devices.txt: 1:3 is /dev/null, 1:5 is /dev/zero.
  struct Row {
    std::string path;
    std::int64_t minor;
  };
  for (const auto& row : {Row{"/dev/null", 3}, Row{"/dev/zero", 5}}) {
    CAPTURE(row.path);
    const auto node = host(row.path);
    REQUIRE(node);
    CHECK(node->type == 'c');
    CHECK(node->major == 1);
    CHECK(node->minor == row.minor);
    CHECK((node->file_mode & ~07777U) == 0);
  }
}

TEST_CASE("a FIFO has no numbers, and its permission bits are told") {
  const TempDir dir;
  const std::string path = dir / "fifo";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  REQUIRE(::chmod(path.c_str(), 02640) == 0);
  const auto node = host(path);
  REQUIRE(node);
  CHECK(*node == cdi::HostNode{.type = 'p', .file_mode = 02640});
}

TEST_CASE("what is not a device node is refused by name") {
  const TempDir dir;
  std::ofstream{dir / "file"} << "x";
  fs::create_symlink("/dev/null", dir / "link");
  ::sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string socket_path = dir / "sock";
  REQUIRE(socket_path.size() < sizeof address.sun_path);
  socket_path.copy(address.sun_path, sizeof address.sun_path - 1);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  REQUIRE(::bind(socket, reinterpret_cast<const ::sockaddr*>(&address), sizeof address) == 0);
  ::close(socket);

  struct Row {
    std::string path;
    std::string kind;
  };
  for (const auto& row : {
           Row{dir / "file", "a regular file"},
           Row{dir / ".", "a directory"},
           Row{dir / "link", "a symbolic link: use the path of the node itself"},
           Row{dir / "sock", "a socket"},
       }) {
    CAPTURE(row.path);
    const auto node = host(row.path);
    REQUIRE_FALSE(node);
    CHECK(node.error().code == cdi::Errc::host);
    CHECK(to_string(node.error()) ==
          "host path \"" + row.path + "\" is not a device node but " + row.kind);
  }
}

TEST_CASE("a missing node is refused with the word of the system") {
  const TempDir dir;
  for (const auto& row :
       {std::pair{dir / "missing", ENOENT}, std::pair{std::string{"/dev/null/x"}, ENOTDIR},
        std::pair{std::string{}, ENOENT}, std::pair{"/" + std::string(5000, 'a'), ENAMETOOLONG}}) {
    CAPTURE(row.first);
    const auto node = host(row.first);
    REQUIRE_FALSE(node);
    CHECK(node.error().code == cdi::Errc::host);
    CHECK(node.error().system == row.second);
    CHECK(node.error().message.starts_with("no host device \""));
  }
}

TEST_CASE("a path that holds NUL names nothing, not what stands before the NUL") {
  const auto node = host("/dev/null\0x"sv);
  REQUIRE_FALSE(node);
  CHECK(node.error().code == cdi::Errc::host);
  CHECK(node.error().message == R"(host path "/dev/null\x00x" contains a NUL)");
}

TEST_CASE("a path need not end with the text it is in") {
  CHECK(host("/dev/nullx"sv.substr(0, 9)));
}

}  // namespace

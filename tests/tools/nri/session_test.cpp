// The conversation of a plugin with a runtime: every message, and what no runtime sends.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../tools/nri/protocol/session.hpp"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "runtime_side.hpp"

namespace {

using nri::StatusCode;

/// A plugin that notes what it is told.
struct Noted {
  std::vector<std::string> notes{};
  nri::Plugin plugin{.name = "noted", .index = "07"};

  Noted() {
    plugin.configure = [this](const auto& request) {
      notes.push_back("configure " + request.runtime_name());
      return cdi::Result<void>{};
    };
    plugin.existing_pod = [this](const auto& pod) {
      notes.push_back("pod " + pod.name());
    };
    plugin.existing_container = [this](const auto& one) {
      notes.push_back("container " + one.name());
    };
    plugin.synchronized = [this] {
      notes.emplace_back("synchronized");
    };
    plugin.create_container = [this](const auto& request, auto& response) -> cdi::Result<void> {
      notes.push_back("create " + request.container().name());
      if (request.container().name() == "bad") return cdi::Error{.message = "it is bad"};
      if (request.container().name() == "throws") throw std::runtime_error{"it is thrown"};
      response.mutable_adjust()->add_args("changed");
      return {};
    };
    plugin.events[nri::START_CONTAINER] = [this](const auto& pod, const auto& one) {
      notes.push_back("start " + pod.name() + "/" + one.name());
      return cdi::Result<void>{};
    };
  }
};

template <class Message>
std::string with_container(const std::string& name) {
  Message message;
  message.mutable_pod()->set_name("p");
  message.mutable_container()->set_name(name);
  return message.SerializeAsString();
}

std::string configuration() {
  nri::ConfigureRequest request;
  request.set_runtime_name("made-up");
  return request.SerializeAsString();
}

std::string part_of_list(int pods, bool more) {
  nri::SynchronizeRequest request;
  for (int i = 0; i < pods; ++i) request.add_pods()->set_name(std::to_string(i));
  request.add_containers()->set_name("c");
  request.set_more(more);
  return request.SerializeAsString();
}

/// A whole conversation, as a runtime holds it.
std::string conversation() {
  return answer_bytes(1, nri::done_answer({})) + call_bytes(1, "Configure", configuration()) +
         call_bytes(3, "Synchronize", part_of_list(2, true)) +
         call_bytes(5, "Synchronize", part_of_list(1, false)) +
         call_bytes(7, "CreateContainer", with_container<nri::CreateContainerRequest>("c")) +
         call_bytes(9, "StartContainer", with_container<nri::ContainerEvent>("c"));
}

}  // namespace

TEST_CASE("nri: a session begins with the registration") {
  const Noted noted;
  nri::Session session{noted.plugin};
  const auto sent = read_sent(session.take_output());
  REQUIRE(sent.calls.size() == 1);
  const auto& call = sent.calls.at(1);
  CHECK(call.service() == "nri.pkg.api.v1alpha1.Runtime");
  CHECK(call.method() == "RegisterPlugin");
  nri::RegisterPluginRequest request;
  REQUIRE(request.ParseFromString(call.payload()));
  CHECK(request.plugin_name() == "noted");
  CHECK(request.plugin_idx() == "07");
  CHECK(session.take_output().empty());
}

TEST_CASE("nri: a conversation means the same in pieces of any size") {
  std::string whole;
  std::vector<std::string> notes;
  const auto bytes = conversation();
  for (std::size_t size = bytes.size(); size > 0; size = size > 64 ? size / 2 : size - 1) {
    CAPTURE(size);
    Noted noted;
    nri::Session session{noted.plugin};
    for (std::size_t at = 0; at < bytes.size(); at += size) {
      CHECK(session.receive(std::string_view{bytes}.substr(at, size)));
    }
    const auto output = session.take_output();
    if (whole.empty()) {
      whole = output;
      notes = noted.notes;
    }
    CHECK(output == whole);
    CHECK(noted.notes == notes);
    CHECK(session.is_synchronized());
  }
  CHECK(notes == std::vector<std::string>{"configure made-up", "pod 0", "pod 1", "container c",
                                          "pod 0", "container c", "synchronized", "create c",
                                          "start p/c"});
  const auto answers = read_sent(whole).answers;
  CHECK(answers.size() == 5);
}

TEST_CASE("nri: the answer to Configure names the events with functions") {
  Noted noted;
  noted.plugin.required = true;
  nri::Session session{noted.plugin};
  nri::ConfigureResponse response;
  const auto answer = answer_to(session, 1, call_bytes(1, "Configure", configuration()));
  REQUIRE(response.ParseFromString(answer.payload()));
  CHECK(response.events() == (1 << (nri::CREATE_CONTAINER - 1) | 1 << (nri::START_CONTAINER - 1)));
  CHECK(response.failure_policy().fail_request());
  CHECK(response.failure_policy().keep_connected());
}

TEST_CASE("nri: functions with an answer are events, too") {
  nri::Plugin plugin;
  plugin.update_container = [](const auto&, auto&) {
    return cdi::Result<void>{};
  };
  plugin.stop_container = [](const auto&, auto&) {
    return cdi::Result<void>{};
  };
  CHECK(plugin.event_mask() == (1 << (nri::UPDATE_CONTAINER - 1) | 1 << (nri::STOP_CONTAINER - 1)));
}

TEST_CASE("nri: a mask of 0 would mean all events") {
  CHECK(nri::Plugin{}.event_mask() != 0);
  nri::Plugin unknown;
  unknown.events[nri::UNKNOWN] = [](const auto&, const auto&) {
    return cdi::Result<void>{};
  };
  CHECK(unknown.event_mask() == nri::Plugin{}.event_mask());
}

TEST_CASE("nri: a part of a list is answered as one") {
  const Noted noted;
  nri::Session session{noted.plugin};
  nri::SynchronizeResponse response;
  auto answer = answer_to(session, 1, call_bytes(1, "Synchronize", part_of_list(1, true)));
  REQUIRE(response.ParseFromString(answer.payload()));
  CHECK(response.more());
  CHECK_FALSE(session.is_synchronized());
  answer = answer_to(session, 3, call_bytes(3, "Synchronize", part_of_list(1, false)));
  REQUIRE(response.ParseFromString(answer.payload()));
  CHECK_FALSE(response.more());
  CHECK(session.is_synchronized());
}

TEST_CASE("nri: members of a newer protocol are skipped") {
  const nri::Plugin plugin;
  nri::Session session{plugin};
  nri::SynchronizeResponse response;
  // The member 3 as a text, 4 as a text and a number, and then 3 as it is known.
  const std::string payload{"\x1a\x01x\x22\x01x\x20\x07\x18\x01"};
  auto answer = answer_to(session, 1, call_bytes(1, "Synchronize", payload));
  CHECK(answer.status().code() == 0);
  REQUIRE(response.ParseFromString(answer.payload()));
  CHECK(response.more());
  // A call with more members: it is for the plugin, and its method is unknown.
  std::string bytes;
  nri::multiplex(bytes, nri::Connection::plugin,
                 nri::frame_bytes(3, nri::FrameType::request, "\x08\x01\x22\x01x\x12\x01m"));
  answer = answer_to(session, 3, bytes);
  CHECK(answer.status().code() == static_cast<int>(StatusCode::unimplemented));
}

TEST_CASE("nri: a further list after the first does not make the plugin unknown again") {
  const nri::Plugin plugin;
  nri::Session session{plugin};
  answer_to(session, 1, call_bytes(1, "Synchronize", part_of_list(1, false)));
  answer_to(session, 3, call_bytes(3, "Synchronize", part_of_list(1, true)));
  CHECK(session.is_synchronized());
}

TEST_CASE("nri: an error of an event is the answer to it") {
  nri::Plugin plugin;
  plugin.events[nri::START_CONTAINER] = [](const auto&, const auto&) -> cdi::Result<void> {
    return cdi::Error{.message = "no"};
  };
  nri::Session session{plugin};
  nri::StateChangeEvent event;
  event.set_event(nri::START_CONTAINER);
  const auto answer =
      answer_to(session, 1, call_bytes(1, "StateChange", event.SerializeAsString()));
  CHECK(answer.status().message() == "no");
}

TEST_CASE("nri: an answer that no runtime reads becomes an error") {
  nri::Plugin plugin;
  plugin.create_container = [](const auto&, nri::CreateContainerResponse& response) {
    response.mutable_adjust()->add_args(std::string(5U << 20U, 'x'));
    return cdi::Result<void>{};
  };
  nri::Session session{plugin};
  const auto payload = with_container<nri::CreateContainerRequest>("c");
  const auto answer = answer_to(session, 1, call_bytes(1, "CreateContainer", payload));
  CHECK(answer.status().message() == "the answer is longer than 4 MiB");
}

TEST_CASE("nri: an error of a function fails its request alone") {
  const Noted noted;
  nri::Session session{noted.plugin};
  for (const auto& [name, message] : std::vector<std::pair<std::string, std::string>>{
           {"bad", "it is bad"}, {"throws", "it is thrown"}}) {
    const auto payload = with_container<nri::CreateContainerRequest>(name);
    const auto answer = answer_to(session, 1, call_bytes(1, "CreateContainer", payload));
    CHECK(answer.status().code() == static_cast<int>(StatusCode::unknown));
    CHECK(answer.status().message() == message);
  }
  const auto payload = with_container<nri::CreateContainerRequest>("good");
  const auto answer = answer_to(session, 3, call_bytes(3, "CreateContainer", payload));
  CHECK(answer.status().code() == 0);
  nri::CreateContainerResponse response;
  REQUIRE(response.ParseFromString(answer.payload()));
  CHECK(response.adjust().args(0) == "changed");
}

TEST_CASE("nri: text that is not UTF-8 is escaped in errors") {
  nri::Plugin plugin;
  plugin.create_container = [](const auto&, auto&) -> cdi::Result<void> {
    return cdi::Error{.message = "\xff"};
  };
  nri::Session session{plugin};
  const auto payload = with_container<nri::CreateContainerRequest>("c");
  const auto answer = answer_to(session, 1, call_bytes(1, "CreateContainer", payload));
  CHECK(cdi::detail::is_utf8(answer.status().message()));
}

TEST_CASE("nri: an old runtime reports events in one message") {
  Noted noted;
  nri::Session session{noted.plugin};
  nri::StateChangeEvent event;
  event.set_event(nri::START_CONTAINER);
  event.mutable_pod()->set_name("p");
  event.mutable_container()->set_name("c");
  const auto answer =
      answer_to(session, 1, call_bytes(1, "StateChange", event.SerializeAsString()));
  CHECK(answer.status().code() == 0);
  CHECK(noted.notes == std::vector<std::string>{"start p/c"});
}

TEST_CASE("nri: every event has an answer, also without a function") {
  const nri::Plugin plugin;
  nri::Session session{plugin};
  for (const auto* method :
       {"RunPodSandbox", "StopPodSandbox", "RemovePodSandbox", "UpdatePodSandbox",
        "PostUpdatePodSandbox", "CreateContainer", "PostCreateContainer", "StartContainer",
        "PostStartContainer", "UpdateContainer", "PostUpdateContainer", "StopContainer",
        "RemoveContainer", "Configure", "Synchronize", "Shutdown", "StateChange"}) {
    CAPTURE(method);
    const auto answer = answer_to(session, 1, call_bytes(1, method, ""));
    CHECK(answer.status().code() == 0);
  }
}

TEST_CASE("nri: an unknown method or service is not implemented") {
  const nri::Plugin plugin;
  nri::Session session{plugin};
  auto answer = answer_to(session, 1, call_bytes(1, "Dance", ""));
  CHECK(answer.status().code() == static_cast<int>(StatusCode::unimplemented));
  CHECK(answer.status().message() == "nri.pkg.api.v1alpha1.Plugin/Dance is not implemented");
  answer = answer_to(session, 3, call_bytes(3, "Configure", "", "other.Service"));
  CHECK(answer.status().code() == static_cast<int>(StatusCode::unimplemented));
}

TEST_CASE("nri: bytes that are not a message are answered by an error") {
  const nri::Plugin plugin;
  nri::Session session{plugin};
  const std::string broken{"\x0a\xff"};  // a text that is longer than the message
  const auto pod = answer_to(session, 1, call_bytes(1, "Synchronize", "\x0a\x02\x0a\xff"));
  CHECK(pod.status().code() == static_cast<int>(StatusCode::invalid_argument));
  for (const auto* method : {"Configure", "Synchronize", "CreateContainer", "StateChange",
                             "RunPodSandbox", "StartContainer"}) {
    CAPTURE(method);
    const auto answer = answer_to(session, 1, call_bytes(1, method, broken));
    CHECK(answer.status().code() == static_cast<int>(StatusCode::invalid_argument));
  }
  std::string bytes;
  nri::multiplex(bytes, nri::Connection::plugin,
                 nri::frame_bytes(5, nri::FrameType::request, broken));
  CHECK(answer_to(session, 5, bytes).status().code() ==
        static_cast<int>(StatusCode::invalid_argument));
}

TEST_CASE("nri: a message over the limit ends the session") {
  const nri::Plugin plugin;
  nri::Session session{plugin};
  std::string frame{"\0\x40\0\1\0\0\0\1\1\0", 10};
  std::string bytes;
  nri::multiplex(bytes, nri::Connection::plugin, frame);
  const auto done = session.receive(bytes);
  REQUIRE(!done);
  CHECK(done.error().code == cdi::Errc::syntax);
}

TEST_CASE("nri: the session ends when the runtime refuses the plugin") {
  const nri::Plugin plugin;
  nri::Session session{plugin};
  const auto done =
      session.receive(answer_bytes(1, nri::failed_answer(StatusCode::unknown, "no such name")));
  REQUIRE(!done);
  CHECK(done.error().code == cdi::Errc::denied);
  CHECK(to_string(done.error()) ==
        "the runtime refuses the plugin: no such name: check its name and its index");
}

TEST_CASE("nri: answers to no call are dropped") {
  const nri::Plugin plugin;
  nri::Session session{plugin};
  session.take_output();
  CHECK(session.receive(answer_bytes(77, nri::failed_answer(StatusCode::unknown, "what"))));
  std::string bytes;  // nor is anything said to an answer where the runtime calls
  nri::multiplex(bytes, nri::Connection::plugin,
                 nri::frame_bytes(1, nri::FrameType::response, nri::done_answer("")));
  CHECK(session.receive(bytes));
  CHECK(session.take_output().empty());
}

TEST_CASE("nri: the plugin asks for updates, and gets those that failed or the error") {
  const nri::Plugin plugin;
  nri::Session session{plugin};
  session.take_output();
  nri::UpdateContainersRequest request;
  request.add_update()->set_container_id("c");
  std::vector<std::string> results;
  const auto note = [&results](const auto& answer) {
    results.push_back(answer ? answer->failed(0).container_id() : to_string(answer.error()));
  };
  session.update_containers(request, note);
  session.update_containers(request, note);
  const auto calls = read_sent(session.take_output()).calls;
  REQUIRE(calls.size() == 2);
  CHECK(calls.at(3).method() == "UpdateContainers");
  nri::UpdateContainersResponse response;
  response.add_failed()->set_container_id("c");
  CHECK(session.receive(answer_bytes(5, nri::failed_answer(StatusCode::unknown, "busy"))));
  CHECK(session.receive(answer_bytes(3, nri::done_answer(response.SerializeAsString()))));
  CHECK(results == std::vector<std::string>{"busy", "c"});
  const std::string broken{"\x0a\xff"};
  session.update_containers(request, note);
  session.update_containers(request, note);
  CHECK(session.receive(answer_bytes(7, nri::done_answer(broken))));
  CHECK(session.receive(answer_bytes(9, broken)));
  const std::string no_message = "the answer is not a protobuf message";
  CHECK(results == std::vector<std::string>{"busy", "c", no_message, no_message});
}

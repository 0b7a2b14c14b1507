// `nri::Session`: the conversation of a plugin with a runtime, without input and output.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <nri.pb.h>
#include <string>
#include <string_view>
#include <utility>

#include <cdi/result.hpp>

#include "plugin.hpp"
#include "ttrpc.hpp"

namespace nri {

/// A plugin's side of one connection to a runtime: takes received bytes, and returns bytes to send.
/// The plugin registers first; then the runtime configures it, reports what exists, and calls it
/// for events. Only the functions of the plugin can block.
class Session {
 public:
  /// Begins with the registration of `plugin`, which must outlive the session.
  explicit Session(const Plugin& plugin) : plugin_{&plugin} {
    RegisterPluginRequest request;
    request.set_plugin_name(plugin.name);
    request.set_plugin_idx(plugin.index);
    request.set_nri_version(nri_version);
    call("RegisterPlugin", request, [this](Result<std::string_view> answer) {
      if (!answer) refusal_ = answer.error().message;
    });
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() = default;

  /// Takes bytes of the socket, in pieces of any size, and calls the plugin for the requests in
  /// them. After an error, the connection cannot be used: `Errc::syntax` for bytes that no runtime
  /// sends, `Errc::denied` if the runtime refuses the plugin.
  Result<void> receive(std::string_view bytes) {
    auto done = sockets_.add(bytes, [this](Connection connection, std::string_view piece) {
      auto& reader = connection == Connection::plugin ? requests_ : answers_;
      return reader.add(piece, [this, connection](const Frame& frame) {
        connection == Connection::plugin ? answer_request(frame) : take_answer(frame);
        return Result<void>{};
      });
    });
    if (!done || refusal_.empty()) return done;
    return cdi::Error{.code = cdi::Errc::denied,
                      .message = "the runtime refuses the plugin: " + refusal_,
                      .advice = "check its name and its index"};
  }

  /// Returns the bytes to send, and forgets them.
  std::string take_output() { return std::exchange(output_, {}); }

  /// Whether the runtime has reported everything that exists, so that events follow.
  bool is_synchronized() const { return synchronized_; }

  /// Asks the runtime to change or evict containers. `done` gets the containers that could not be
  /// changed, or the error.
  void update_containers(const UpdateContainersRequest& request,
                         std::function<void(Result<UpdateContainersResponse>)> done) {
    call("UpdateContainers", request, [done = std::move(done)](Result<std::string_view> answer) {
      UpdateContainersResponse response;
      if (!answer) {
        done(answer.error());
      } else if (!parse(response, *answer)) {
        done(cdi::Error{.code = cdi::Errc::syntax,
                        .message = "the answer is not a protobuf message"});
      } else {
        done(std::move(response));
      }
    });
  }

 private:
  using Answered = std::function<void(Result<std::string_view>)>;

  template <class Message>
  static bool parse(Message& message, std::string_view data) {
    return message.ParseFromArray(data.data(), static_cast<int>(data.size()));
  }

  /// Calls the runtime.
  template <class Request>
  void call(const char* method, const Request& request, Answered answered) {
    ttrpc::Request call;
    call.set_service("nri.pkg.api.v1alpha1.Runtime");
    call.set_method(method);
    call.set_payload(request.SerializeAsString());
    calls_.emplace(next_stream_, std::move(answered));
    multiplex(output_, Connection::runtime,
              frame_bytes(next_stream_, FrameType::request, call.SerializeAsString()));
    next_stream_ += 2;
  }

  /// Takes the runtime's answer to a call; drops an answer without a call.
  void take_answer(const Frame& frame) {
    const auto found = calls_.find(frame.stream);
    if (frame.type != FrameType::response || found == calls_.end()) return;
    const auto answered = std::move(found->second);
    calls_.erase(found);
    ttrpc::Response response;
    if (!parse(response, frame.data)) {
      response.mutable_status()->set_message("the answer is not a protobuf message");
      response.mutable_status()->set_code(static_cast<std::int32_t>(StatusCode::unknown));
    }
    if (response.status().code() != 0) {
      answered(cdi::Error{.code = cdi::Errc::denied, .message = response.status().message()});
    } else {
      answered(std::string_view{response.payload()});
    }
  }

  /// Answers a request of the runtime.
  void answer_request(const Frame& frame) {
    if (frame.type != FrameType::request) return;
    const auto call = read_call(frame.data);
    auto data = call ? answer_of(*call)
                     : failed_answer(StatusCode::invalid_argument, "the request is not a call");
    if (data.size() > max_message) {
      data = failed_answer(StatusCode::unknown, "the answer is longer than 4 MiB");
    }
    multiplex(output_, Connection::plugin, frame_bytes(frame.stream, FrameType::response, data));
  }

  std::string answer_of(const Call& call) {
    if (call.service != "nri.pkg.api.v1alpha1.Plugin") return unknown_method(call);
    try {
      return called(call);
    } catch (const std::exception& error) {
      return failed({.message = error.what()});
    }
  }

  std::string called(const Call& call) {
    if (call.method == "Configure") return configure(call.payload);
    if (call.method == "Synchronize") return synchronize(call.payload);
    if (call.method == "Shutdown") return done_answer({});
    if (call.method == "CreateContainer") {
      return ask<CreateContainerResponse>(plugin_->create_container, call.payload);
    }
    if (call.method == "UpdateContainer") {
      return ask<UpdateContainerResponse>(plugin_->update_container, call.payload);
    }
    if (call.method == "StopContainer") {
      return ask<StopContainerResponse>(plugin_->stop_container, call.payload);
    }
    if (call.method == "StateChange") {
      StateChangeEvent event;
      if (!parse(event, call.payload)) return no_message();
      return tell(event.event(), event.pod(), event.container());
    }
    return event(call);
  }

  /// An event with a method of its own.
  std::string event(const Call& call) {
    struct Row {
      std::string_view method;
      Event event;
    };
    constexpr std::array pods{
        Row{"RunPodSandbox", RUN_POD_SANDBOX}, Row{"StopPodSandbox", STOP_POD_SANDBOX},
        Row{"RemovePodSandbox", REMOVE_POD_SANDBOX}, Row{"UpdatePodSandbox", UPDATE_POD_SANDBOX},
        Row{"PostUpdatePodSandbox", POST_UPDATE_POD_SANDBOX}};
    constexpr std::array containers{Row{"PostCreateContainer", POST_CREATE_CONTAINER},
                                    Row{"StartContainer", START_CONTAINER},
                                    Row{"PostStartContainer", POST_START_CONTAINER},
                                    Row{"PostUpdateContainer", POST_UPDATE_CONTAINER},
                                    Row{"RemoveContainer", REMOVE_CONTAINER}};
    for (const auto& row : pods) {
      PodEvent message;
      if (call.method != row.method) continue;
      return parse(message, call.payload) ? tell(row.event, message.pod(), {}) : no_message();
    }
    for (const auto& row : containers) {
      ContainerEvent message;
      if (call.method != row.method) continue;
      if (!parse(message, call.payload)) return no_message();
      return tell(row.event, message.pod(), message.container());
    }
    return unknown_method(call);
  }

  std::string configure(std::string_view payload) {
    ConfigureRequest request;
    if (!parse(request, payload)) return no_message();
    if (plugin_->configure) {
      if (auto done = plugin_->configure(request); !done) return failed(done.error());
    }
    ConfigureResponse response;
    response.set_events(plugin_->event_mask());
    if (plugin_->required) {
      response.mutable_failure_policy()->set_fail_request(true);
      response.mutable_failure_policy()->set_keep_connected(true);
    }
    return done_answer(response.SerializeAsString());
  }

  /// Takes a part of the list of what exists, one pod or container at a time.
  std::string synchronize(std::string_view payload) {
    SynchronizeResponse response;
    bool more = false;
    const auto member = [&](int number, auto type, auto& input) {
      using Wire = google::protobuf::internal::WireFormatLite;
      if (number == 3 && type == Wire::WIRETYPE_VARINT) {
        std::uint64_t value = 0;
        const bool read = input.ReadVarint64(&value);
        more = value != 0;
        return read;
      }
      if (number > 2 || type != Wire::WIRETYPE_LENGTH_DELIMITED) return false;
      const auto text = detail::read_text(input);
      if (!text) return false;
      return number == 1 ? pass<PodSandbox>(plugin_->existing_pod, *text)
                         : pass<Container>(plugin_->existing_container, *text);
    };
    if (!detail::read_members(payload, member)) return no_message();
    response.set_more(more);
    if (!more && plugin_->synchronized) plugin_->synchronized();
    synchronized_ = synchronized_ || !more;
    return done_answer(response.SerializeAsString());
  }

  template <class Message, class Handler>
  static bool pass(const Handler& handler, std::string_view data) {
    Message message;
    if (!parse(message, data)) return false;
    if (handler) handler(message);
    return true;
  }

  /// Calls a function of the plugin that returns an answer.
  template <class Response, class Request>
  static std::string ask(const std::function<Result<void>(const Request&, Response&)>& handler,
                         std::string_view payload) {
    Request request;
    Response response;
    if (!parse(request, payload)) return no_message();
    if (handler) {
      if (auto done = handler(request, response); !done) return failed(done.error());
    }
    return done_answer(response.SerializeAsString());
  }

  /// Reports an event to the plugin.
  std::string tell(Event event, const PodSandbox& pod, const Container& container) {
    const auto found = plugin_->events.find(event);
    if (found != plugin_->events.end()) {
      if (auto done = found->second(pod, container); !done) return failed(done.error());
    }
    return done_answer({});
  }

  /// A runtime drops a message with text that is not UTF-8.
  static std::string failed(const cdi::Error& error) {
    auto text = to_string(error);
    if (!cdi::detail::is_utf8(text)) text = cdi::escaped(text, std::string::npos);
    return failed_answer(StatusCode::unknown, std::move(text));
  }

  static std::string no_message() {
    return failed_answer(StatusCode::invalid_argument, "the request is not a protobuf message");
  }

  static std::string unknown_method(const Call& call) {
    return failed_answer(StatusCode::unimplemented,
                         cdi::escaped(std::string{call.service} + "/" + std::string{call.method}) +
                             " is not implemented");
  }

  const Plugin* plugin_;
  Demultiplexer sockets_{};
  FrameReader requests_{};
  FrameReader answers_{};
  std::map<std::uint32_t, Answered> calls_{};
  std::uint32_t next_stream_ = 1;
  std::string refusal_{};
  std::string output_{};
  bool synchronized_ = false;
};

}  // namespace nri

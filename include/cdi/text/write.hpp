// `write`: passes a model to a sink, following its field list.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_WRITE_HPP
#define CDI_TEXT_WRITE_HPP

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <cdi/base/result.hpp>
#include <cdi/model/type.hpp>
#include <cdi/model/type_of.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// Receives a document value by value, in document order; each text format provides a sink. Each
/// value of a map follows its `key`, and each `begin_` call has a matching `end_` call.
template <class T>
concept Sink = requires(T sink, std::string_view text, std::int64_t number, std::uint64_t natural,
                        bool truth) {
  sink.begin_map();
  sink.key(text);
  sink.end_map();
  sink.begin_list();
  sink.end_list();
  sink.text(text);
  sink.integer(number);
  sink.unsigned_integer(natural);
  sink.boolean(truth);
  sink.number(text);  // a JSON number
  sink.null();
};

namespace detail {

/// A type-erased sink.
class ErasedSink {
 public:
  virtual void begin_map() = 0;
  virtual void end_map() = 0;
  virtual void begin_list() = 0;
  virtual void end_list() = 0;
  virtual void key(std::string_view name) = 0;
  virtual void text(std::string_view value) = 0;
  virtual void integer(std::int64_t value) = 0;
  virtual void unsigned_integer(std::uint64_t value) = 0;
  virtual void boolean(bool value) = 0;
  virtual void number(std::string_view value) = 0;
  virtual void null() = 0;

 protected:
  ErasedSink() = default;
  ErasedSink(const ErasedSink&) = default;
  ErasedSink& operator=(const ErasedSink&) = default;
  ~ErasedSink() = default;
};

/// Wraps a sink of type `S`, which must outlive the wrapper.
template <class S>
class SinkOf final : public ErasedSink {
 public:
  explicit SinkOf(S& sink) : sink_{sink} {}

  void begin_map() override { sink_.begin_map(); }
  void end_map() override { sink_.end_map(); }
  void begin_list() override { sink_.begin_list(); }
  void end_list() override { sink_.end_list(); }
  void key(std::string_view name) override { sink_.key(name); }
  void text(std::string_view value) override { sink_.text(value); }
  void integer(std::int64_t value) override { sink_.integer(value); }
  void unsigned_integer(std::uint64_t value) override { sink_.unsigned_integer(value); }
  void boolean(bool value) override { sink_.boolean(value); }
  void number(std::string_view value) override { sink_.number(value); }
  void null() override { sink_.null(); }

 private:
  S& sink_;
};

/// Writes a value of any field type.
void write_value(const void* self, const Type& type, ErasedSink& sink);

/// Writes a value to a text sink and returns the text.
template <class S>
Result<std::string> write_to(S sink, const void* self, const Type& type) {
  SinkOf<S> any{sink};
  detail::write_value(self, type, any);
  if (!sink.good()) return sink.good().error();
  return std::move(sink).take();
}

}  // namespace detail

/// Writes a described type, or a part of a model, to a sink: the fields in field list order, except
/// empty fields with `Presence::omit_empty`; then the members of `extra`. Costs one pass.
template <class T, Sink S>
void write(const T& value, S& sink) {
  detail::SinkOf<S> any{sink};
  detail::write_value(&value, detail::table_of<T>(), any);
}

namespace detail {

/// A sink that only checks that the output can be read back: texts must be UTF-8, and numbers must
/// be JSON numbers.
struct WriteCheck {
  Result<void> result{};

  void begin_map() {}
  void end_map() {}
  void begin_list() {}
  void end_list() {}
  void key(std::string_view name) { text(name); }
  void text(std::string_view value);
  void integer(std::int64_t) {}
  void unsigned_integer(std::uint64_t) {}
  void boolean(bool) {}
  void number(std::string_view value);
  void null() {}
};

}  // namespace detail

}  // namespace cdi

#if CDI_BODIES
#include <cdi/text/write.inl>
#endif

#endif  // CDI_TEXT_WRITE_HPP

// Parses the words of a command line that describe a device node, a mount or a device's edit.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <cdi/rules/mount_options.hpp>

/// The parts of a word: before and after a mark.
struct WordParts {
  std::string_view first{};
  std::string_view rest{};
};

/// Splits a word at the first `mark`; nullopt if there is none, or nothing before it.
std::optional<WordParts> split_word(std::string_view word, char mark);

/// The node of `HOST[:CONTAINER][:PERMISSIONS]`; nullopt if the word has another form.
std::optional<cdi::DeviceNode> parse_node(std::string_view word);

/// The bind mount of `HOST:CONTAINER[:OPTIONS]`; nullopt if the word has another form. Without
/// `bind` or `rbind` a runtime would look for a file system of this name, so `rbind` is added.
std::optional<cdi::Mount> parse_mount(std::string_view word);

// Why a word of an option is not valid; empty if it is valid.

std::string device_word_error(const std::string& word);

std::string mount_word_error(const std::string& word);

std::string assignment_error(const std::string& word);

std::string device_mount_error(const std::string& word);

std::string device_env_error(const std::string& word);

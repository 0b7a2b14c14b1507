// `Watcher`: reports changes in spec directories through inotify.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_WATCH_HPP
#define CDI_WATCH_HPP

#include <cdi/dirs/watch.hpp>  // IWYU pragma: export

#endif  // CDI_WATCH_HPP

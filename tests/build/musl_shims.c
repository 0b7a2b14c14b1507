// Functions of glibc that a libc++.a built for glibc calls, and musl does not have.
// SPDX-License-Identifier: Apache-2.0 OR MIT
#define _GNU_SOURCE
#include <locale.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

void *__memmove_chk(void *to, const void *from, size_t size, size_t room) {
  (void)room;
  return memmove(to, from, size);
}
wchar_t *__wmemcpy_chk(wchar_t *to, const wchar_t *from, size_t size, size_t room) {
  (void)room;
  return wmemcpy(to, from, size);
}
wchar_t *__wmemmove_chk(wchar_t *to, const wchar_t *from, size_t size, size_t room) {
  (void)room;
  return wmemmove(to, from, size);
}
int __vfprintf_chk(FILE *file, int flag, const char *format, va_list list) {
  (void)flag;
  return vfprintf(file, format, list);
}
int __vsnprintf_chk(char *to, size_t size, int flag, size_t room, const char *format, va_list list) {
  (void)flag;
  (void)room;
  return vsnprintf(to, size, format, list);
}
int __vasprintf_chk(char **to, int flag, const char *format, va_list list) {
  (void)flag;
  return vasprintf(to, format, list);
}
long long strtoll_l(const char *text, char **end, int base, locale_t unused) {
  (void)unused;
  return strtoll(text, end, base);
}
unsigned long long strtoull_l(const char *text, char **end, int base, locale_t unused) {
  (void)unused;
  return strtoull(text, end, base);
}
int __cxa_thread_atexit_impl(void (*destroy)(void *), void *object, void *library) {
  (void)destroy;  // thread-local objects are not destroyed: no test needs it
  (void)object;
  (void)library;
  return 0;
}
int _dl_find_object(void *address, void *found) {  // libgcc then calls dl_iterate_phdr
  (void)address;
  (void)found;
  return -1;
}

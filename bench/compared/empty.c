/* A floor of run.sh: a process that only starts and exits. */
/* SPDX-License-Identifier: Apache-2.0 OR MIT */
int main(void) {
  return 0;
}

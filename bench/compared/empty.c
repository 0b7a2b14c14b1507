/* A floor of run.sh: a process that only starts and exits. */
int main(void) {
  return 0;
}

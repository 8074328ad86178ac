// The smallest program.
#include <stdio.h>

int main(int argc, char **argv) {
  printf("hello from C, %d arguments\n", argc - 1);
  return 0;
}

// A library for `cordon wasm --call score`: the sum of the numbers in its argument.
// examples/score.wasm is built from it:
//
//   clang-16 --target=wasm32 -O2 -nostdlib -Wl,--no-entry -o score.wasm score.c
#include <stddef.h>
#include <stdint.h>

#define EXPORT(name) __attribute__((export_name(name)))

// cordon writes the argument to the address that this function returns. Each call gets
// a new instance, so nothing has to be freed.
EXPORT("cordon_alloc") void *cordon_alloc(size_t size) {
  static char room[32 << 10];
  return size <= sizeof room ? room : NULL;
}

// score takes JSON and returns JSON: the address of the answer in the upper half of its
// result, and the length in the lower half.
EXPORT("score") int64_t score(const char *json, size_t size) {
  static char answer[24];
  char *digit = answer + sizeof answer;
  uint64_t sum = 0, number = 0;
  for (size_t i = 0; i <= size; i++) {
    if (i < size && json[i] >= '0' && json[i] <= '9') {
      number = number * 10 + (json[i] - '0');
    } else {
      sum += number;
      number = 0;
    }
  }
  do {
    *--digit = '0' + sum % 10;
    sum /= 10;
  } while (sum > 0);
  return (int64_t)((uint64_t)(uintptr_t)digit << 32 | (answer + sizeof answer - digit));
}

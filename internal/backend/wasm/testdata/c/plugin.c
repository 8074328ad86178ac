// A library: functions that take JSON and give JSON.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT(name) __attribute__((export_name(name)))

// calls is how often this instance was called: each has its own.
static int calls;

static int64_t answer(const char *text) {
  return (int64_t)((uint64_t)(uintptr_t)text << 32 | strlen(text));
}

EXPORT("cordon_alloc") void *cordon_alloc(size_t size) { return malloc(size); }

EXPORT("length") int64_t length(const char *json, size_t size) {
  static char out[64];
  snprintf(out, sizeof out, "{\"length\": %zu, \"calls\": %d}", size, ++calls);
  return answer(out);
}

EXPORT("echo") int64_t echo(const char *json, size_t size) {
  return (int64_t)((uint64_t)(uintptr_t)json << 32 | size);
}

EXPORT("broken") int64_t broken(const char *json, size_t size) { return answer("{not json"); }
EXPORT("outside") int64_t outside(const char *json, size_t size) { return (int64_t)0x7fffffff00000010; }
EXPORT("nothing") int64_t nothing(const char *json, size_t size) { return 0; }
EXPORT("trap") int64_t trap(const char *json, size_t size) { __builtin_trap(); }
EXPORT("forever") int64_t forever(const char *json, size_t size) {
  for (volatile int i = 0;; i++) {
  }
}
EXPORT("number") int number(int n) { return n + 1; }

// say prints: a library has standard streams too.
EXPORT("say") int64_t say(const char *json, size_t size) {
  printf("%.*s\n", (int)size, json);
  fflush(stdout);
  return answer("true");
}

__attribute__((import_module("cordon"), import_name("ask"))) int32_t host_ask(const char *, size_t);
__attribute__((import_module("cordon"), import_name("answer"))) void host_answer(char *);

// ask passes its argument on to the host, as a question, and gives the answer.
EXPORT("ask") int64_t ask(const char *json, size_t size) {
  int32_t length = host_ask(json, size);
  if (length < 0)
    return answer("\"no answer\"");
  char *text = malloc(length + 1);
  host_answer(text);
  text[length] = 0;
  return answer(text);
}

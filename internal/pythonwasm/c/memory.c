/* The functions of the C library that move and compare memory, in place of its own,
 * which go byte by byte or word by word. Nearly all that CPython moves is shorter than
 * a line: that takes a few loads and stores. What is longer goes to the engine, whose
 * instructions for it run at the speed of the host; to call them costs more than a
 * short copy, which is why the rest is not compiled with them.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* What may lie anywhere. */
typedef uint64_t __attribute__((aligned(1), may_alias)) any64;
typedef uint32_t __attribute__((aligned(1), may_alias)) any32;
typedef uint16_t __attribute__((aligned(1), may_alias)) any16;

#define SHORT 32

/* short_move moves up to SHORT bytes. The first and the last ones are moved in pieces
 * that may overlap; all are read before any is written, so the areas may overlap too. */
static inline void
short_move(char *to, const char *from, size_t n)
{
    if (n >= 16) {
        uint64_t a = *(const any64 *)from, b = *(const any64 *)(from + 8);
        uint64_t c = *(const any64 *)(from + n - 16), d = *(const any64 *)(from + n - 8);
        *(any64 *)to = a;
        *(any64 *)(to + 8) = b;
        *(any64 *)(to + n - 16) = c;
        *(any64 *)(to + n - 8) = d;
    } else if (n >= 8) {
        uint64_t a = *(const any64 *)from, b = *(const any64 *)(from + n - 8);
        *(any64 *)to = a;
        *(any64 *)(to + n - 8) = b;
    } else if (n >= 4) {
        uint32_t a = *(const any32 *)from, b = *(const any32 *)(from + n - 4);
        *(any32 *)to = a;
        *(any32 *)(to + n - 4) = b;
    } else if (n >= 2) {
        uint16_t a = *(const any16 *)from, b = *(const any16 *)(from + n - 2);
        *(any16 *)to = a;
        *(any16 *)(to + n - 2) = b;
    } else if (n == 1) {
        *to = *from;
    }
}

/* The builtins below become instructions: this file is compiled with -mbulk-memory. */

void *
memcpy(void *restrict to, const void *restrict from, size_t n)
{
    if (n > SHORT) {
        return __builtin_memcpy(to, from, n);
    }
    short_move(to, from, n);
    return to;
}

void *
memmove(void *to, const void *from, size_t n)
{
    if (n > SHORT) {
        return __builtin_memmove(to, from, n);
    }
    short_move(to, from, n);
    return to;
}

void *
memset(void *to, int byte, size_t n)
{
    if (n > 8 * SHORT) {
        return __builtin_memset(to, byte, n);
    }
    uint64_t value = 0x0101010101010101u * (unsigned char)byte;
    char *at = to, *end = at + n;
    if (n >= 8) {
        for (; end - at > 8; at += 8) {
            *(any64 *)at = value;
        }
        *(any64 *)(end - 8) = value;
    } else if (n >= 4) {
        *(any32 *)at = (uint32_t)value;
        *(any32 *)(end - 4) = (uint32_t)value;
    } else {
        for (; at < end; at++) {
            *at = (char)value;
        }
    }
    return to;
}

int
memcmp(const void *left, const void *right, size_t n)
{
    const unsigned char *a = left, *b = right;
    for (; n >= 8; a += 8, b += 8, n -= 8) {
        uint64_t x = *(const any64 *)a, y = *(const any64 *)b;
        if (x != y) {
            /* The first byte that differs decides: the highest, turned around. */
            return __builtin_bswap64(x) < __builtin_bswap64(y) ? -1 : 1;
        }
    }
    for (; n > 0; a++, b++, n--) {
        if (*a != *b) {
            return *a - *b;
        }
    }
    return 0;
}

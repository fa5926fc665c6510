// Numbers of several lanes at once, in the vectors of this machine's processor. Each is computed as
// the single numbers of `lanes.c` are, so that nobody can tell by the result.

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define AT_ONCE 8
#define OF_VECTORS(name) _mm512_##name##_pd
#define ROUNDED(x, how) _mm512_roundscale_pd(x, how)
typedef __m512d Vector;
#elif defined(__AVX2__)
#define AT_ONCE 4
#define OF_VECTORS(name) _mm256_##name##_pd
#define ROUNDED(x, how) _mm256_round_pd(x, how)
typedef __m256d Vector;
#else
#error "this processor has no vectors that are worth it"
#endif

namespace at_once {

typedef double Reals __attribute__((vector_size(8 * AT_ONCE)));
typedef long long Wholes __attribute__((vector_size(8 * AT_ONCE)));
typedef unsigned long long LongWords __attribute__((vector_size(8 * AT_ONCE)));
typedef unsigned int Words __attribute__((vector_size(4 * AT_ONCE)));
typedef int Ints __attribute__((vector_size(4 * AT_ONCE)));

struct real;
struct long_word;

// True is -1.
struct flag {
  Wholes all;
  flag() : all{} {}
  flag(bool x) : all(Wholes{} - (long long)x) {}
  explicit flag(Wholes x) : all(x) {}
};

struct whole {
  Wholes all;
  whole() : all{} {}
  whole(long long x) : all(Wholes{} + x) {}
  explicit whole(Wholes x) : all(x) {}
  explicit whole(flag x) : all(-x.all) {}
  explicit inline whole(real x);
  explicit inline whole(long_word x);
};

struct long_word {
  LongWords all;
  long_word() : all{} {}
  explicit long_word(LongWords x) : all(x) {}
  explicit long_word(whole x) : all((LongWords)x.all) {}
};

struct real {
  Reals all;
  real() : all{} {}
  real(double x) : all(Reals{} + x) {}
  explicit real(Reals x) : all(x) {}
  explicit real(whole x) : all(__builtin_convertvector(x.all, Reals)) {}
  explicit real(flag x) : all(x.all ? Reals{} + 1.0 : Reals{}) {}
};

inline whole::whole(real x) : all(__builtin_convertvector(x.all, Wholes)) {}
inline whole::whole(long_word x) : all((Wholes)x.all) {}

#define RECKONED(kind, sign)                                                                       \
  DEVICE kind operator sign(kind a, kind b) { return kind(a.all sign b.all); }
#define COMPARED(kind, sign)                                                                       \
  DEVICE flag operator sign(kind a, kind b) { return flag((Wholes)(a.all sign b.all)); }
#define RECKONED_WITH(kind) RECKONED(kind, +) RECKONED(kind, -) RECKONED(kind, *)
#define COMPARED_WITH(kind)                                                                        \
  COMPARED(kind, <) COMPARED(kind, <=) COMPARED(kind, >) COMPARED(kind, >=) COMPARED(kind, ==)     \
  COMPARED(kind, !=)                                                                               \
  DEVICE kind chosen(flag test, kind a, kind b) { return kind(test.all ? a.all : b.all); }         \
  DEVICE kind smaller(kind a, kind b) { return chosen(b < a, b, a); }                              \
  DEVICE kind larger(kind a, kind b) { return chosen(b > a, b, a); }
#define BITS_OF(kind)                                                                              \
  RECKONED(kind, &) RECKONED(kind, |) RECKONED(kind, ^) RECKONED(kind, <<) RECKONED(kind, >>)      \
  DEVICE kind operator~(kind a) { return kind(~a.all); }

RECKONED_WITH(real) RECKONED(real, /) COMPARED_WITH(real)
RECKONED_WITH(whole) COMPARED_WITH(whole) BITS_OF(whole)
RECKONED_WITH(long_word) COMPARED_WITH(long_word) BITS_OF(long_word)

DEVICE flag operator&(flag a, flag b) { return flag(a.all & b.all); }
DEVICE flag operator|(flag a, flag b) { return flag(a.all | b.all); }
DEVICE flag operator^(flag a, flag b) { return flag(a.all ^ b.all); }
DEVICE flag operator&&(flag a, flag b) { return a & b; }
DEVICE flag operator||(flag a, flag b) { return a | b; }
DEVICE flag operator!(flag a) { return flag(~a.all); }
DEVICE flag operator==(flag a, flag b) { return !(a ^ b); }
DEVICE flag operator!=(flag a, flag b) { return a ^ b; }
DEVICE flag chosen(flag test, flag a, flag b) { return (test & a) | (!test & b); }

// By lane, a bit.
DEVICE unsigned bits_of(flag test) {
#if AT_ONCE == 8
  return _mm512_movepi64_mask((__m512i)test.all);
#else
  return _mm256_movemask_pd((__m256d)test.all);
#endif
}
DEVICE bool any(flag test) { return bits_of(test) != 0; }
DEVICE flag of_bits(unsigned bits) {
  flag test;
  for (int i = 0; i < AT_ONCE; i++) test.all[i] = -(long long)(bits >> i & 1);
  return test;
}

// --- functions ------------------------------------------------------------------------------------

DEVICE real operator-(real a) { return real(-a.all); }
DEVICE whole operator-(whole a) { return whole(-a.all); }
DEVICE real fabs(real x) { return real((Reals)((Wholes)x.all & 0x7fffffffffffffffll)); }
DEVICE real absolute(real x) { return fabs(x); }
DEVICE whole absolute(whole x) { return chosen(x < whole(0), -x, x); }
DEVICE real sqrt(real x) { return real((Reals)OF_VECTORS(sqrt)((Vector)x.all)); }
DEVICE real rint(real x) { return real((Reals)ROUNDED((Vector)x.all, 0x8)); }
DEVICE real floor(real x) { return real((Reals)ROUNDED((Vector)x.all, 0x9)); }
DEVICE real ceil(real x) { return real((Reals)ROUNDED((Vector)x.all, 0xa)); }
DEVICE real trunc(real x) { return real((Reals)ROUNDED((Vector)x.all, 0xb)); }
DEVICE flag isnan(real x) { return x != x; }
DEVICE flag isinf(real x) { return fabs(x) == real(INFINITY); }
DEVICE flag isfinite(real x) { return fabs(x) < real(INFINITY); }
DEVICE real power(real base, int exponent) {
  real result = 1.0;
  for (; exponent > 0; exponent >>= 1, base = base * base)
    if (exponent & 1) result = result * base;
  return result;
}
DEVICE real bits_f8(long_word x) { return real((Reals)x.all); }
DEVICE long_word bits_u8(real x) { return long_word((LongWords)x.all); }

// The system's functions know one number at a time.
#define ONE_BY_ONE(name)                                                                           \
  DEVICE real name(flag on, real x) {                                                              \
    real result;                                                                                   \
    for (unsigned left = bits_of(on); left; left &= left - 1) {                                    \
      int i = __builtin_ctz(left);                                                                 \
      result.all[i] = ::name(x.all[i]);                                                            \
    }                                                                                              \
    return result;                                                                                 \
  }
#define TWO_BY_TWO(name, of)                                                                       \
  DEVICE real name(flag on, real x, real y) {                                                      \
    real result;                                                                                   \
    for (unsigned left = bits_of(on); left; left &= left - 1) {                                    \
      int i = __builtin_ctz(left);                                                                 \
      result.all[i] = ::of(x.all[i], y.all[i]);                                                    \
    }                                                                                              \
    return result;                                                                                 \
  }
ONE_BY_ONE(acos) ONE_BY_ONE(acosh) ONE_BY_ONE(asin) ONE_BY_ONE(asinh) ONE_BY_ONE(atan)
ONE_BY_ONE(atanh) ONE_BY_ONE(cos) ONE_BY_ONE(cosh) ONE_BY_ONE(erf) ONE_BY_ONE(erfc) ONE_BY_ONE(exp)
ONE_BY_ONE(expm1) ONE_BY_ONE(lgamma) ONE_BY_ONE(log) ONE_BY_ONE(log10) ONE_BY_ONE(log1p)
ONE_BY_ONE(log2) ONE_BY_ONE(sin) ONE_BY_ONE(sinh) ONE_BY_ONE(tan) ONE_BY_ONE(tanh)
ONE_BY_ONE(tgamma)
TWO_BY_TWO(atan2, atan2) TWO_BY_TWO(copysign, copysign) TWO_BY_TWO(fmod, fmod)
TWO_BY_TWO(hypot, hypot) TWO_BY_TWO(nextafter, nextafter) TWO_BY_TWO(pow, pow)
TWO_BY_TWO(power, pow)

// A number of a table for each lane. Both sides of an `and` are computed here, so a place may lie
// outside of it: then nobody wants the number.
#define READ(kind, number)                                                                         \
  DEVICE kind read(flag on, const number *table, long long size, whole place) {                    \
    kind result;                                                                                   \
    on = on && place >= whole(0) && place < whole(size);                                           \
    for (unsigned left = bits_of(on); left; left &= left - 1) {                                    \
      int i = __builtin_ctz(left);                                                                 \
      result.all[i] = table[place.all[i]];                                                         \
    }                                                                                              \
    return result;                                                                                 \
  }
READ(real, double)
READ(whole, long long)

// --- the generators -------------------------------------------------------------------------------

struct Generator {
  Words a, b, c, d;
};

DEVICE Words rotated(Words x, int by) { return (x << by) | (x >> (32 - by)); }

DEVICE Words next_word(Generator &rng) {
  Words result = rotated(rng.a + rng.d, 7) + rng.a, shifted = rng.b << 9;
  rng.c ^= rng.a;
  rng.d ^= rng.b;
  rng.b ^= rng.c;
  rng.a ^= rng.d;
  rng.c ^= shifted;
  rng.d = rotated(rng.d, 11);
  return result;
}

DEVICE Generator chosen(flag test, const Generator &one, const Generator &other) {
  Ints is = __builtin_convertvector(test.all, Ints);
  Generator rng = {is ? one.a : other.a, is ? one.b : other.b, is ? one.c : other.c,
                   is ? one.d : other.d};
  return rng;
}

DEVICE real random(flag on, flag &, Generator &rng) {
  Generator next = rng;
  // Of fewer than 32 bits: so they are no less as numbers with a sign, for which there is a vector.
  Ints high = (Ints)(next_word(next) >> 5), low = (Ints)(next_word(next) >> 6);
  rng = chosen(on, next, rng);
  Reals first = __builtin_convertvector(high, Reals), second = __builtin_convertvector(low, Reals);
  return real((first * 67108864.0 + second + 0.5) / 9007199254740992.0);
}


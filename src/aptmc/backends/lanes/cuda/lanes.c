// The moves and exchanges of lanes. `advance.py` and `exchanges.py` have the same for processors,
// with all comments; both are checked against each other, bit for bit.
//
// Before this text come the definitions of `real`, `whole`, BITS, DIMENSION, STATE, RUNGS, SIDES,
// HAS_STAGES, HAS_TOLERANCES, REJECTS_FAILURES, FACTOR and the columns; in its middle, the functions
// of the problem: log_prior_of, begin_simulation and step_simulation of a simulator, begin_move and
// step_move of a kernel's stages.

#if defined(__CUDACC__)
#define DEVICE static __device__ __forceinline__
#define APART static __device__ __noinline__
#define CONSTANT static __constant__
#define KERNEL extern "C" __global__ void
#define EACH(name, count)                                                                          \
  long long name = (long long)blockIdx.x * blockDim.x + threadIdx.x;                               \
  if (name < (count))
// So few registers that seven blocks share a multiprocessor: measured, on a model of predators.
#if BITS == 32
#define BOUNDS __launch_bounds__(128, 7)
#else
#define BOUNDS __launch_bounds__(128)
#endif
#define INFINITY __longlong_as_double(0x7ff0000000000000ll)
#define NAN __longlong_as_double(0x7ff8000000000000ll)
#else
#include <math.h>
#define DEVICE static inline
#define APART static
#define CONSTANT static
#define KERNEL extern "C" void
#define BOUNDS
// Threads of a processor share the lanes: each says which it computes.
static thread_local long long only_from = 0, only_until = -1;
extern "C" void only(long long first, long long last) { only_from = first; only_until = last; }
#define EACH(name, count)                                                                          \
  for (long long name = only_from; name < (only_until < 0 ? (count) : only_until); name++)
#endif
typedef bool flag;
typedef unsigned int word;
typedef unsigned long long long_word;

// --- reckoning as Python does ---------------------------------------------------------------------

DEVICE double absolute(double x) { return fabs(x); }
DEVICE float absolute(float x) { return fabsf(x); }
DEVICE whole absolute(whole x) { return x < 0 ? -x : x; }
DEVICE long_word absolute(long_word x) { return x; }
template <class Number> DEVICE Number smaller(Number a, Number b) { return b < a ? b : a; }
template <class Number> DEVICE Number larger(Number a, Number b) { return b > a ? b : a; }
DEVICE whole floor_modulo(whole a, whole b) {
  whole rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
DEVICE whole floor_divide(whole a, whole b) { return (a - floor_modulo(a, b)) / b; }
DEVICE real floor_modulo(real a, real b) {
  real rest = fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
DEVICE real floor_divide(real a, real b) { return floor(a / b); }
template <class Number> DEVICE Number repeated(Number base, whole exponent) {
  Number result = 1;
  for (; exponent > 0; exponent >>= 1, base *= base)
    if (exponent & 1) result *= base;
  return result;
}
DEVICE double power(double base, int exponent) { return repeated(base, exponent); }
DEVICE float power(float base, int exponent) { return repeated(base, exponent); }
DEVICE real power(real base, real exponent) { return pow(base, exponent); }
DEVICE whole power(whole base, whole exponent) { return repeated(base, exponent); }

DEVICE real cosine_of_turn(real turn) { return cos(real(6.283185307179586) * turn); }

// --- the generator --------------------------------------------------------------------------------

struct Generator { word a, b, c, d; };

DEVICE word rotated(word x, int by) { return (x << by) | (x >> (32 - by)); }

DEVICE word next_word(Generator &rng) {
  word result = rotated(rng.a + rng.d, 7) + rng.a, shifted = rng.b << 9;
  rng.c ^= rng.a;
  rng.d ^= rng.b;
  rng.b ^= rng.c;
  rng.a ^= rng.d;
  rng.c ^= shifted;
  rng.d = rotated(rng.d, 11);
  return result;
}

DEVICE real random(Generator &rng) {
#if BITS == 32
  return ((next_word(rng) >> 9) + 0.5f) * 1.1920928955078125e-07f;
#else
  long long high = next_word(rng) >> 5, low = next_word(rng) >> 6;
  return (high * 67108864.0 + low + 0.5) / 9007199254740992.0;
#endif
}

DEVICE Generator generator_of(long_word seed, long_word chain, long_word number, word purpose) {
  word a = (word)number, b = (word)(number >> 32), c = (word)chain, d = purpose;
  word key = (word)seed, other = (word)(seed >> 32);
  for (int round = 0; round < 10; round++) {
    long_word one = (long_word)a * 0xD2511F53u, two = (long_word)c * 0xCD9E8D57u;
    a = (word)(two >> 32) ^ b ^ key;
    c = (word)(one >> 32) ^ d ^ other;
    b = (word)two;
    d = (word)one;
    key += 0x9E3779B9u;
    other += 0xBB67AE85u;
  }
  Generator rng = {a, b, c, d | 1u};
  return rng;
}

// --- what programs of JAX draw their random numbers by --------------------------------------------

struct Tuple_uu { word part0, part1; };

DEVICE word turned(word x, int by) { return (x << by) | (x >> (32 - by)); }

// Threefry with 20 rounds: two words, made of two others by a key.
DEVICE Tuple_uu threefry(word k0, word k1, word x0, word x1) {
  const int turns[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  word keys[3] = {k0, k1, k0 ^ k1 ^ 0x1BD11BDAu}, a = x0 + k0, b = x1 + k1;
#pragma unroll
  for (int group = 0; group < 5; group++) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      a += b;
      b = a ^ turned(b, turns[group % 2][i]);
    }
    a += keys[(group + 1) % 3];
    b += keys[(group + 2) % 3] + group + 1;
  }
  Tuple_uu both = {a, b};
  return both;
}

#if defined(__CUDACC__)
DEVICE float bits_f4(word x) { return __uint_as_float(x); }
DEVICE word bits_u4(float x) { return __float_as_uint(x); }
DEVICE double bits_f8(long_word x) { return __longlong_as_double((long long)x); }
DEVICE long_word bits_u8(double x) { return (long_word)__double_as_longlong(x); }
#else
DEVICE float bits_f4(word x) { float y; __builtin_memcpy(&y, &x, 4); return y; }
DEVICE word bits_u4(float x) { word y; __builtin_memcpy(&y, &x, 4); return y; }
DEVICE double bits_f8(long_word x) { double y; __builtin_memcpy(&y, &x, 8); return y; }
DEVICE long_word bits_u8(double x) { long_word y; __builtin_memcpy(&y, &x, 8); return y; }
#endif

// --- the problem ----------------------------------------------------------------------------------

//PROBLEM//

// --- moves ----------------------------------------------------------------------------------------

#define REALS_AT(column) reals[(long long)(column) * lanes + lane]
#define WHOLES_AT(column) wholes[(long long)(column) * lanes + lane]
#define WORDS_AT(column) words[(long long)(column) * lanes + lane]

// These are lanes of some of all groups, and `first_group` is the place of the first of these. Keys
// go by the place of a lane among all.
#if !HAS_STAGES

KERNEL BOUNDS advance(long long lanes, long long groups, long long first_group, long long all_groups,
               long long all_ticks, const long long *limits, long_word seed, const real *levels, const real *tuning, long long tuned, real *reals,
               long long *wholes, word *words) {
  EACH(lane, lanes) {
    if (WHOLES_AT(BROKEN) == 0) {
      int place = (int)(lane / groups);  // in the group
      const real *numbers = tuning + place * tuned;
      long long named = lane + place * (all_groups - groups) + first_group;
      real level = levels[place];
      Generator rng = {WORDS_AT(0), WORDS_AT(1), WORDS_AT(2), WORDS_AT(3)};
      real there[DIMENSION], state[STATE + 1];
      for (int i = 0; i < DIMENSION; i++) there[i] = REALS_AT(THERE + i);
      for (int i = 0; i < STATE; i++) state[i] = REALS_AT(STATE_FIRST + i);
      real log_prior_there = REALS_AT(LOG_PRIOR_THERE);
      int flying = (int)WHOLES_AT(FLYING);
      bool under_way = WHOLES_AT(UNDER_WAY) != 0;
      unsigned begun = 0, steps = 0, done = 0, accepted = 0;
      int ticks = (int)(limits ? limits[lane] : all_ticks);
      // The tick since which the present move is under way.
      int since = -(int)WHOLES_AT(AGE);
      for (int tick = 0; tick < ticks; tick++) {
        bool is_over = false, is_accepted = false;
        real value = -1;
        if (!under_way) {
          rng = generator_of(seed, 2 * named + flying, WHOLES_AT(STARTED + flying), MOVE);
          real normals[DIMENSION];
          for (int i = 0; i < DIMENSION; i++) normals[i] = standard_normal_of(rng);
          for (int i = 0; i < DIMENSION; i++) {
            real away = 0;
            for (int j = 0; j <= i; j++) away += numbers[FACTOR + i * DIMENSION + j] * normals[j];
            there[i] = REALS_AT(flying * DIMENSION + i) + away;
          }
          log_prior_there = log_prior_of(there);
          under_way = true;
          since = tick;
          real ratio = log_prior_there - REALS_AT(LOG_PRIOR + flying), uniform = random(rng);
          is_over = !(ratio >= 0 || uniform < exp(ratio));
          if (!is_over) {
            begun++;
            for (int i = 0; i < STATE; i++) state[i] = 0;
            begin_simulation(there, rng, state);
          }
        }
        if (!is_over) {
          value = step_simulation(there, rng, state, level);
          steps++;
          if (!(value < 0)) {
            is_over = true;
            is_accepted = value <= level;
            if (value != value) {
              WHOLES_AT(FAILURES) += 1;
              if (!REJECTS_FAILURES) {
                WHOLES_AT(BROKEN) = 1;
                break;
              }
            }
          }
        }
        if (is_over) {
          if (is_accepted) {
            accepted++;
            for (int i = 0; i < DIMENSION; i++) REALS_AT(flying * DIMENSION + i) = there[i];
            REALS_AT(VALUE + flying) = value;
            REALS_AT(LOG_PRIOR + flying) = log_prior_there;
          }
          done++;
          flying = 1 - flying;
          under_way = false;
          since = tick + 1;
          WHOLES_AT(STARTED + flying) += 1;
        }
      }
      WORDS_AT(0) = rng.a;
      WORDS_AT(1) = rng.b;
      WORDS_AT(2) = rng.c;
      WORDS_AT(3) = rng.d;
      for (int i = 0; i < DIMENSION; i++) REALS_AT(THERE + i) = there[i];
      for (int i = 0; i < STATE; i++) REALS_AT(STATE_FIRST + i) = state[i];
      REALS_AT(LOG_PRIOR_THERE) = log_prior_there;
      WHOLES_AT(FLYING) = flying;
      WHOLES_AT(UNDER_WAY) = under_way;
      WHOLES_AT(AGE) = ticks - since;
      WHOLES_AT(SIMULATIONS) += begun;
      WHOLES_AT(STEPS) += steps;
      WHOLES_AT(DONE) += done;
      WHOLES_AT(ACCEPTED) += accepted;
    }
  }
}

#else

KERNEL advance(long long lanes, long long groups, long long first_group, long long all_groups,
               long long all_ticks, const long long *limits, long_word seed, const real *levels,
               const real *tuning, long long tuned, real *reals, long long *wholes, word *words) {
  EACH(lane, lanes) {
    if (WHOLES_AT(BROKEN) == 0) {
      int place = (int)(lane / groups);  // in the group
      real *numbers = (real *)tuning + place * tuned;
      long long named = lane + place * (all_groups - groups) + first_group;
      real level = levels[place];
      Generator rng = {WORDS_AT(0), WORDS_AT(1), WORDS_AT(2), WORDS_AT(3)};
      real here[DIMENSION + 2], there[DIMENSION + 2], memory[STATE + 1], info[INFO];
      long long counted[STATISTICS + 1];
      for (int i = 0; i < DIMENSION + 2; i++) there[i] = REALS_AT(THERE + i);
      for (int i = 0; i < STATE; i++) memory[i] = REALS_AT(STATE_FIRST + i);
      for (int i = 0; i < INFO; i++) info[i] = 0;
      for (int i = 0; i < STATISTICS; i++) counted[i] = 0;
      int flying = (int)WHOLES_AT(FLYING);
      bool under_way = WHOLES_AT(UNDER_WAY) != 0, is_new = true;
      unsigned steps = 0, done = 0, accepted = 0;
      int ticks = (int)(limits ? limits[lane] : all_ticks);
      // The tick since which the present move is under way.
      int since = -(int)WHOLES_AT(AGE);
      for (int tick = 0; tick < ticks; tick++) {
        if (is_new) {
          for (int i = 0; i < DIMENSION; i++) here[i] = REALS_AT(flying * DIMENSION + i);
          here[DIMENSION] = REALS_AT(VALUE + flying);
          here[DIMENSION + 1] = REALS_AT(LOG_PRIOR + flying);
          is_new = false;
        }
        if (!under_way) {
          rng = generator_of(seed, 2 * named + flying, WHOLES_AT(STARTED + flying), MOVE);
          begin_move(level, numbers, here, rng, there, memory, info);
          under_way = true;
          since = tick;
        }
        int outcome = (int)step_move(level, numbers, here, rng, there, memory, info);
        steps += (unsigned)info[WORK];
        info[WORK] = 0;
        for (int i = 0; i < STATISTICS; i++) {
          counted[i] += (long long)(info[OWN + i] * CHANCE_UNIT);
          info[OWN + i] = 0;
        }
        if (info[STATUS] != 0) {
          WHOLES_AT(FAILURES) += 1;
          WHOLES_AT(BROKEN) = 1;
          break;
        }
        if (outcome != GOES_ON) {
          if (outcome == GOES) {
            accepted++;
            for (int i = 0; i < DIMENSION; i++) REALS_AT(flying * DIMENSION + i) = there[i];
            REALS_AT(VALUE + flying) = there[DIMENSION];
            REALS_AT(LOG_PRIOR + flying) = there[DIMENSION + 1];
          }
          done++;
          flying = 1 - flying;
          under_way = false;
          is_new = true;
          since = tick + 1;
          WHOLES_AT(STARTED + flying) += 1;
        }
      }
      WORDS_AT(0) = rng.a;
      WORDS_AT(1) = rng.b;
      WORDS_AT(2) = rng.c;
      WORDS_AT(3) = rng.d;
      for (int i = 0; i < DIMENSION + 2; i++) REALS_AT(THERE + i) = there[i];
      for (int i = 0; i < STATE; i++) REALS_AT(STATE_FIRST + i) = memory[i];
      WHOLES_AT(FLYING) = flying;
      WHOLES_AT(UNDER_WAY) = under_way;
      WHOLES_AT(AGE) = ticks - since;
      WHOLES_AT(STEPS) += steps;
      WHOLES_AT(DONE) += done;
      WHOLES_AT(ACCEPTED) += accepted;
      for (int i = 0; i < STATISTICS; i++) WHOLES_AT(COUNT + i) += counted[i];
    }
  }
}

#endif

// --- exchanges ------------------------------------------------------------------------------------

#define POSITIONS (SIDES * LANES_OF_GROUP)
#define WIDTH (DIMENSION + 2)

CONSTANT const int rung_starts[RUNGS + 1] = RUNG_STARTS;

DEVICE real swap_chance(real level, real warmer_level, real value, real warmer_value) {
#if HAS_TOLERANCES
  return warmer_value <= level && value <= warmer_level ? 1 : 0;
#else
  real log_ratio = (level - warmer_level) * (warmer_value - value);
  if (log_ratio >= 0) return 1;
  return log_ratio < 0 ? exp(log_ratio) : real(0);
#endif
}

KERNEL exchange(long long lanes, long long groups, long long first_group, long_word number,
                long_word seed, const real *levels, real *reals, long long *wholes) {
  EACH(group, groups) {
    Generator rng = generator_of(seed, first_group + group, number, EXCHANGE);
    real rows[POSITIONS][WIDTH];
    int journeys[POSITIONS], source[POSITIONS], side_of[POSITIONS];
    bool is_taken[POSITIONS];
    for (int position = 0; position < POSITIONS; position++) {
      long long lane = position / SIDES * groups + group;
      int side = 1 - (int)WHOLES_AT(FLYING);
      if (SIDES == 2 && position % 2 == 1) side = 1 - side;
      side_of[position] = side;
      for (int i = 0; i < DIMENSION; i++) rows[position][i] = REALS_AT(side * DIMENSION + i);
      rows[position][DIMENSION] = REALS_AT(VALUE + side);
      rows[position][DIMENSION + 1] = REALS_AT(LOG_PRIOR + side);
      journeys[position] = (int)WHOLES_AT(JOURNEY + side);
      source[position] = position;
      is_taken[position] = false;
    }
    for (int rung = 0; rung < RUNGS - 1; rung++) {
      int first = rung_starts[rung], next = rung_starts[rung + 1], end = rung_starts[rung + 2];
      for (int place = first; place < next; place++) {
        long long lane = place * groups + group;
        int warmer = next + (place - first) % (end - next);
        real chance = swap_chance(levels[place], levels[warmer], rows[place * SIDES][DIMENSION],
                                  rows[warmer * SIDES][DIMENSION]);
        WHOLES_AT(CHANCE) += (long long)(chance * CHANCE_UNIT);
      }
    }
#if HAS_TOLERANCES
    for (int position = 0; position < POSITIONS; position++) {
      real level = levels[position / SIDES];
      int count = 0;
      for (int other = 0; other < POSITIONS; other++)
        count += !is_taken[other] && rows[other][DIMENSION] <= level;
      int pick = (int)(count * random(rng));
      if (pick > count - 1) pick = count - 1;
      for (int other = 0; other < POSITIONS; other++)
        if (!is_taken[other] && rows[other][DIMENSION] <= level) {
          if (pick == 0) source[position] = other;
          pick--;
        }
      is_taken[source[position]] = true;
    }
#else
    for (int rung = random(rng) < real(0.5) ? 1 : 0; rung < RUNGS - 1; rung += 2) {
      int first = SIDES * rung_starts[rung], next = SIDES * rung_starts[rung + 1];
      int colder = next - first, warmer = SIDES * rung_starts[rung + 2] - next;
      int most = colder > warmer ? colder : warmer, fewest = colder + warmer - most;
      int turn = most > 1 ? (int)(most * random(rng)) : 0;
      if (turn > most - 1) turn = most - 1;
      for (int i = 0; i < fewest; i++) {
        int one = first + (colder >= warmer ? (i + turn) % colder : i);
        int other = next + (colder >= warmer ? i : (i + turn) % warmer);
        real chance = swap_chance(levels[one / SIDES], levels[other / SIDES], rows[one][DIMENSION],
                                  rows[other][DIMENSION]);
        if (random(rng) < chance) {
          source[one] = other;
          source[other] = one;
        }
      }
    }
#endif
    int rung = 0;
    for (int position = 0; position < POSITIONS; position++) {
      int taken = source[position], side = side_of[position];
      long long lane = position / SIDES * groups + group;
      while (position / SIDES >= rung_starts[rung + 1]) rung++;
      for (int i = 0; i < DIMENSION; i++) REALS_AT(side * DIMENSION + i) = rows[taken][i];
      REALS_AT(VALUE + side) = rows[taken][DIMENSION];
      REALS_AT(LOG_PRIOR + side) = rows[taken][DIMENSION + 1];
      int journey = journeys[taken];
      if (RUNGS > 1 && rung == 0) {
        if (journey == HOTTEST) WHOLES_AT(TRIPS) += 1;
        journey = COLDEST;
      } else if (RUNGS > 1 && rung == RUNGS - 1 && journey == COLDEST) {
        journey = HOTTEST;
      }
      WHOLES_AT(JOURNEY + side) = journey;
    }
  }
}

KERNEL collect(long long lanes, long long kept, const real *reals, const long long *wholes,
               real *rows) {
  EACH(lane, kept) {
    int side = 1 - (int)WHOLES_AT(FLYING);
    for (int i = 0; i < DIMENSION; i++) rows[lane * WIDTH + i] = REALS_AT(side * DIMENSION + i);
    rows[lane * WIDTH + DIMENSION] = REALS_AT(VALUE + side);
    rows[lane * WIDTH + DIMENSION + 1] = REALS_AT(LOG_PRIOR + side);
  }
}

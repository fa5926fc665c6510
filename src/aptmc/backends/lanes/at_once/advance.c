} // namespace at_once

// --- moves ----------------------------------------------------------------------------------------

// This code makes steps after which simulations go on, for as many lanes at once as a vector has
// numbers. All else, a simulation's beginning and its end or a step that was lost, is done by
// `advance`, for one lane and one tick.

// After so many ticks it shows whether too many lanes are taken out of too many of them.
#define ENOUGH 16
#define TOO_MANY(alone, ticks) (16 * (alone) > AT_ONCE * (ticks))

static void one_by_one(unsigned which, long long lane, long long ticks,
                                  long long lanes, long long groups, long long first_group,
                                  long long all_groups, long_word seed, const real *levels,
                                  const real *tuning, long long tuned, real *reals,
                                  long long *wholes, word *words) {
  for (; which; which &= which - 1) {
    only_from = lane + __builtin_ctz(which);
    only_until = only_from + 1;
    advance(lanes, groups, first_group, all_groups, ticks, 0, seed, levels, tuning, tuned, reals,
            wholes, words);
  }
}

template <class Vector, class Number> static inline Vector loaded(const Number *from) {
  Vector x;
  __builtin_memcpy(&x, from, sizeof x);
  return x;
}
template <class Vector, class Number> static inline void stored(Number *to, const Vector &x) {
  __builtin_memcpy(to, &x, sizeof x);
}

static void several(long long lane, long long ticks, long long lanes, long long groups,
                    long long first_group, long long all_groups, long_word seed,
                    const real *levels, const real *tuning, long long tuned, real *reals,
                    long long *wholes, word *words) {
  using namespace at_once;
  const unsigned all = (1u << AT_ONCE) - 1;
  at_once::real there[DIMENSION], state[STATE + 1], before[STATE + 1], level;
  at_once::Generator rng, rng_before;
  for (int i = 0; i < AT_ONCE; i++) level.all[i] = levels[(lane + i) / groups];
  long long tick = 0, alone = 0;
  while (tick < ticks) {
    if (tick >= ENOUGH && TOO_MANY(alone, tick)) {
      one_by_one(all, lane, ticks - tick, lanes, groups, first_group, all_groups, seed, levels,
                 tuning, tuned, reals, wholes, words);
      return;
    }
    for (int i = 0; i < DIMENSION; i++) there[i].all = loaded<Reals>(&REALS_AT(THERE + i));
    for (int i = 0; i < STATE; i++) state[i].all = loaded<Reals>(&REALS_AT(STATE_FIRST + i));
    rng.a = loaded<Words>(&WORDS_AT(0));
    rng.b = loaded<Words>(&WORDS_AT(1));
    rng.c = loaded<Words>(&WORDS_AT(2));
    rng.d = loaded<Words>(&WORDS_AT(3));
    at_once::flag under_way((Wholes)((loaded<Wholes>(&WHOLES_AT(UNDER_WAY)) != 0) &
                                     (loaded<Wholes>(&WHOLES_AT(BROKEN)) == 0)));
    unsigned go_on = all;
    long long first = tick;
    while (tick < ticks) {
      for (int i = 0; i < STATE; i++) before[i] = state[i];
      rng_before = rng;
      at_once::flag lost = false;
      at_once::real value = step_simulation(at_once::flag(true), lost, there, rng, state, level);
      go_on = bits_of(under_way && !lost && value < at_once::real(0.0));
      if (go_on != all) break;
      tick++;
    }
    // So many ticks were made by all, and perhaps one more by some.
    Wholes made = Wholes{} + (tick - first);
    if (go_on != all) {
      at_once::flag these = of_bits(go_on);
      for (int i = 0; i < STATE; i++) state[i] = chosen(these, state[i], before[i]);
      rng = chosen(these, rng, rng_before);
      made -= these.all;
    }
    for (int i = 0; i < STATE; i++) stored(&REALS_AT(STATE_FIRST + i), state[i].all);
    stored(&WORDS_AT(0), rng.a);
    stored(&WORDS_AT(1), rng.b);
    stored(&WORDS_AT(2), rng.c);
    stored(&WORDS_AT(3), rng.d);
    stored(&WHOLES_AT(AGE), loaded<Wholes>(&WHOLES_AT(AGE)) + made);
    stored(&WHOLES_AT(STEPS), loaded<Wholes>(&WHOLES_AT(STEPS)) + made);
    if (go_on != all) {
      one_by_one(all & ~go_on, lane, 1, lanes, groups, first_group, all_groups, seed, levels,
                 tuning, tuned, reals, wholes, words);
      alone += __builtin_popcount(all & ~go_on);
      tick++;
    }
  }
}

// As `advance` does it for the lanes that `only` has named.
extern "C" void advance_at_once(long long lanes, long long groups, long long first_group,
                                long long all_groups, const long long *limits, long_word seed,
                                const real *levels, const real *tuning, long long tuned,
                                real *reals, long long *wholes, word *words) {
  long long last = only_until;
  for (long long lane = only_from; lane < last;) {
    int count = 1;
    while (count < AT_ONCE && lane + count < last && limits[lane + count] == limits[lane]) count++;
    if (count == AT_ONCE)
      several(lane, limits[lane], lanes, groups, first_group, all_groups, seed, levels, tuning,
              tuned, reals, wholes, words);
    else
      one_by_one((1u << count) - 1, lane, limits[lane], lanes, groups, first_group, all_groups,
                 seed, levels, tuning, tuned, reals, wholes, words);
    lane += count;
  }
}

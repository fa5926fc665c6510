/* Gillespie's direct method for the Lotka-Volterra model, as a yardstick for the compiled Python.
 *
 * The rules are those of aptmc.models.lotka_volterra: a fresh waiting time after each observation,
 * a stop at the first observation outside the tolerance or when the prey are extinct. Two rules are
 * simpler. Each event draws one exponential and one uniform number, where the Python lets a uniform
 * number choose two events: they are cheap here. A path without predators ends as a miss, where the
 * Python draws the prey directly: such paths are rare near the posterior.
 *
 * Compiled with -DIF_ELSE, an event is chosen as textbooks write it. Without, flags are added: which
 * event comes next is what no processor can predict.
 *
 * Usage: gillespie SEED REPEATS TOLERANCE, with one theta per line on standard input.
 * Prints: events, hits, seconds of processor time.
 */

#define _POSIX_C_SOURCE 199309L
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define OBSERVATIONS 10
#define MOST_THETAS 4096

static const double observed[OBSERVATIONS] = {88, 165, 274, 268, 114, 46, 32, 36, 53, 92};

/* --- random numbers: xoshiro256++, seeded by splitmix64 --- */

typedef struct {
    uint64_t a, b, c, d;
} Stream;

static inline uint64_t rotate(uint64_t word, int bits) {
    return (word << bits) | (word >> (64 - bits));
}

static inline uint64_t next_word(Stream *stream) {
    uint64_t word = rotate(stream->a + stream->d, 23) + stream->a;
    uint64_t shifted = stream->b << 17;
    stream->c ^= stream->a;
    stream->d ^= stream->b;
    stream->b ^= stream->c;
    stream->a ^= stream->d;
    stream->c ^= shifted;
    stream->d = rotate(stream->d, 45);
    return word;
}

static uint64_t scramble(uint64_t *state) {
    uint64_t word = *state += 0x9e3779b97f4a7c15u;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
    return word ^ (word >> 31);
}

static Stream open_stream(uint64_t seed) {
    Stream stream;
    stream.a = scramble(&seed);
    stream.b = scramble(&seed);
    stream.c = scramble(&seed);
    stream.d = scramble(&seed);
    return stream;
}

static inline double unit(uint64_t word) { return (double)(word >> 11) * 0x1p-53; }

/* --- exponentials: a ziggurat of 256 layers of equal area under exp(-x) --- */

#define LAYERS 256
static const double tail = 7.69711747013104972; /* where the lowest layer becomes the tail */
static double edge[LAYERS + 1];   /* right ends, from the lowest layer to 0 at the top */
static double height[LAYERS + 1]; /* exp(-edge) */
static double width[LAYERS];      /* of a layer, per unit of a 53-bit number */
static uint64_t sure[LAYERS];     /* below this, the number is under the curve for certain */

static void build_ziggurat(void) {
    double area = tail * exp(-tail) + exp(-tail);
    edge[0] = area / exp(-tail); /* as if the tail were part of the lowest rectangle */
    edge[1] = tail;
    for (int i = 1; i < LAYERS - 1; i++) edge[i + 1] = -log(exp(-edge[i]) + area / edge[i]);
    edge[LAYERS] = 0.0;
    for (int i = 0; i <= LAYERS; i++) height[i] = exp(-edge[i]);
    for (int i = 0; i < LAYERS; i++) {
        width[i] = edge[i] * 0x1p-53;
        sure[i] = (uint64_t)(edge[i + 1] / edge[i] * 0x1p53);
    }
}

static double exponential_slowly(Stream *stream, int layer, double x);

static inline double exponential(Stream *stream) {
    uint64_t word = next_word(stream);
    int layer = (int)(word & (LAYERS - 1));
    uint64_t position = word >> 11;
    double x = (double)position * width[layer];
    if (position < sure[layer]) return x;
    return exponential_slowly(stream, layer, x);
}

static __attribute__((noinline)) double exponential_slowly(Stream *stream, int layer, double x) {
    if (layer == 0) return tail - log1p(-unit(next_word(stream)));
    double y = height[layer] + unit(next_word(stream)) * (height[layer + 1] - height[layer]);
    return y < exp(-x) ? x : exponential(stream);
}

/* --- the model --- */

typedef struct {
    uint64_t events;
    uint64_t hits;
} Work;

static void simulate(const double theta[3], double tolerance, Stream *stream, Work *work) {
    double birth = theta[0], predation = theta[1], death = theta[2];
    int64_t prey = 50, predators = 100;
    for (int i = 0; i < OBSERVATIONS; i++) {
        double left = 1.0;
        uint64_t events = 0;
        while (prey > 0 && predators > 0) {
            double births = birth * (double)prey;
            double deaths = death * (double)predators;
            double meals = predation * (double)prey * (double)predators;
            double total = (births + deaths) + meals;
            left -= exponential(stream) / total;
            if (left < 0.0) break;
            events++;
            double mark = unit(next_word(stream)) * total;
#ifdef IF_ELSE
            if (mark < births) {
                prey++;
            } else if (mark < births + meals) {
                prey--;
                predators++;
            } else {
                predators--;
            }
#else
            int is_birth = mark < births;
            int is_not_death = mark < births + meals;
            prey += 2 * is_birth - is_not_death;
            predators += 2 * is_not_death - is_birth - 1;
#endif
        }
        work->events += events;
        if (prey == 0 || predators == 0) return;
        if (fabs(log((double)prey) - log(observed[i])) > tolerance) return;
    }
    work->hits++;
}

static double processor_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int count, char **arguments) {
    static double thetas[MOST_THETAS][3];
    int size = 0;
    if (count != 4) {
        fprintf(stderr, "usage: gillespie SEED REPEATS TOLERANCE < thetas\n");
        return 2;
    }
    uint64_t seed = strtoull(arguments[1], NULL, 10);
    long repeats = strtol(arguments[2], NULL, 10);
    double tolerance = strtod(arguments[3], NULL);
    while (size < MOST_THETAS &&
           scanf("%lf %lf %lf", &thetas[size][0], &thetas[size][1], &thetas[size][2]) == 3)
        size++;
    build_ziggurat();
    Stream stream = open_stream(seed);
    Work work = {0, 0};
    double start = processor_seconds();
    for (long repeat = 0; repeat < repeats; repeat++)
        for (int i = 0; i < size; i++) simulate(thetas[i], tolerance, &stream, &work);
    double seconds = processor_seconds() - start;
    printf("%llu %llu %.9f\n", (unsigned long long)work.events, (unsigned long long)work.hits,
           seconds);
    return 0;
}

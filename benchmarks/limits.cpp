// The peak of this machine for the instructions of each tile kernel: the steps of native/tile.hpp on values that stay in
// registers, so nothing is loaded and nothing stored. Beside it the tile itself on a panel in the first-level cache.
//
//     limits SECONDS      prints a line per kernel: name, limit, tile (G elements/s)
//
// How fast the same steps run depends on how many sums there are and in which order they come: the processor deals
// instructions out to its ports without looking far ahead. So several arrangements are tried, and the best one takes turns
// with the tile, because the clock of a shared machine moves by a tenth from one moment to the next. Now and then the tile
// itself is the best arrangement of all (15-bit codes with AVX-512); then it is the limit.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tile.hpp"

using namespace nearhit::NEARHIT_ISA;

namespace {

constexpr double SECONDS_OF_A_RUN = 0.001;       // long against the timer, short against what disturbs it

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Something to time, with how many elements one call compares and the best rate so far.
struct Candidate {
    void (*work)();
    double elements, best = 0;

    void run() {
        work();                                  // the caches and the clock are as they were left by something else
        const double start = now();
        double calls = 0, elapsed = 0;
        for (; elapsed < SECONDS_OF_A_RUN; elapsed = now() - start, ++calls) work();
        best = std::max(best, calls * elements / elapsed);
    }
};

template <class Round> void for_seconds(double seconds, Round round) {
    const double end = now() + seconds;
    do round();
    while (now() < end);
}

// ------------------------------------------------------------------------------------------------- from registers

// The compiler has to take the value for another one, at no cost. By value: an element of an array that is named in an asm
// statement keeps the whole array out of the registers (gcc 12), and the sums with it.
[[gnu::always_inline]] inline Vec renewed(Vec x) {
#if defined(NEARHIT_AVX512)
    asm volatile("" : "+v"(x));
#elif defined(__SSE2__)
    asm volatile("" : "+x"(x));
#else
    asm volatile("" : "+m"(x));
#endif
    return x;
}

uint32_t seed[LANES];
constexpr int LOOPS = 1024;

// The pattern of the tile: V vectors of rows a group, a target for each V sums.
template <Form FORM, int T, int V> [[gnu::noipa]] void steps() {
    constexpr int W = words_of(FORM);
    Vec a[W], b[V][W], acc[T][V];
    repeat<W>([&](auto w) { a[w] = load(seed); });
    repeat<V>([&](auto v) { repeat<W>([&](auto w) { b[v][w] = load(seed); }); });
    repeat<T>([&](auto t) { repeat<V>([&](auto v) { acc[t][v] = load(seed); }); });
    for (int loop = 0; loop < LOOPS; ++loop) {
        repeat<V>([&](auto v) { repeat<W>([&](auto w) { b[v][w] = renewed(b[v][w]); }); });
        repeat<T>([&](auto t) {
            repeat<W>([&](auto w) { a[w] = renewed(a[w]); });
            repeat<V>([&](auto v) { acc[t][v] = step<FORM>(acc[t][v], a, b[v]); });
        });
    }
    repeat<T>([&](auto t) { repeat<V>([&](auto v) { renewed(acc[t][v]); }); });       // so somebody wants the sums
}

template <Form FORM, int T, int V> Candidate arrangement() {
    return {steps<FORM, T, V>, static_cast<double>(columns_per_group(FORM)) * LANES * T * V * LOOPS};
}

// From sums that are just enough to hide how long a step takes, to as many as there are registers for.
template <Form FORM> std::vector<Candidate> arrangements() {
    std::vector<Candidate> all = {arrangement<FORM, 3, 1>(), arrangement<FORM, 4, 1>(), arrangement<FORM, 6, 1>(),
                                  arrangement<FORM, 8, 1>(), arrangement<FORM, 12, 1>(), arrangement<FORM, 16, 1>(),
                                  arrangement<FORM, 24, 1>(), arrangement<FORM, 4, 2>(), arrangement<FORM, 6, 2>(),
                                  arrangement<FORM, 8, 2>()};
    if constexpr (words_of(FORM) == 1) {
        all.push_back(arrangement<FORM, 3, 4>());
        all.push_back(arrangement<FORM, 4, 4>());
        all.push_back(arrangement<FORM, 6, 4>());
    }
    return all;
}

// --------------------------------------------------------------------------------------------------------- the tile

constexpr size_t WORDS = 96;                     // of a panel: 24 KB, and the words of the targets beside them
Buffer<uint32_t> panel(WORDS * PANEL), targets(WORDS * MOST_TARGETS_OF_A_TILE), sums(MOST_TARGETS_OF_A_TILE * PANEL);
int32_t bounds[MOST_TARGETS_OF_A_TILE];
uint32_t n_found;

void fill(Buffer<uint32_t>& words, uint32_t factor) {
    for (size_t i = 0; i < words.size(); ++i) words[i] = factor * static_cast<uint32_t>(i + 1) & 0x3FFF3FFFu;
}

// The last pass over a panel without a neighbour. `noipa`: compiled for any pass, as in the library; for a known number of
// groups gcc 12 keeps the sums in memory.
template <Form FORM> [[gnu::noipa]] void tile_of_any(size_t n_groups, const Pass& pass) {
    tile<FORM>(targets.data(), panel.data(), n_groups, pass, [](size_t, uint32_t within) { n_found += within; });
}

template <Form FORM> void one_tile() {
    const Pass pass{.starts = nullptr, .sums = sums.data(), .stride = PANEL, .bounds = bounds, .times = 1};
    tile_of_any<FORM>(WORDS / words_of(FORM), pass);
}

template <Form FORM> Candidate in_first_cache() {
    const auto columns = static_cast<double>(columns_per_group(FORM) * WORDS / words_of(FORM));
    return {one_tile<FORM>, columns * tile_of(FORM).targets * PANEL};
}

// ---------------------------------------------------------------------------------------------------------- results

template <Form FORM> void show(const char* name, double seconds) {
    std::vector<Candidate> all = arrangements<FORM>();
    for_seconds(seconds / 2, [&] { for (Candidate& c : all) c.run(); });
    Candidate best = *std::max_element(all.begin(), all.end(), [](auto& x, auto& y) { return x.best < y.best; });
    Candidate tile = in_first_cache<FORM>();
    for_seconds(seconds / 2, [&] { best.run(), tile.run(); });
    std::printf("%s %.2f %.2f\n", name, std::max(best.best, tile.best) / 1e9, tile.best / 1e9);
}

}  // namespace

int main(int n_arguments, char** arguments) {
    const double seconds = n_arguments > 1 ? std::atof(arguments[1]) : 0.2;
    for (int l = 0; l < LANES; ++l) seed[l] = 0x9E3779B9u * static_cast<uint32_t>(l + 1) & 0x3FFF3FFFu;
    fill(panel, 0x9E3779B9u);
    fill(targets, 0x85EBCA6Bu);
    std::fill_n(sums.data(), sums.size(), 0u);
    std::fill_n(bounds, MOST_TARGETS_OF_A_TILE, INT32_MIN);
#define SHOW(FORM) show<Form::FORM>(#FORM, seconds)
    SHOW(numeric16);
    SHOW(planes1);
    SHOW(planes2);
    SHOW(planes3);
    SHOW(planes4);
    SHOW(bytes8);
    SHOW(words16);
    SHOW(holes);
    SHOW(codes32);
    SHOW(overlap);
#undef SHOW
}

// Adding up some rows of a stripe of columns, picked by their places: codes, as they are or weighted, and mismatches of
// categories as bytes. Stripes are written once and picked from many times (permute.hpp), out of the first cache.
#pragma once
#include "stripes.hpp"

namespace nearhit::NEARHIT_ISA {

// sums[2][64] += the rows of `stripe` that are named: modulo 2^32, and their upper halves, which tell the rest for up to 2^16
// of them.
inline void add_alike(const uint32_t* stripe, const uint32_t* named, size_t n, uint32_t* sums) {
    constexpr size_t WIDTH = Stripes::WIDTH;
    constexpr int VECTORS = LANES == 16 ? 4 : 2;
    for (size_t a = 0; a < WIDTH; a += VECTORS * LANES) {
        Vec low[VECTORS], upper[VECTORS];
        repeat<VECTORS>([&](auto v) {
            low[v] = load(sums + a + v * LANES);
            upper[v] = load(sums + WIDTH + a + v * LANES);
        });
        for (size_t j = 0; j < n; ++j)
            repeat<VECTORS>([&](auto v) {
                const Vec diff = load(stripe + named[j] * WIDTH + a + v * LANES);
                low[v] = add(low[v], diff);
                upper[v] = add(upper[v], upper_half(diff));
            });
        repeat<VECTORS>([&](auto v) {
            store(sums + a + v * LANES, low[v]);
            store(sums + WIDTH + a + v * LANES, upper[v]);
        });
    }
}

// sums[a] += round(factor * diff) for each row that is named.
inline void add_weighted(const uint32_t* stripe, const uint32_t* named, const double* factors, size_t n, int64_t* sums) {
    constexpr size_t WIDTH = Stripes::WIDTH;
    constexpr int VECTORS = 4;
    for (size_t a = 0; a < WIDTH; a += VECTORS * HALF) {
        Integers acc[VECTORS] = {};
        for (size_t j = 0; j < n; ++j)
            repeat<VECTORS>([&](auto v) {
                const Doubles diff = as_doubles(*reinterpret_cast<const HalfCodes*>(stripe + named[j] * WIDTH + a + v * HALF));
                acc[v] += (Integers)(diff * factors[j] + ROUNDER);
            });
        repeat<VECTORS>([&](auto v) { *reinterpret_cast<Integers*>(sums + a + v * HALF) += acc[v] - ROUNDER_BITS * n; });
    }
}

// Mismatches of some columns of categories, a byte each.
struct ByteStripe {
    static constexpr size_t WIDTH = 256, MOST_ROWS = 255;
    typedef uint8_t Bytes __attribute__((vector_size(4 * LANES), aligned(1), may_alias));
    typedef uint16_t Halves __attribute__((vector_size(4 * LANES), aligned(2), may_alias));

    // How many of the rows that are named differ, in each column: up to 255 of them.
    template <class Take> static void count(const uint8_t* stripe, const uint32_t* named, size_t n, Take take) {
        constexpr int VECTORS = 4, STEP = 4 * LANES;
        for (size_t a = 0; a < WIDTH; a += VECTORS * STEP) {
            Bytes counts[VECTORS] = {};
            for (size_t j = 0; j < n; ++j)
                repeat<VECTORS>([&](auto v) { counts[v] += *reinterpret_cast<const Bytes*>(stripe + named[j] * WIDTH + a + v * STEP); });
            repeat<VECTORS>([&](auto v) { take(a + v * STEP, counts[v]); });
        }
    }
    // sums[a] += how many differ, in 16 bits: first the even columns of each vector, then the odd ones.
    static void add_alike(const uint8_t* stripe, const uint32_t* named, size_t n, uint16_t* sums) {
        for (size_t first = 0; first < n; first += MOST_ROWS)
            count(stripe, named + first, std::min(n - first, MOST_ROWS), [&](size_t a, Bytes counts) {
                *reinterpret_cast<Halves*>(sums + a) += (Halves)counts & 0xFF;
                *reinterpret_cast<Halves*>(sums + a + 2 * LANES) += (Halves)counts >> 8;
            });
    }
    static size_t place_of(size_t a) {
        constexpr size_t STEP = 4 * LANES;
        return a / STEP * STEP + a % STEP / 2 + a % 2 * (STEP / 2);
    }
    static void add_times(const uint8_t* stripe, const uint32_t* named, size_t n, int64_t amount, int64_t* sums) {
        uint8_t counts[WIDTH];
        for (size_t first = 0; first < n; first += MOST_ROWS) {
            count(stripe, named + first, std::min(n - first, MOST_ROWS),
                  [&](size_t a, Bytes some) { *reinterpret_cast<Bytes*>(counts + a) = some; });
            for (size_t a = 0; a < WIDTH; ++a) sums[a] += static_cast<int64_t>(counts[a]) * amount;
        }
    }
};

}  // namespace nearhit

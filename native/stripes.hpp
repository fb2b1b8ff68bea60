// Numbers as members with a radius add them up: 64 columns at a time, the rows of such a stripe one after the other in the
// order of their places. Lists of neighbours are long and in that order too, so what they read streams through the cache;
// the same from rows as wide as the table took five times as long.
#pragma once
#include "panels.hpp"

namespace nearhit::NEARHIT_ISA {

struct Stripes {
    static constexpr size_t WIDTH = 64;  // columns
    size_t n_columns = 0, n_places = 0;
    Buffer<uint32_t> codes;              // [stripe][place][64]

    Stripes() = default;
    Stripes(const TableView& t, size_t places) : n_columns(t.n_numeric), n_places(places), codes(size() * n_places * WIDTH) {}

    size_t size() const { return (n_columns + WIDTH - 1) / WIDTH; }
    size_t width(size_t stripe) const { return std::min(WIDTH, n_columns - stripe * WIDTH); }
    const uint32_t* rows(size_t stripe) const { return codes.data() + stripe * n_places * WIDTH; }

    // The rows of one panel; padding is 0.
    void pack(const TableView& t, const Order& order, size_t p) {
        for (size_t place = p * PANEL; place < (p + 1) * PANEL; ++place)
            for (size_t s = 0; s < size(); ++s) {
                uint32_t* to = codes.data() + (s * n_places + place) * WIDTH;
                const size_t n = order.is_row(place) ? width(s) : 0;
                if (n) std::copy_n(t.numeric + order.row(place) * t.n_numeric + s * WIDTH, n, to);
                std::fill(to + n, to + WIDTH, 0u);
            }
    }
};

// Sums of a stripe's diffs, in two words of 32 bits each: of the diffs modulo 2^32 and of their upper halves, which tell
// the rest for up to 2^16 rows. That is three instructions less a vector than sums of 64 bits.
struct DiffSums {
    static constexpr size_t MOST_ROWS = 1 << 16;
    uint32_t diffs[Stripes::WIDTH] = {}, halves[Stripes::WIDTH] = {};

    uint64_t total(size_t a) const { return (uint64_t{halves[a]} << 16) + (diffs[a] - (halves[a] << 16)); }

    // The diffs between one row of the stripe and `n` others.
    void add_rows(const uint32_t* rows, size_t own_place, const uint32_t* places, size_t n) {
        constexpr int VECTORS = LANES == 16 ? 4 : 2;
        for (size_t a = 0; a < Stripes::WIDTH; a += VECTORS * LANES) {
            Vec own[VECTORS], sums[VECTORS], upper[VECTORS];
            repeat<VECTORS>([&](auto v) {
                own[v] = load(rows + own_place * Stripes::WIDTH + a + v * LANES);
                sums[v] = load(diffs + a + v * LANES);
                upper[v] = load(halves + a + v * LANES);
            });
            for (size_t j = 0; j < n; ++j) {
                const uint32_t* row = rows + places[j] * Stripes::WIDTH + a;
                repeat<VECTORS>([&](auto v) {
                    const Vec diff = apart(load(row + v * LANES), own[v]);
                    sums[v] = add(sums[v], diff);
                    upper[v] = add(upper[v], upper_half(diff));
                });
            }
            repeat<VECTORS>([&](auto v) {
                store(diffs + a + v * LANES, sums[v]);
                store(halves + a + v * LANES, upper[v]);
            });
        }
    }
};

}  // namespace nearhit

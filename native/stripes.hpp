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

// Sums of a stripe's diffs over up to 256 rows, in two words of 32 bits each: of the diffs modulo 2^32, and of their upper
// bytes, which tell the rest. That is one instruction for what sums of 64 bits take four.
struct DiffSums {
    static constexpr size_t MOST_ROWS = 256;

    // totals[a] += the diffs between one row of the stripe and `n` others, which stand in `rows`.
    static void add_rows(const uint32_t* own, const uint32_t* rows, const uint8_t* members, size_t n, uint64_t* totals) {
        constexpr int VECTORS = LANES == 16 ? 4 : 2;
        for (size_t a = 0; a < Stripes::WIDTH; a += VECTORS * LANES) {
            Vec x[VECTORS], sums[VECTORS], upper[VECTORS];
            repeat<VECTORS>([&](auto v) {
                x[v] = load(own + a + v * LANES);
                sums[v] = upper[v] = all(0);
            });
            for (size_t j = 0; j < n; ++j) {
                const uint32_t* row = rows + members[j] * Stripes::WIDTH + a;
                repeat<VECTORS>([&](auto v) {
                    const Vec diff = apart(load(row + v * LANES), x[v]);
                    sums[v] = add(sums[v], diff);
                    upper[v] = add_upper_bytes(upper[v], diff);
                });
            }
            repeat<VECTORS>([&](auto v) { add_totals(sums[v], upper[v], totals + a + v * LANES); });
        }
    }

private:
    // A sum lies less than 2^32 above that of its upper bytes.
    static void add_totals(Vec sums, Vec upper, uint64_t* totals) {
        uint32_t words[2][LANES];
        store(words[0], upper);
        store(words[1], sums);
        for (int l = 0; l < LANES; l += HALF) {
            const HalfCodes bytes = *reinterpret_cast<HalfCodes*>(words[0] + l), low = *reinterpret_cast<HalfCodes*>(words[1] + l);
            const Integers least = __builtin_convertvector(bytes, Integers) << 24;
            *reinterpret_cast<Integers*>(totals + l) += least + __builtin_convertvector(low - (bytes << 24), Integers);
        }
    }
};

}  // namespace nearhit

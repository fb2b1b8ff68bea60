// Distances of a few target rows to panels of rows, by register tiles: 6 or 8 targets x 2 or 4 vectors of pairs are summed
// in registers while the columns stream by, so each word that is loaded serves many pairs (KERNELS.md section 2).
//
//     numeric:  sum |x - y| = sum x + sum y - 2 sum min(x, y)      two 16-bit columns per lane, exact modulo 2^32
//     nominal:  number of columns that differ, by bit planes and population count, or by bytes
//     full:     the same identity on 32-bit codes, modulo 2^32, for mean distances
//     holes:    what an unknown value of the row is expected to differ by from the target's, less what it was taken for
//
// The last pass over a panel does not write its sums: they are compared with a bound per target while they are in
// registers, and only the few vectors with something under it are stored and looked at. That made selection, which
// cost more than the distances up to a hundred columns, a tenth of them.
#pragma once
#include <vector>

#include "lanes.hpp"
#include "panels.hpp"

namespace nearhit::NEARHIT_ISA {

constexpr size_t WORDS_AT_A_TIME = 256;                  // of a panel: 64 KB, so that some panels and targets share the second-level cache
constexpr size_t BYTES_OF_A_CHUNK = 256 * 1024;
constexpr size_t MOST_PANELS_OF_A_CHUNK = 16;

constexpr TileShape tile_of(Form form) { return shape_of(words_of(form)); }
constexpr size_t MOST_TARGETS_OF_A_TILE = 8;

// One more group for one vector of pairs; `b` are the words of the rows, W vectors apart.
template <Form FORM, size_t W> [[gnu::always_inline]] inline Vec step(Vec acc, const Vec (&a)[W], const Vec (&b)[W]) {
    if constexpr (FORM == Form::numeric16) return minus_twice_min16(acc, a[0], b[0]);
    else if constexpr (FORM == Form::bytes8) return add_unequal8(acc, a[0], b[0]);
    else if constexpr (FORM == Form::words16) return add_unequal16(acc, a[0], b[0]);
    else if constexpr (FORM == Form::holes) return add(acc, both(a[0], b[0]));
    else if constexpr (FORM == Form::codes32) return add(acc, smaller(a[0], b[0]));
    else if constexpr (FORM == Form::overlap) return add_bits(acc, both(a[0], b[0]));
    else {
        Vec unequal = differ(a[0], b[0]);
        if constexpr (W > 1) unequal = or_differ(unequal, a[1], b[1]);
        if constexpr (W > 2) unequal = or_differ(unequal, a[2], b[2]);
        if constexpr (W > 3) unequal = or_differ(unequal, a[3], b[3]);
        return add_bits(acc, unequal);
    }
}

// Target words, laid out [tile][group][word][targets of a tile] so that a tile reads them in order. All targets at once,
// because those of one panel stand beside each other there: with wide rows it is read from memory.
inline void gather_targets(const Part& part, const size_t* places, size_t n, std::vector<uint32_t>& out) {
    const size_t words = part.n_groups * static_cast<size_t>(words_of(part.form));
    const auto width = static_cast<size_t>(tile_of(part.form).targets);
    const size_t tiles = (n + width - 1) / width;
    out.resize(tiles * words * width);
    std::vector<const uint32_t*> from;
    for (size_t i = 0; i < tiles * width; ++i) {
        const size_t place = places[std::min(i, n - 1)];       // a short last tile repeats its last target
        from.push_back(part.panel(place / PANEL) + place % PANEL);
    }
    std::vector<char> side_by_side;                            // as all rows are that are taken in order
    for (size_t k = 0; k < tiles; ++k) {
        char all = 1;
        for (size_t i = 1; i < width; ++i) all &= from[k * width + i] == from[k * width] + i;
        side_by_side.push_back(all);
    }
    for (size_t w = 0; w < words; ++w)
        for (size_t k = 0; k < tiles; ++k) {
            uint32_t* to = out.data() + (k * words + w) * width;
            const uint32_t* const* of = from.data() + k * width;
            if (side_by_side[k]) std::copy_n(of[0] + w * PANEL, width, to);
            else for (size_t i = 0; i < width; ++i) to[i] = of[i][w * PANEL];
        }
}

// One pass of a tile over a panel: what its sums start from and what becomes of them.
struct Pass {
    const uint32_t* starts;   // per row, the same for all targets; or null: from `sums`
    uint32_t* sums;           // [target][stride]
    size_t stride;
    const int32_t* bounds;    // per target, up to which sums are of interest; or null: all are written to `sums`
    uint32_t times;           // what a number of mismatches is multiplied by
};

// `found(first row, targets)` is called where a sum is within the bound of a target; all sums of that target and of
// those rows then are in `sums`.
template <Form FORM, class Found>
inline void tile(const uint32_t* targets, const uint32_t* panel, size_t n_groups, const Pass& pass, Found&& found) {
    constexpr int W = words_of(FORM), T = tile_of(FORM).targets, V = tile_of(FORM).vectors;
    constexpr bool PLAIN = FORM == Form::numeric16 || FORM == Form::holes || FORM == Form::overlap;
    for (int start = 0; start < PANEL; start += V * LANES) {
        const auto sum_at = [&](auto t, auto v) { return pass.sums + static_cast<size_t>(t) * pass.stride + start + v * LANES; };
        const auto begin = [&](auto t, auto v) { return load(pass.starts ? pass.starts + start + v * LANES : sum_at(t, v)); };
        Vec acc[T][V];
        repeat<T>([&](auto t) { repeat<V>([&](auto v) { acc[t][v] = PLAIN ? begin(t, v) : all(0); }); });
        const uint32_t* target = targets;
        const uint32_t* rows = panel + start;
        for (size_t g = 0; g < n_groups; ++g, target += W * T, rows += W * PANEL) {
            Vec b[V][W];
            repeat<V>([&](auto v) { repeat<W>([&](auto w) { b[v][w] = load(rows + w * PANEL + v * LANES); }); });
            repeat<T>([&](auto t) {
                Vec a[W];
                repeat<W>([&](auto w) { a[w] = all(target[w * T + t]); });
                repeat<V>([&](auto v) { acc[t][v] = step<FORM>(acc[t][v], a, b[v]); });
            });
        }
        const Vec factor = all(FORM == Form::codes32 ? static_cast<uint32_t>(-2) : pass.times);
        if constexpr (!PLAIN)
            repeat<T>([&](auto t) {
                repeat<V>([&](auto v) { acc[t][v] = add(begin(t, v), times(acc[t][v], factor)); });
            });
        uint32_t within = 0;
        repeat<T>([&](auto t) {
            if (pass.bounds) {
                Vec least = acc[t][0];
                repeat<V - 1>([&](auto v) { least = smaller(least, acc[t][v + 1]); });
                if (!lanes_up_to(least, pass.bounds[t])) return;
                within |= 1u << t;
            }
            repeat<V>([&](auto v) { store(sum_at(t, v), acc[t][v]); });
        });
        if (within) found(static_cast<size_t>(start), within);
    }
}

inline size_t groups_at_a_time(const Part& part) { return WORDS_AT_A_TIME / static_cast<size_t>(words_of(part.form)); }

// How many panels are taken at a time, so that their words stay in the cache while all tiles pass over them.
inline size_t panels_of_a_chunk(const std::vector<Part>& parts) {
    size_t bytes = PANEL;
    for (const Part& part : parts)
        bytes = std::max(bytes, std::min(part.n_groups, groups_at_a_time(part)) * static_cast<size_t>(words_of(part.form)) * PANEL * 4);
    return std::clamp<size_t>(BYTES_OF_A_CHUNK / bytes, 1, MOST_PANELS_OF_A_CHUNK);
}

}  // namespace nearhit

// Distances of a few target rows to panels of rows, by register tiles: 6 targets x 2 or 4 vectors of pairs are summed
// in registers while the columns stream by, so each word that is loaded serves many pairs (KERNELS.md section 2).
//
//     numeric:  sum |x - y| = sum x + sum y - 2 sum min(x, y)      two 16-bit columns per lane, exact modulo 2^32
//     nominal:  number of columns that differ, by bit planes and population count, or by bytes
#pragma once
#include <vector>

#include "lanes.hpp"
#include "panels.hpp"

namespace nearhit::NEARHIT_ISA {

constexpr size_t CHUNK_PANELS = 4;                       // candidates at a time: 256 rows
constexpr size_t CHUNK = CHUNK_PANELS * PANEL;
constexpr size_t GROUPS_AT_A_TIME = 256;                 // 256 rows x 256 words stay in the second-level cache

// One more group for one vector of pairs; `b` are the words of the rows, W vectors apart.
template <Form FORM, size_t W> [[gnu::always_inline]] inline Vec step(Vec acc, const Vec (&a)[W], const Vec (&b)[W]) {
    if constexpr (FORM == Form::numeric16) return minus_twice_min16(acc, a[0], b[0]);
    else if constexpr (FORM == Form::bytes8) return add_unequal8(acc, a[0], b[0]);
    else if constexpr (FORM == Form::words16) return add_unequal16(acc, a[0], b[0]);
    else {
        Vec unequal = differ(a[0], b[0]);
        if constexpr (W > 1) unequal = or_differ(unequal, a[1], b[1]);
        if constexpr (W > 2) unequal = or_differ(unequal, a[2], b[2]);
        if constexpr (W > 3) unequal = or_differ(unequal, a[3], b[3]);
        return add_bits(acc, unequal);
    }
}

// Target words, laid out [tile][group][word][TILE_TARGETS] so that a tile reads them in order.
inline void gather_targets(const Part& part, const size_t* places, size_t n, std::vector<uint32_t>& out) {
    const size_t words = part.n_groups * static_cast<size_t>(words_of(part.form));
    const size_t tiles = (n + TILE_TARGETS - 1) / TILE_TARGETS;
    out.resize(tiles * words * TILE_TARGETS);
    for (size_t slot = 0; slot < tiles * TILE_TARGETS; ++slot) {
        const size_t place = places[slot < n ? slot : n - 1];      // a short last tile repeats its last target
        const uint32_t* from = part.panel(place / PANEL) + place % PANEL;
        uint32_t* to = out.data() + slot / TILE_TARGETS * words * TILE_TARGETS + slot % TILE_TARGETS;
        for (size_t w = 0; w < words; ++w) to[w * TILE_TARGETS] = from[w * PANEL];
    }
}

// What the first part of a distance starts from: sum x + sum y of the centred 16-bit columns. Null for later parts.
struct Start { const int32_t *of_targets, *of_rows; };

// out[target][row] = start + times * (sum of steps over the groups), or += that, for one tile of targets and one panel.
template <Form FORM>
inline void tile(const uint32_t* targets, const uint32_t* panel, size_t n_groups, uint32_t times_, Start begin, uint32_t* out) {
    constexpr int W = words_of(FORM), T = TILE_TARGETS, V = TILE_VECTORS;
    for (int start = 0; start < PANEL; start += V * LANES) {
        Vec acc[T][V];
        repeat<T>([&](auto t) { repeat<V>([&](auto v) { acc[t][v] = all(0); }); });
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
        const Vec factor = all(times_);
        repeat<T>([&](auto t) {
            repeat<V>([&](auto v) {
                uint32_t* to = out + static_cast<size_t>(t) * CHUNK + start + v * LANES;
                const Vec sum = FORM == Form::numeric16 ? acc[t][v] : times(acc[t][v], factor);
                const Vec so_far = begin.of_rows
                                       ? add(all(static_cast<uint32_t>(begin.of_targets[t])),
                                             load(reinterpret_cast<const uint32_t*>(begin.of_rows) + start + v * LANES))
                                       : load(to);
                store(to, add(so_far, sum));
            });
        });
    }
}

template <Form FORM>
inline void add_part_as(const Part& part, const std::vector<uint32_t>& targets, size_t n_tiles, size_t first_panel,
                        size_t n_panels, uint32_t times_, Start begin, uint32_t* out) {
    constexpr size_t W = words_of(FORM);
    for (size_t g = 0; g < part.n_groups; g += GROUPS_AT_A_TIME) {
        const size_t some = std::min(GROUPS_AT_A_TIME, part.n_groups - g);
        for (size_t k = 0; k < n_tiles; ++k)
            for (size_t p = 0; p < n_panels; ++p)
                tile<FORM>(targets.data() + (k * part.n_groups + g) * W * TILE_TARGETS,
                           part.panel(first_panel + p) + g * W * PANEL, some, times_,
                           g || !begin.of_rows ? Start{} : Start{begin.of_targets + k * TILE_TARGETS, begin.of_rows + p * PANEL},
                           out + k * TILE_TARGETS * CHUNK + p * PANEL);
    }
}

inline void add_part(const Part& part, const std::vector<uint32_t>& targets, size_t n_tiles, size_t first_panel,
                     size_t n_panels, uint32_t times_, Start begin, uint32_t* out) {
    switch (part.form) {
#define NEARHIT_FORM(FORM) \
    case Form::FORM: return add_part_as<Form::FORM>(part, targets, n_tiles, first_panel, n_panels, times_, begin, out);
        NEARHIT_FORM(numeric16) NEARHIT_FORM(planes1) NEARHIT_FORM(planes2) NEARHIT_FORM(planes3) NEARHIT_FORM(planes4)
        NEARHIT_FORM(bytes8) NEARHIT_FORM(words16)
#undef NEARHIT_FORM
    }
}

}  // namespace nearhit

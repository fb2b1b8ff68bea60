// Distances on the full codes: what ranks the survivors of the filter, and what tables use that have unknown values,
// squares, ramps or the Euclidean metric, where sum x + sum y - 2 sum min does not hold.
//
// Written over vectors of the compiler, as wide as the instruction set has them. Diffs are 32-bit lanes; they are added
// in 64 bits as even and odd lanes apart, because widening a vector costs gcc 12 a chain of shuffles.
#pragma once
#include <cstring>
#include <vector>

#include "expected.hpp"
#include "lanes.hpp"
#include "panels.hpp"

namespace nearhit::NEARHIT_ISA {

constexpr int BYTES = 4 * LANES;
typedef uint32_t Narrow __attribute__((vector_size(BYTES), aligned(4), may_alias));
typedef uint64_t Broad __attribute__((vector_size(BYTES)));

inline uint32_t known_diff(const RecipeView& r, uint32_t x, uint32_t y, bool numeric) {
    return numeric ? diff_code(r, apart(x, y)) : x == y ? 0 : r.mismatch;
}

template <class Category>
inline uint64_t count_unequal(const Category* x, const Category* y, size_t n) {
    uint64_t count = 0;
    for (size_t a = 0; a < n; ++a) count += x[a] != y[a];
    return count;
}

// Complete data, linear diff, Manhattan metric.
inline uint64_t plain_distance(const TableView& t, const RecipeView& r, size_t i, size_t j) {
    const uint32_t *x = t.numeric + i * t.n_numeric, *y = t.numeric + j * t.n_numeric;
    uint64_t sum = 0;
    for (size_t a = 0; a < t.n_numeric; ++a) sum += apart(x[a], y[a]);
    if (!t.n_nominal) return sum;
    const size_t n = t.n_nominal;
    return sum + r.mismatch * (t.nominal8 ? count_unequal(t.nominal8 + i * n, t.nominal8 + j * n, n)
                                          : count_unequal(t.nominal16 + i * n, t.nominal16 + j * n, n));
}

// Full codes in panels [panel][feature][64], UNKNOWN where a cell is unknown.
struct CodePanels {
    std::vector<uint32_t> codes;
    size_t n_features = 0;

    CodePanels() = default;
    CodePanels(const TableView& t, const Order& order) : codes(order.row_of.size() * t.n_features()), n_features(t.n_features()) {
        for (size_t place = 0; place < order.row_of.size(); ++place) {
            if (order.row_of[place] < 0) continue;
            const auto row = static_cast<size_t>(order.row_of[place]);
            uint32_t* to = codes.data() + place / PANEL * n_features * PANEL + place % PANEL;
            for (size_t a = 0; a < n_features; ++a) to[a * PANEL] = t.known(row, a) ? t.code(row, a) : UNKNOWN;
        }
    }
    const uint32_t* panel(size_t p) const { return codes.data() + p * n_features * PANEL; }
    uint32_t code(size_t place, size_t a) const { return panel(place / PANEL)[a * PANEL + place % PANEL]; }
};

// What an unknown value of a target of one class is expected to differ by, from every row: [panel][slot][64].
inline std::vector<uint32_t> toward_class(const TableView& t, const Expected& e, const Order& order, size_t c) {
    std::vector<uint32_t> table(order.row_of.size() * e.size());
    for (size_t place = 0; place < order.row_of.size(); ++place) {
        if (order.row_of[place] < 0) continue;
        const auto row = static_cast<size_t>(order.row_of[place]);
        uint32_t* to = table.data() + place / PANEL * e.size() * PANEL + place % PANEL;
        for (size_t s = 0; s < e.size(); ++s) {
            const size_t a = e.feature(s);
            to[s * PANEL] = t.known(row, a) ? e.one(s, t.code(row, a), c)
                                            : e.two(s, c, static_cast<size_t>(t.class_of[row]));
        }
    }
    return table;
}

// One target row as the exact kernel wants it: its codes, and for each class of the other row what an unknown value
// there is expected to differ by.
struct ExactTarget {
    std::vector<uint32_t> codes;         // per feature
    std::vector<uint32_t> if_unknown;    // [class][slot]

    void read(const TableView& t, const CodePanels& panels, const Expected& e, const Order& order, size_t place) {
        codes.resize(t.n_features());
        for (size_t a = 0; a < t.n_features(); ++a) codes[a] = panels.code(place, a);
        if_unknown.assign(order.classes.size() * e.size(), 0);
        for (size_t c = 0; c < order.classes.size(); ++c)
            for (size_t s = 0; s < e.size(); ++s)
                if (const uint32_t x = codes[e.feature(s)]; x != UNKNOWN) if_unknown[c * e.size() + s] = e.one(s, x, c);
    }
};

inline Broad even(Narrow x) { return (Broad)x & 0xFFFFFFFFu; }
inline Broad odd(Narrow x) { return (Broad)x >> 32; }
inline Broad squares(Broad d) { return (d * d + (1u << 30)) >> 31; }
// (The mask is for unknown cells, whose "diff" exceeds a code: it must not spill into the lane beside it.)
inline Narrow square_codes(Narrow d) { return (Narrow)((squares(even(d)) & 0xFFFFFFFFu) | squares(odd(d)) << 32); }

template <DiffKind KIND> inline Narrow diff_codes(const RecipeView& r, Narrow d) {
    if constexpr (KIND == DiffKind::linear) return d;
    if constexpr (KIND == DiffKind::squared) return square_codes(d);
    for (int l = 0; l < LANES; ++l) d[l] = ramp_code(d[l], r.ramp_equal, r.ramp_slope, r.grid);
    return d;
}

// Distances of one target to the 64 rows of a panel, of one class. What is the same for all rows is asked once.
template <DiffKind KIND, bool EUCLIDEAN>
inline void exact_panel(const TableView& t, const RecipeView& r, const Expected& e, const ExactTarget& target,
                        const uint32_t* if_other_unknown, const uint32_t* panel, const uint32_t* toward, uint64_t* out) {
    constexpr int VECTORS = LANES == 16 ? 4 : 2;
    const auto read = [](const uint32_t* p) { return *reinterpret_cast<const Narrow*>(p); };
    for (int start = 0; start < PANEL; start += VECTORS * LANES) {
        Broad evens[VECTORS] = {}, odds[VECTORS] = {};
        const auto add_all = [&](auto diff_at) {
            repeat<VECTORS>([&](auto v) {
                Narrow diff = diff_at(start + v * LANES);
                if constexpr (EUCLIDEAN) diff = square_codes(diff);
                evens[v] += even(diff);
                odds[v] += odd(diff);
            });
        };
        for (size_t a = 0; a < t.n_features(); ++a) {
            const int slot = e.slot(a);
            const uint32_t x = target.codes[a], *codes = panel + a * PANEL;
            if (x == UNKNOWN) {
                const uint32_t* expected = toward + static_cast<size_t>(slot) * PANEL;
                add_all([&](int at) { return read(expected + at); });
                continue;
            }
            const Narrow own = Narrow{} + x, unknown = Narrow{} + UNKNOWN;
            const Narrow expected = Narrow{} + (slot < 0 ? 0 : if_other_unknown[slot]), mismatch = Narrow{} + r.mismatch;
            if (a < t.n_numeric)
                add_all([&](int at) {
                    const Narrow y = read(codes + at), diff = diff_codes<KIND>(r, y > own ? y - own : own - y);
                    return y == unknown ? expected : diff;
                });
            else
                add_all([&](int at) {
                    const Narrow y = read(codes + at);
                    return y == unknown ? expected : y == own ? Narrow{} : mismatch;
                });
        }
        repeat<VECTORS>([&](auto v) {
            for (int l = 0; l < LANES; ++l) out[start + v * LANES + l] = l % 2 ? odds[v][l / 2] : evens[v][l / 2];
        });
    }
}

}  // namespace nearhit

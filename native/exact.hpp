// Distances on the full codes: what ranks the survivors of the filter, and what tables use that have unknown values,
// squares, ramps or the Euclidean metric, where sum x + sum y - 2 sum min does not hold.
//
// Written over 8-row vectors of the compiler, which every instruction set has in some width.
#pragma once
#include <vector>

#include "expected.hpp"
#include "panels.hpp"

namespace nearhit::NEARHIT_ISA {

typedef uint32_t U32x8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t I32x8 __attribute__((vector_size(32)));
typedef uint64_t U64x8 __attribute__((vector_size(64)));
typedef double F64x8 __attribute__((vector_size(64)));

// The diffs of one row and another, feature by feature, unknown values included.
class Diffs {
public:
    Diffs(const TableView& t, const RecipeView& r, const Expected& e) : t_(t), r_(r), expected_(e) {}

    uint32_t of(size_t i, size_t j, size_t a) const {
        if (t_.known(i, a) && t_.known(j, a)) return known(t_.code(i, a), t_.code(j, a), a < t_.n_numeric);
        const auto slot = static_cast<size_t>(expected_.slot(a));
        if (t_.known(j, a)) return expected_.one(slot, t_.code(j, a), class_of(i));
        if (t_.known(i, a)) return expected_.one(slot, t_.code(i, a), class_of(j));
        return expected_.two(slot, class_of(i), class_of(j));
    }
    uint32_t known(uint32_t x, uint32_t y, bool numeric) const {
        return numeric ? diff_code(r_, apart(x, y)) : x == y ? 0 : r_.mismatch;
    }

private:
    size_t class_of(size_t i) const { return static_cast<size_t>(t_.class_of[i]); }
    const TableView& t_;
    const RecipeView& r_;
    const Expected& expected_;
};

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

inline U64x8 widen(U32x8 x) { return __builtin_convertvector(x, U64x8); }
inline U64x8 square_codes(U64x8 d) { return (d * d + (1u << 30)) >> 31; }

template <DiffKind KIND> inline U64x8 diff_codes(const RecipeView& r, U32x8 d) {
    if constexpr (KIND == DiffKind::linear) return widen(d);
    if constexpr (KIND == DiffKind::squared) return square_codes(widen(d));
    U64x8 out;
    for (int l = 0; l < 8; ++l) out[l] = ramp_code(d[l], r.ramp_equal, r.ramp_slope, r.grid);
    return out;
}

// Distances of one target to the 64 rows of a panel, of one class.
template <DiffKind KIND>
inline void exact_panel(const TableView& t, const RecipeView& r, const Expected& e, const ExactTarget& target,
                        const uint32_t* if_other_unknown, const uint32_t* panel, const uint32_t* toward, uint64_t* out) {
    for (int start = 0; start < PANEL; start += 16) {
        U64x8 sum[2] = {};
        for (size_t a = 0; a < t.n_features(); ++a) {
            const int slot = e.slot(a);
            const uint32_t x = target.codes[a];
            for (int h = 0; h < 2; ++h) {
                U64x8 diff;
                if (x == UNKNOWN) {
                    diff = widen(*reinterpret_cast<const U32x8*>(toward + static_cast<size_t>(slot) * PANEL + start + 8 * h));
                } else {
                    const U32x8 y = *reinterpret_cast<const U32x8*>(panel + a * PANEL + start + 8 * h);
                    const U32x8 own = y - y + x;
                    diff = a < t.n_numeric ? diff_codes<KIND>(r, y > own ? y - own : own - y)
                                           : widen((y != own) ? (y - y + r.mismatch) : (y - y));
                    if (slot >= 0) {
                        const U64x8 known = widen((U32x8)(y != UNKNOWN));
                        const U64x8 mask = known | known << 32;
                        diff = (diff & mask) | (~mask & uint64_t{if_other_unknown[slot]});
                    }
                }
                sum[h] += r.euclidean ? square_codes(diff) : diff;
            }
        }
        std::memcpy(out + start, sum, sizeof sum);
    }
}

}  // namespace nearhit

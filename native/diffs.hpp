// The diffs of two rows on the full codes, and their sum: what ranks the survivors of the filter and what is added up
// where codes alone do not tell, in tables with unknown values or with squares or ramps.
#pragma once
#include "packed.hpp"

namespace nearhit::NEARHIT_ISA {

template <class Category>
inline uint64_t count_unequal(const Category* x, const Category* y, size_t n) {
    uint64_t count = 0;
    for (size_t a = 0; a < n; ++a) count += x[a] != y[a];
    return count;
}
template <class Category>
inline void mark_unequal(const Category* x, const Category* y, size_t n, uint32_t mismatch, uint32_t* out) {
    for (size_t a = 0; a < n; ++a) out[a] = x[a] != y[a] ? mismatch : 0;
}

// Complete data, linear diff, Manhattan metric.
inline uint64_t plain_distance(const TableView& t, const RecipeView& r, size_t i, size_t j) {
    const uint32_t *x = t.numeric + i * t.n_numeric, *y = t.numeric + j * t.n_numeric;
    uint64_t sum = 0;
    for (size_t a = 0; a < t.n_numeric; ++a) sum += apart(x[a], y[a]);
    const size_t n = t.n_nominal;
    if (!n) return sum;
    return sum + r.mismatch * (t.nominal8 ? count_unequal(t.nominal8 + i * n, t.nominal8 + j * n, n)
                                          : count_unequal(t.nominal16 + i * n, t.nominal16 + j * n, n));
}

// All diffs of rows i and j; of pairs that are unknown on either side what is expected, or 0 if `skip` (rule C).
inline void write_diffs(const Packed& k, size_t i, size_t j, bool skip, uint32_t* out) {
    const TableView& t = k.t;
    const uint32_t *x = t.numeric + i * t.n_numeric, *y = t.numeric + j * t.n_numeric;
    if (k.r.diff == DiffKind::linear)
        for (size_t a = 0; a < t.n_numeric; ++a) out[a] = apart(x[a], y[a]);
    else
        for (size_t a = 0; a < t.n_numeric; ++a) out[a] = diff_code(k.r, apart(x[a], y[a]));
    const size_t n = t.n_nominal;
    if (t.nominal8 && n) mark_unequal(t.nominal8 + i * n, t.nominal8 + j * n, n, k.r.mismatch, out + t.n_numeric);
    if (t.nominal16 && n) mark_unequal(t.nominal16 + i * n, t.nominal16 + j * n, n, k.r.mismatch, out + t.n_numeric);
    if (!t.has_unknown()) return;
    k.holes.each(i, [&](size_t s) { out[k.expected.feature(s)] = skip ? 0 : k.expected_diff(s, j, k.class_of(i)); });
    k.holes.each(j, [&](size_t s) {
        const size_t a = k.expected.feature(s);
        if (t.known(i, a)) out[a] = skip ? 0 : k.expected_diff(s, i, k.class_of(j));
    });
}

}  // namespace nearhit

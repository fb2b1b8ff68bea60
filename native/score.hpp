// Adding up: weight * diff of each neighbour, rounded once to the fixed-point grid and added as integers, which no order
// of rows, blocks or workers can change. The neighbours of a target are taken together, a few columns at a time, so that
// sums stay in registers while the rows stream by.
#pragma once
#include <vector>

#include "packed.hpp"
#include "target.hpp"

namespace nearhit::NEARHIT_ISA {

// The neighbours of one target that are added together.
struct Added {
    std::vector<const uint32_t*> rows;                 // of codes, or of diffs
    const double* factors[2];                          // per part and row: weight times fixed point, for diffs as codes
    std::vector<int64_t> copies;                       // empty if all are 1
};

// sums[part][a] += sum over the rows of copies * round(factor * |x[a] - y[a]|)
template <int PARTS, bool COPIES>
inline void add_rows(const uint32_t* x, const Added& added, size_t n, int64_t* const* sums) {
    const size_t m = added.rows.size();
    const auto some = [&]<int V>(size_t a) {
        Integers acc[PARTS][V] = {};
        HalfCodes own[V];
        repeat<V>([&](auto v) { own[v] = *reinterpret_cast<const HalfCodes*>(x + a + v * HALF); });
        for (size_t j = 0; j < m; ++j)
            repeat<V>([&](auto v) {
                const HalfCodes other = *reinterpret_cast<const HalfCodes*>(added.rows[j] + a + v * HALF);
                const Doubles diff = as_doubles(other > own[v] ? other - own[v] : own[v] - other);
                repeat<PARTS>([&](auto p) {
                    const auto fixed = (Integers)(diff * added.factors[p][j] + ROUNDER);
                    if constexpr (COPIES) acc[p][v] += (fixed - ROUNDER_BITS) * static_cast<uint64_t>(added.copies[j]);
                    else acc[p][v] += fixed;
                });
            });
        const uint64_t rounders = COPIES ? 0 : ROUNDER_BITS * m;
        repeat<PARTS>([&](auto p) {
            repeat<V>([&](auto v) { *reinterpret_cast<Integers*>(sums[p] + a + v * HALF) += acc[p][v] - rounders; });
        });
    };
    size_t a = 0;
    for (; a + 4 * HALF <= n; a += 4 * HALF) some.template operator()<4>(a);
    for (; a + HALF <= n; a += HALF) some.template operator()<1>(a);
    for (; a < n; ++a)
        for (size_t j = 0; j < m; ++j)
            for (int p = 0; p < PARTS; ++p)
                sums[p][a] += (COPIES ? added.copies[j] : 1) *
                              rounded(static_cast<double>(apart(x[a], added.rows[j][a])) * added.factors[p][j]);
}

inline void add_rows(const uint32_t* x, const Added& added, size_t n_parts, size_t n, int64_t* const* sums) {
    if (n_parts == 1) added.copies.empty() ? add_rows<1, false>(x, added, n, sums) : add_rows<1, true>(x, added, n, sums);
    else added.copies.empty() ? add_rows<2, false>(x, added, n, sums) : add_rows<2, true>(x, added, n, sums);
}

// Mismatches that weigh the same are only counted, in as many bits as a category has, and added together, some
// thousand columns at a time: those of all rows stay in the last cache. Four vectors of counts are in registers.
template <class Category>
class MismatchCounter {
public:
    // sums[a] += amount, for every neighbour from `first` to `stop` that differs from `row` in column a; sooner or later.
    // `cells` are those of the first column of the first row.
    void count(const Category* cells, size_t row_length, size_t row, const Neighbour* first, const Neighbour* stop, size_t n,
               int64_t amount, int64_t* sums) {
        constexpr size_t MOST = std::numeric_limits<Category>::max();
        counts_.resize(n, 0);
        while (first < stop) {
            if (counted_ == MOST || amount != amount_ || sums != sums_) flush();
            amount_ = amount;
            sums_ = sums;
            const size_t some = std::min<size_t>(static_cast<size_t>(stop - first), MOST - counted_);
            count_rows(cells, row_length, row, first, some);
            counted_ += some;
            first += some;
        }
    }
    void flush() {
        for (size_t a = 0; a < counts_.size() && counted_; ++a) sums_[a] += static_cast<int64_t>(counts_[a]) * amount_;
        std::fill(counts_.begin(), counts_.end(), Category{0});
        counted_ = 0;
    }

private:
    void count_rows(const Category* cells, size_t row_length, size_t row, const Neighbour* neighbours, size_t m) {
        const Category* own = cells + row * row_length;
        const size_t n = counts_.size();
        size_t a = 0;
        const auto some = [&]<int BYTES, int V>() {
            typedef Category Cells __attribute__((vector_size(BYTES), aligned(1), may_alias));
            constexpr size_t WIDTH = BYTES / sizeof(Category);
            const auto read = [](const Category* p, int v) { return *reinterpret_cast<const Cells*>(p + v * WIDTH); };
            for (; a + V * WIDTH <= n; a += V * WIDTH) {
                Cells x[V], counts[V];
                repeat<V>([&](auto v) { x[v] = read(own + a, v); });
                repeat<V>([&](auto v) { counts[v] = read(counts_.data() + a, v); });
                for (size_t j = 0; j < m; ++j) {
                    const Category* other = cells + neighbours[j].row * row_length + a;
                    repeat<V>([&](auto v) { counts[v] -= (Cells)(read(other, v) != x[v]); });
                }
                repeat<V>([&](auto v) { *reinterpret_cast<Cells*>(counts_.data() + a + v * WIDTH) = counts[v]; });
            }
        };
        some.template operator()<4 * LANES, 4>();
        some.template operator()<4 * LANES, 1>();
        some.template operator()<16, 1>();
        for (; a < n; ++a)
            for (size_t j = 0; j < m; ++j)
                counts_[a] = static_cast<Category>(counts_[a] + (cells[neighbours[j].row * row_length + a] != own[a]));
    }

    std::vector<Category> counts_;
    int64_t amount_ = 0, *sums_ = nullptr;
    size_t counted_ = 0;
};

}  // namespace nearhit

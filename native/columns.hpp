// Categories of few values the other way round: for each value of a column, the rows that have it, as bits. Columns stand
// in panels of 64, rows in groups of 32 in the order of their places, so that the tile kernel can count (radius.hpp).
#pragma once
#include "panels.hpp"

namespace nearhit::NEARHIT_ISA {

struct FewValues {
    static constexpr size_t MOST = 4;    // more values than this are counted faster along the lists of neighbours

    std::vector<size_t> which;           // the nominal columns with few values, in order
    std::vector<std::pair<size_t, size_t>> others;   // stretches of those with more
    size_t n_values = 0, n_groups = 0;   // the most values of a column; of the last one no bits are kept
    Buffer<uint32_t> words;              // [value][panel of columns][group of rows][64]

    FewValues() = default;
    FewValues(const TableView& t, size_t n_places) : n_groups(n_places / 32) {
        for (size_t a = 0; a < t.n_nominal; ++a) {
            const auto n = static_cast<size_t>(t.n_codes[a]);
            if (n <= MOST) {
                which.push_back(a);
                n_values = std::max<size_t>({n_values, n, 2});
            } else if (!others.empty() && others.back().second == a) {
                ++others.back().second;
            } else {
                others.emplace_back(a, a + 1);
            }
        }
        if (n_values) words = Buffer<uint32_t>((n_values - 1) * n_panels() * n_groups * PANEL);
    }

    size_t n_panels() const { return (which.size() + PANEL - 1) / PANEL; }
    const uint32_t* rows_with(size_t value, size_t panel) const {
        return words.data() + (value * n_panels() + panel) * n_groups * PANEL;
    }

    // Whether the columns of a panel stand side by side in the table, as those of genotypes do.
    bool side_by_side(size_t panel) const {
        const size_t first = panel * PANEL, last = first + n_columns(panel) - 1;
        return which[last] - which[first] == last - first;
    }
    size_t n_columns(size_t panel) const { return std::min<size_t>(PANEL, which.size() - panel * PANEL); }

    // The cells of a row in 64 columns; those of columns that do not exist are anything.
    void read(const TableView& t, size_t row, size_t panel, uint8_t* cells) const {
        const size_t first = panel * PANEL, n = n_columns(panel);
        if (t.nominal8 && n == PANEL && side_by_side(panel)) std::copy_n(t.nominal8 + row * t.n_nominal + which[first], PANEL, cells);
        else for (size_t l = 0; l < n; ++l) cells[l] = static_cast<uint8_t>(t.nominal(row, which[first + l]));
    }

    // To be read soon: the bits of a panel come from memory.
    void fetch_bits(size_t panel) const {
        for (size_t v = 0; v + 1 < n_values && panel < n_panels(); ++v)
            for (size_t at = 0; at < n_groups * PANEL; at += 16) __builtin_prefetch(rows_with(v, panel) + at, 0, 2);
    }

    // The rows of one group, all columns: each row is read in order.
    void pack(const TableView& t, const Order& order, size_t group) {
        uint8_t cells[PANEL] = {};
        for (size_t p = 0; p < n_panels(); ++p) {
            uint32_t bits[MOST - 1][PANEL] = {};
            for (size_t r = 0; r < 32; ++r) {
                const size_t place = group * 32 + r;
                if (!order.is_row(place)) continue;
                read(t, order.row(place), p, cells);
                for (size_t v = 0; v + 1 < n_values; ++v)
                    for (int l = 0; l < PANEL; ++l) bits[v][l] |= uint32_t{cells[l] == v} << r;
            }
            for (size_t v = 0; v + 1 < n_values; ++v)
                std::copy_n(bits[v], PANEL, words.data() + ((v * n_panels() + p) * n_groups + group) * PANEL);
        }
    }
};

}  // namespace nearhit

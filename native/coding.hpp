// Numbers put on the grid: the extremes of each column, and code = round(grid * (x - low) / width), both as grid.py has
// them, bit by bit: one subtraction, one division, one product, each rounded, and halves to even.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace nearhit::NEARHIT_ISA {

// Of the known values; low > high in a column without any. Returns whether any value is unknown.
template <class Number>
inline bool find_extremes(const Number* values, size_t n_rows, size_t n_columns, size_t row_stride, Number* low, Number* high) {
    for (size_t a = 0; a < n_columns; ++a) {
        low[a] = std::numeric_limits<Number>::infinity();
        high[a] = -std::numeric_limits<Number>::infinity();
    }
    int unknown = 0;
    for (size_t i = 0; i < n_rows; ++i, values += row_stride)
        for (size_t a = 0; a < n_columns; ++a) {
            const Number x = values[a];
            low[a] = x < low[a] ? x : low[a];
            high[a] = x > high[a] ? x : high[a];
            unknown |= x != x;
        }
    return unknown;
}

// Codes of all values, 0 for unknown ones, which are marked if there is a mask. `width` is infinite in constant columns.
template <class Number>
inline void write_codes(const Number* values, size_t n_rows, size_t n_columns, size_t row_stride, const Number* low,
                        const double* width, double grid, uint32_t* codes, size_t code_stride, bool* unknown) {
    constexpr double ROUNDER = 6755399441055744.0;   // 1.5 * 2^52: leaves the rounded number in the low bits
    for (size_t i = 0; i < n_rows; ++i, values += row_stride, codes += code_stride) {
        for (size_t a = 0; a < n_columns; ++a) {
            const double above = static_cast<double>(values[a]) - static_cast<double>(low[a]);
            const double share = above / width[a] * grid;
            const double known = values[a] == values[a] ? share : 0.0;
            codes[a] = static_cast<uint32_t>(std::bit_cast<uint64_t>(known + ROUNDER));
        }
        if (!unknown) continue;
        for (size_t a = 0; a < n_columns; ++a) unknown[a] = values[a] != values[a];
        unknown += code_stride;
    }
}

}  // namespace nearhit

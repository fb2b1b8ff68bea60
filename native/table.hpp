// What the native code is given: views of the table and of the recipe. All memory is the caller's.
#pragma once
#include <cstddef>
#include <cstdint>

namespace nearhit::NEARHIT_ISA {

constexpr int PANEL = 64;                      // rows of a panel, on every instruction set
constexpr uint32_t UNKNOWN = 0xFFFFFFFFu;      // the code of an unknown cell in panels; codes stop at 2^31

enum class Grouping : int { each_class, hits_and_misses, everyone };
enum class DiffKind : int { linear, squared, ramp };
enum class Weighing : int { equal, rank, distance };
enum class Rule : int { uniform, skip, expected };

struct TableView {
    size_t n_rows, n_numeric, n_nominal;
    const uint32_t* numeric;             // [row][numeric column]
    const uint8_t* numeric_unknown;      // the same shape, or null
    const uint8_t* nominal8;             // [row][nominal column]: one of the two
    const uint16_t* nominal16;
    const uint8_t* nominal_unknown;      // or null
    const int64_t* n_codes;              // per nominal column
    const int32_t* class_of;             // per row; all 0 for a numeric target
    const uint32_t* target;              // codes of a numeric target, or null
    const int64_t* units;                // row weights, or null
    const int64_t* frequencies;          // row weights as they count in expected diffs, or null
    const int64_t* uniform;              // expected diff by rule B, per column, numeric first

    size_t n_features() const { return n_numeric + n_nominal; }
    bool has_unknown() const { return numeric_unknown || nominal_unknown; }
    uint32_t nominal(size_t row, size_t column) const {
        return nominal8 ? nominal8[row * n_nominal + column] : nominal16[row * n_nominal + column];
    }
    bool known(size_t row, size_t feature) const {
        if (feature < n_numeric) return !(numeric_unknown && numeric_unknown[row * n_numeric + feature]);
        return !(nominal_unknown && nominal_unknown[row * n_nominal + feature - n_numeric]);
    }
    uint32_t code(size_t row, size_t feature) const {
        return feature < n_numeric ? numeric[row * n_numeric + feature] : nominal(row, feature - n_numeric);
    }
    int64_t weight(size_t row) const { return units ? units[row] : 1; }
    uint64_t frequency(size_t row) const { return frequencies ? static_cast<uint64_t>(frequencies[row]) : 1; }
};

struct RecipeView {
    Grouping grouping;
    DiffKind diff;
    Weighing weighing;
    Rule rule;
    bool euclidean, ties_first, counts_places, whole_weights;
    bool radius, far;                    // neighbours are all rows within the radius of their target; and those beyond
    bool measures;                       // distances are asked for in full
    int64_t largest_diff_of_hits;        // between numeric targets, where hits are told by it
    int square_shift;                    // bits that squares lose in Euclidean distances
    int power;                           // of the inverse distance
    int bits;                            // fixed-point digits of the sums
    int64_t places, one;                 // places of a neighbourhood, in units of the row weights; units of one row
    uint32_t grid, mismatch;             // the code of a diff of 1 between numbers, and of a mismatch
    uint32_t ramp_equal, ramp_width, target_ramp_equal;
    double ramp_slope, target_ramp_slope;
    const double* rank_weights;          // of the first 0, 1, 2 ... ranks together
    size_t n_rank_weights;
};

// ---- the diff of two known numbers (SPEC section 2); the reference is diffs.py

inline uint32_t apart(uint32_t x, uint32_t y) { return x < y ? y - x : x - y; }
inline uint32_t square_code(uint32_t d) { return static_cast<uint32_t>((uint64_t{d} * d + (1u << 30)) >> 31); }
inline uint32_t ramp_code(uint32_t d, uint32_t equal, double slope, uint32_t grid) {
    if (d <= equal) return 0;
    const double climbed = static_cast<double>(d - equal) * slope;
    if (climbed >= static_cast<double>(grid)) return grid;
    return static_cast<uint32_t>(__builtin_nearbyint(climbed));
}
// What a diff adds to a Euclidean distance; sums stay under 2^63.
inline uint64_t square_in_distance(const RecipeView& r, uint64_t d) {
    return (d * d + ((uint64_t{1} << r.square_shift) >> 1)) >> r.square_shift;
}
inline uint32_t diff_code(const RecipeView& r, uint32_t d) {
    if (r.diff == DiffKind::linear) return d;
    return r.diff == DiffKind::squared ? square_code(d) : ramp_code(d, r.ramp_equal, r.ramp_slope, r.grid);
}
inline uint32_t target_diff_code(const RecipeView& r, uint32_t d) {
    if (r.diff == DiffKind::linear) return d;
    return r.diff == DiffKind::squared ? square_code(d)
                                       : ramp_code(d, r.target_ramp_equal, r.target_ramp_slope, 1u << 31);
}

}  // namespace nearhit

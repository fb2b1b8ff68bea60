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

// Full codes in panels [panel][feature][64], UNKNOWN where a cell is unknown.
struct CodePanels {
    Buffer<uint32_t> codes;
    size_t n_features = 0;

    CodePanels() = default;
    CodePanels(const TableView& t, size_t n_panels) : codes(n_panels * PANEL * t.n_features()), n_features(t.n_features()) {}

    void pack(const TableView& t, const Order& order, size_t p) {
        uint32_t* panel = codes.data() + p * n_features * PANEL;
        for (size_t r = 0; r < PANEL; ++r) {
            const size_t place = p * PANEL + r;
            for (size_t a = 0; a < n_features; ++a)
                panel[a * PANEL + r] = !order.is_row(place) ? 0 : t.known(order.row(place), a) ? t.code(order.row(place), a) : UNKNOWN;
        }
    }
    const uint32_t* panel(size_t p) const { return codes.data() + p * n_features * PANEL; }
    uint32_t code(size_t place, size_t a) const { return panel(place / PANEL)[a * PANEL + place % PANEL]; }
};

// One target row as the exact kernel wants it: its codes, and for each class of the other row what an unknown value
// there is expected to differ by.
struct ExactTarget {
    std::vector<uint32_t> codes;         // per feature
    std::vector<uint32_t> if_unknown;    // [class][slot]

    void read(const TableView& t, const CodePanels& panels, const Expected& e, size_t n_classes, size_t place) {
        codes.resize(t.n_features());
        for (size_t a = 0; a < t.n_features(); ++a) codes[a] = panels.code(place, a);
        if_unknown.assign(n_classes * e.size(), 0);
        for (size_t c = 0; c < n_classes; ++c)
            for (size_t s = 0; s < e.size(); ++s)
                if (const uint32_t x = codes[e.feature(s)]; x != UNKNOWN) if_unknown[c * e.size() + s] = e.one(s, x, c);
    }
};

inline Broad even(Narrow x) { return (Broad)x & 0xFFFFFFFFu; }
inline Broad odd(Narrow x) { return (Broad)x >> 32; }
inline Broad squares(Broad d) { return (d * d + (1u << 30)) >> 31; }
// (The mask is for unknown cells, whose "diff" exceeds a code: it must not spill into the lane beside it.)
inline Narrow square_codes(Narrow d) { return (Narrow)((squares(even(d)) & 0xFFFFFFFFu) | squares(odd(d)) << 32); }

// As ramp_code has it, half a vector at a time.
inline Narrow ramp_codes(const RecipeView& r, Narrow d) {
    HalfCodes halves[2];
    std::memcpy(halves, &d, sizeof d);
    for (HalfCodes& half : halves) {
        const Doubles climbed = as_doubles(half > r.ramp_equal ? half - r.ramp_equal : HalfCodes{}) * r.ramp_slope;
        const Doubles most = Doubles{} + static_cast<double>(r.grid), code = climbed < most ? climbed : most;
        half = __builtin_convertvector((Integers)(code + ROUNDER) - ROUNDER_BITS, HalfCodes);
    }
    std::memcpy(&d, halves, sizeof d);
    return d;
}

template <DiffKind KIND> inline Narrow diff_codes(const RecipeView& r, Narrow d) {
    if constexpr (KIND == DiffKind::linear) return d;
    if constexpr (KIND == DiffKind::squared) return square_codes(d);
    return ramp_codes(r, d);
}

// Distances of one target to the 64 rows of a panel, of one class. What is the same for all rows is asked once.
template <DiffKind KIND, bool EUCLIDEAN>
inline void exact_panel(const TableView& t, const RecipeView& r, const Expected& e, const ExactTarget& target,
                        const uint32_t* if_other_unknown, const uint32_t* panel, const uint32_t* toward, uint64_t* out) {
    constexpr int VECTORS = LANES == 16 ? 4 : 2;
    const uint64_t half = (uint64_t{1} << r.square_shift) >> 1;
    const auto read = [](const uint32_t* p) { return *reinterpret_cast<const Narrow*>(p); };
    for (int start = 0; start < PANEL; start += VECTORS * LANES) {
        Broad evens[VECTORS] = {}, odds[VECTORS] = {};
        const auto rounded_squares = [&](Broad d) { return (d * d + half) >> r.square_shift; };
        const auto add_all = [&](auto diff_at) {
            repeat<VECTORS>([&](auto v) {
                const Narrow diff = diff_at(start + v * LANES);
                evens[v] += EUCLIDEAN ? rounded_squares(even(diff)) : even(diff);
                odds[v] += EUCLIDEAN ? rounded_squares(odd(diff)) : odd(diff);
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

// Adding up: weight * diff of each neighbour, rounded once to the fixed-point grid and added as integers, which no order
// of rows, blocks or workers can change. A place of weight 1 adds the code itself, shifted.
#pragma once
#include <bit>
#include <vector>

#include "exact.hpp"
#include "target.hpp"

namespace nearhit::NEARHIT_ISA {

// To the nearest integer, halves to even, for |x| < 2^51: adding this leaves the integer in the low bits.
constexpr double ROUNDER = 6755399441055744.0;   // 1.5 * 2^52
inline int64_t rounded(double x) { return std::bit_cast<int64_t>(x + ROUNDER) - std::bit_cast<int64_t>(ROUNDER); }

// sums[a] += copies * round(factor * diff(a)); the compiler makes vectors of it whatever `diff` is.
template <class Diff>
inline void add_weighted(size_t n, Diff diff, double factor, int64_t copies, int64_t* sums) {
    if (copies == 1)
        for (size_t a = 0; a < n; ++a) sums[a] += rounded(factor * static_cast<double>(diff(a)));
    else
        for (size_t a = 0; a < n; ++a) sums[a] += copies * rounded(factor * static_cast<double>(diff(a)));
}
inline void add_apart(const uint32_t* x, const uint32_t* y, size_t n, int shift, int64_t* sums) {
    for (size_t a = 0; a < n; ++a) sums[a] += static_cast<int64_t>(uint64_t{apart(x[a], y[a])} << shift);
}

// Mismatches that weigh the same are only counted, up to 255 neighbours in a byte per column, and added together.
class MismatchCounter {
public:
    template <class Category>
    void count(const Category* x, const Category* y, size_t n, int64_t amount, int64_t* sums) {
        if (counted_ == 255 || amount != amount_ || sums != sums_) flush();
        counts_.resize(n);
        for (size_t a = 0; a < n; ++a) counts_[a] = static_cast<uint8_t>(counts_[a] + (x[a] != y[a]));
        amount_ = amount;
        sums_ = sums;
        ++counted_;
    }
    void flush() {
        if (counted_)
            for (size_t a = 0; a < counts_.size(); ++a) sums_[a] += counts_[a] * amount_;
        std::fill(counts_.begin(), counts_.end(), uint8_t{0});
        counted_ = 0;
    }

private:
    std::vector<uint8_t> counts_;
    int64_t amount_ = 0, *sums_ = nullptr;
    int counted_ = 0;
};

}  // namespace nearhit

// Unknown values: the expected diff, given the classes (SPEC section 2, rules B, C, D).
//
// For rule D a numeric column keeps the known codes of each class in order with their prefix sums, so the mean of
// |x - V| costs one search, in the short stretch of codes that the first digits of x name, and that of the ramp four; the
// mean of the square needs three totals. The sums are exact and rounded once. Frequencies add up to less than 2^32, so
// the largest of them, of squares over two classes, stays under 2^126.
#pragma once
#include <algorithm>
#include <numeric>
#include <vector>

#include "table.hpp"

namespace nearhit::NEARHIT_ISA {

using Wide = unsigned __int128;

inline uint32_t divide_rounded(Wide top, Wide bottom) {
    const Wide twice = 2 * top + bottom;
    if (twice >> 64 == 0 && bottom >> 63 == 0)   // nearly always, and several times faster
        return static_cast<uint32_t>(static_cast<uint64_t>(twice) / static_cast<uint64_t>(2 * bottom));
    return static_cast<uint32_t>(twice / (2 * bottom));
}

class Expected {
public:
    Expected(const TableView& t, const RecipeView& r, size_t n_classes) : t_(t), r_(r), n_classes_(n_classes) {
        slot_.assign(t.n_features(), -1);
        for (size_t a = 0; a < t.n_features(); ++a) {
            bool holes = false;
            for (size_t i = 0; i < t.n_rows && !holes; ++i) holes = !t.known(i, a);
            if (!holes) continue;
            slot_[a] = static_cast<int>(features_.size());
            features_.push_back(a);
        }
        columns_.resize(features_.size());
    }
    // To be called for each slot before anything is asked of it; slots may be learnt on different threads. Returns the rows
    // with a known value, in the order of these: in that order they are best asked for.
    std::vector<uint32_t> learn_column(size_t slot) {
        std::vector<uint32_t> rows = known_rows(features_[slot]);
        if (r_.rule != Rule::expected) return rows;
        columns_[slot] = learn(features_[slot], rows);
        learn_pairs(slot);
        return rows;
    }

    size_t size() const { return features_.size(); }
    const std::vector<size_t>& features() const { return features_; }
    size_t feature(size_t slot) const { return features_[slot]; }
    int slot(size_t feature) const { return slot_[feature]; }

    // The diff between a known value and an unknown one of a row of class c. Values that come in order may bring a cursor.
    uint32_t one(size_t slot, uint32_t value, size_t c, size_t* cursor = nullptr) const {
        if (r_.rule != Rule::expected) return uniform(slot);
        const Column& column = columns_[slot];
        const Known& known = column.of(c);
        if (!known.total) return 0;
        return divide_rounded(features_[slot] < t_.n_numeric ? numeric_sum(known, value, cursor) : nominal_sum(known, value),
                              divisor(slot) * known.total);
    }
    // The diff between two unknown values of rows of classes c and d.
    uint32_t two(size_t slot, size_t c, size_t d) const {
        return r_.rule != Rule::expected ? uniform(slot) : columns_[slot].pairs[c * n_classes_ + d];
    }

private:
    // A running sum of 128 bits in as many 64-bit limbs as it needs: without row weights one is enough.
    class RunningSum {
    public:
        void push(Wide value) {
            if (high_.empty() && value >> 64) high_.assign(low_.size(), 0);
            low_.push_back(static_cast<uint64_t>(value));
            if (value >> 64 || !high_.empty()) high_.push_back(static_cast<uint64_t>(value >> 64));
        }
        Wide operator[](size_t i) const { return static_cast<Wide>(high_.empty() ? 0 : high_[i]) << 64 | low_[i]; }

    private:
        std::vector<uint64_t> low_, high_;
    };
    struct Known {                        // the known values of one class
        std::vector<uint32_t> codes;      // numeric: in ascending order
        std::vector<uint64_t> weights;    // the frequency of each code above, empty if all are 1; nominal: of each category
        RunningSum before_weights, before_codes;
        Wide total = 0, sum_of_codes = 0, sum_of_squares = 0;

        Wide weight(size_t v) const { return weights.empty() ? 1 : weights[v]; }
        Wide weight_before(size_t v) const { return weights.empty() ? v : before_weights[v]; }
        // How many codes are up to x, and below x.
        size_t up_to(int64_t x) const { return place(x + 1); }
        size_t below(int64_t x) const { return place(x); }
        size_t below_from(int64_t x, size_t& cursor) const {
            while (cursor < codes.size() && codes[cursor] < x) ++cursor;
            return cursor;
        }
        void index() {
            while (shift_ > 0 && (size_t{2} << (32 - shift_)) < codes.size()) --shift_;
            starts_.assign((size_t{1} << (32 - shift_)) + 1, 0);
            for (uint32_t code : codes) ++starts_[(code >> shift_) + 1];
            std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
        }

    private:
        size_t place(int64_t x) const {
            if (x <= 0 || codes.empty()) return 0;
            const auto bucket = static_cast<uint64_t>(x) >> shift_;
            if (bucket + 1 >= starts_.size()) return codes.size();
            return static_cast<size_t>(std::lower_bound(codes.data() + starts_[bucket], codes.data() + starts_[bucket + 1], x,
                                                        [](uint32_t code, int64_t y) { return code < y; }) - codes.data());
        }
        int shift_ = 31;
        std::vector<uint32_t> starts_;    // the first code of each stretch of 2^shift codes
    };
    struct Column {
        std::vector<Known> classes;       // the last is the whole table, learnt only for classes without a known value
        std::vector<uint32_t> pairs;
        const Known& of(size_t c) const { return classes[c].total ? classes[c] : classes.back(); }
    };

    uint32_t uniform(size_t slot) const { return static_cast<uint32_t>(t_.uniform[features_[slot]]); }

    std::vector<uint32_t> known_rows(size_t a) const {
        std::vector<uint64_t> keys;
        keys.reserve(t_.n_rows);
        for (size_t i = 0; i < t_.n_rows; ++i)
            if (t_.known(i, a)) keys.push_back(uint64_t{t_.code(i, a)} << 32 | i);
        sort_by_upper_half(keys);
        return {keys.begin(), keys.end()};
    }
    // Digit by digit, the last first: five times as fast as std::sort, whose branches nobody can guess.
    static void sort_by_upper_half(std::vector<uint64_t>& keys) {
        constexpr int BITS = 8;
        std::vector<uint64_t> sorted(keys.size());
        for (int shift = 32; shift < 64; shift += BITS) {
            size_t place[(1 << BITS) + 1] = {};
            for (uint64_t key : keys) ++place[(key >> shift & ((1 << BITS) - 1)) + 1];
            std::partial_sum(place, place + (1 << BITS), place);
            for (uint64_t key : keys) sorted[place[key >> shift & ((1 << BITS) - 1)]++] = key;
            keys.swap(sorted);
        }
    }

    Column learn(size_t a, const std::vector<uint32_t>& rows) const {
        Column column;
        column.classes.resize(n_classes_ + 1);
        for (size_t i : rows) add_value(column.classes[static_cast<size_t>(t_.class_of[i])], a, i);
        bool all_known = true;
        for (size_t c = 0; c < n_classes_; ++c) all_known &= column.classes[c].total != 0;
        if (!all_known)
            for (size_t i : rows) add_value(column.classes[n_classes_], a, i);
        if (a < t_.n_numeric)
            for (Known& known : column.classes) {
                sum_up(known);
                known.index();
            }
        return column;
    }

    void add_value(Known& known, size_t a, size_t i) const {
        const Wide weight = t_.frequency(i), code = t_.code(i, a);
        if (!weight) return;
        known.total += weight;
        if (a < t_.n_numeric) {
            known.codes.push_back(t_.code(i, a));
            if (t_.frequencies) known.weights.push_back(t_.frequency(i));
            known.sum_of_codes += weight * code;
            known.sum_of_squares += weight * code * code;
        } else {
            known.weights.resize(static_cast<size_t>(t_.n_codes[a - t_.n_numeric]), 0);
            known.weights[t_.code(i, a)] += t_.frequency(i);
        }
    }

    static void sum_up(Known& known) {
        Wide weights = 0, codes = 0;
        for (size_t v = 0; v <= known.codes.size(); ++v) {
            if (!known.weights.empty()) known.before_weights.push(weights);
            known.before_codes.push(codes);
            if (v == known.codes.size()) break;
            weights += known.weight(v);
            codes += known.weight(v) * known.codes[v];
        }
    }

    // Sums of frequency * exact diff over the known values (diffs.py), `divisor()` times as large as codes.
    Wide numeric_sum(const Known& known, uint32_t x, size_t* cursor = nullptr) const {
        if (r_.diff == DiffKind::linear) return distance_beyond(known, x, 0, cursor);
        if (r_.diff == DiffKind::ramp) {
            const Wide climbing = distance_beyond(known, x, r_.ramp_equal);
            return (climbing - distance_beyond(known, x, int64_t{r_.ramp_equal} + r_.ramp_width)) * r_.grid;
        }
        return known.total * x * x + known.sum_of_squares - 2 * known.sum_of_codes * x;
    }
    // The sum of frequency * max(|x - v| - beyond, 0). A ramp is the difference of two of these.
    static Wide distance_beyond(const Known& known, int64_t x, int64_t beyond, size_t* cursor = nullptr) {
        if (!beyond && known.weights.empty()) {      // the common case; codes and rows under 2^31 fit 64 bits
            const size_t left = cursor ? known.below_from(x, *cursor) : known.below(x), right = known.codes.size() - left;
            const auto under = static_cast<uint64_t>(known.before_codes[left]), all = static_cast<uint64_t>(known.sum_of_codes);
            return left * static_cast<uint64_t>(x) - under + (all - under) - right * static_cast<uint64_t>(x);
        }
        const int64_t low = x - beyond, high = x + beyond;
        const size_t left = low < 0 ? 0 : known.below(low), right = known.up_to(high);
        const Wide under = left ? known.weight_before(left) * static_cast<Wide>(low) - known.before_codes[left] : 0;
        const Wide over = known.sum_of_codes - known.before_codes[right] -
                          (known.total - known.weight_before(right)) * static_cast<Wide>(high);
        return under + over;
    }
    Wide divisor(size_t slot) const {
        if (features_[slot] >= t_.n_numeric || r_.diff == DiffKind::linear) return 1;
        return r_.diff == DiffKind::squared ? Wide{1} << 31 : r_.ramp_width;
    }
    Wide nominal_sum(const Known& known, uint32_t category) const { return (known.total - known.weights[category]) * r_.mismatch; }

    void learn_pairs(size_t slot) {
        Column& column = columns_[slot];
        column.pairs.assign(n_classes_ * n_classes_, 0);
        for (size_t c = 0; c < n_classes_; ++c)
            for (size_t d = c; d < n_classes_; ++d)
                column.pairs[c * n_classes_ + d] = column.pairs[d * n_classes_ + c] = pair(slot, column.of(c), column.of(d));
    }
    uint32_t pair(size_t slot, const Known& known, const Known& other) const {
        if (!known.total || !other.total) return 0;
        Wide sum = 0;
        if (features_[slot] >= t_.n_numeric)
            for (size_t v = 0; v < known.weights.size(); ++v) sum += known.weights[v] * nominal_sum(other, static_cast<uint32_t>(v));
        else if (r_.diff == DiffKind::squared)
            sum = known.total * other.sum_of_squares + other.total * known.sum_of_squares -
                  2 * known.sum_of_codes * other.sum_of_codes;
        else
            for (size_t v = 0; v < known.codes.size(); ++v) sum += known.weight(v) * numeric_sum(other, known.codes[v]);
        return divide_rounded(sum, divisor(slot) * known.total * other.total);
    }

    const TableView& t_;
    const RecipeView& r_;
    size_t n_classes_;
    std::vector<int> slot_;               // per feature: its place here, -1 where nothing is unknown
    std::vector<size_t> features_;
    std::vector<Column> columns_;
};

}  // namespace nearhit

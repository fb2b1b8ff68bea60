// Unknown values: the expected diff, given the classes (SPEC section 2, rules B, C, D).
//
// For rule D a numeric column keeps the known codes of each class in order with their prefix sums, so the mean of
// |x - V| costs one binary search. Squares and ramps have no such sums: their means are taken over the values.
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
            slot_[a] = static_cast<int>(columns_.size());
            features_.push_back(a);
            columns_.push_back(r.rule == Rule::expected ? learn(a) : Column{});
        }
        for (size_t s = 0; s < columns_.size(); ++s) learn_pairs(s);
    }

    size_t size() const { return features_.size(); }
    size_t feature(size_t slot) const { return features_[slot]; }
    int slot(size_t feature) const { return slot_[feature]; }

    // The diff between a known value and an unknown one of a row of class c.
    uint32_t one(size_t slot, uint32_t value, size_t c) const {
        if (r_.rule != Rule::expected) return uniform(slot);
        const Column& column = columns_[slot];
        const Known& known = column.of(c);
        if (!known.units_total) return 0;
        return divide_rounded(features_[slot] < t_.n_numeric ? numeric_sum(known, value) : nominal_sum(known, value),
                              known.units_total);
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
        Wide last() const { return (*this)[low_.size() - 1]; }

    private:
        std::vector<uint64_t> low_, high_;
    };
    struct Known {                        // the known values of one class
        std::vector<uint32_t> codes;      // numeric: in ascending order
        std::vector<int64_t> units;       // the weight of each code above, empty if all are 1; nominal: of each category
        RunningSum before_units, before_codes;
        Wide units_total = 0;

        Wide weight(size_t v) const { return units.empty() ? 1 : static_cast<Wide>(units[v]); }
        Wide weight_before(size_t v) const { return units.empty() ? v : before_units[v]; }
    };
    struct Column {
        std::vector<Known> classes;       // the last is the whole table, learnt only for classes without a known value
        std::vector<uint32_t> pairs;
        const Known& of(size_t c) const { return classes[c].units_total ? classes[c] : classes.back(); }
    };

    uint32_t uniform(size_t slot) const { return static_cast<uint32_t>(t_.uniform[features_[slot]]); }

    Column learn(size_t a) const {
        Column column;
        column.classes.resize(n_classes_ + 1);
        std::vector<size_t> rows;
        for (size_t i = 0; i < t_.n_rows; ++i)
            if (t_.known(i, a)) rows.push_back(i);
        if (a < t_.n_numeric)
            std::sort(rows.begin(), rows.end(), [&](size_t i, size_t j) { return t_.code(i, a) < t_.code(j, a); });
        for (size_t i : rows) add_value(column.classes[static_cast<size_t>(t_.class_of[i])], a, i);
        bool all_known = true;
        for (size_t c = 0; c < n_classes_; ++c) all_known &= column.classes[c].units_total != 0;
        if (!all_known)
            for (size_t i : rows) add_value(column.classes[n_classes_], a, i);
        if (a < t_.n_numeric)
            for (Known& known : column.classes) sum_up(known);
        return column;
    }

    void add_value(Known& known, size_t a, size_t i) const {
        known.units_total += static_cast<Wide>(t_.weight(i));
        if (a < t_.n_numeric) {
            known.codes.push_back(t_.code(i, a));
            if (t_.units) known.units.push_back(t_.weight(i));
        } else {
            known.units.resize(static_cast<size_t>(t_.n_codes[a - t_.n_numeric]), 0);
            known.units[t_.code(i, a)] += t_.weight(i);
        }
    }

    static void sum_up(Known& known) {
        Wide units = 0, codes = 0;
        for (size_t v = 0; v <= known.codes.size(); ++v) {
            if (!known.units.empty()) known.before_units.push(units);
            known.before_codes.push(codes);
            if (v == known.codes.size()) break;
            units += known.weight(v);
            codes += known.weight(v) * known.codes[v];
        }
    }

    // Sums of units * diff over the known values.
    Wide numeric_sum(const Known& known, uint32_t x) const {
        if (r_.diff == DiffKind::linear) {
            const size_t below = static_cast<size_t>(
                std::upper_bound(known.codes.begin(), known.codes.end(), x) - known.codes.begin());
            const Wide units = known.weight_before(below), codes = known.before_codes[below];
            return (units * x - codes) + (known.before_codes.last() - codes) - (known.units_total - units) * x;
        }
        Wide sum = 0;
        for (size_t v = 0; v < known.codes.size(); ++v) sum += known.weight(v) * diff_code(r_, apart(x, known.codes[v]));
        return sum;
    }
    Wide nominal_sum(const Known& known, uint32_t category) const {
        return (known.units_total - static_cast<Wide>(known.units[category])) * r_.mismatch;
    }

    void learn_pairs(size_t slot) {
        if (r_.rule != Rule::expected) return;
        Column& column = columns_[slot];
        column.pairs.assign(n_classes_ * n_classes_, 0);
        for (size_t c = 0; c < n_classes_; ++c)
            for (size_t d = c; d < n_classes_; ++d)
                column.pairs[c * n_classes_ + d] = column.pairs[d * n_classes_ + c] = pair(slot, column.of(c), column.of(d));
    }
    uint32_t pair(size_t slot, const Known& known, const Known& other) const {
        if (!known.units_total || !other.units_total) return 0;
        Wide sum = 0;
        if (features_[slot] < t_.n_numeric)
            for (size_t v = 0; v < known.codes.size(); ++v) sum += known.weight(v) * numeric_sum(other, known.codes[v]);
        else
            for (size_t v = 0; v < known.units.size(); ++v)
                if (known.units[v]) sum += static_cast<Wide>(known.units[v]) * nominal_sum(other, static_cast<uint32_t>(v));
        return divide_rounded(sum, known.units_total * other.units_total);
    }

    const TableView& t_;
    const RecipeView& r_;
    size_t n_classes_;
    std::vector<int> slot_;               // per feature: its place here, -1 where nothing is unknown
    std::vector<size_t> features_;
    std::vector<Column> columns_;
};

}  // namespace nearhit

// The sums of a fit under many permuted targets, from one pass over the distances (docs/decisions/0009-permuted-targets.md).
//
// Distances do not depend on the target here, so the other rows of a target row stand in one order, and the neighbours
// under a permutation are found by walking down that order until each group has its places. They are the same few dozen
// rows for all permutations: their diffs are written down once, 64 columns at a time (16 KB), and what a permutation asks for
// is added up from the first cache. Neighbours of weight 1, which most are, take a load, two additions and a shift for 16
// columns (AVX-512), in two words of 32 bits: 20 G elements/s, where going through the rows of the table took
// 3.7. Mismatches of categories are bytes. All is exact or rounded per neighbour as in kernel.hpp: the same integers.
#pragma once
#include "diffs.hpp"
#include "pairs.hpp"
#include "picked.hpp"
#include "sorted_rows.hpp"

namespace nearhit::NEARHIT_ISA {

// [row][permutation]; one of the two.
struct PermutedTargets {
    const uint16_t* classes;
    const uint32_t* numbers;
    size_t n, n_classes;                 // one class for numbers
};

struct PermutedSums {
    std::vector<int64_t> diffs, known, weight;   // [permutation][class][group][part][feature], known by rule C only
};

// Some target rows at work, with all permutations.
class Permuter {
public:
    // With `squares` the squares of the diffs are added up. `bytes` bounds what is stored of pairs of rows.
    Permuter(const Packed& packed, const PermutedTargets& targets, bool squares, size_t bytes)
        : k_(packed), t_(packed.t), r_(packed.r), targets_(targets), squares_(squares), n_parts_(targets.numbers ? 2 : 1),
          n_groups_(r_.grouping == Grouping::each_class ? targets.n_classes : r_.grouping == Grouping::everyone ? 1 : 2),
          n_cells_(targets.n_classes * n_groups_ * n_parts_), rows_of_class_(targets.n_classes, 0), of_group_(n_groups_) {
        const size_t cells = targets.n * n_cells_;
        sums_.diffs.assign(cells * t_.n_features(), 0);
        sums_.known.assign(r_.rule == Rule::skip ? cells * t_.n_features() : 0, 0);
        sums_.weight.assign(cells, 0);
        for (size_t i = 0; i < t_.n_rows; ++i) ++rows_of_class_[class_of(i, 0)];
        share_memory(bytes);
    }

    // Rows of one class of the packed table.
    void add(const int64_t* rows, size_t n, const uint32_t* toward, const uint32_t* toward_full) {
        for (size_t i = 0; i < n; i += rows_at_a_time_) {
            rows_.assign(rows + i, rows + std::min(i + rows_at_a_time_, n));
            sort_rows(toward, toward_full);
            for (first_ = 0; first_ < targets_.n; first_ += some_) {
                n_some_ = std::min(some_, targets_.n - first_);
                choose_all();
                add_up();
            }
        }
    }

    PermutedSums finish() {
        // Without its target a row has the same neighbours whatever the permutation: part 0 was added up for the first.
        const auto copy_part = [&](std::vector<int64_t>& sums, size_t width) {
            for (size_t b = 1; b < targets_.n && !sums.empty(); ++b)
                std::copy_n(sums.begin(), width, sums.begin() + static_cast<std::ptrdiff_t>(b * n_cells_ * width));
        };
        if (targets_.numbers) {
            copy_part(sums_.diffs, t_.n_features());
            copy_part(sums_.known, t_.n_features());
            copy_part(sums_.weight, 1);
        }
        return std::move(sums_);
    }

private:
    static constexpr size_t WIDTH = Stripes::WIDTH, MOST_ROWS = 64, BYTES_OF_SUMS = 512 << 10, MOST_ALIKE = (1 << 16) - 1;

    // Neighbours of one target under one permutation that are added to the same sums.
    struct Run { uint32_t cell, begin, end; };

    size_t class_of(size_t row, size_t b) const { return targets_.classes ? targets_.classes[row * targets_.n + b] : 0; }
    size_t group_of(size_t c, size_t d) const {
        if (r_.grouping == Grouping::each_class) return d;
        return r_.grouping == Grouping::everyone || c == d ? 0 : 1;
    }
    bool skips() const { return r_.rule == Rule::skip; }
    // Codes add up as they are; other tables have their diffs written down, categories too.
    bool plain() const { return !squares_ && !t_.has_unknown() && (r_.diff == DiffKind::linear || !t_.n_numeric); }

    // How many rows and how many permutations are taken at a time: the sums of a stripe stay in the second cache, and lists,
    // even those that hold everybody, within the bound.
    void share_memory(size_t bytes) {
        const size_t of_a_cell = plain() && t_.n_nominal ? ByteStripe::WIDTH * (2 + 8) : WIDTH * (8 + 8);
        some_ = std::clamp<size_t>(BYTES_OF_SUMS / (n_cells_ * of_a_cell), 8, 256);
        bytes = std::min(bytes, size_t{1} << 34);             // places in lists have 32 bits
        const size_t list = t_.n_rows * (sizeof(SortedRows::Entry) + 4), chosen = t_.n_rows * (4 + 12);
        some_ = std::clamp<size_t>(bytes / 4 / chosen, 1, some_);
        const size_t most = std::min(MOST_ROWS, MOST_ALIKE / static_cast<size_t>(std::min<int64_t>(r_.places, MOST_ALIKE)));
        rows_at_a_time_ = std::clamp<size_t>(bytes / (list + some_ * chosen), 1, most);
    }

    // -------------------------------------------------------------------------------------------------- in order

    void sort_rows(const uint32_t* toward, const uint32_t* toward_full) {
        places_.clear();
        for (int64_t i : rows_) places_.push_back(k_.order.place_of[static_cast<size_t>(i)]);
        lists_.resize(rows_.size());
        for (SortedRows& list : lists_) list.start();
        const auto found = [&](size_t t, size_t place, uint64_t distance) {
            if (k_.filtered && k_.filter.exact && r_.euclidean) distance = distance / r_.mismatch * square_in_distance(r_, r_.mismatch);
            lists_[t].entries.push_back({distance, static_cast<uint32_t>(k_.order.row(place))});
        };
        if (k_.filtered) LayeredDistances(k_, rows_.size(), toward, toward_full).measure(places_, found);
        else ExactDistances(k_, rows_.size(), toward).measure(places_, found);
    }

    // ---------------------------------------------------------------------------------------- who is a neighbour

    void choose_all() {
        alike_.clear();
        weighted_.clear();
        factors_.clear();
        runs_alike_.clear();
        runs_weighted_.clear();
        begin_alike_.clear();
        begin_weighted_.clear();
        reach_.assign(rows_.size(), 0);
        for (size_t t = 0; t < rows_.size(); ++t) {
            if (targets_.numbers) choose(t, 0);
            for (size_t b = first_; b < first_ + n_some_; ++b) {
                begin_alike_.push_back(runs_alike_.size());
                begin_weighted_.push_back(runs_weighted_.size());
                if (targets_.numbers) {
                    weigh_numbers(t, b);
                } else {
                    choose(t, b);
                    weigh_classes(t, b);
                }
            }
        }
        begin_alike_.push_back(runs_alike_.size());
        begin_weighted_.push_back(runs_weighted_.size());
    }

    struct Group {
        std::vector<uint32_t> members;   // places in the order of the target
        size_t need = 0;
        uint32_t last_level = 0;
    };

    // Down the order, until each group has as many as it needs, and those that tie with the last of them.
    void choose(size_t t, size_t b) {
        SortedRows& list = lists_[t];
        const auto own = static_cast<size_t>(rows_[t]), c = class_of(own, b);
        for (Group& group : of_group_) {
            group.members.clear();
            group.need = 0;
        }
        for (size_t d = 0; d < targets_.n_classes; ++d) of_group_[group_of(c, d)].need += rows_of_class_[d] - (d == c);
        size_t open = 0, needed = 0;
        for (Group& group : of_group_) {
            group.need = std::min(group.need, static_cast<size_t>(r_.places));
            open += group.need > 0;
            needed += group.need;
        }
        uint32_t closed_at = 0;
        size_t at = 0;
        for (;; ++at) {
            if (at == list.n_sorted() && !list.sort_more(2 * needed + 16)) break;
            const uint32_t level = list.level(at);
            if (!open && level != closed_at) break;
            Group& group = of_group_[group_of(c, class_of(list.entries[at].row, b))];
            if (group.members.size() < group.need) {
                group.members.push_back(static_cast<uint32_t>(at));
                group.last_level = level;
                if (group.members.size() == group.need && --open == 0) closed_at = level;
            } else if (!r_.ties_first && group.need && level == group.last_level) {
                group.members.push_back(static_cast<uint32_t>(at));
            }
        }
        reach_[t] = std::max(reach_[t], at);
    }

    void weigh_classes(size_t t, size_t b) {
        const size_t c = class_of(static_cast<size_t>(rows_[t]), b);
        for (size_t g = 0; g < n_groups_; ++g) {
            const size_t cell = c * n_groups_ + g;
            if (r_.weighing == Weighing::equal) weigh_alike(lists_[t], of_group_[g], cell, b);
            else weigh_each(lists_[t], of_group_[g], cell, b);
        }
    }

    // As `weigh` does for equal weights: those at the last distance share the places that are left.
    void weigh_alike(const SortedRows& list, const Group& group, size_t cell, size_t b) {
        const std::vector<uint32_t>& all = group.members;
        size_t before = all.size();
        if (all.size() > static_cast<size_t>(r_.places))
            while (before > 0 && list.level(all[before - 1]) == group.last_level) --before;
        take_alike(all.data(), before, cell, b);
        if (before == all.size()) return;
        const auto copies = static_cast<double>(all.size() - before);
        const double weight = static_cast<double>(static_cast<size_t>(r_.places) - before) / copies;
        begin_weighted_run(cell);
        for (size_t j = before; j < all.size(); ++j) take_weighted(all[j], weight, cell, b);
        end_weighted_run();
    }

    void weigh_each(const SortedRows& list, const Group& group, size_t cell, size_t b) {
        find_weights(list, group);
        begin_weighted_run(cell);
        for (const Neighbour& n : near_) take_weighted(n.row, n.weight, cell, b);
        end_weighted_run();
    }

    void find_weights(const SortedRows& list, const Group& group) {
        found_.clear();
        near_.clear();
        for (uint32_t at : group.members) found_.push_back({list.entries[at].distance, at, 1});
        weigh(r_, found_, near_);
    }

    // Everyone is in one group; only the diffs of the targets move.
    void weigh_numbers(size_t t, size_t b) {
        const auto own = static_cast<size_t>(rows_[t]);
        const SortedRows& list = lists_[t];
        if (b == first_) find_weights(list, of_group_[0]);
        if (b == 0) {
            begin_weighted_run(0);
            for (const Neighbour& n : near_) take_weighted(n.row, n.weight, 0, 0);
            end_weighted_run();
        }
        begin_weighted_run(1);
        for (const Neighbour& n : near_) {
            const size_t other = list.entries[n.row].row;
            const uint32_t moved = apart(targets_.numbers[own * targets_.n + b], targets_.numbers[other * targets_.n + b]);
            take_weighted(n.row, n.weight * (target_diff_code(r_, moved) * 0x1p-31), 1, b);
        }
        end_weighted_run();
    }

    // Diffs of weight 1 are multiplied by a power of two, so they may be added first.
    void take_alike(const uint32_t* places, size_t n, size_t cell, size_t b) {
        if (n == 0) return;
        if (r_.bits < 31 || n * rows_at_a_time_ > MOST_ALIKE) {
            begin_weighted_run(cell);
            for (size_t j = 0; j < n; ++j) take_weighted(places[j], 1, cell, b);
            end_weighted_run();
            return;
        }
        sums_.weight[b * n_cells_ + cell] += static_cast<int64_t>(n) * rounded(one_);
        const auto begin = static_cast<uint32_t>(alike_.size());
        alike_.insert(alike_.end(), places, places + n);
        runs_alike_.push_back({static_cast<uint32_t>(cell), begin, static_cast<uint32_t>(alike_.size())});
    }

    void begin_weighted_run(size_t cell) {
        const auto at = static_cast<uint32_t>(weighted_.size());
        runs_weighted_.push_back({static_cast<uint32_t>(cell), at, at});
    }
    void take_weighted(uint32_t place, double weight, size_t cell, size_t b) {
        sums_.weight[b * n_cells_ + cell] += rounded(weight * one_);
        weighted_.push_back(place);
        factors_.push_back(weight * one_ * 0x1p-31);
    }
    void end_weighted_run() {
        runs_weighted_.back().end = static_cast<uint32_t>(weighted_.size());
        if (runs_weighted_.back().begin == runs_weighted_.back().end) runs_weighted_.pop_back();
    }

    // ----------------------------------------------------------------------------------------------- adding them up

    void add_up() {
        const size_t n = t_.n_features();
        for (size_t a = 0; a < (plain() ? t_.n_numeric : n); a += WIDTH) {
            const size_t width = std::min(WIDTH, (plain() ? t_.n_numeric : n) - a);
            add_stripe(a, width, sums_.diffs, [&](size_t own, size_t other, uint32_t* to) { write_diffs(own, other, a, width, to); });
            if (skips()) add_stripe(a, width, sums_.known, [&](size_t own, size_t other, uint32_t* to) { write_known(own, other, a, width, to); });
        }
        for (size_t a = 0; a < t_.n_nominal && plain(); a += ByteStripe::WIDTH) {
            const size_t width = std::min(ByteStripe::WIDTH, t_.n_nominal - a);
            t_.nominal8 ? add_byte_stripe(t_.nominal8, a, width) : add_byte_stripe(t_.nominal16, a, width);
        }
        if (plain() && skips()) know_everything();
    }

    template <class Add> void each_run(size_t t, const std::vector<size_t>& begins, const std::vector<Run>& runs, Add add) {
        for (size_t b = 0; b < n_some_; ++b)
            for (size_t i = begins[t * n_some_ + b]; i < begins[t * n_some_ + b + 1]; ++i) add(b * n_cells_ + runs[i].cell, runs[i]);
    }

    // 64 columns: `write(target row, other row, diffs)`.
    template <class Write> void add_stripe(size_t a, size_t width, std::vector<int64_t>& sums, Write write) {
        const size_t cells = n_some_ * n_cells_;
        alike_sums_.assign(cells * 2 * WIDTH, 0);
        weighted_sums_.assign(cells * WIDTH, 0);
        for (size_t t = 0; t < rows_.size(); ++t) {
            stripe_.resize(reach_[t] * WIDTH);
            for (size_t j = 0; j < reach_[t]; ++j) {
                write(static_cast<size_t>(rows_[t]), size_t{lists_[t].entries[j].row}, stripe_.data() + j * WIDTH);
                std::fill(stripe_.data() + j * WIDTH + width, stripe_.data() + (j + 1) * WIDTH, 0u);
            }
            each_run(t, begin_alike_, runs_alike_, [&](size_t cell, const Run& run) {
                add_alike(stripe_.data(), alike_.data() + run.begin, run.end - run.begin, alike_sums_.data() + cell * 2 * WIDTH);
            });
            each_run(t, begin_weighted_, runs_weighted_, [&](size_t cell, const Run& run) {
                add_weighted(stripe_.data(), weighted_.data() + run.begin, factors_.data() + run.begin, run.end - run.begin,
                             weighted_sums_.data() + cell * WIDTH);
            });
        }
        for (size_t cell = 0; cell < cells; ++cell) {
            const uint32_t *low = alike_sums_.data() + cell * 2 * WIDTH, *upper = low + WIDTH;
            int64_t* to = sums.data() + (first_ * n_cells_ + cell) * t_.n_features() + a;
            for (size_t l = 0; l < width; ++l) {
                const uint64_t total = (uint64_t{upper[l]} << 16) + (low[l] - (upper[l] << 16));
                to[l] += static_cast<int64_t>(total << std::max(r_.bits - 31, 0)) + weighted_sums_[cell * WIDTH + l];
            }
        }
    }

    // 256 columns of categories.
    template <class Category> void add_byte_stripe(const Category* cells_of_table, size_t a, size_t width) {
        const size_t cells = n_some_ * n_cells_;
        counts_.assign(cells * ByteStripe::WIDTH, 0);
        weighted_sums_.assign(runs_weighted_.empty() ? 0 : cells * ByteStripe::WIDTH, 0);
        for (size_t t = 0; t < rows_.size(); ++t) {
            unequal_.assign(reach_[t] * ByteStripe::WIDTH, 0);
            const Category* own = cells_of_table + static_cast<size_t>(rows_[t]) * t_.n_nominal + a;
            for (size_t j = 0; j < reach_[t]; ++j) {
                const Category* other = cells_of_table + lists_[t].entries[j].row * t_.n_nominal + a;
                uint8_t* to = unequal_.data() + j * ByteStripe::WIDTH;
                for (size_t l = 0; l < width; ++l) to[l] = own[l] != other[l];
            }
            each_run(t, begin_alike_, runs_alike_, [&](size_t cell, const Run& run) {
                ByteStripe::add_alike(unequal_.data(), alike_.data() + run.begin, run.end - run.begin, counts_.data() + cell * ByteStripe::WIDTH);
            });
            each_run(t, begin_weighted_, runs_weighted_, [&](size_t cell, const Run& run) { add_mismatches(cell, run); });
        }
        const int64_t amount = rounded(one_ * 0x1p-31 * r_.mismatch);
        for (size_t cell = 0; cell < cells; ++cell) {
            int64_t* to = sums_.diffs.data() + (first_ * n_cells_ + cell) * t_.n_features() + t_.n_numeric + a;
            for (size_t l = 0; l < width; ++l) to[l] += counts_[cell * ByteStripe::WIDTH + ByteStripe::place_of(l)] * amount;
            for (size_t l = 0; l < width && !weighted_sums_.empty(); ++l) to[l] += weighted_sums_[cell * ByteStripe::WIDTH + l];
        }
    }

    // Those that weigh the same are counted together.
    void add_mismatches(size_t cell, const Run& run) {
        for (size_t j = run.begin, end; j < run.end; j = end) {
            for (end = j + 1; end < run.end && factors_[end] == factors_[j];) ++end;
            if (const int64_t amount = rounded(factors_[j] * r_.mismatch))
                ByteStripe::add_times(unequal_.data(), weighted_.data() + j, end - j, amount, weighted_sums_.data() + cell * ByteStripe::WIDTH);
        }
    }

    // ------------------------------------------------------------------------------------------- what a stripe holds

    void write_diffs(size_t i, size_t j, size_t a, size_t width, uint32_t* to) const {
        const size_t n = a < t_.n_numeric ? std::min(width, t_.n_numeric - a) : 0;
        const uint32_t *x = t_.numeric + i * t_.n_numeric + (n ? a : 0), *y = t_.numeric + j * t_.n_numeric + (n ? a : 0);
        if (r_.diff == DiffKind::linear)
            for (size_t l = 0; l < n; ++l) to[l] = apart(x[l], y[l]);
        else
            for (size_t l = 0; l < n; ++l) to[l] = diff_code(r_, apart(x[l], y[l]));
        if (plain()) return;
        for (size_t l = n; l < width; ++l)
            to[l] = t_.nominal(i, a + l - t_.n_numeric) != t_.nominal(j, a + l - t_.n_numeric) ? r_.mismatch : 0;
        const auto put = [&](size_t feature, size_t s, size_t row, size_t c) {
            if (feature >= a && feature < a + width) to[feature - a] = skips() ? 0 : k_.expected_diff(s, row, c);
        };
        k_.holes.each(i, [&](size_t s) { put(k_.expected.feature(s), s, j, k_.class_of(i)); });
        k_.holes.each(j, [&](size_t s) {
            if (t_.known(i, k_.expected.feature(s))) put(k_.expected.feature(s), s, i, k_.class_of(j));
        });
        for (size_t l = 0; l < width && squares_; ++l) to[l] = square_code(to[l]);
    }

    // 1 as a code where both are known.
    void write_known(size_t i, size_t j, size_t a, size_t width, uint32_t* to) const {
        for (size_t l = 0; l < width; ++l) to[l] = t_.known(i, a + l) && t_.known(j, a + l) ? 1u << 31 : 0;
    }

    // Rule C on a complete table: all weight there is, so far.
    void know_everything() {
        for (size_t b = first_; b < first_ + n_some_; ++b)
            for (size_t cell = 0; cell < n_cells_; ++cell)
                std::fill_n(sums_.known.begin() + static_cast<std::ptrdiff_t>((b * n_cells_ + cell) * t_.n_features()), t_.n_features(),
                            sums_.weight[b * n_cells_ + cell]);
    }

    const Packed& k_;
    const TableView& t_;
    const RecipeView& r_;
    const PermutedTargets targets_;
    const bool squares_;
    const size_t n_parts_, n_groups_, n_cells_;               // a cell: class of the target, group of the neighbour, part
    const double one_ = std::ldexp(1.0, r_.bits);
    std::vector<size_t> rows_of_class_;
    std::vector<Group> of_group_;
    size_t rows_at_a_time_ = 1, some_ = 1;                    // target rows, permutations
    size_t first_ = 0, n_some_ = 0;                           // the permutations at hand
    PermutedSums sums_;
    std::vector<int64_t> rows_;                               // the target rows at hand
    std::vector<size_t> places_, reach_;                      // of them; how far down their orders anybody went
    std::vector<SortedRows> lists_;
    std::vector<Candidate> found_;
    std::vector<Neighbour> near_;
    std::vector<uint32_t> alike_, weighted_;                  // neighbours, as places in the order of their target
    std::vector<double> factors_;                             // of the weighted ones
    std::vector<Run> runs_alike_, runs_weighted_;
    std::vector<size_t> begin_alike_, begin_weighted_;        // per target row and permutation: its first run
    std::vector<uint32_t> stripe_, alike_sums_;
    std::vector<uint8_t> unequal_;
    std::vector<uint16_t> counts_;
    std::vector<int64_t> weighted_sums_;
};

}  // namespace nearhit

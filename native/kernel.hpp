// A loaded table with its recipe, and the sums of one block of target rows.
//
//   filter     numbers with linear diffs and the Manhattan metric, or no numbers: tiles on 15-bit codes and bit planes,
//              then the few survivors are ranked on the full codes
//   exact      everything else: squares, ramps, the Euclidean metric
#pragma once
#include "diffs.hpp"
#include "score.hpp"
#include "search.hpp"

namespace nearhit::NEARHIT_ISA {

// The sums of a block, as sweep.Sums wants them; all arrays [group][part][feature] or a prefix of that.
struct BlockSums {
    std::vector<int64_t> diffs, known, weight, fewest;
    std::vector<int64_t> diffs_high, known_high, weight_high;
};

// How far a block is taken; benchmarks stop it early.
enum class Stage : int { distances, neighbours, sums };

// One block at work: all scratch memory, allocated once per block.
template <class Search>
class Block {
public:
    Block(const Packed& packed, size_t batch, const uint32_t* toward)
        : k_(packed), t_(packed.t), r_(packed.r), n_groups_(packed.n_groups()), n_parts_(t_.target ? 2 : 1),
          search_(packed, batch, rows_that_fill_the_places(), toward) {
        const size_t cells = n_groups_ * n_parts_ * t_.n_features();
        sums_.diffs.assign(cells, 0);
        sums_.known.assign(r_.rule == Rule::skip ? cells : 0, 0);
        sums_.weight.assign(n_groups_ * n_parts_, 0);
        sums_.fewest.assign(n_groups_, std::numeric_limits<int64_t>::max());
        counters8_.resize(t_.nominal8 ? n_groups_ : 0);
        counters16_.resize(t_.nominal16 ? n_groups_ : 0);
        diff_rows_.resize(ROWS_AT_A_TIME * t_.n_features());
        zeros_.assign(t_.n_features(), 0);
        if (t_.units) {
            wide_diffs_.assign(cells, 0);
            wide_known_.assign(sums_.known.size(), 0);
            wide_weight_.assign(sums_.weight.size(), 0);
        }
    }

    void add(const int64_t* rows, size_t n, Stage last) {
        const size_t c = k_.class_of(static_cast<size_t>(rows[0]));
        places_.clear();
        for (size_t i = 0; i < n; ++i) places_.push_back(k_.order.place_of[static_cast<size_t>(rows[i])]);
        if (needs_distances()) search_.find(places_, c, last == Stage::distances);
        if (last == Stage::distances) return;
        for (size_t t = 0; t < n; ++t) {
            const auto i = static_cast<size_t>(rows[t]);
            for (size_t g = 0; g < n_groups_; ++g) {
                collect(t, i, c, g);
                sums_.fewest[g] = std::min(sums_.fewest[g], weigh(r_, found_, neighbours_));
                if (last == Stage::sums) add_neighbours(i, g);
            }
            if (t_.units) fold(i);
        }
    }

    BlockSums finish() {
        flush();
        split(sums_.diffs, wide_diffs_, sums_.diffs_high);
        split(sums_.known, wide_known_, sums_.known_high);
        split(sums_.weight, wide_weight_, sums_.weight_high);
        return std::move(sums_);
    }

private:
    static constexpr size_t ROWS_AT_A_TIME = 64;              // added together

    // With every row a neighbour of equal weight no distance is needed.
    bool needs_distances() const {
        return r_.weighing != Weighing::equal || r_.places < static_cast<int64_t>(t_.n_rows) || t_.units;
    }

    // So many rows hold the weight of all places, whichever they are.
    size_t rows_that_fill_the_places() const {
        int64_t lightest = r_.one;
        if (t_.units)
            for (size_t i = 0; i < t_.n_rows; ++i) lightest = std::min(lightest, t_.units[i]);
        const int64_t rows = (r_.places + lightest - 1) / lightest;
        return static_cast<size_t>(std::min(rows, static_cast<int64_t>(t_.n_rows)));
    }

    // -------------------------------------------------------------------------------------------- who is a neighbour

    // The candidates of one target and group, in `found_`; on exact distances where these decide anything.
    void collect(size_t t, size_t i, size_t c, size_t g) {
        found_.clear();
        // A row of weight w stands for w copies, and meets the others.
        const int64_t of_itself = t_.units && k_.group_of(c, c) == g ? std::max<int64_t>(t_.units[i] - r_.one, 0) : 0;
        int64_t copies = of_itself;
        const auto add = [&](uint64_t distance, size_t place) {
            const auto j = static_cast<uint32_t>(k_.order.row(place));
            found_.push_back({distance, j, t_.weight(j)});
            copies += t_.weight(j);
        };
        if (!needs_distances()) {
            for (size_t d = 0; d < k_.order.classes.size(); ++d) {
                const Segment& s = k_.order.classes[d];
                for (size_t j = s.first_place; k_.group_of(c, d) == g && j < s.first_place + s.n_rows; ++j)
                    if (k_.order.row(j) != i) add(1, j);
            }
        } else {
            for (const auto& near : search_.near(t, g).finish()) add(static_cast<uint64_t>(near.lowest), near.place);
            const bool all_are_in = r_.weighing == Weighing::equal && copies <= r_.places;
            if (k_.filtered && !all_are_in)
                for (Candidate& candidate : found_) candidate.distance = distance(i, candidate);
        }
        if (of_itself) found_.push_back({distance_to_itself(i), static_cast<uint32_t>(i), of_itself});
    }

    uint64_t distance(size_t i, const Candidate& candidate) {
        if (k_.filter.exact) return uint64_t{r_.euclidean ? square_code(r_.mismatch) : r_.mismatch} * candidate.distance;
        if (!t_.has_unknown()) return plain_distance(t_, r_, i, candidate.row);
        write_diffs(k_, i, candidate.row, false, diff_rows_.data());
        return std::accumulate(diff_rows_.begin(), diff_rows_.begin() + static_cast<std::ptrdiff_t>(t_.n_features()), uint64_t{0});
    }

    uint64_t distance_to_itself(size_t i) const {
        uint64_t sum = 0;
        k_.holes.each(i, [&](size_t s) {
            const uint32_t d = k_.expected.two(s, k_.class_of(i), k_.class_of(i));
            sum += r_.euclidean ? square_code(d) : d;
        });
        return sum;
    }

    // ------------------------------------------------------------------------------------------------- adding them up

    void add_neighbours(size_t i, size_t g) {
        const bool plain = !t_.has_unknown() && (r_.diff == DiffKind::linear || !t_.n_numeric);
        for (size_t first = 0; first < neighbours_.size(); first += ROWS_AT_A_TIME) {
            const size_t stop = std::min(first + ROWS_AT_A_TIME, neighbours_.size());
            read_factors(i, g, first, stop);
            plain ? add_codes(i, g, first, stop) : add_diffs(i, g, first, stop);
            if (r_.rule == Rule::skip) add_known(i, g, first, stop);
        }
    }

    // What each neighbour's diffs are multiplied by; their own sum goes to `weight`, and to `known` before holes.
    void read_factors(size_t i, size_t g, size_t first, size_t stop) {
        added_.copies.clear();
        for (size_t j = first; j < stop && t_.units && r_.whole_weights; ++j) added_.copies.push_back(neighbours_[j].copies);
        for (size_t part = 0; part < n_parts_; ++part) {
            added_.factors[part].clear();
            ones_[part].clear();
            int64_t& weight = sums_.weight[g * n_parts_ + part];
            for (size_t j = first; j < stop; ++j) {
                const Neighbour& n = neighbours_[j];
                double w = n.weight;
                if (part) w *= target_diff_code(r_, apart(t_.target[i], t_.target[n.row])) * 0x1p-31;
                added_.factors[part].push_back(w * std::ldexp(1.0, r_.bits - 31));
                ones_[part].push_back(n.copies * rounded(w * std::ldexp(1.0, r_.bits)));
                weight += ones_[part].back();
            }
        }
    }

    int64_t* sums_of(size_t g, size_t part) { return sums_.diffs.data() + (g * n_parts_ + part) * t_.n_features(); }

    // Complete rows, linear diffs: formed while they are added.
    void add_codes(size_t i, size_t g, size_t first, size_t stop) {
        added_.rows.clear();
        for (size_t j = first; j < stop; ++j) added_.rows.push_back(t_.numeric + neighbours_[j].row * t_.n_numeric);
        int64_t* const sums[2] = {sums_of(g, 0), n_parts_ > 1 ? sums_of(g, 1) : nullptr};
        if (t_.n_numeric) add_rows(t_.numeric + i * t_.n_numeric, added_, n_parts_, t_.n_numeric, sums);
        if (!t_.n_nominal) return;
        if (t_.nominal8) add_categories(t_.nominal8, i, g, first, stop, rows8_, counters8_[g]);
        else add_categories(t_.nominal16, i, g, first, stop, rows16_, counters16_[g]);
    }

    // Neighbours that weigh the same stand together. Those of weight 1, which most are, are counted across targets.
    template <class Category>
    void add_categories(const Category* cells, size_t i, size_t g, size_t first, size_t stop,
                        std::vector<const Category*>& rows, MismatchCounter<Category>& counter) {
        const size_t n = t_.n_nominal;
        rows.clear();
        for (size_t j = first; j < stop; ++j) rows.push_back(cells + neighbours_[j].row * n);
        for (size_t part = 0; part < n_parts_; ++part)
            for (size_t j = 0, end; j < rows.size(); j = end) {
                const double factor = added_.factors[part][j];
                for (end = j; end < rows.size() && added_.factors[part][end] == factor && copies_of(end) == copies_of(j);) ++end;
                const int64_t amount = copies_of(j) * rounded(factor * r_.mismatch);
                int64_t* sums = sums_of(g, part) + t_.n_numeric;
                const bool common = neighbours_[first + j].weight == 1 && part == 0 && !t_.units;
                if (common) {
                    counter.count(cells + i * n, rows, j, end, n, amount, sums);
                } else {
                    MismatchCounter<Category>& own = own_counter(Category{});
                    own.count(cells + i * n, rows, j, end, n, amount, sums);
                    own.flush();
                }
            }
    }
    int64_t copies_of(size_t j) const { return added_.copies.empty() ? 1 : added_.copies[j]; }
    MismatchCounter<uint8_t>& own_counter(uint8_t) { return own8_; }
    MismatchCounter<uint16_t>& own_counter(uint16_t) { return own16_; }

    // All other rows: the diffs are written down first; by rule C what is unknown counts in the distance only.
    void add_diffs(size_t i, size_t g, size_t first, size_t stop) {
        const size_t n = t_.n_features();
        added_.rows.clear();
        for (size_t j = first; j < stop; ++j) {
            uint32_t* row = diff_rows_.data() + (j - first) * n;
            write_diffs(k_, i, neighbours_[j].row, r_.rule == Rule::skip, row);
            added_.rows.push_back(row);
        }
        int64_t* const sums[2] = {sums_of(g, 0), n_parts_ > 1 ? sums_of(g, 1) : nullptr};
        add_rows(zeros_.data(), added_, n_parts_, n, sums);
    }

    // By rule C, how much weight the pairs have that are known on both sides.
    void add_known(size_t i, size_t g, size_t first, size_t stop) {
        const size_t n = t_.n_features();
        for (size_t part = 0; part < n_parts_; ++part)
            for (size_t j = first; j < stop; ++j) {
                int64_t* known = sums_.known.data() + (g * n_parts_ + part) * n;
                for (size_t a = 0; a < n; ++a)
                    known[a] += t_.known(i, a) && t_.known(neighbours_[j].row, a) ? ones_[part][j - first] : 0;
            }
    }

    void flush() {
        for (auto& counter : counters8_) counter.flush();
        for (auto& counter : counters16_) counter.flush();
    }

    // ------------------------------------------------------------------------------------------------- row weights

    // The sums of one target count as often as the target does.
    void fold(size_t i) {
        const auto move = [&](std::vector<int64_t>& narrow, std::vector<__int128>& wide) {
            for (size_t a = 0; a < narrow.size(); ++a) wide[a] += static_cast<__int128>(t_.units[i]) * narrow[a];
            std::fill(narrow.begin(), narrow.end(), 0);
        };
        move(sums_.diffs, wide_diffs_);
        move(sums_.known, wide_known_);
        move(sums_.weight, wide_weight_);
    }

    void split(std::vector<int64_t>& low, const std::vector<__int128>& wide, std::vector<int64_t>& high) const {
        high.resize(low.size());
        for (size_t a = 0; a < low.size(); ++a) {
            const __int128 value = wide.empty() ? static_cast<__int128>(low[a]) : wide[a];
            high[a] = static_cast<int64_t>(value >> 32);
            low[a] = static_cast<int64_t>(static_cast<uint32_t>(value));
        }
    }

    const Packed& k_;
    const TableView& t_;
    const RecipeView& r_;
    size_t n_groups_, n_parts_;
    Search search_;
    BlockSums sums_;
    std::vector<__int128> wide_diffs_, wide_known_, wide_weight_;
    std::vector<size_t> places_;                              // of the targets at hand
    std::vector<Candidate> found_;
    std::vector<Neighbour> neighbours_;
    Added added_;
    std::vector<int64_t> ones_[2];                            // per part and neighbour: copies * weight, in fixed point
    std::vector<uint32_t> diff_rows_, zeros_;
    std::vector<const uint8_t*> rows8_;
    std::vector<const uint16_t*> rows16_;
    std::vector<MismatchCounter<uint8_t>> counters8_;         // per group
    std::vector<MismatchCounter<uint16_t>> counters16_;
    MismatchCounter<uint8_t> own8_;
    MismatchCounter<uint16_t> own16_;
};

// Sums over target rows of one class; `toward` is that class's table of expected diffs, where anything is unknown.
template <class Search>
inline BlockSums run_block(const Packed& packed, const int64_t* rows, size_t n_rows, size_t batch, const uint32_t* toward, Stage last) {
    Block<Search> block(packed, std::min(batch, n_rows), toward);
    for (size_t i = 0; i < n_rows; i += batch) block.add(rows + i, std::min(batch, n_rows - i), last);
    return block.finish();
}

inline BlockSums run(const Packed& packed, const int64_t* rows, size_t n_rows, size_t batch, const uint32_t* toward, Stage last) {
    return packed.filtered ? run_block<FilterSearch>(packed, rows, n_rows, batch, toward, last)
                           : run_block<ExactSearch>(packed, rows, n_rows, batch, toward, last);
}

}  // namespace nearhit
